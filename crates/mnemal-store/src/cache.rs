//! Caches of one handle of a space: derived rows and the newest events, until the database reports a possible change.

mod fact_cache;
mod learning_cache;

pub(crate) use self::fact_cache::{FactCache, FactLookup};
pub(crate) use self::learning_cache::{LearningCache, LearningRows, LearningSelection};
use crate::port::newest_events::NewestEvents;

/// The caches of one handle.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    pub(crate) newest: NewestEvents,
    pub(crate) learnings: LearningCache,
    pub(crate) facts: FactCache,
}

impl Caches {
    /// Clears all of them.
    pub(crate) fn clear(&self) {
        self.newest.clear();
        self.learnings.clear();
        self.facts.clear();
    }
}
