#![doc = include_str!("../README.md")]

mod indexer;
mod terms;

mod memory;
mod merge;
mod role_names;
mod rows;
mod top_k;

#[cfg(feature = "hnsw")]
mod hnsw;
mod kernel;
mod lexical;
mod sign_bits;
mod vector;

mod answer_type;
mod evidence;
mod excerpt;
mod fuse;
mod graph;
mod measure;
mod pause;
mod penalties;
mod question;
mod score_cutoff;
mod signal;
mod time_filter;

mod answer;
mod built;
mod coverage;
mod diversify;
mod filter;
mod index_ports;
mod note_status;
mod recall;
mod request;
mod rerank;
mod search;
mod source;
mod spelling;
mod state;
mod substring;
mod synonyms;
mod timeline_answer;

pub mod conformance;

#[cfg(test)]
mod fixture;

pub use crate::coverage::Coverage;
pub use crate::evidence::{EVIDENCE_FLOOR, EvidenceFeatures, EvidenceRule};
#[cfg(feature = "hnsw")]
pub use crate::hnsw::{HNSW_FROM, HnswFactory, HnswIndex};
pub use crate::index_ports::{LexicalIndexFactory, VectorIndexBuilder, VectorIndexFactory, VectorSearch};
pub use crate::indexer::{EventIndexer, embedded_text};
pub use crate::lexical::{LexicalIndex, LexicalScores, MOST_TERMS, TermQuery, score};
pub use crate::memory::Columns;
pub use crate::recall::{AT_ONCE, NEWEST_SCANNED, Recall, RecallParts, RecallSettings};
pub use crate::request::{
    Cutoff, DEFAULT_LIMIT, Diversity, Expand, Hit, MatchReason, Mode, RecallRequest, RecallResult, UsedMode,
    WithheldHit,
};
pub use crate::rerank::{RERANKED, rerank};
pub use crate::rows::RowSet;
pub use crate::sign_bits::{SIGN_BITS_FROM, SignBits};
pub use crate::signal::{Boost, Boosts, Weights};
pub use crate::source::{INJECT_LIMIT, RecallSource};
pub use crate::synonyms::SynonymSet;
pub use crate::terms::{DENIAL, FIRST_PERSON, NAME, WISH, index_marks, index_terms, indexed_text};
pub use crate::vector::{FlatIndex, Neighbor, QueryVector, StoredVector, VectorIndex};
