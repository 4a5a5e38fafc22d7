#![doc = include_str!("../README.md")]

mod fold;
mod operate;
mod read;
mod supersession;
mod task;
mod task_evaluation;
mod tool;

mod projector;
mod rows;

mod decay;
mod ending;
mod knowledge_base;
mod notes;
mod row_identity;
mod source;

mod lesson;
mod objective;
mod owner;
mod preferences;
mod profile;
mod topic;
mod verdict;

pub use crate::decay::Decay;
pub use crate::fold::{is_learned, note_id, producer};
pub use crate::lesson::{LearningOrigin, Sentiment, recommendation};
pub use crate::notes::Notes;
pub use crate::objective::Objective;
pub use crate::operate::timeline_key;
pub use crate::owner::Owner;
pub use crate::preferences::{PreferenceSource, is_about_user};
pub use crate::profile::{ProfileHeading, profile};
pub use crate::projector::LearningProjector;
pub use crate::read::THIS_CONVERSATION;
pub use crate::source::{NotesSource, PINNED, is_pinned};
pub use crate::supersession::Inference;
