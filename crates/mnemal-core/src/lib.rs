#![doc = include_str!("../README.md")]

mod error;
mod gap;

mod id;
mod name;
mod provenance;
mod scope;
mod time;
mod unit;

mod anti_pattern;
mod cardinality;
mod document;
mod event;
mod extraction;
mod graph;
mod index;
mod learning;
mod operation;
mod receipt;
mod summary;

mod context;
mod forget;
mod key;
mod lease;
mod ledger;
pub mod marker;
mod model_caller;
mod permit;
mod prompt;
mod working;

mod log_window;
mod port;

pub use crate::anti_pattern::AntiPattern;
pub use crate::cardinality::{Cardinality, Ruling};
pub use crate::context::{
    ContextRequest, Fragment, Inventory, InventoryScope, Label, Remark, RepeatPolicy, Section,
};
pub use crate::document::{Document, InboxCounts, InboxItem, InboxOutcome, Passage};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::event::{
    AppendOutcome, Body, Cursor, Decision, Event, EventCaps, EventFilter, EventKind, FactChoice,
    FactDecision, Judgment, LogEntry, Metadata, NewEvent, NoteTarget, Remember, Role, Seq, SessionSummary,
    TaskStep,
};
pub use crate::extraction::{
    Act, Confidence, EntityKind, ExtractedFact, Extraction, ExtractionContext, Gazetteer, Granularity,
    Mention, Object, Recognized, Subject, Utterance, When, WorldTime,
};
pub use crate::forget::{Forget, Remnant, Selector, Tombstone, TombstoneHash};
pub use crate::gap::{Degraded, Elapsed, Gap, GapCause, Gaps, Health, HealthReport, Layer, Slot, Status};
pub use crate::graph::{
    Change, Counts, Difference, Edition, Entity, EntityFilter, EntityMerge, EntityName, Example, Fact,
    FactFilter, FactStatus, GraphDelta, IdentityClaim, IdentityKind, MentionFilter, MentionRow,
    NamingDecision, Reason, Supersession, Support, Value, facts_as_of, sort_facts, strongest_facts,
};
pub use crate::id::{EntityId, EventId, FactId, LearningId, ReceiptId, derived_id, named_id};
pub use crate::index::{
    BLOCK_ROWS, IndexBlock, IndexEntry, IndexMark, Labels, Marks, Posting, TermHash, Terms, Vector,
    VectorColumn,
};
pub use crate::key::InstallationKey;
pub use crate::learning::{
    Basis, Consent, Learning, LearningDelta, LearningFilter, LearningKind, LearningStatus, Signal, Stance,
    Tally, Verdict,
};
pub use crate::lease::{Acquisition, Lease};
pub use crate::ledger::{LedgerKind, LedgerLine};
pub use crate::log_window::{is_window_full, read_ahead};
pub use crate::model_caller::ModelCaller;
pub use crate::name::{
    AgentId, Category, ChannelId, LeaseName, ModelId, NoteKey, OwnerId, Predicate, RuleId, SessionId,
    SpaceId, Speaker, Tag, ToolName, UserId,
};
pub use crate::operation::{
    BEST_SCORE, ClaimSpans, Classification, FEWEST_STEPS, LONGEST_DIGEST, LONGEST_LINE, MOST_CLAIMS,
    MOST_LINES, MOST_NAMED, MOST_PARTS, MOST_STEPS, Operation, OperationKind, PromptHash,
};
pub use crate::permit::BackgroundPermit;
pub use crate::port::{
    Advance, BackgroundEmbedder, Clock, CompletionCache, ContextSource, DeadLetter, Digest, Embedder,
    EventStore, Extractor, GraphStore, IdSource, Inbox, IndexStore, Indexer, Integrity, LanguageModel,
    LearningStore, LeaseStore, LedgerStore, ModelDigester, ModelExtractor, NoteJudge, Opinion, Pass,
    PassOutcome, Progress, Projection, Projector, Proposal, ReceiptStore, Reranker, Scrub, SkippedGroup,
    Summarizer, SummaryEditor, SummaryStore, TaskEvaluation, TaskEvaluator, TokenCounter, Upkeep,
    WorkingStore, WrittenLine,
};
pub use crate::prompt::{CallOutcome, Completion, ModelCall, Prompt, Purpose, Usage, unusable};
pub use crate::provenance::{Level, Origin, Producer, Source, Span, Trust};
pub use crate::receipt::{
    BlockKind, BlockReceipt, InclusionReason, Omitted, OmittedReason, Receipt, ReceiptLine, ReceiptSeal,
    RecordRef, ScorePart, SeenRecord, SeenRecords,
};
pub use crate::scope::{Scope, Within};
pub use crate::summary::{ErasedNode, NodePath, SummaryDelta, SummaryLine, SummaryNode};
pub use crate::time::{AsOf, Civil, Timestamp, Zone};
pub use crate::unit::{Importance, Score, Scored, TokenCount, TokenParts};
pub use crate::working::{ExpiryError, KeyPrefix, WorkingEntry, WorkingKey};

/// The product name, as used in markers, files and messages.
pub const PRODUCT: &str = "mnemal";
