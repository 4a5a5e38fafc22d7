#![doc = include_str!("../README.md")]

#[cfg(feature = "mcp")]
pub mod mcp;
