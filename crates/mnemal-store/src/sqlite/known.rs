//! The learnings that hold at present, kept in memory as they were read until the database says that they may have changed.

use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{Advance, Learning, LearningDelta};

use crate::port::learning::Version;

/// What was read last, with the version of the rows at which it was.
///
/// Every context asks for all of them, and few turns change one: reading 800 rows costs some milliseconds, their version some
/// microseconds. A write through this handle is seen at once. One of another process is seen by its cursor, by the count of
/// forgets or by the number of rows; what it makes anew in place of old rows behind the same cursor, after a forget, is seen with
/// the next event.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Option<(Version, Arc<[Learning]>)>>);

impl Known {
    /// Returns what was read at this version.
    pub(super) fn at(&self, version: Version) -> Option<Arc<[Learning]>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(of, _)| *of == version).map(|(_, rows)| Arc::clone(rows))
    }

    /// Keeps what was read after the database told this version.
    pub(super) fn keep(&self, version: Version, rows: Arc<[Learning]>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, rows));
    }

    /// Goes on after a write: one that only moves the cursor changes no row.
    pub(super) fn applied(&self, delta: &LearningDelta, advance: &Advance) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !delta.put.is_empty() || !delta.remove.is_empty() {
            *kept = None;
        } else if let Some((version, _)) = kept.as_mut() {
            version.moved(advance);
        }
    }

    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
