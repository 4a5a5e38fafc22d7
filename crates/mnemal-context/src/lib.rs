#![doc = include_str!("../README.md")]

mod settings;

mod message;

mod clean;
mod escape;
mod line;

mod candidate;
mod filter;
mod inventory;
mod line_cache;

mod dedup;
mod share;

mod block;
mod pack;
mod preamble;
mod trim_to_budget;

mod assemble;
mod fenced;
mod quote;
mod receipt_builder;

pub use crate::assemble::{Assembler, AssemblerParts, Context};
pub use crate::block::{Block, block_hashes, prefix_share};
pub use crate::fenced::{FencedBlock, fenced};
pub use crate::line::line_number;
pub use crate::line_cache::LineCache;
pub use crate::message::Wording;
pub use crate::quote::Line;
pub use crate::receipt_builder::SectionUse;
pub use crate::settings::{ContextSettings, Format, Shares, content_hash};
