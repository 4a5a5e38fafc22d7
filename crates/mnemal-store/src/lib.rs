#![doc = include_str!("../README.md")]

mod stores;

#[cfg(any(feature = "memory", feature = "postgres", feature = "sqlite"))]
mod admit;
#[cfg(any(feature = "memory", feature = "postgres", feature = "sqlite"))]
mod block;
#[cfg(any(feature = "memory", feature = "postgres", feature = "sqlite"))]
mod ordering;

#[cfg(feature = "memory")]
mod memory;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod codec;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod entry;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod hash;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod row;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod bulk;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod removal;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod statement;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod append;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod erase;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod port;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod reindex;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod seal;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod vectors;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod backend;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod cache;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod ports;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod read_snapshot;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod witness;

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use crate::backend::SqlStore;
#[cfg(feature = "memory")]
pub use crate::memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use crate::postgres::{
    Acknowledgment, DatabaseReport, PostgresDatabase, PostgresOptions, PostgresSpace, PostgresStore,
};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use crate::read_snapshot::with_read_snapshot;
#[cfg(feature = "sqlite")]
pub use crate::sqlite::{
    ByteRange, CpuClock, Digest, Durability, Manifest, Options, Salvage, SqliteSpace, SqliteStore, WriteTimes,
};
pub use crate::stores::Stores;
