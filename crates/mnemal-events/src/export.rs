//! Our own export: the log as lines of JSON, lossless, sorted, byte-identical for the same state.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroUsize;

use mnemal_core::{
    Body, Cursor, Error, ErrorKind, Event, EventFilter, EventKind, EventStore, InstallationKey, PRODUCT,
    Result, SpaceId, Timestamp,
};

use crate::clean::Cleaner;
use crate::log::LogSettings;

mod operation;
pub(crate) mod wire;

use wire::{Counts, ExportLine, Header};

/// Version of the export's layout.
pub const EXPORT_VERSION: u32 = 1;

const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");

/// Result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOutcome {
    /// Events, erased ones included.
    pub events: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// Secrets that newer rules found and replaced.
    pub redactions: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// The form of an export; both hold the same records, and both are read back without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One record per line, the header first.
    Lines,
    /// One JSON document, `{"header": …, "records": […]}`.
    Document,
}

impl Form {
    /// Returns the text before the header, between the header and the first record, between two records, and at the end.
    fn marks(self) -> [&'static str; 4] {
        match self {
            Self::Lines => ["", "\n", "\n", "\n"],
            Self::Document => ["{\"header\":", ",\"records\":[\n", ",\n", "\n]}\n"],
        }
    }
}

/// Writes the log of a space.
///
/// The first line is a header; then come all tombstones by id, then the events by position, erased ones without body. Index and
/// vectors are excluded, because both are derived from the text. `exported_at` is the time of the last event, so that two
/// exports of one state are byte-identical.
#[derive(Debug)]
pub struct Exporter<'l> {
    store: &'l dyn EventStore,
    space: SpaceId,
    cleaner: Cleaner,
}

impl<'l> Exporter<'l> {
    /// Makes an exporter for a log; texts are redacted again.
    pub fn new(
        store: &'l dyn EventStore,
        space: SpaceId,
        key: InstallationKey,
        settings: &LogSettings,
    ) -> Self {
        Self { store, space, cleaner: Cleaner::new(settings.clone(), key) }
    }

    /// Writes everything up to the current head; holds one page of events in memory.
    ///
    /// # Errors
    /// `Conflict` when events are erased meanwhile: run it again; `Unavailable` when `out` or the store fail.
    pub async fn write(&self, form: Form, out: &mut (dyn Write + Send)) -> Result<ExportOutcome> {
        let [start, behind_header, between, end] = form.marks();
        let mut before = behind_header;
        let head = self.store.head().await?;
        let newest = self.store.latest(&EventFilter::all(), NonZeroUsize::MIN).await?;
        let tombstones = self.store.tombstones().await?;
        let mut exported = ExportOutcome { tombstones: tombstones.len() as u64, ..ExportOutcome::default() };
        let header = Header {
            format: PRODUCT.to_owned(),
            version: EXPORT_VERSION,
            space: self.space.as_str().to_owned(),
            exported_at: newest.first().map_or(Timestamp::EPOCH, |event| event.recorded_at).to_string(),
            counts: Counts { events: head.count(), tombstones: exported.tombstones },
        };
        exported.bytes += put(out, start, &header)?;
        for tombstone in &tombstones {
            exported.bytes +=
                put(out, std::mem::replace(&mut before, between), &ExportLine::tombstone(tombstone))?;
        }
        let buried = tombstones.iter().map(|tombstone| tombstone.event).collect();
        let mut after = Cursor::START;
        while after < head {
            let page = self.store.scan(&EventFilter::all(), after, PAGE).await?;
            let Some(last) = page.last().map(|event| event.seq) else { break };
            after = Cursor(Some(last));
            for event in page.iter().filter(|event| Cursor(Some(event.seq)) <= head) {
                let line = self.line(event, &buried, &mut exported.redactions)?;
                exported.bytes += put(out, std::mem::replace(&mut before, between), &line)?;
                exported.events += 1;
            }
        }
        // Without a record the list is opened here.
        let rest = if before == behind_header && form == Form::Document {
            [behind_header, end].concat()
        } else {
            end.to_owned()
        };
        out.write_all(rest.as_bytes()).and_then(|()| out.flush()).map_err(failed)?;
        exported.bytes += rest.len() as u64;
        Ok(exported)
    }

    fn line(
        &self,
        event: &Event,
        buried: &HashSet<mnemal_core::EventId>,
        redactions: &mut u64,
    ) -> Result<ExportLine> {
        match &event.body {
            Body::Present(kept) => {
                let mut kept = kept.clone();
                *redactions += u64::from(self.cleaner.clean(&mut kept)?);
                Ok(ExportLine::event(event, &kept))
            }
            Body::Erased { .. } if buried.contains(&event.id) => Ok(ExportLine::erased(event)),
            Body::Erased { .. } => {
                let what = format!("cannot export: event {} was erased meanwhile", event.id);
                Err(Error::new(ErrorKind::Conflict, what))
            }
        }
    }
}

fn put(out: &mut (dyn Write + Send), before: &str, line: &impl serde::Serialize) -> Result<u64> {
    let mut bytes = before.as_bytes().to_vec();
    serde_json::to_writer(&mut bytes, line)
        .map_err(|why| Error::internal("cannot write a line of the export").because(why))?;
    out.write_all(&bytes).map_err(failed)?;
    Ok(bytes.len() as u64)
}

fn failed(why: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "cannot write the export").because(why)
}

/// Returns a stable form of an event's kind, for hashing.
pub(crate) fn kind_bytes(kind: &EventKind) -> Result<Vec<u8>> {
    serde_json::to_vec(&wire::ExportKind::from(kind))
        .map_err(|why| Error::internal("cannot write the kind of an event").because(why))
}
