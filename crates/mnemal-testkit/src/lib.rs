#![doc = include_str!("../README.md")]

mod fake;
mod fault;
mod loopback;
#[cfg(target_os = "linux")]
mod network;
mod record;
mod suite;
mod transformer;
#[cfg(feature = "faulty-vfs")]
pub mod vfs;

pub use crate::fake::{HashEmbedder, ManualClock, SeededIds, TermIndexer, WordCounter, WordReranker, permit};
pub use crate::fault::{Fault, Faulty};
pub use crate::loopback::{Loopback, ReceivedRequest, ServerReply};
#[cfg(target_os = "linux")]
pub use crate::network::deny_network;
pub use crate::record::{Records, entity, fact, learning, receipt, summary, tombstone};
pub use crate::suite::{
    Storage, block_on, context_source, counter, embedder, event, extractor, graph as graph_suite, index,
    learning as learning_suite, lease, ledger, model, receipt as receipt_suite, reranker, source,
    summary as summary_suite, upkeep, working,
};
pub use crate::transformer::{TINY_DIMENSIONS, tiny_row, tiny_transformer, tiny_vocabulary};
