#![doc = include_str!("../README.md")]

mod condense;
mod words;

pub mod compress;

mod calendar;
mod projector;
mod tree;

mod model_summary;
mod render;
mod source;
mod summaries;

pub use crate::condense::{
    FEATURES, Features, Limits, SelectedSentence, Utterance, Weights, condense, condense_with, features,
};
pub use crate::model_summary::{ModelSummaries, ModelSummary, ModelSummaryLine};
pub use crate::projector::{CYCLE, SummaryProjector};
pub use crate::render::render;
pub use crate::source::SummarySource;
pub use crate::summaries::{Summaries, SummaryState};
pub use crate::tree::{STALE, build_node, producer};
