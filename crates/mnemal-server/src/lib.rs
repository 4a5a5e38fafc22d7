#![doc = include_str!("../README.md")]

#[cfg(feature = "http")]
pub mod auth;
#[cfg(feature = "http")]
mod embedded;
#[cfg(feature = "mcp")]
mod hex;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "http")]
mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "http")]
pub mod memory_tool;
#[cfg(feature = "http")]
mod metrics;
#[cfg(feature = "http")]
mod settings;
#[cfg(feature = "mcp")]
pub mod wire;

#[cfg(feature = "http")]
pub use crate::embedded::{ApiReply, Embedded, Location, Question};
#[cfg(feature = "http")]
pub use crate::settings::{AuthMode, AuthSettings, CompatSettings, DEFAULT_PORT, ServerSettings, reachable};
