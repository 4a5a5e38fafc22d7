//! Learnings, kept in memory as they were read until the database says that they may have changed.

use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{Advance, Learning, LearningDelta, Timestamp};

use crate::port::learning::Version;

/// Rows as they were read.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) rows: Arc<[Arc<Learning>]>,
    /// When the first of them ends by the clock, if one does.
    until: Option<Timestamp>,
}

impl Rows {
    pub(super) fn new(read: Vec<Learning>) -> Self {
        let until = read.iter().filter_map(|row| row.expires_at).min();
        Self { rows: read.into_iter().map(Arc::new).collect(), until }
    }

    /// Whether none of them has ended by a moment.
    pub(super) fn all_hold_at(&self, world: Timestamp) -> bool {
        self.until.is_none_or(|end| world < end)
    }
}

/// What was read last, with the version of the rows at which it was.
///
/// Every context asks for those that hold, and every answer with a note for all that rest on its events, while few turns change
/// one: reading 800 rows costs some milliseconds, their version some microseconds. A write through this handle is seen at once.
/// One of another process is seen by its cursor, by the count of forgets or by the number of rows; what it makes anew in place of
/// old rows behind the same cursor, after a forget, is seen with the next event.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    version: Version,
    /// Those that hold at present.
    holding: Option<Rows>,
    /// All of them.
    all: Option<Rows>,
}

/// Which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that hold at present, and those that will have ended by then.
    Holding,
    All,
}

impl Known {
    /// Returns what was read at this version.
    pub(super) fn at(&self, version: Version, which: Which) -> Option<Rows> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref().filter(|kept| kept.version == version)?;
        match which {
            Which::Holding => kept.holding.clone(),
            Which::All => kept.all.clone(),
        }
    }

    /// Keeps what was read after the database told this version.
    pub(super) fn keep(&self, version: Version, which: Which, rows: Rows) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().filter(|kept| kept.version == version);
        let mut known = known.unwrap_or(Kept { version, holding: None, all: None });
        match which {
            Which::Holding => known.holding = Some(rows),
            Which::All => known.all = Some(rows),
        }
        *kept = Some(known);
    }

    /// Goes on after a write: one that only moves the cursor changes no row.
    pub(super) fn applied(&self, delta: &LearningDelta, advance: &Advance) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !delta.put.is_empty() || !delta.remove.is_empty() {
            *kept = None;
        } else if let Some(kept) = kept.as_mut() {
            kept.version.moved(advance);
        }
    }

    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
