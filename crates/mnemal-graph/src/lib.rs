#![doc = include_str!("../README.md")]

mod key;
mod kind;
mod role;

mod intake;
mod interval;
mod slot;

mod names;
mod resolve;

mod fold;
mod projector;

mod chain;
mod company;
mod graph;
mod topic;
mod walk;

pub use crate::chain::{Chain, Fallback};
pub use crate::company::{Sightings, Together};
pub use crate::graph::Graph;
pub use crate::projector::GraphProjector;
pub use crate::topic::Topic;
pub use crate::walk::{Neighbourhood, Path, Reached};
