#![doc = include_str!("../README.md")]

mod static_embedder;
mod table;
mod wordpiece;

#[cfg(feature = "tokens-exact")]
mod bpe;

#[cfg(feature = "tokens-exact")]
pub use crate::bpe::{BpeEncoding, BpeTokenCounter};
pub use crate::static_embedder::{STATIC_FLOOR, STATIC_MODEL, StaticEmbedder};
