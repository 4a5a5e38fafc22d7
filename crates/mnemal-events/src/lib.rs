#![doc = include_str!("../README.md")]

mod limit;

mod clean;
mod echo;
mod tombstone_filter;

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
pub use crate::export::{EXPORT_VERSION, ExportOutcome, Exporter, Form};
pub use crate::import::{
    DETECT_BYTES, Format, ImportBatch, ImportOptions, Importer, LinePolicy, OwnHistory, Position, SkipCause,
    SkippedLine, detect,
};
pub use crate::limit::{
    LARGEST_BATCH, LONGEST_BATCH, LONGEST_CONTENT, LONGEST_INDEXED, LONGEST_KEY, LONGEST_METADATA, MOST_TAGS,
};
pub use crate::log::{
    Ack, Attribution, BURST, Durability, EventLog, EventLogParts, HourlyLimits, ImportOutcome, ImportPreview,
    LogSettings, Promotion, RecordQuality, RejectedRecord, ReleaseOutcome, RestoreBatch, RestoreRecord,
    SkipReason, Thread,
};
pub use crate::recent::{RECENT_TURNS, RecentSource};
pub use crate::tail::{Consumer, catch_up};
pub use crate::tombstone_filter::{
    ErasedTexts, bare_tombstones_for, folded, tombstone_text, tombstones_for, words,
};
