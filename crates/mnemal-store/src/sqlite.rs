//! One file a space: SQLite, one writer, a few readers.

mod backup;
mod budget;
mod damage;
mod driver;
mod file;
mod known;
mod look;
mod mend;
mod migrate;
mod open;
mod open_transaction;
mod ports;
mod readers;
mod ready;
mod recover;
mod relief;
mod schema;
mod search;
mod series;
#[cfg(test)]
mod tests;
mod tie;
mod told;
mod took;
mod trip;
mod upkeep;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mnemal_core::{Error, ErrorKind, Result};
use tokio::task::JoinHandle;

pub use self::backup::{Digest, Manifest};
use self::driver::SqliteDriver;
pub use self::look::at_one_look;
pub use self::recover::{Salvage, Stretch};
pub use self::took::{CpuClock, WriteTimes};
use crate::Stores;
use crate::port::newest::Newest;

/// What an acknowledged event survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process and a power cut: every commit is flushed to the disk.
    #[default]
    Disk,
    /// The end of the process; a power cut may take the newest events, and never damages the rest.
    Process,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What an acknowledged event survives.
    pub durability: Durability,
    /// Most connections that read at the same time; each is opened when it is first needed. By default as many as the machine has
    /// processors, at least two and at most four.
    pub readers: u32,
    /// Name of a registered SQLite VFS that takes the place of the file system, for tests that inject faults. With one,
    /// the store itself touches no file: no mode is set, no folder made or flushed.
    pub vfs: Option<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::default(), readers: readers(), vfs: None }
    }
}

/// Fewest readers of one space, so that a long read keeps nobody else waiting, and most of them.
///
/// Source: DECISIONS 5, a connection costs a thread and about a megabyte; four serve one conversation at a time.
const READERS: (u32, u32) = (2, 4);

/// Returns how many readers a space has: one for each processor, because those beyond only wake each other, and each reads again
/// what another has read (ADR 13).
fn readers() -> u32 {
    let (fewest, most) = READERS;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(processors).unwrap_or(most).clamp(fewest, most)
}

/// A space in a file. Clones share its connections; [`close`](Self::close) ends them all.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    driver: SqliteDriver,
    path: PathBuf,
    options: Options,
    writer: Mutex<Option<JoinHandle<()>>>,
    known: known::Known,
    newest: Newest,
    told: told::Told,
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
    /// private. Must be called within a tokio runtime, which runs the writer from then on.
    ///
    /// # Errors
    /// `Invalid` for a file that is not a space of this product; `Unsupported` for one of a newer version, or with a SQLite
    /// that can lose commits; `Corrupt` for a damaged one; `Unavailable` when it cannot be read or written.
    pub async fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let (driver, writer) = open::open(&path, options).await?;
        let writer = Mutex::new(Some(writer));
        let (known, newest, told) = (known::Known::default(), Newest::default(), told::Told::default());
        Ok(Self { inner: Arc::new(Inner { driver, path, options, writer, known, newest, told }) })
    }

    /// Empties the write-ahead log and closes all connections; every later call answers `Unavailable`.
    ///
    /// # Errors
    /// `Unavailable` when the log could not be emptied; what was acknowledged is safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        let closed = self.inner.driver.close().await;
        let writer = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            writer.await.map_err(|error| Error::internal("the writer did not end").because(error))?;
        }
        closed
    }

    /// Returns what this process found damaged, as a sentence. From then on every write answers `Corrupt`, and reads answer what
    /// can still be read.
    pub fn damage(&self) -> Option<&str> {
        self.inner.driver.damage.found()
    }

    /// Returns the names of tables that were gone and that this process made anew, as far as nobody took note of them, ascending.
    pub fn mended(&self) -> Vec<&'static str> {
        self.inner.driver.mended.all()
    }

    /// The same, and takes note of them: they are told once.
    pub fn take_mended(&self) -> Vec<&'static str> {
        self.inner.driver.mended.take()
    }

    /// Returns what its write transactions took since this was asked last, by kind.
    pub fn write_times(&self) -> Vec<WriteTimes> {
        self.inner.driver.took.take()
    }

    /// Notes from now on how much processor time its write transactions take, for [`write_times`](Self::write_times). The clock
    /// is asked four times a transaction and more; the first one stays.
    pub fn watch_writes(&self, clock: Arc<dyn CpuClock>) {
        self.inner.driver.took.watch(clock);
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

/// Says that the connections are closed.
fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed")
}
