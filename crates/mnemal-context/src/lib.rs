#![doc = include_str!("../README.md")]

mod settings;

mod message;

mod clean;
mod escape;
mod line;

mod candidate;
mod inventory;
mod sift;
mod written;

mod rival;
mod share;

mod block;
mod fit;
mod front;
mod pack;

mod account;
mod assemble;
mod fenced;
mod quote;

pub use crate::account::SectionUse;
pub use crate::assemble::{Assembler, AssemblerParts, Context};
pub use crate::block::{Block, block_hashes, prefix_share};
pub use crate::fenced::{Fenced, fenced};
pub use crate::line::line_number;
pub use crate::message::Wording;
pub use crate::quote::Line;
pub use crate::settings::{ContextSettings, Format, Shares, content_hash};
pub use crate::written::Written;
