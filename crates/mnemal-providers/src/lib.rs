#![doc = include_str!("../README.md")]

mod static_embedder;
mod table;
mod unit;
mod vocabulary;
mod wordpiece;

#[cfg(feature = "http")]
mod endpoint;

#[cfg(feature = "tokens-exact")]
mod bpe;
#[cfg(feature = "onnx")]
mod transformer;

#[cfg(feature = "tokens-exact")]
pub use crate::bpe::{BpeEncoding, BpeTokenCounter};
#[cfg(feature = "http")]
pub use crate::endpoint::{ApiKey, EndpointEmbedder, EndpointSettings};
pub use crate::static_embedder::{STATIC_FLOOR, STATIC_MODEL, StaticEmbedder};
#[cfg(feature = "onnx")]
pub use crate::transformer::{Recipe, TransformerEmbedder};
