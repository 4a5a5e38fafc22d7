#![doc = include_str!("../README.md")]

mod error;
mod gap;

mod id;
mod name;
mod provenance;
mod scope;
mod time;
mod unit;

mod event;
mod extraction;
mod graph;
mod index;
mod learning;
mod receipt;

mod context;
mod forget;
mod key;
mod lease;
pub mod marker;
mod permit;
mod working;

mod port;

pub use crate::context::{ContextRequest, Fragment, Injected, Label, Section};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::event::{
    Appended, Body, Cursor, Decision, Event, EventCaps, EventFilter, EventKind, FactChoice, FactDecision,
    LogEntry, Metadata, NewEvent, Remember, Role, Seq, SessionSummary,
};
pub use crate::extraction::{
    Act, Confidence, EntityKind, ExtractedFact, Extraction, Gazetteer, Grain, Mention, Object, Recognized,
    Subject, Utterance, When, WorldTime,
};
pub use crate::forget::{Forget, Selector, Tombstone, TombstoneHash};
pub use crate::gap::{Degraded, Elapsed, Gap, GapCause, Gaps, Health, HealthReport, Layer, Slot, Status};
pub use crate::graph::{
    Change, Counts, Difference, Edition, Entity, EntityFilter, EntityName, Example, Fact, FactFilter,
    FactStatus, GraphDelta, Joined, MentionFilter, MentionRow, Reason, Superseded, Support, Value,
    facts_as_of, sort_facts,
};
pub use crate::id::{EntityId, EventId, FactId, LearningId, ReceiptId, derived_id, named_id};
pub use crate::index::{
    BLOCK_ROWS, IndexBlock, IndexEntry, IndexMark, Labels, Marks, Posting, TermHash, Terms, Vector,
    VectorColumn,
};
pub use crate::key::InstallationKey;
pub use crate::learning::{Learning, LearningDelta, LearningFilter, LearningKind, LearningStatus};
pub use crate::lease::{Lease, Turn};
pub use crate::name::{
    AgentId, Category, ChannelId, LeaseName, ModelId, NoteKey, OwnerId, Predicate, RuleId, SessionId,
    SpaceId, Speaker, Tag, ToolName, UserId,
};
pub use crate::permit::BackgroundPermit;
pub use crate::port::{Advance, DeadLetter, Progress};
pub use crate::port::{
    BackgroundEmbedder, Clock, ContextSource, Embedder, EventStore, Extractor, GraphStore, IdSource,
    IndexStore, Indexer, Integrity, LearningStore, LeaseStore, Projection, Projector, ReceiptStore, Reranker,
    Scrub, TokenCounter, Upkeep, WorkingStore,
};
pub use crate::provenance::{Level, Origin, Producer, Source, Span, Trust};
pub use crate::receipt::{
    Because, BlockKind, BlockReceipt, Omitted, OmittedReason, Receipt, ReceiptLine, RecordRef, ScorePart,
    Seen, SeenItem,
};
pub use crate::scope::{Scope, Within};
pub use crate::time::{AsOf, Civil, Timestamp, Zone};
pub use crate::unit::{Importance, Score, Scored, TokenCount};
pub use crate::working::{Expired, KeyPrefix, WorkingEntry, WorkingKey};

/// Name of the product, as it stands in markers, files and messages.
pub const PRODUCT: &str = "mnemal";
