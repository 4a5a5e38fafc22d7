#![doc = include_str!("../README.md")]

mod kind;
mod role;

mod cases;
mod edit_distance;
mod forms;
mod index;
mod key;
mod pack;
mod spelling;

mod cardinality;
mod intake;
mod interval;
mod slot;

mod names;
mod resolve;

mod fold;
mod model;
mod model_claims;
mod model_context;
mod model_extraction_pass;
mod projector;

mod cardinality_evidence;
mod cardinality_pass;
mod chain;
mod cooccurrence;
mod day;
mod duplicate_entity_pass;
mod fact_explanation;
mod graph;
mod suggest;
mod topic;
mod walk;

mod asked_subject;
mod query_analysis;
mod source;
mod stems;
mod verbalize;

pub use crate::asked_subject::AskedSubject;
pub use crate::cardinality::CardinalityOrigin;
pub use crate::cardinality_evidence::CardinalityEvidence;
pub use crate::cardinality_pass::CardinalityPass;
pub use crate::chain::{Chain, Fallback};
pub use crate::cooccurrence::{Cooccurrence, MentionStats};
pub use crate::duplicate_entity_pass::{DuplicateEntityPass, MergeProposal};
pub use crate::fact_explanation::FactExplanation;
pub use crate::graph::Graph;
pub use crate::model::ModelReader;
pub use crate::model_extraction_pass::ModelExtractionPass;
pub use crate::projector::{GraphProjector, RebuildProgress};
pub use crate::resolve::{name_id, speaker_id};
pub use crate::source::GraphSource;
pub use crate::suggest::{DuplicateReason, Suggestion};
pub use crate::topic::Topic;
pub use crate::verbalize::{mark_later, verbalize};
pub use crate::walk::{Neighborhood, Path, ReachedEntity};
