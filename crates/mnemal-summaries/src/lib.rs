#![doc = include_str!("../README.md")]

mod condense;
mod words;

pub mod compress;

mod calendar;
mod projector;
mod tree;

mod render;
mod source;
mod summaries;
mod writing;

pub use crate::condense::{
    FEATURES, Features, Kept, Limits, Utterance, Weights, condense, condense_with, features,
};
pub use crate::projector::{CYCLE, SummaryProjector};
pub use crate::render::render;
pub use crate::source::SummarySource;
pub use crate::summaries::{Standing, Summaries};
pub use crate::tree::{STALE, gathered, producer};
pub use crate::writing::{Writing, WritingLine, Writings};
