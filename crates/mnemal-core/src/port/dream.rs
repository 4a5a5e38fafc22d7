//! Ports of background work: passes that propose operations, and the ledger.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{
    BackgroundPermit, Cursor, ErrorKind, EventId, LedgerKind, LedgerLine, Operation, Result, Timestamp,
};

/// A proposal of a pass. It becomes an event of the log if it passes every check, and has no other effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The operation, with the pass's input and its reason.
    pub operation: Operation,
    /// The text of a merge or an inference; empty for operations without one.
    pub text: String,
}

/// The outcome of a pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassOutcome {
    /// Its proposals, most urgent first.
    pub proposals: Vec<Proposal>,
    /// Groups of notes that it examined and left unchanged; each is offered again after a while.
    pub left: Vec<SkippedGroup>,
    /// Groups that it did not reach; it runs again in the next cycle, even without changes.
    pub waiting: u64,
    /// Number of proposals for which a model had to be asked again, because something was missing.
    pub repaired: u64,
    /// How far it has read the log, for a pass that reads each turn once; its next run continues from there.
    pub through: Option<Cursor>,
    /// Why it was skipped for lack of input, in one sentence without content; the other passes run.
    pub skipped: Option<String>,
    /// Why it stopped early; its output counts, and it runs again in the next cycle.
    pub stopped: Option<ErrorKind>,
}

/// A group of notes that a pass left unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedGroup {
    /// The notes, by their creating events.
    pub notes: Vec<EventId>,
    /// The reason, in one sentence without content.
    pub why: String,
}

/// A pass reads rows, may ask a model, and proposes operations. It has no port that writes.
///
/// Guarantees: the same rows and the same moment give the same proposals, unless a model is asked.
/// Not guaranteed: that a proposal is sound; the caller checks each.
#[async_trait]
pub trait Pass: Debug + Send + Sync + 'static {
    /// Returns its name, in lower case, as used in the ledger and the settings.
    fn name(&self) -> &'static str;

    /// Runs the pass and returns its proposals.
    ///
    /// # Errors
    /// `Unavailable` when a database or a model does not answer; then nothing counts as examined.
    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome>;
}

/// The ledger of background work in one space: which pass ran when, over what, and with which result.
///
/// Guarantees: a line replaces the one with the same book and key; lines survive a restart.
/// Not guaranteed: completeness. After a lost ledger everything runs once more, and no data is lost.
#[async_trait]
pub trait LedgerStore: Debug + Send + Sync + 'static {
    /// Writes lines, all or none.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn put(&self, lines: &[LedgerLine]) -> Result<()>;

    /// Returns up to `limit` lines of a book, newest first, then by key.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; `Corrupt` for an unreadable line.
    async fn lines(&self, kind: LedgerKind, limit: NonZeroUsize) -> Result<Vec<LedgerLine>>;

    /// Deletes the lines of a book that were written before a moment; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, kind: LedgerKind, before: Timestamp) -> Result<u64>;
}
