//! Ports: traits that a host can implement, what they take and return, and the built-in parts that they combine with.
//!
//! The crate `examples/own-ports` has a part for each.

pub use crate::clock::{RandomIds, SystemClock};
pub use crate::counter::EstimateCounter;
pub use async_trait::async_trait;
pub use mnemal_core::{
    Acquisition, Advance, BackgroundEmbedder, Clock, CompletionCache, ContextSource, DeadLetter, Digest,
    Embedder, EventStore, Extractor, GraphStore, IdSource, Inbox, IndexStore, Indexer, Integrity,
    LanguageModel, LearningStore, Lease, LeaseStore, LedgerStore, ModelDigester, ModelExtractor, NoteJudge,
    Opinion, Pass, PassOutcome, Progress, Projection, Projector, Proposal, ReceiptStore, Reranker, Scrub,
    SkippedGroup, Summarizer, SummaryEditor, SummaryStore, TaskEvaluation, TaskEvaluator, TokenCounter,
    Upkeep, WorkingStore, WrittenLine,
};
pub use mnemal_extract::RuleExtractor;
pub use mnemal_graph::Chain;
#[cfg(feature = "hnsw")]
pub use mnemal_recall::HnswFactory;
pub use mnemal_recall::{
    FlatIndex, LexicalIndex, LexicalIndexFactory, Neighbor, QueryVector, RowSet, StoredVector, VectorIndex,
    VectorIndexBuilder, VectorIndexFactory,
};
pub use mnemal_store::{MemoryStore, Stores};
