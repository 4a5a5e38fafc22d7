#![doc = include_str!("../README.md")]

mod static_embedder;
mod table;
mod wordpiece;

#[cfg(feature = "http")]
mod endpoint;

#[cfg(feature = "tokens-exact")]
mod bpe;

#[cfg(feature = "tokens-exact")]
pub use crate::bpe::{BpeEncoding, BpeTokenCounter};
#[cfg(feature = "http")]
pub use crate::endpoint::{ApiKey, EndpointEmbedder, EndpointSettings};
pub use crate::static_embedder::{STATIC_FLOOR, STATIC_MODEL, StaticEmbedder};
