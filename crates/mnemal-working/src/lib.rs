#![doc = include_str!("../README.md")]

mod memory;
mod search;
mod source;
mod steady;
mod subtree;

pub use crate::memory::{PutOptions, PutOutcome, WorkingItem, WorkingMemory, WorkingSettings};
pub use crate::search::WorkingQuery;
pub use crate::source::WorkingSource;
pub use crate::steady::SteadyClock;
pub use crate::subtree::SubtreeStore;
