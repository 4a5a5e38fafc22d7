//! The event log: messages, notes, documents, imports, exports, forgetting.

pub use crate::areas::EventsHandle;
pub use crate::forget::{
    Description, Erasure, ErasureGrade, ErasureReceipt, ErasureStatus, ForgetCall, Similar, VerifiedReceipt,
};
pub use crate::import_plan::{ExpectedSpeaker, expected_speakers, may_hold_history};
pub use crate::ingest::InboxReport;
pub use crate::markdown::{MarkdownExport, MarkdownSink};
pub use crate::message::Message;
pub use crate::remember::{NearDuplicate, Overlap, RememberCall, StoredNote};
pub use crate::transfer::ImportReport;
pub use mnemal_core::{
    AppendOutcome, BEST_SCORE, Body, ClaimSpans, Classification, Cursor, Decision, Document, Event,
    EventCaps, EventFilter, EventKind, FEWEST_STEPS, FactChoice, FactDecision, Forget, InboxCounts,
    InboxItem, InboxOutcome, Judgment, LONGEST_DIGEST, LONGEST_LINE, LedgerKind, LedgerLine, LogEntry,
    MOST_CLAIMS, MOST_LINES, MOST_NAMED, MOST_PARTS, MOST_STEPS, Metadata, NewEvent, NoteTarget, Operation,
    OperationKind, Passage, PromptHash, Remember, Remnant, Role, Selector, Seq, SessionSummary, TaskStep,
    Tombstone, TombstoneHash,
};
pub use mnemal_events::{
    Ack, Attribution, Durability, ExportOutcome, FILE, Form as ExportForm, Format as ImportFormat, HEADING,
    ImportOptions, ImportOutcome, ImportPreview, LinePolicy, OwnHistory, PAGE, Position, RecordQuality,
    RejectedRecord, ReleaseOutcome, SkippedLine, detect as import_format,
};
#[cfg(feature = "inbox")]
pub use mnemal_providers::{
    DocumentReader, FileKind as DocumentKind, GUARDED, Medium, Program, serve_guarded,
};
#[cfg(all(feature = "inbox", unix))]
pub use mnemal_providers::{FolderInbox, FolderOptions, QUIET};
#[cfg(feature = "ingest-docs")]
pub use mnemal_providers::{PackedFiles, Packing};
