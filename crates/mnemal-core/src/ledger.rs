//! The book of background work: which pass ran when, over what, and what came of it. It holds no content.

use std::collections::BTreeMap;

use crate::{Cursor, Seq, Timestamp};

/// What a line of the ledger is about.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Book {
    /// A pass: when it last came to a usable end, and over what.
    Pass,
    /// A group of notes that was shown to a pass and left alone.
    Left,
    /// A proposal that was refused.
    Refused,
    /// A cycle.
    Cycle,
    /// A run of the audit.
    Audit,
    /// A row that the last audit saw.
    Known,
    /// Why background changes wait for a person.
    Pause,
    /// A question to a language model, and what it cost.
    Call,
    /// An export or a backup that left the space.
    Copy,
    /// What a person thinks of a decision of the dream.
    Opinion,
    /// A conversation for which a model could not write a summary.
    Failure,
}

impl Book {
    /// Every book, in the order of their declaration.
    pub const ALL: [Self; 11] = [
        Self::Pass,
        Self::Left,
        Self::Refused,
        Self::Cycle,
        Self::Audit,
        Self::Known,
        Self::Pause,
        Self::Call,
        Self::Copy,
        Self::Opinion,
        Self::Failure,
    ];

    /// Returns the stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Left => "left",
            Self::Refused => "refused",
            Self::Cycle => "cycle",
            Self::Audit => "audit",
            Self::Known => "known",
            Self::Pause => "pause",
            Self::Call => "call",
            Self::Copy => "copy",
            Self::Opinion => "opinion",
            Self::Failure => "failure",
        }
    }

    /// Reads the stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|book| book.as_str() == name)
    }
}

/// One line; the newest under its key stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// What it is about.
    pub book: Book,
    /// Which of those: the name of a pass, a hash of ids, an id.
    pub key: String,
    /// When it was written.
    pub at: Timestamp,
    /// What was looked at, as the first 16 bytes of BLAKE3; 0 where nothing was hashed.
    pub hash: u128,
    /// Numbers, by name.
    pub counts: BTreeMap<String, u64>,
    /// One sentence without content.
    pub note: String,
}

/// The number of a line of a pass that says how far it has read the log.
const THROUGH: &str = "through";

impl LedgerLine {
    /// Notes how far a pass has read the log.
    #[must_use]
    pub fn with_through(mut self, through: Cursor) -> Self {
        self.counts.insert(THROUGH.to_owned(), through.count());
        self
    }

    /// Returns how far a pass has read the log; the start for one that reads none.
    pub fn through(&self) -> Cursor {
        Cursor(self.counts.get(THROUGH).copied().filter(|seq| *seq > 0).map(Seq))
    }
}
