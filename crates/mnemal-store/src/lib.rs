#![doc = include_str!("../README.md")]

mod stores;

#[cfg(any(feature = "memory", feature = "sqlite"))]
mod admit;
#[cfg(any(feature = "memory", feature = "sqlite"))]
mod block;
#[cfg(any(feature = "memory", feature = "sqlite"))]
mod ordering;

#[cfg(feature = "memory")]
mod memory;

#[cfg(feature = "sqlite")]
mod codec;
#[cfg(feature = "sqlite")]
mod entry;
#[cfg(feature = "sqlite")]
mod hash;
#[cfg(feature = "sqlite")]
mod row;

#[cfg(feature = "sqlite")]
mod bulk;
#[cfg(feature = "sqlite")]
mod removal;
#[cfg(feature = "sqlite")]
mod sql;
#[cfg(feature = "sqlite")]
mod statement;

#[cfg(feature = "sqlite")]
mod append;
#[cfg(feature = "sqlite")]
mod erase;
#[cfg(feature = "sqlite")]
mod port;
#[cfg(feature = "sqlite")]
mod reindex;
#[cfg(feature = "sqlite")]
mod seal;
#[cfg(feature = "sqlite")]
mod vectors;

#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "memory")]
pub use crate::memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use crate::sqlite::{
    ByteRange, CpuClock, Digest, Durability, Manifest, Options, Salvage, SqliteStore, WriteTimes,
    with_read_snapshot,
};
pub use crate::stores::Stores;
