//! The port of working memory.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{KeyPrefix, Result, Timestamp, WorkingEntry, WorkingKey};

/// Scratch entries under paths, each until its time.
///
/// Guarantees: a prefix matches whole segments only; a namespace never holds more than the room that the last `put` named.
/// Not guaranteed: that an entry is kept, or that it goes at its time: a store has no clock, so it answers with entries that
/// have expired too, until they are swept, and the caller looks at `expires_at`.
#[async_trait]
pub trait WorkingStore: Debug + Send + Sync + 'static {
    /// Puts an entry in the place of one with the same key; where its namespace then has more than `room` entries, those that
    /// expire first go, never the new one. Returns what went, in the order in which it would have expired.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>>;

    /// Returns an entry, also one that has expired and was not swept yet.
    ///
    /// # Errors
    /// `NotFound` when there is none; `Unavailable` when the database does not answer.
    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry>;

    /// Returns the entries below any of these prefixes, by key, each once; also those that have expired and were not swept yet.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>>;

    /// Removes the entries below a prefix, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64>;

    /// Removes the entries that have expired by a moment, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, at: Timestamp) -> Result<u64>;
}
