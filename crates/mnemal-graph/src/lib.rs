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
mod graph;
mod walk;

pub use crate::chain::{Chain, Fallback};
pub use crate::graph::Graph;
pub use crate::projector::{GraphProjector, Renewal};
pub use crate::walk::{Neighbourhood, Path, Reached};
