#![doc = include_str!("../README.md")]

mod fake;
mod fault;
mod record;
mod suite;

pub use crate::fake::{HashEmbedder, ManualClock, SeededIds, TermIndexer, WordCounter};
pub use crate::fault::{Fault, Faulty};
pub use crate::record::{Records, learning, receipt, tombstone};
pub use crate::suite::{
    Storage, block_on, context_source, counter, embedder, event, index, learning as learning_suite,
    receipt as receipt_suite, source, upkeep,
};
