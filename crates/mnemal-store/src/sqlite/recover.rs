//! Recovery of a damaged file: every event whose checksum is right, wherever its row is stored.
//!
//! The table structure may be broken, so it is not used: every page is examined, in the file and in the write-ahead log, and
//! every row with a valid shape and checksum counts. The log only grows, so a row in an older version of a page is valid; if
//! one version of a row is erased, the erased one wins.

mod pages;
mod record;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use mnemal_core::{Decision, Error, ErrorKind, Event, EventId, EventKind, Result, Seq, Tombstone};

use self::pages::{OverflowVersion, PageVersion, Pages};
use self::record::Cell;
use crate::entry;
use crate::port::log;
use crate::sql::{Row, Value};

/// Columns of an event's row. Source: the schema; a later version may append some.
const EVENT_COLUMNS: usize = 28;
/// Columns of a tombstone's row. Source: the schema.
const TOMBSTONE_COLUMNS: usize = 4;
/// Columns that a checksum covers, then the checksum, then the place of `erased_at`.
const COVERED: usize = 24;

/// The salvaged events of a file, by position. The file is only read, and must not be written meanwhile.
#[derive(Debug)]
pub struct Salvage {
    pages: Pages,
    places: BTreeMap<u64, RowLocation>,
    tombstones: BTreeMap<EventId, Tombstone>,
    damaged: u64,
}

/// A byte range of a file that belongs to an event's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// Whether the file is the write-ahead log.
    pub in_log: bool,
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// The location of a valid row.
#[derive(Clone, Copy, Debug)]
struct RowLocation {
    version: PageVersion,
    offset: usize,
    /// Which overflow pages it uses.
    newest: OverflowVersion,
    id: EventId,
    erased: bool,
    in_file: bool,
}

impl Salvage {
    /// Examines every page of a file and of its write-ahead log. Costs one pass over both, and about 100 bytes of memory per
    /// event.
    ///
    /// # Errors
    /// `NotFound` when there is no file, `Unavailable` when it cannot be read; damage is no error.
    pub fn of(path: &Path) -> Result<Self> {
        let pages = Pages::open(path).map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let kind = if missing { ErrorKind::NotFound } else { ErrorKind::Unavailable };
            Error::new(kind, format!("cannot read {}", path.display())).because(error)
        })?;
        let mut salvage = Self { pages, places: BTreeMap::new(), tombstones: BTreeMap::new(), damaged: 0 };
        let mut found = Vec::new();
        let versions: Vec<PageVersion> = salvage.pages.versions().collect();
        for version in versions {
            salvage.look_at(version, &mut found);
        }
        salvage.choose(found);
        Ok(salvage)
    }

    /// Returns the number of events found, complete or erased.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the number of rows that look like events and fail their checksum; older versions of a row that was found
    /// elsewhere are counted too.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the lost positions as ranges, ascending; events after the last one found are unknown.
    pub fn missing(&self) -> Vec<(Seq, Seq)> {
        let mut missing = Vec::new();
        let mut next = 1;
        for seq in self.places.keys() {
            if *seq > next {
                missing.push((Seq(next), Seq(seq - 1)));
            }
            next = seq + 1;
        }
        missing
    }

    /// Returns the tombstones that were found, by event.
    pub fn tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        self.tombstones.values()
    }

    /// Returns the ids of the events found, with whether each still has its body.
    pub fn ids(&self) -> impl Iterator<Item = (EventId, bool)> + '_ {
        self.places.values().map(|place| (place.id, !place.erased))
    }

    /// Returns the byte ranges of each event's row, by position: these must be intact to save it.
    pub fn stretches(&self) -> impl Iterator<Item = (EventId, Vec<ByteRange>)> + '_ {
        self.places.values().filter_map(|place| {
            let cell = record::cell(&self.pages.read(place.version)?, place.offset)?;
            let (start, length) = (place.offset as u64, cell.size as u64);
            let at = Pages::at(place.version);
            let mut all = vec![ByteRange { start: at.start + start, end: at.start + start + length, ..at }];
            all.extend(self.pages.chain(&cell, place.newest)?.into_iter().map(Pages::at));
            Some((place.id, all))
        })
    }

    /// Returns the events, by position; one that is no longer readable is skipped.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.places.values().filter_map(|place| {
            let page = self.pages.read(place.version)?;
            let cell = record::cell(&page, place.offset)?;
            self.event(&cell, place.newest).ok()
        })
    }

    /// Returns the events that a decision of the log forgets, whether or not that was finished.
    pub fn forgotten(&self) -> HashSet<EventId> {
        let forgets = self.events().filter_map(|event| match event.body().map(|kept| &kept.kind) {
            Some(EventKind::Decision(Decision::Forget(forget))) => Some(forget.events.clone()),
            _ => None,
        });
        forgets.flatten().collect()
    }

    /// Collects the valid rows of one version of a page.
    fn look_at(&mut self, version: PageVersion, found: &mut Vec<(u64, RowLocation)>) {
        let Some(page) = self.pages.read(version) else { return };
        let cells = record::cells(&page, version.start());
        for (offset, cell) in cells {
            if cell.rowid.is_some() {
                self.take_event(version, (offset, &cell), found);
            } else if let Some(stone) = self.tombstone(&cell) {
                self.tombstones.insert(stone.event, stone);
            }
        }
    }

    fn take_event(
        &mut self,
        version: PageVersion,
        (offset, cell): (usize, &Cell),
        found: &mut Vec<(u64, RowLocation)>,
    ) {
        let mut shaped = false;
        // Overflow pages may be those of the write-ahead log or still those of the file.
        for newest in [OverflowVersion::OfTheLog, OverflowVersion::OfTheFile] {
            match self.event(cell, newest) {
                Ok(event) => {
                    let (erased, in_file) = (event.body().is_none(), version.is_in_file());
                    let place = RowLocation { version, offset, newest, id: event.id, erased, in_file };
                    return found.push((event.seq.0, place));
                }
                Err(is_event) => shaped |= is_event,
            }
        }
        self.damaged += u64::from(shaped);
    }

    /// Reads a row as an event; the error says whether it has an event's shape.
    fn event(&self, cell: &Cell, newest: OverflowVersion) -> Result<Event, bool> {
        let payload = self.pages.payload(cell, newest).ok_or(false)?;
        let mut values = record::values(&payload).ok_or(false)?;
        let shaped = values.len() >= EVENT_COLUMNS
            && matches!(values.get(1), Some(Value::Blob(id)) if id.len() == 16)
            && values.first() == Some(&Value::Null);
        let rowid = cell.rowid.filter(|_| shaped).ok_or(false)?;
        let erased_at = values.get(EVENT_COLUMNS - 1).cloned().unwrap_or(Value::Null);
        values.truncate(COVERED + 1);
        values.push(erased_at);
        if let Some(seq) = values.first_mut() {
            *seq = Value::Int(rowid);
        }
        entry::event(Row(values.into_iter())).map_err(|_| true)
    }

    fn tombstone(&self, cell: &Cell) -> Option<Tombstone> {
        let payload = [OverflowVersion::OfTheLog, OverflowVersion::OfTheFile]
            .into_iter()
            .find_map(|newest| self.pages.payload(cell, newest))?;
        let values = record::values(&payload)?;
        if values.len() != TOMBSTONE_COLUMNS || !matches!(values.get(3), Some(Value::Int(_))) {
            return None;
        }
        log::tombstone(Row(values.into_iter())).ok()
    }

    /// Decides which of several versions of a position is valid.
    fn choose(&mut self, found: Vec<(u64, RowLocation)>) {
        let own: HashMap<u64, EventId> =
            found.iter().filter(|(_, place)| place.in_file).map(|(seq, place)| (*seq, place.id)).collect();
        // A write-ahead log that gives a position to another event is not the log of this file.
        let foreign =
            found.iter().any(|(seq, place)| !place.in_file && own.get(seq).is_some_and(|id| *id != place.id));
        let mut ids: BTreeSet<EventId> = BTreeSet::new();
        for (seq, place) in found.into_iter().filter(|(_, place)| place.in_file || !foreign) {
            // Only its tombstone authenticates the remains of an erased event.
            if place.erased && !self.tombstones.contains_key(&place.id) {
                self.damaged += 1;
                continue;
            }
            match self.places.get(&seq) {
                Some(known) if known.erased || !place.erased => {}
                Some(_) => drop(self.places.insert(seq, place)),
                None if ids.insert(place.id) => drop(self.places.insert(seq, place)),
                None => {}
            }
        }
    }
}
