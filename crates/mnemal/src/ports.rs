//! Traits that a host can implement, with what they take and return.

pub use crate::clock::{RandomIds, SystemClock};
pub use crate::counter::EstimateCounter;
pub use mnemal_core::{
    Acquisition, Advance, BackgroundEmbedder, Clock, CompletionCache, ContextSource, DeadLetter, Digest,
    Embedder, EventStore, Extractor, GraphStore, IdSource, Inbox, IndexStore, Indexer, Integrity,
    LanguageModel, LearningStore, Lease, LeaseStore, LedgerStore, ModelDigester, ModelExtractor, NoteJudge,
    Opinion, Pass, PassOutcome, Progress, Projection, Projector, Proposal, ReceiptStore, Reranker, Scrub,
    SkippedGroup, Summarizer, SummaryEditor, SummaryStore, TaskEvaluation, TaskEvaluator, TokenCounter,
    Upkeep, WorkingStore, WrittenLine,
};
