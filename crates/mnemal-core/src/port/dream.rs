//! Ports of background work: what looks and proposes, and the book that is kept of it.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{BackgroundPermit, Book, Cursor, ErrorKind, EventId, LedgerLine, Operation, Result, Timestamp};

/// What a pass suggests. It becomes an event of the log if it passes every check, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// What to do, with what the pass looked at and why.
    pub operation: Operation,
    /// The text of a merge or an inference; empty for what has none.
    pub text: String,
}

/// What a pass came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looked {
    /// What it suggests, most urgent first.
    pub proposals: Vec<Proposal>,
    /// Groups of notes that it asked about and leaves as they are; each is offered again after a while.
    pub left: Vec<Left>,
    /// Groups that it did not come to; then it looks again in the next cycle, though nothing has changed.
    pub waiting: u64,
    /// How many of its suggestions a model had to be asked about once more, because something was missing.
    pub repaired: u64,
    /// How far it has read the log, for a pass that reads turns and each once; its next run goes on behind that.
    pub through: Option<Cursor>,
    /// Why it looked at nothing, in one sentence without content, where there was too little; the other passes run.
    pub skipped: Option<String>,
    /// Why it stopped before its end; what it says counts, and it looks again in the next cycle.
    pub stopped: Option<ErrorKind>,
}

/// A group of notes that a pass leaves as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The notes, by the events that made them.
    pub notes: Vec<EventId>,
    /// Why, in one sentence without content.
    pub why: String,
}

/// Looks at rows, may ask a model, and proposes operations. It has no port that writes.
///
/// Guarantees: the same rows and the same moment give the same proposals where no model is asked.
/// Not guaranteed: that a proposal is any good; whoever runs a pass checks each.
#[async_trait]
pub trait Pass: Debug + Send + Sync + 'static {
    /// Returns its name, in small letters; the ledger and the settings know it by that.
    fn name(&self) -> &'static str;

    /// Looks, and says what it would do.
    ///
    /// # Errors
    /// `Unavailable` when a database or a model does not answer; then nothing counts as looked at.
    async fn run(&self, permit: &mut BackgroundPermit) -> Result<Looked>;
}

/// The book of background work of one space.
///
/// Guarantees: a line replaces the one of its book and key; what was put is there after a restart.
/// Not guaranteed: that it is whole. A ledger that was lost means that everything runs once more, and loses nothing.
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
    /// `Unavailable` when the database does not answer; `Corrupt` when a line is none.
    async fn lines(&self, book: Book, limit: NonZeroUsize) -> Result<Vec<LedgerLine>>;

    /// Drops the lines of a book that were written before a moment; returns how many.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sweep(&self, book: Book, before: Timestamp) -> Result<u64>;
}
