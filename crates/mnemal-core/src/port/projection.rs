//! Ports of projections, which derive rows from the log, and of receipts.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    AsOf, Cursor, EventId, Layer, Learning, LearningDelta, LearningFilter, NoteKey, Receipt, ReceiptId,
    Result, SeenRecords, SessionId, Timestamp,
};

/// A cursor move, from the position where it was read to that of the written rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advance {
    /// The expected cursor; any other is a `Conflict`.
    pub expect: Cursor,
    /// The new cursor.
    pub next: Cursor,
    /// Events in between that could not be processed.
    pub dead: Vec<DeadLetter>,
    /// Events whose dead letter is removed: they were processed after all, or are erased.
    pub revived: Vec<EventId>,
}

/// An event that a projector could not process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The event.
    pub event: EventId,
    /// The reason, without content.
    pub why: String,
}

/// Derived rows with a cursor, which change together. `Delta` is the change of one fold, and distinguishes the projections of
/// one store.
#[async_trait]
pub trait Projection<Delta: Send + Sync + 'static>: Debug + Send + Sync + 'static {
    /// Returns the cursor of the rows.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn cursor(&self) -> Result<Cursor>;

    /// Writes rows, dead letters and cursor in one transaction.
    ///
    /// # Errors
    /// `Conflict` when the cursor is not where `advance` expects it; then nothing is written.
    async fn apply(&self, delta: &Delta, advance: &Advance) -> Result<()>;

    /// Deletes all rows, dead letters and the cursor in one transaction.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn reset(&self) -> Result<()>;

    /// Returns up to `limit` dead letters, oldest event first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>>;
}

/// Notes and other learnings.
#[async_trait]
pub trait LearningStore: Projection<LearningDelta> {
    /// Returns the learnings that are active and known as of a moment, by category, then key, then id.
    ///
    /// Active: `world < expires_at`. Known: `created_at ≤ belief < expired_at`. Rows with erased sources are not served, even
    /// before the projector has seen the forget. A store with a cache returns the cached rows and list, so that reading all of
    /// them copies nothing.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>>;

    /// Returns every row that passes the filter, whatever its status, by id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn all(&self, filter: &LearningFilter) -> Result<Vec<Learning>>;

    /// Returns all versions of a key, newest first.
    ///
    /// # Errors
    /// `NotFound` when the key was never used, or all its versions are forgotten.
    async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>>;
}

/// Receipts and the records that each session was shown; kept for a limited time.
#[async_trait]
pub trait ReceiptStore: Debug + Send + Sync + 'static {
    /// Stores a receipt and marks its lines as shown to the session, unless it is [the anonymous one](SessionId::nobody), in
    /// one transaction. The write is visible at once; a power cut may lose the newest receipts, each as a whole.
    ///
    /// # Errors
    /// `Conflict` when the id is known.
    async fn put(&self, receipt: &Receipt) -> Result<()>;

    /// Returns a receipt.
    ///
    /// # Errors
    /// `NotFound` for an unknown id.
    async fn get(&self, id: ReceiptId) -> Result<Receipt>;

    /// Returns the newest `limit` receipts, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>>;

    /// Returns the newest `limit` receipts from `since` on and before `until`, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn between(&self, since: Timestamp, until: Timestamp, limit: NonZeroUsize) -> Result<Vec<Receipt>>;

    /// Returns the records that a session was shown, also before a restart; empty for an unknown session.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn seen(&self, session: &SessionId) -> Result<SeenRecords>;

    /// Clears the shown records of a session, after its transcript was compacted.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn clear_seen(&self, session: &SessionId) -> Result<()>;

    /// Deletes receipts from before a moment; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, before: Timestamp) -> Result<u64>;

    /// Deletes lines, omissions and shown records that rest on these events; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn erase(&self, sources: &[EventId]) -> Result<u64>;
}

/// Result of one projector step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Events consumed by this step.
    pub consumed: u64,
    /// The new cursor.
    pub cursor: Cursor,
    /// Events between the cursor and the head.
    pub behind: u64,
}

/// A projector folds the log into one layer. No clock, no randomness, no model: the same events give the same rows.
#[async_trait]
pub trait Projector: Debug + Send + Sync + 'static {
    /// Returns the layer whose rows it writes.
    fn layer(&self) -> Layer;

    /// Consumes up to `limit` events, commits, and returns. A conflict with another process means that no progress was made
    /// here; it is no error.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn step(&self, limit: NonZeroUsize) -> Result<Progress>;

    /// Deletes the layer's rows, so that the next steps fold the log again.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn reset(&self) -> Result<()>;
}
