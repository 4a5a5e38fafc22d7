//! Ports of what is derived from the log, and of what stands beside it.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    AsOf, Cursor, EventId, Layer, Learning, LearningDelta, LearningFilter, NoteKey, Receipt, ReceiptId,
    Result, Seen, SessionId, Timestamp,
};

/// Moves a cursor from where it was read to where the rows lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advance {
    /// Where the cursor must stand; else `Conflict`.
    pub expect: Cursor,
    /// Where it stands afterwards.
    pub next: Cursor,
    /// Events on the way that could not be digested.
    pub dead: Vec<DeadLetter>,
    /// Events whose dead letter goes: they were digested after all, or are erased.
    pub revived: Vec<EventId>,
}

/// An event that a projector could not digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The event.
    pub event: EventId,
    /// Why, without content.
    pub why: String,
}

/// Derived rows with a cursor; they move together. `Delta` is what one fold changes, and tells the projections of one store
/// apart.
#[async_trait]
pub trait Projection<Delta: Send + Sync + 'static>: Debug + Send + Sync + 'static {
    /// Returns how far the rows go.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn cursor(&self) -> Result<Cursor>;

    /// Writes rows, dead letters and cursor in one transaction.
    ///
    /// # Errors
    /// `Conflict` when the cursor is not where `advance` expects it; then nothing is written.
    async fn apply(&self, delta: &Delta, advance: &Advance) -> Result<()>;

    /// Drops all rows, dead letters and the cursor in one transaction.
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
    /// Returns the learnings that hold and are known as of a moment, by category, then key, then id.
    ///
    /// Holds: `world < expires_at`. Known: `created_at ≤ belief < expired_at`. Rows whose sources are erased are not
    /// served, even before the projector has seen the forget. A store that keeps rows in memory hands out those, so that a
    /// caller who looks at all of them copies none, nor the list.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>>;

    /// Returns every row that passes the filter whatever its status, by id.
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

/// What was shown to whom; kept for a bounded time.
#[async_trait]
pub trait ReceiptStore: Debug + Send + Sync + 'static {
    /// Stores a receipt, and its lines as seen by the session unless that is [nobody's](SessionId::nobody), in one transaction.
    /// Everybody sees them at once; a power cut may take the newest, each as a whole.
    ///
    /// # Errors
    /// `Conflict` when the id is known.
    async fn put(&self, receipt: &Receipt) -> Result<()>;

    /// Returns a receipt.
    ///
    /// # Errors
    /// `NotFound` when there is none of this id.
    async fn get(&self, id: ReceiptId) -> Result<Receipt>;

    /// Returns the newest `limit` receipts, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>>;

    /// Returns what a session was shown, also before a restart; empty for an unknown session.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn seen(&self, session: &SessionId) -> Result<Seen>;

    /// Forgets that a session was shown anything, after a compaction of its transcript.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn clear_seen(&self, session: &SessionId) -> Result<()>;

    /// Drops receipts of before a moment; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, before: Timestamp) -> Result<u64>;

    /// Removes lines, omissions and seen records that rest on these events; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn erase(&self, sources: &[EventId]) -> Result<u64>;
}

/// How far one step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Events consumed by this step.
    pub consumed: u64,
    /// Where the cursor stands.
    pub cursor: Cursor,
    /// Events between the cursor and the head.
    pub behind: u64,
}

/// Folds the log into one layer. No clock, no randomness, no model: the same events give the same rows.
#[async_trait]
pub trait Projector: Debug + Send + Sync + 'static {
    /// Returns the layer whose rows it writes.
    fn layer(&self) -> Layer;

    /// Consumes up to `limit` events, commits, and returns; a conflict with another process is progress of nobody, not
    /// an error.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn step(&self, limit: NonZeroUsize) -> Result<Progress>;

    /// Drops the layer's rows, so that the next steps fold the log again.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn reset(&self) -> Result<()>;
}
