//! The ledger of background work: which pass ran when, over what, and with which result. It holds no content.

use std::collections::BTreeMap;

use crate::{Cursor, Seq, Timestamp};

/// The subject of a ledger line.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LedgerKind {
    /// A pass: its last usable end, and its input.
    Pass,
    /// A group of notes that a pass saw and left unchanged.
    Left,
    /// A refused proposal.
    Refused,
    /// A consolidation cycle.
    Cycle,
    /// A run of the audit.
    Audit,
    /// A row that the last audit saw.
    Known,
    /// The reason why background changes wait for a person.
    Pause,
    /// A question to a language model, and its cost.
    Call,
    /// An export or a backup that left the space.
    Copy,
    /// A person's opinion on a consolidation decision.
    Opinion,
    /// A conversation for which a model could not write a summary.
    Failure,
}

impl LedgerKind {
    /// Every kind, in declaration order.
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
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One ledger line; the newest with its key counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    /// Its subject.
    pub kind: LedgerKind,
    /// Its key within that kind: the name of a pass, a hash of ids, an id.
    pub key: String,
    /// Time of writing.
    pub at: Timestamp,
    /// Hash of the input, as the first 16 bytes of BLAKE3; 0 where nothing was hashed.
    pub hash: u128,
    /// Named counts.
    pub counts: BTreeMap<String, u64>,
    /// One sentence without content.
    pub note: String,
}

/// Count of a pass's line: how far it has read the log.
const THROUGH: &str = "through";

impl LedgerLine {
    /// Records how far a pass has read the log.
    #[must_use]
    pub fn with_through(mut self, through: Cursor) -> Self {
        self.counts.insert(THROUGH.to_owned(), through.count());
        self
    }

    /// Returns how far a pass has read the log; the start for one that does not read it.
    pub fn through(&self) -> Cursor {
        Cursor(self.counts.get(THROUGH).copied().filter(|seq| *seq > 0).map(Seq))
    }
}
