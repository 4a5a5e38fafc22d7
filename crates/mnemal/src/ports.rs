//! Ports for parts of your own, with the built-in parts that they combine with.
//!
//! Most ports are traits of the crate root, such as [`ContextSource`](crate::ContextSource); here are the others. The crate
//! `examples/own-ports` has a part for each.

pub use async_trait::async_trait;
pub use mnemal_extract::RuleExtractor;
pub use mnemal_graph::Chain;
#[cfg(feature = "hnsw")]
pub use mnemal_recall::HnswFactory;
pub use mnemal_recall::{
    FlatIndex, LexicalIndex, LexicalIndexFactory, Near, QueryVector, RowSet, StoredVector, VectorIndex,
    VectorIndexBuilder, VectorIndexFactory,
};
pub use mnemal_store::{MemoryStore, Stores};
