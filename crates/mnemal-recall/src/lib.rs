#![doc = include_str!("../README.md")]

mod indexer;
mod terms;

mod best;
mod memory;
mod merge;
mod role_names;
mod rows;

#[cfg(feature = "hnsw")]
mod hnsw;
mod kernel;
mod lexical;
mod sign_bits;
mod vector;

mod depth;
mod doubt;
mod evidence;
mod excerpt;
mod fuse;
mod graph;
mod measure;
mod pause;
mod question;
mod signal;
mod wanted;
mod when;

mod answer;
mod built;
mod course;
mod coverage;
mod filter;
mod index_ports;
mod recall;
mod request;
mod rerank;
mod search;
mod source;
mod spread;
mod standing;
mod state;
mod substring;

pub mod conformance;

#[cfg(test)]
mod fixture;

pub use crate::coverage::Coverage;
pub use crate::evidence::{EVIDENCE_FLOOR, EvidenceRule, Grounds};
#[cfg(feature = "hnsw")]
pub use crate::hnsw::{HNSW_FROM, HnswFactory, HnswIndex};
pub use crate::index_ports::{LexicalIndexFactory, VectorIndexBuilder, VectorIndexFactory, VectorSearch};
pub use crate::indexer::{EventIndexer, embedded_text};
pub use crate::lexical::{LexicalIndex, LexicalScores, MOST_TERMS, TermQuery, score};
pub use crate::memory::Columns;
pub use crate::recall::{AT_ONCE, NEWEST_SCANNED, Recall, RecallParts, RecallSettings};
pub use crate::request::{
    DEFAULT_LIMIT, Depth, Expand, FoundBy, Hit, Mode, RecallRequest, Recalled, Spread, UsedMode, Withheld,
};
pub use crate::rerank::{RERANKED, rerank};
pub use crate::rows::RowSet;
pub use crate::sign_bits::{SIGN_BITS_FROM, SignBits};
pub use crate::signal::{Boost, Boosts, Weights};
pub use crate::source::{INJECT_LIMIT, RecallSource};
pub use crate::terms::{DENIAL, FIRST_PERSON, NAME, WISH, index_marks, index_terms, indexed_text};
pub use crate::vector::{FlatIndex, Near, QueryVector, StoredVector, VectorIndex};
