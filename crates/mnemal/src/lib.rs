#![doc = include_str!("../README.md")]

mod answer;
mod builder;
mod clock;
mod counter;
mod engine;
mod forget;
mod guard;
#[cfg(feature = "sqlite")]
mod key_file;
mod memory;
mod message;
mod remember;
mod settings;
mod status;
mod transfer;

pub use mnemal_context::{Block, Context, Format, SectionUse};
pub use mnemal_core::*;
pub use mnemal_events::{
    Ack, Durability, Exported, Format as ImportFormat, ImportOptions, Lenient, OwnHistory, Refused, Skipped,
    Taken,
};
pub use mnemal_recall::{Expand, FoundBy, Hit, Mode as RecallMode, Recalled, UsedMode};

pub use crate::answer::{ContextCall, RecallCall};
pub use crate::builder::Builder;
pub use crate::clock::{RandomIds, SystemClock};
pub use crate::counter::EstimateCounter;
pub use crate::engine::Engine;
pub use crate::forget::{Erasure, ErasureStatus, ForgetCall};
pub use crate::memory::Memory;
pub use crate::message::Message;
pub use crate::remember::{RememberCall, Stored};
pub use crate::settings::{
    ContextShape, DurabilityMode, PrivacySettings, RecallSettings, SecretMode, Settings, StorageSettings,
    Tokenizer,
};
pub use crate::status::Stats;
pub use crate::transfer::ImportReport;

/// Returns the first eight hexadecimal digits of BLAKE3 of a path, which tell two folders of one name apart.
pub fn path_fingerprint(path: &str) -> String {
    let producer = Producer { id: path.to_owned(), version: 0 };
    format!("{:08x}", derived_id("path", &producer, &[], 0) >> 96)
}
