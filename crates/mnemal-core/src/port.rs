//! The ports: interfaces between layers, as trait objects.
//!
//! Every port is `Debug + Send + Sync + 'static`, takes `&self`, has plain data in and out, and at most ten methods.
//! A storage port object is bound to exactly one space when it is made: no method takes a space, so none can be left out.

mod dream;
mod graph;
mod inbox;
mod lease;
mod log;
mod model;
mod projection;
mod reading;
mod source;
mod summary;
mod working;

pub use dream::{LedgerStore, Pass, PassOutcome, Proposal, SkippedGroup};
pub use graph::GraphStore;
pub use inbox::Inbox;
pub use lease::LeaseStore;
pub use log::{EventStore, IndexStore, Integrity, Scrub, Upkeep};
pub use model::{
    BackgroundEmbedder, CompletionCache, Digest, LanguageModel, ModelDigester, ModelExtractor, NoteJudge,
    Opinion, Summarizer, SummaryEditor, TaskEvaluation, TaskEvaluator, WrittenLine,
};
pub use projection::{Advance, DeadLetter, LearningStore, Progress, Projection, Projector, ReceiptStore};
pub use reading::{ContextSource, Embedder, Extractor, Indexer, Reranker, TokenCounter};
pub use source::{Clock, IdSource};
pub use summary::SummaryStore;
pub use working::WorkingStore;
