//! Search: requests, hits, scores, vectors.

pub use crate::answer::RecallCall;
pub use crate::ask::{Answer, AskCall, Quote};
pub use crate::embedding::{Backlog, EmbeddedBy, EmbeddedQuestion, Estimate, Generation};
pub use crate::read_state::{ReadMark, ReadState};
pub use crate::should_recall::asks_something;
pub use mnemal_core::{
    BLOCK_ROWS, IndexBlock, IndexEntry, IndexMark, Labels, Marks, Posting, TermHash, Terms, Vector,
    VectorColumn,
};
pub use mnemal_recall::{
    Boost, Boosts, Cutoff, Diversity, Expand, Hit, MatchReason, Mode as RecallMode, RecallResult, UsedMode,
    Weights as RecallWeights,
};
