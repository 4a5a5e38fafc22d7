//! A file as text: what a reader of files hands to the log.

use crate::{Metadata, Timestamp};

/// What a file says, cut where its own headings and pages cut it.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its name for people: the path below the folder in which it was found, with `/` between the parts.
    pub name: String,
    /// Where it lies: a path, an address. A document that lies where another one lay replaces its older reading; one of no place
    /// replaces nothing.
    pub location: Option<String>,
    /// What kind of file it is, in small letters: `md`, `pdf`.
    pub kind: String,
    /// BLAKE3 of the file's bytes. Files with the same bytes are one document, whatever they are called.
    pub hash: [u8; 32],
    /// When it was written, as far as it or its folder says; `None` for now.
    pub written_at: Option<Timestamp>,
    /// What it says of itself: `title`, `author`, `tags`; at most 8 KiB.
    pub fields: Metadata,
    /// Its text, in its own order.
    pub passages: Vec<Passage>,
    /// Why nothing put it into words, for a picture or recording whose text only says what it is; `None` for every other file.
    /// What it says is stored beside that when it is read again with what describes it.
    pub undescribed: Option<String>,
}

/// Text under one heading and on one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// The headings above it, outermost first; none where the file has none.
    pub headings: Vec<String>,
    /// The page on which it stands, from 1; `None` where the file has no pages.
    pub page: Option<u32>,
    /// When it was written, where it has a time of its own, as a message of a mailbox has; `None` for that of the document.
    pub at: Option<Timestamp>,
}

/// A file that was claimed from an inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxItem {
    /// Its name in the folder, for people; characters that are no text are replaced.
    pub name: String,
    /// Names the claim to the inbox that gave it.
    pub claim: std::ffi::OsString,
    /// What it says, or why it cannot be read; the reason holds no content.
    pub content: Result<Document, String>,
}

/// What became of a claimed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxFate {
    /// Its text is in the log.
    Taken,
    /// What it is is in the log and what it says is not, because nothing here puts it into words, as the reason says.
    Unsupported(String),
    /// It cannot be, with the reason.
    Refused(String),
}

/// How many files lie where, links and folders not counted as files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxStanding {
    /// Files that wait, those included that may still be written.
    pub waiting: u64,
    /// Files that were claimed and not settled: one is read now, or a process came to an end while it read.
    pub claimed: u64,
    /// Files of a kind that is not read; they stay where they are.
    pub ignored: u64,
    /// Files whose text is in the log.
    pub processed: u64,
    /// Files that could not be read.
    pub failed: u64,
}
