#![doc = include_str!("../README.md")]

mod fold;
mod projector;

mod notes;
mod source;

pub use crate::fold::producer;
pub use crate::notes::Notes;
pub use crate::projector::NoteProjector;
pub use crate::source::NotesSource;
