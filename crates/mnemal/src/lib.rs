#![doc = include_str!("../README.md")]

mod answer;
#[cfg(feature = "sqlite")]
mod backup;
mod builder;
mod clock;
mod counter;
mod decide;
mod embedding;
mod engine;
mod extract;
mod forget;
mod gate;
mod graph;
mod guard;
#[cfg(feature = "sqlite")]
mod key_file;
mod memory;
mod message;
mod portrait;
mod quote;
mod rebuild;
#[cfg(feature = "sqlite")]
mod recover;
mod remember;
mod seal;
mod secondary;
mod settings;
#[cfg(feature = "sqlite")]
mod spaces;
mod status;
mod timeline;
mod transfer;
mod upkeep;
mod working;

pub use mnemal_context::{Block, Context, Format, SectionUse};
pub use mnemal_core::*;
pub use mnemal_events::{
    Ack, Durability, Exported, Format as ImportFormat, ImportOptions, Lenient, OwnHistory, Position, Refused,
    Skipped, Taken,
};
pub use mnemal_graph::{Graph, Neighbourhood, Path, Reached, Sightings, Together, Topic};
#[cfg(feature = "http")]
pub use mnemal_providers::ApiKey;
pub use mnemal_recall::{
    Depth, Expand, FoundBy, Hit, Mode as RecallMode, Recalled, Spread, UsedMode, Weights as RecallWeights,
};
pub use mnemal_working::{Keep, Kept, WorkingItem, WorkingMemory, WorkingQuery};

pub use crate::answer::{ContextCall, RecallCall};
#[cfg(feature = "sqlite")]
pub use crate::backup::{Manifest, Restored, events_in};
pub use crate::builder::Builder;
pub use crate::clock::{RandomIds, SystemClock};
pub use crate::counter::EstimateCounter;
pub use crate::decide::{renaming, value_key};
pub use crate::embedding::{Backlog, EmbeddedBy, Estimate, Generation, QueryVector};
pub use crate::engine::Engine;
pub use crate::extract::extract_text;
pub use crate::forget::{Erasure, ErasureStatus, ForgetCall};
pub use crate::gate::asks_something;
pub use crate::memory::Memory;
pub use crate::message::Message;
pub use crate::portrait::{Portrait, Recited, Sentence, Told};
pub use crate::quote::{QuoteCall, Quoted, QuotedLine};
pub use crate::rebuild::{GraphState, Rebuild, Rebuilt};
#[cfg(feature = "sqlite")]
pub use crate::recover::Recovered;
pub use crate::remember::{RememberCall, Stored};
pub use crate::settings::{
    ContextShape, DurabilityMode, EmbeddingProvider, EmbeddingSettings, PrivacySettings, RecallSettings,
    RetentionSettings, SecretMode, Settings, SpacesSettings, StorageSettings, Tokenizer, WorkingSettings,
};
#[cfg(feature = "sqlite")]
pub use crate::spaces::{AlwaysOn, GLOBAL, SpaceEntry, SpaceReport, Spaces};
pub use crate::status::{Heard, Stats};
pub use crate::transfer::ImportReport;
pub use crate::upkeep::Tended;

/// Returns the first eight hexadecimal digits of BLAKE3 of a path, which tell two folders of one name apart.
pub fn path_fingerprint(path: &str) -> String {
    let producer = Producer { id: path.to_owned(), version: 0 };
    format!("{:08x}", derived_id("path", &producer, &[], 0) >> 96)
}
