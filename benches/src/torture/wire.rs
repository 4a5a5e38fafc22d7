//! Protocol between supervisor and worker processes: one JSON line per call and per answer.

use serde::{Deserialize, Serialize};

/// One call, numbered by the supervisor.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Call {
    /// Names the answer; never 0, which is the answer of opening.
    pub number: u64,
    /// Calls of one lane are done one after the other, those of two at the same time.
    pub lane: usize,
    /// The number of polls after which the call is dropped; `None` lets it finish.
    pub cut: Option<u32>,
    /// The request.
    pub ask: Request,
}

/// A request to a process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Request {
    /// Append these turns, all or none.
    Append(Vec<Turn>),
    /// Keep a note under a name.
    Note {
        /// The turn that carries it.
        turn: Turn,
        /// Its name.
        name: String,
    },
    /// Forget these events.
    Forget(Vec<String>),
    /// Recall by words, each for itself.
    Find(Vec<String>),
    /// Assemble a context.
    Context(String),
    /// Read the receipts of contexts.
    Receipts(Vec<String>),
    /// Export everything.
    Export,
    /// Read the whole log.
    Dump,
    /// Read all versions of these notes, and fold them again from the log.
    Notes(Vec<String>),
    /// Check the file.
    Check,
    /// Search the bytes of the file for a text.
    Search(Vec<String>),
    /// Merge small index blocks.
    Seal,
    /// Empty the write-ahead log.
    Checkpoint,
    /// Close the space.
    Close,
}

/// A turn that carries an idempotency key.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Turn {
    /// The key.
    pub key: String,
    /// The conversation.
    pub session: String,
    /// The words.
    pub text: String,
}

/// An answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answer {
    /// The number of the call; 0 for opening.
    pub number: u64,
    /// Parts that were absent, failing or late.
    pub gaps: Vec<String>,
    /// The answer.
    pub said: Reply,
}

/// An answer of a process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Reply {
    /// The space is open.
    Open {
        /// CPU time from the start of opening.
        cpu_micros: u64,
    },
    /// Events that are stored.
    Acks(Vec<Ack>),
    /// Events that are forgotten.
    Forgot {
        /// Whether no byte of them was left in the files.
        verified: bool,
    },
    /// The results, one list per word.
    Found(Vec<Vec<Hit>>),
    /// An export.
    Text(String),
    /// A context.
    Context {
        /// Its text.
        text: String,
        /// Its receipt.
        receipt: String,
    },
    /// The events that receipts rest on.
    Rests(Vec<String>),
    /// The log.
    Log(Vec<Row>),
    /// Notes.
    Notes {
        /// All versions, newest first, a list a name.
        versions: Vec<Vec<Version>>,
        /// Whether the log makes the same rows again.
        rebuilt: bool,
    },
    /// The findings of a check or a search.
    Findings(Vec<String>),
    /// It is done.
    Done,
    /// The call was dropped before it answered.
    Cut,
    /// It failed.
    Failed {
        /// Kind of the error.
        kind: String,
        /// The error with its causes.
        what: String,
    },
}

/// An acknowledgement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ack {
    /// The event.
    pub id: String,
    /// Its position, where the call says it.
    pub seq: Option<u64>,
    /// Whether the key was known.
    pub duplicate: bool,
}

/// An event that was found.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Hit {
    /// The event.
    pub id: String,
    /// Its words.
    pub text: String,
}

/// An event of the log.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// The event.
    pub id: String,
    /// Its position.
    pub seq: u64,
    /// What remains of it.
    pub body: Body,
}

/// What remains of an event.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Body {
    /// All of it.
    Kept(Turn),
    /// Nothing.
    Erased,
    /// It is the record of a forget.
    Forget,
}

/// A version of a note.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub number: u32,
    /// Its words.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
}
