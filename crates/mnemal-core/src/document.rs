//! Documents: the text of a file, as a file reader hands it to the log.

use crate::{Metadata, Timestamp};

/// A document's text, split at its own headings and pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Display name: the path below the folder in which it was found, with `/` between the parts.
    pub name: String,
    /// Location: a path or an address. A document replaces an older one with the same location; one without a location replaces
    /// nothing.
    pub location: Option<String>,
    /// File type, in lower case: `md`, `pdf`.
    pub kind: String,
    /// BLAKE3 of the file's bytes. Files with the same bytes are one document, whatever their names.
    pub hash: [u8; 32],
    /// Time of writing, as far as the file or its folder states it; `None` for now.
    pub written_at: Option<Timestamp>,
    /// Metadata of the document itself: `title`, `author`, `tags`; at most 8 KiB.
    pub fields: Metadata,
    /// Its text, in document order.
    pub passages: Vec<Passage>,
    /// Reason why a picture or recording has no description, so that its text only names the file; `None` for every other file.
    /// A later description is stored in addition, when the file is read again.
    pub undescribed: Option<String>,
}

/// Text under one heading and on one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// The headings above it, outermost first; empty where the file has none.
    pub headings: Vec<String>,
    /// The page number, from 1; `None` where the file has no pages.
    pub page: Option<u32>,
    /// Its own time, such as that of a message in a mailbox; `None` for that of the document.
    pub at: Option<Timestamp>,
}

/// A file claimed from an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// Display name in the folder; bytes that are no text are replaced.
    pub name: String,
    /// Identifies the claim to the inbox that issued it.
    pub claim: std::ffi::OsString,
    /// The content, or the reason why it cannot be read; the reason holds no content.
    pub content: Result<Document, String>,
}

/// Outcome of a claimed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxOutcome {
    /// Its text is in the log.
    Ingested,
    /// The log has a record of the file but not its content, because no reader supports it, for the stated reason.
    Unsupported(String),
    /// It was refused, with the reason.
    Refused(String),
}

/// Counts of an inbox's files by state, links and folders excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxCounts {
    /// Waiting files, including those that may still be written.
    pub waiting: u64,
    /// Claimed files that are not settled: one is being read, or a process ended while it read.
    pub claimed: u64,
    /// Files of an unsupported kind; they stay where they are.
    pub ignored: u64,
    /// Files whose text is in the log.
    pub processed: u64,
    /// Files that could not be read.
    pub failed: u64,
}
