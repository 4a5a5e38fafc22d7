//! Cache of learnings, kept until the database reports a possible change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mnemal_core::{Advance, EventId, Learning, LearningDelta, Timestamp};

use crate::port::projection::LayerVersion;

/// Cached rows.
#[derive(Clone, Debug)]
pub(crate) struct LearningRows {
    pub(crate) all: Arc<[Arc<Learning>]>,
    /// The first expiration among them, if any.
    until: Option<Timestamp>,
    /// Their indexes by source event; built on first use.
    by_source: Arc<OnceLock<HashMap<EventId, Vec<usize>>>>,
}

impl LearningRows {
    pub(crate) fn new(read: Vec<Learning>) -> Self {
        let until = read.iter().filter_map(|row| row.expires_at).min();
        Self { all: read.into_iter().map(Arc::new).collect(), until, by_source: Arc::default() }
    }

    /// Returns those that rest on one of some events, in order.
    pub(crate) fn resting_on(&self, events: &[EventId]) -> impl Iterator<Item = &Arc<Learning>> {
        let by_source = self.by_source.get_or_init(|| {
            let mut by_source: HashMap<EventId, Vec<usize>> = HashMap::new();
            for (place, row) in self.all.iter().enumerate() {
                for source in &row.sources {
                    by_source.entry(source.event).or_default().push(place);
                }
            }
            by_source
        });
        let mut places: Vec<usize> =
            events.iter().filter_map(|event| by_source.get(event)).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| self.all.get(place))
    }

    /// Whether none of them has expired by a moment.
    pub(crate) fn all_hold_at(&self, world: Timestamp) -> bool {
        self.until.is_none_or(|end| world < end)
    }
}

/// The cached rows, with their version.
///
/// Every context reads the active learnings, and every answer with a note those that rest on its events, while few turns change
/// one: reading 800 rows costs some milliseconds, their version some microseconds. A write through this handle is visible at
/// once. One of another process is detected by its cursor, by the forget generation or by the number of writes.
#[derive(Debug, Default)]
pub(crate) struct LearningCache(Mutex<Option<CachedLearnings>>);

#[derive(Debug)]
struct CachedLearnings {
    version: LayerVersion,
    /// The currently active ones.
    holding: Option<LearningRows>,
    /// All of them.
    all: Option<LearningRows>,
}

/// A selection of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LearningSelection {
    /// The currently active ones, including those that will have expired.
    Holding,
    All,
}

impl LearningCache {
    /// Returns the rows cached at this version.
    pub(crate) fn at(&self, version: LayerVersion, which: LearningSelection) -> Option<LearningRows> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref().filter(|kept| kept.version == version)?;
        match which {
            LearningSelection::Holding => kept.holding.clone(),
            LearningSelection::All => kept.all.clone(),
        }
    }

    /// Caches rows that were read after this version was seen.
    pub(crate) fn keep(&self, version: LayerVersion, which: LearningSelection, rows: LearningRows) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().filter(|kept| kept.version == version);
        let mut known = known.unwrap_or(CachedLearnings { version, holding: None, all: None });
        match which {
            LearningSelection::Holding => known.holding = Some(rows),
            LearningSelection::All => known.all = Some(rows),
        }
        *kept = Some(known);
    }

    /// Updates the cache after a write: one that only moves the cursor changes no row.
    pub(crate) fn applied(&self, delta: &LearningDelta, advance: &Advance) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !delta.put.is_empty() || !delta.remove.is_empty() {
            *kept = None;
        } else if let Some(kept) = kept.as_mut() {
            kept.version.moved(advance);
        }
    }

    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
