#![doc = include_str!("../README.md")]

pub mod admin;
mod answer;
mod areas;
mod ask;
mod audit;
mod background;
#[cfg(feature = "sqlite")]
mod backup;
mod builder;
mod citation_check;
mod clock;
mod compress;
pub mod context;
mod counter;
mod decide;
mod decision_source;
mod diff;
pub mod dream;
mod embedding;
mod engine;
mod entity_profile;
pub mod events;
mod export_registry;
pub mod extract;
mod feedback;
mod foreground;
mod forget;
pub mod graph;
mod guard;
mod import_plan;
mod ingest;
#[cfg(feature = "sqlite")]
mod key_file;
pub mod learnings;
mod line_use;
mod markdown;
mod memory;
mod message;
pub mod model;
mod outdated_turns;
pub mod ports;
pub mod prelude;
mod quality;
mod quote;
mod read_state;
mod reader;
mod rebuild;
pub mod recall;
mod receipt_list;
#[cfg(feature = "sqlite")]
mod recover;
mod release;
mod remember;
mod report;
mod retention;
mod review;
mod seal;
mod secondary;
pub mod settings;
mod should_recall;
#[cfg(feature = "sqlite")]
mod spaces;
mod span;
mod status;
pub mod summaries;
mod transfer;
mod trust_audit;
pub mod types;
mod undone;
mod upkeep;
mod user;
mod vector_index;
mod why;
pub mod working;

#[cfg(feature = "sqlite")]
pub use crate::admin::Spaces;
pub use crate::admin::{Builder, Engine, Memory};
pub use crate::context::{Context, Receipt};
pub use crate::events::{
    Decision, Event, EventFilter, EventKind, ImportFormat, ImportOptions, Message, NewEvent, Role,
};
pub use crate::graph::{Fact, FactFilter, Graph};
pub use crate::learnings::{Learning, LearningFilter, LearningKind};
pub use crate::recall::{Answer, Hit, RecallResult};
pub use crate::settings::Settings;
pub use crate::types::{
    AsOf, Error, ErrorKind, EventId, Gap, Gaps, NoteKey, Origin, PRODUCT, Result, Scope, SessionId, SpaceId,
    Speaker, Timestamp, UserId, Within, Zone,
};
