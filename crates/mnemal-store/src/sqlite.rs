//! One file per space: SQLite, one writer, a few readers.

mod append_priority;
mod backup;
mod budget;
mod checkpointer;
mod damage;
mod driver;
mod file;
mod migrate;
mod open;
mod open_transaction;
mod readers;
mod recover;
mod schema;
mod search;
mod statement_pipeline;
mod table_repair;
#[cfg(test)]
mod tests;
mod upkeep;
mod wal_check;
mod write_connection;
mod write_timings;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mnemal_core::{Error, ErrorKind, Result};
use tokio::task::JoinHandle;

pub use self::backup::{Digest, Manifest};
use self::driver::SqliteDriver;
pub use self::recover::{ByteRange, Salvage};
pub use self::write_timings::{CpuClock, WriteTimes};
use crate::Stores;
use crate::backend::{Backend, SqlStore};
use crate::cache::Caches;
use crate::sql::Sql;

/// The durability of acknowledged events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// They survive the end of the process and a power cut: every commit is flushed to the disk.
    #[default]
    Disk,
    /// They survive the end of the process; a power cut may lose the newest events, and never damages the rest.
    Process,
}

/// Options of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The durability of acknowledged events.
    pub durability: Durability,
    /// Most concurrent read connections; each is opened on first use. By default the number of processors, at least two and at
    /// most four.
    pub readers: u32,
    /// Name of a registered SQLite VFS instead of the file system, for fault-injection tests. With one, the store itself
    /// touches no file: it sets no mode, and creates or flushes no folder.
    pub vfs: Option<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::default(), readers: readers(), vfs: None }
    }
}

/// Least and most readers of one space, so that a long read does not block others.
///
/// Source: own choice; a connection costs a thread and about a megabyte, and four serve one conversation at a time.
const READERS: (u32, u32) = (2, 4);

/// Returns the number of readers of a space: one per processor, because further ones only wake each other, and each reads again
/// what another has cached (ADR 13).
fn readers() -> u32 {
    let (fewest, most) = READERS;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(processors).unwrap_or(most).clamp(fewest, most)
}

/// A space in an SQLite file. Clones share its connections; `close` ends them all.
pub type SqliteStore = SqlStore<SqliteSpace>;

/// The connections of a file.
#[derive(Debug)]
pub struct SqliteSpace {
    driver: SqliteDriver,
    path: PathBuf,
    options: Options,
    writer: Mutex<Option<JoinHandle<()>>>,
    caches: Caches,
}

impl Backend for SqliteSpace {
    fn sql(&self) -> &dyn Sql {
        &self.driver
    }

    fn caches(&self) -> &Caches {
        &self.caches
    }

    fn is_durable(&self) -> bool {
        self.options.durability == Durability::Disk
    }

    fn noted<T>(&self, answer: Result<T>) -> Result<T> {
        self.driver.damage.noted(answer)
    }
}

impl SqliteStore {
    /// Opens a space with the default options, or creates it with its folder.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default()).await
    }

    /// Opens a space, or creates it with its folder (file mode 0600, folder mode 0700); a file that others may read is made
    /// private. Must be called within a tokio runtime, which then runs the writer.
    ///
    /// # Errors
    /// `Invalid` for a file that is not a space of this product; `Unsupported` for one of a newer version, or with a SQLite
    /// that can lose commits; `Corrupt` for a damaged one; `Unavailable` when it cannot be read or written.
    pub async fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let (driver, writer) = open::open(&path, options).await?;
        let (writer, caches) = (Mutex::new(Some(writer)), Caches::default());
        Ok(Self { inner: Arc::new(SqliteSpace { driver, path, options, writer, caches }) })
    }

    /// Truncates the write-ahead log and closes all connections; every later call returns `Unavailable`.
    ///
    /// # Errors
    /// `Unavailable` when the log could not be truncated; acknowledged data is safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        let closed = self.inner.driver.close().await;
        let writer = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            writer.await.map_err(|error| Error::internal("the writer did not end").because(error))?;
        }
        closed
    }

    /// Returns the damage that this process found, as a sentence. From then on every write returns `Corrupt`, and reads return
    /// what can still be read.
    pub fn damage(&self) -> Option<&str> {
        self.inner.driver.damage.finding()
    }

    /// Returns the names of missing tables that this process rebuilt and that were not reported yet, ascending.
    pub fn rebuilt_tables(&self) -> Vec<&'static str> {
        self.inner.driver.rebuilt.all()
    }

    /// The same, and marks them as reported: each is returned once.
    pub fn take_rebuilt_tables(&self) -> Vec<&'static str> {
        self.inner.driver.rebuilt.take()
    }

    /// Returns the timings of write transactions since the last call, by kind.
    pub fn write_times(&self) -> Vec<WriteTimes> {
        self.inner.driver.timings.take()
    }

    /// Enables the measurement of CPU time of write transactions, for [`write_times`](Self::write_times). The clock is read at
    /// least four times per transaction; the first clock stays.
    pub fn watch_writes(&self, clock: Arc<dyn CpuClock>) {
        self.inner.driver.timings.watch(clock);
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }
}

impl From<SqliteStore> for Stores {
    fn from(store: SqliteStore) -> Self {
        Self::all(Arc::new(store))
    }
}

/// Makes the error for closed connections.
fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed")
}
