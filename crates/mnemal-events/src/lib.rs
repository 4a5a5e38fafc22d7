#![doc = include_str!("../README.md")]

mod limit;

mod clean;
mod echo;
mod grave;

mod log;

mod recent;
mod tail;

mod document;
mod export;
mod import;

pub use crate::clean::Cleaner;
pub use crate::document::{
    DOCUMENT, DOCUMENTS, DocumentOptions, FILE, FILE_ID, HEADING, MOST_CHUNKS, PAGE, document_id,
};
pub use crate::export::{EXPORT_VERSION, Exported, Exporter, Form};
pub use crate::grave::{Erasing, bare_tombstones_for, folded, tombstone_text, tombstones_for, words};
pub use crate::import::{
    DETECT_BYTES, Format, ImportBatch, ImportOptions, Importer, Lenient, OwnHistory, Position, Skipped, Why,
    detect,
};
pub use crate::limit::{
    LARGEST_BATCH, LONGEST_BATCH, LONGEST_CONTENT, LONGEST_INDEXED, LONGEST_KEY, LONGEST_METADATA, MOST_TAGS,
};
pub use crate::log::{
    Ack, BURST, Durability, EventLog, EventLogParts, Exact, ExactRecord, HourlyLimits, LeftOut, LogSettings,
    Quality, Raised, Refused, Rehearsal, Released, Taken, Thread, Whose,
};
pub use crate::recent::{RECENT_TURNS, RecentSource};
pub use crate::tail::{Consumer, catch_up};
