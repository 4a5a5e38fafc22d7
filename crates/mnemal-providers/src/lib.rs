#![doc = include_str!("../README.md")]

mod static_embedder;
mod table;
mod unit;
mod vocabulary;
mod wordpiece;

#[cfg(feature = "inbox")]
mod document;
#[cfg(feature = "models")]
mod model;

#[cfg(feature = "http")]
mod endpoint;
#[cfg(all(feature = "inbox", unix))]
mod folder;

#[cfg(feature = "tokens-exact")]
mod bpe;
#[cfg(feature = "onnx")]
mod transformer;

#[cfg(feature = "tokens-exact")]
pub use crate::bpe::{BpeEncoding, BpeTokenCounter};
#[cfg(feature = "inbox")]
pub use crate::document::{
    DocumentReader, FileKind, GUARDED, MOST_BYTES, Medium, Program, serve as serve_guarded,
};
#[cfg(feature = "ingest-docs")]
pub use crate::document::{PackedFiles, Packing};
#[cfg(feature = "http")]
pub use crate::endpoint::{ApiKey, ChatSettings, EndpointEmbedder, EndpointModel, EndpointSettings};
#[cfg(all(feature = "inbox", unix))]
pub use crate::folder::{FolderInbox, FolderOptions, QUIET};
#[cfg(feature = "models")]
pub use crate::model::{
    CappedModel, Instructions, ModelAppraiser, ModelCaps, ModelClaims, ModelDigests, ModelJudge,
    ModelSummarizer, ModelUsage, ModelWriter, RequestCounts, RequestTally,
};
pub use crate::static_embedder::{STATIC_FLOOR, STATIC_MODEL, StaticEmbedder};
#[cfg(feature = "onnx")]
pub use crate::transformer::{Recipe, TransformerEmbedder};
