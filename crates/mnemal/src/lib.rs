#![doc = include_str!("../README.md")]

mod answer;
mod ask;
mod attend;
mod audit;
#[cfg(feature = "sqlite")]
mod backup;
mod builder;
mod clock;
mod compress;
mod copies;
mod counter;
mod decide;
mod decision_source;
mod diff;
mod dream;
mod embedding;
mod engine;
mod extract;
mod feedback;
mod forget;
mod gate;
mod graph;
mod ground;
mod guard;
mod ingest;
#[cfg(feature = "sqlite")]
mod key_file;
mod learnings;
mod markdown;
mod memory;
mod message;
mod model;
mod past;
mod portrait;
pub mod ports;
pub mod prelude;
mod quality;
mod quote;
mod read_state;
mod reader;
mod rebuild;
#[cfg(feature = "sqlite")]
mod recover;
mod release;
mod remember;
mod retention;
mod seal;
mod secondary;
mod served;
mod settings;
#[cfg(feature = "sqlite")]
mod spaces;
mod span;
mod status;
mod summaries;
mod transfer;
mod trust_audit;
mod upkeep;
mod user;
mod vector_index;
mod why;
mod working;

pub use mnemal_context::{Block, Context, Fenced, Format, SectionUse, Wording, line_number, prefix_share};
pub use mnemal_core::*;
pub use mnemal_dream::{
    Assessment, Cycle as DreamCycle, Dreamer, Family as DreamFamily, Finding, INVARIANTS, Invariant,
    Judged as DreamJudged, Pace, Refusal, Run as DreamRun, Sample as DreamSample, Severity,
};
pub use mnemal_events::{
    Ack, Durability, Exported, FILE, Form as ExportForm, Format as ImportFormat, HEADING, ImportOptions,
    Lenient, OwnHistory, PAGE, Position, Quality, Refused, Rehearsal, Released, Skipped, Taken, Whose,
    detect as import_format,
};
pub use mnemal_extract::{Author, Gist, OwnWords, Segment, Sign, SpeakerLabel, gist, speaker_label};
pub use mnemal_graph::{
    Graph, Likeness, Neighbourhood, Observed, Path, Reached, Sightings, Standing as PredicateStanding,
    Suggested, Suggestion, Together, Topic, Weighing,
};
pub use mnemal_learnings::{
    LearntFrom, Objective, ProfileHeading, Sentiment, THIS_CONVERSATION, is_about_user, recommendation,
};
#[cfg(feature = "http")]
pub use mnemal_providers::ApiKey;
pub use mnemal_providers::{Asked, ModelCaps, Spent};
#[cfg(feature = "inbox")]
pub use mnemal_providers::{DocumentReader, GUARDED, Kind as DocumentKind, Medium, Program, serve_guarded};
#[cfg(all(feature = "inbox", unix))]
pub use mnemal_providers::{FolderInbox, FolderOptions, QUIET};
#[cfg(feature = "ingest-docs")]
pub use mnemal_providers::{PackedFiles, Packing};
pub use mnemal_recall::{
    Boost, Boosts, Depth, Expand, FoundBy, Hit, Mode as RecallMode, Recalled, Spread, UsedMode,
    Weights as RecallWeights,
};
pub use mnemal_summaries::compress::Due;
pub use mnemal_summaries::{Standing, Summaries, Writing, WritingLine, render as render_summary};
pub use mnemal_working::{Keep, Kept, WorkingItem, WorkingMemory, WorkingQuery};

pub use crate::answer::{ContextCall, RecallCall};
pub use crate::ask::{Answer, AskCall, Quote};
pub use crate::attend::Attended;
pub use crate::audit::{AuditCheck, AuditLog, Audited, AuditedAct};
#[cfg(feature = "sqlite")]
pub use crate::backup::{Manifest, Restored, events_in};
pub use crate::builder::Builder;
pub use crate::clock::{RandomIds, SystemClock};
pub use crate::compress::{CompressCall, Compressed, Conversations, Draft, Method, Spoken, TimelineEntry};
pub use crate::counter::EstimateCounter;
pub use crate::decide::{Addressee, holding, is_shipped, renaming, value_key};
pub use crate::diff::{Change, ChangeKind, Changes};
pub use crate::embedding::{Backlog, EmbeddedBy, Estimate, Generation, QueryVector};
pub use crate::engine::Engine;
pub use crate::extract::{Wish, extract_text, named_in, segments, wishes};
pub use crate::feedback::Feedback;
pub use crate::forget::{
    Description, Erasure, ErasureReceipt, ErasureStatus, ForgetCall, Similar, VerifiedReceipt,
};
pub use crate::gate::asks_something;
pub use crate::ground::Ground;
pub use crate::ingest::InboxTaken;
pub use crate::learnings::{key_of, target_of};
pub use crate::markdown::{MarkdownExport, MarkdownSink};
pub use crate::memory::Memory;
pub use crate::message::Message;
pub use crate::model::{ModelCalls, ModelStatus};
pub use crate::portrait::{Portrait, Recited, Sentence, Told};
pub use crate::quality::{QualityMeasure, QualityUnit};
pub use crate::quote::{QuoteCall, Quoted, QuotedLine};
pub use crate::read_state::{ReadMark, ReadState};
pub use crate::reader::check_reader;
pub use crate::rebuild::{GraphState, Rebuild, Rebuilt};
#[cfg(feature = "sqlite")]
pub use crate::recover::Recovered;
pub use crate::remember::{Alike, Overlap, RememberCall, Stored};
pub use crate::settings::{
    CompressSettings, ContextShape, DreamSchedule, DreamSettings, DurabilityMode, EmbeddingProvider,
    EmbeddingSettings, ExtractSettings, IdentitySettings, IngestSettings, LayerSettings, LearningSettings,
    LlmProvider, LlmSettings, PrivacySettings, RecallSettings, RetentionSettings, SecretMode, Settings,
    SpacesSettings, StorageSettings, SummaryBy, SummarySettings, Switch, TelemetrySettings, Tokenizer,
    VectorIndexKind, WorkingSettings,
};
#[cfg(feature = "sqlite")]
pub use crate::spaces::{AlwaysOn, GLOBAL, SpaceEntry, SpaceReport, Spaces};
pub use crate::status::{Heard, Stats};
pub use crate::transfer::ImportReport;
pub use crate::trust_audit::{Burst, HeldBack, TrustAudit, TrustViolation};
pub use crate::upkeep::Tended;
pub use crate::why::{Gate, Outcome, ReceiptCheck, Why, WhyNot};

/// Returns the first eight hexadecimal digits of the BLAKE3 hash of a path, to distinguish folders of the same name.
pub fn path_fingerprint(path: &str) -> String {
    let producer = Producer { id: path.to_owned(), version: 0 };
    format!("{:08x}", derived_id("path", &producer, &[], 0) >> 96)
}
