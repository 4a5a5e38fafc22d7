//! The port of working memory.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{KeyPrefix, Result, Timestamp, WorkingEntry, WorkingKey};

/// Working memory: entries under path keys, each with an expiration.
///
/// Guarantees: a prefix matches whole segments only; a namespace never holds more entries than the `room` of the last `put`.
/// Not guaranteed: that an entry is kept, or that it disappears when it expires: a store has no clock, so it returns expired
/// entries until they are swept, and the caller checks `expires_at`.
#[async_trait]
pub trait WorkingStore: Debug + Send + Sync + 'static {
    /// Stores an entry, replacing one with the same key; if its namespace then has more than `room` entries, those that expire
    /// first are evicted, never the new one. Returns the evicted entries, by expiration.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>>;

    /// Returns an entry, also an expired one that was not swept yet.
    ///
    /// # Errors
    /// `NotFound` when there is none; `Unavailable` when the database does not answer.
    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry>;

    /// Returns the entries below any of these prefixes, by key, each once; including expired ones that were not swept yet.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>>;

    /// Removes the entries below a prefix, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64>;

    /// Removes the entries that expired by a moment, and returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, at: Timestamp) -> Result<u64>;
}
