#![doc = include_str!("../README.md")]
#![deny(missing_docs, missing_debug_implementations)]

mod briefing;
mod history;
mod store;

pub use crate::briefing::Briefing;
pub use crate::history::History;
pub use crate::store::{MOST_SAMPLES, Searched, Store};
