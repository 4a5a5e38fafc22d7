#![doc = include_str!("../README.md")]

mod kind;
mod role;

mod cases;
mod forms;
mod index;
mod key;
mod pack;
mod slip;
mod spelling;

mod cardinality;
mod intake;
mod interval;
mod slot;

mod names;
mod resolve;

mod familiar;
mod fold;
mod found;
mod leftovers;
mod model;
mod projector;

mod chain;
mod company;
mod counting;
mod day;
mod graph;
mod lookalikes;
mod observed;
mod suggest;
mod topic;
mod walk;
mod weighing;

mod asked;
mod say;
mod source;
mod stems;

pub use crate::cardinality::Standing;
pub use crate::chain::{Chain, Fallback};
pub use crate::company::{Sightings, Together};
pub use crate::counting::Counting;
pub use crate::graph::Graph;
pub use crate::leftovers::Leftovers;
pub use crate::lookalikes::{Lookalikes, Suggested};
pub use crate::model::ModelReader;
pub use crate::observed::Observed;
pub use crate::projector::{GraphProjector, Renewal};
pub use crate::resolve::{name_id, speaker_id};
pub use crate::say::{said, said_later};
pub use crate::source::GraphSource;
pub use crate::suggest::{Likeness, Suggestion};
pub use crate::topic::Topic;
pub use crate::walk::{Neighbourhood, Path, Reached};
pub use crate::weighing::Weighing;
