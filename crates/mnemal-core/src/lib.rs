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

mod consult;
mod context;
mod forget;
mod key;
mod lease;
mod ledger;
pub mod marker;
mod permit;
mod prompt;
mod working;

mod port;

pub use crate::anti_pattern::AntiPattern;
pub use crate::cardinality::{Cardinality, Ruling};
pub use crate::consult::Consultant;
pub use crate::context::{ContextRequest, Fragment, Injected, Inventory, Label, Remark, Section, Shelf};
pub use crate::document::{Document, InboxFate, InboxItem, InboxStanding, Passage};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::event::{
    Appended, Body, Cursor, Decision, Event, EventCaps, EventFilter, EventKind, FactChoice, FactDecision,
    Judgment, LogEntry, Metadata, NewEvent, NoteTarget, Remember, Role, Seq, SessionSummary, TaskStep,
};
pub use crate::extraction::{
    Act, Confidence, EntityKind, ExtractedFact, Extraction, Familiar, Gazetteer, Grain, Mention, Object,
    Recognized, Subject, Utterance, When, WorldTime,
};
pub use crate::forget::{Forget, Remnant, Selector, Tombstone, TombstoneHash};
pub use crate::gap::{Degraded, Elapsed, Gap, GapCause, Gaps, Health, HealthReport, Layer, Slot, Status};
pub use crate::graph::{
    Change, Counts, Difference, Edition, Entity, EntityFilter, EntityName, Example, Fact, FactFilter,
    FactStatus, GraphDelta, Joined, MentionFilter, MentionRow, NamedBy, Reason, Says, Superseded, Support,
    Tie, Value, facts_as_of, sort_facts, strongest_facts,
};
pub use crate::id::{EntityId, EventId, FactId, LearningId, ReceiptId, derived_id, named_id};
pub use crate::index::{
    BLOCK_ROWS, IndexBlock, IndexEntry, IndexMark, Labels, Marks, Posting, TermHash, Terms, Vector,
    VectorColumn,
};
pub use crate::key::InstallationKey;
pub use crate::learning::{
    Basis, Learning, LearningDelta, LearningFilter, LearningKind, LearningStatus, Leave, Signal, Stance,
    Tally, Verdict,
};
pub use crate::lease::{Lease, Turn};
pub use crate::ledger::{Book, LedgerLine};
pub use crate::name::{
    AgentId, Category, ChannelId, LeaseName, ModelId, NoteKey, OwnerId, Predicate, RuleId, SessionId,
    SpaceId, Speaker, Tag, ToolName, UserId,
};
pub use crate::operation::{
    BEST_SCORE, Deed, FEWEST_STEPS, Filed, LONGEST_DIGEST, LONGEST_LINE, MOST_CLAIMS, MOST_LINES, MOST_NAMED,
    MOST_PARTS, MOST_STEPS, Operation, Pointed, PromptHash,
};
pub use crate::permit::BackgroundPermit;
pub use crate::port::{Advance, DeadLetter, Progress};
pub use crate::port::{
    Appraisal, Appraiser, BackgroundEmbedder, Clock, CompletionCache, ContextSource, Digest, Embedder,
    EventStore, Extractor, GraphStore, IdSource, Inbox, IndexStore, Indexer, Integrity, LanguageModel,
    LearningStore, LeaseStore, LedgerStore, Left, Looked, ModelDigester, ModelExtractor, NodeWriter,
    NoteJudge, Opinion, Pass, Projection, Projector, Proposal, ReceiptStore, Reranker, Scrub, Summarizer,
    SummaryStore, TokenCounter, Upkeep, WorkingStore, WrittenLine,
};
pub use crate::prompt::{CallOutcome, Completion, ModelCall, Prompt, Purpose, Usage, unusable};
pub use crate::provenance::{Level, Origin, Producer, Source, Span, Trust};
pub use crate::receipt::{
    Because, BlockKind, BlockReceipt, Omitted, OmittedReason, Receipt, ReceiptLine, ReceiptSeal, RecordRef,
    ScorePart, Seen, SeenItem,
};
pub use crate::scope::{Scope, Within};
pub use crate::summary::{HollowNode, NodePath, SummaryDelta, SummaryLine, SummaryNode};
pub use crate::time::{AsOf, Civil, Timestamp, Zone};
pub use crate::unit::{Importance, Score, Scored, TokenCount, TokenParts};
pub use crate::working::{Expired, KeyPrefix, WorkingEntry, WorkingKey};

/// The product name, as used in markers, files and messages.
pub const PRODUCT: &str = "mnemal";
