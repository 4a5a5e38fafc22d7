#![doc = include_str!("../README.md")]

mod memory;
mod search;
mod steady;

pub use crate::memory::{Keep, Kept, WorkingItem, WorkingMemory, WorkingSettings};
pub use crate::search::WorkingQuery;
pub use crate::steady::SteadyClock;
