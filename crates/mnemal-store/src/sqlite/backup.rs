//! Backups: copies made during writes, described by a manifest, and restored in place of a file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mnemal_core::{Error, ErrorKind, Result, Timestamp, Upkeep as _};
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::driver::{failed, rows};
use super::file::{self, beside};
use super::open::connect_options;
use super::{Options, SqliteStore};

const COPY: &str = "vacuum into $1";
const ONE_FILE: &str = "pragma journal_mode = delete";
/// How long another process may finish its work before it counts as holding the file.
///
/// Source: own default, a hundred times a commit.
const PATIENCE: Duration = Duration::from_secs(1);
/// Version of a manifest's layout.
const LAYOUT: u32 = 1;
/// Longest manifest that is read. Source: own default; one takes 400 bytes.
const LONGEST: u64 = 1 << 16;

/// The manifest of a copy, in a small file next to it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Manifest {
    /// Version of the layout.
    pub layout: u32,
    /// Version of the engine that made the copy.
    pub engine: String,
    /// Version of the tables.
    pub schema: i64,
    /// Name of the space.
    pub space: String,
    /// Last position of the log.
    pub last_seq: u64,
    /// Events, erased ones included.
    pub events: u64,
    /// BLAKE3 of the canonical export, hexadecimal; the tombstones are part of it.
    pub export_hash: String,
    /// Tombstones.
    pub tombstones: u64,
    /// When the copy was made, RFC 3339.
    pub made_at: String,
}

impl Manifest {
    /// Makes the manifest of a copy; `counted` is the digest of its canonical export.
    pub fn new(space: &str, engine: &str, at: Timestamp, counted: &Digest) -> Self {
        Self {
            layout: LAYOUT,
            engine: engine.to_owned(),
            schema: super::schema::SCHEMA_VERSION,
            space: space.to_owned(),
            last_seq: 0,
            events: 0,
            export_hash: counted.hash(),
            tombstones: 0,
            made_at: at.to_string(),
        }
    }

    /// Returns the path of a copy's manifest: `NAME.db.manifest.json`.
    pub fn path(copy: &Path) -> PathBuf {
        beside(copy, ".manifest.json")
    }

    /// Writes the manifest of a copy, private, and flushed.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be written.
    pub fn write(&self, copy: &Path) -> Result<()> {
        let path = Self::path(copy);
        let partial = beside(&path, ".partial");
        let json = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::internal("cannot write a manifest as JSON").because(error))?;
        let put = || -> io::Result<()> {
            remove(&partial)?;
            let mut file = file::create(&partial)?;
            file.write_all(&json)?;
            file.sync_all()?;
            fs::rename(&partial, &path)?;
            file::flush_folder(file::folder(&path))
        };
        put().map_err(unwritable(&path))
    }

    /// Reads the manifest of a copy; `None` where there is none.
    ///
    /// # Errors
    /// `Corrupt` for a file that is no manifest, `Unsupported` for one of a newer layout, `Unavailable` when it cannot be read.
    pub fn read(copy: &Path) -> Result<Option<Self>> {
        use std::io::Read as _;
        let path = Self::path(copy);
        let mut bytes = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let what = format!("cannot read {}", path.display());
                return Err(Error::new(ErrorKind::Unavailable, what).because(error));
            }
            Ok(_) => {}
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| {
            let what = format!("{} is not the manifest of a backup", path.display());
            Error::new(ErrorKind::Corrupt, what).because(error)
        })?;
        if manifest.layout > LAYOUT {
            let what = format!("{} was written by a newer version", path.display());
            return Err(Error::new(ErrorKind::Unsupported, what));
        }
        Ok(Some(manifest))
    }
}

/// A writer that hashes its input and stores nothing.
#[derive(Clone, Debug, Default)]
pub struct Digest(blake3::Hasher);

impl Digest {
    /// Returns BLAKE3 of everything so far, hexadecimal.
    pub fn hash(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SqliteStore {
    /// Copies the space, as of one moment, into a new file that is flushed and checked before it gets its name.
    pub(super) async fn copy(&self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(Error::new(ErrorKind::Conflict, format!("{} exists", to.display())));
        }
        let partial = beside(to, ".partial");
        let copied = self.copy_checked(&partial, to).await;
        if copied.is_err() {
            // What stays of a failed copy must not be taken for a backup.
            drop(remove(&partial));
        }
        copied
    }

    async fn copy_checked(&self, partial: &Path, to: &Path) -> Result<()> {
        remove(partial).map_err(unwritable(to))?;
        drop(file::create(partial).map_err(unwritable(to))?);
        let name = partial.to_str().ok_or_else(|| Error::invalid("the name of a backup must be text"))?;
        let options = connect_options(&self.inner.path, self.inner.options);
        let mut connection = options.connect().await.map_err(failed)?;
        let copied = rows(&mut connection, COPY, vec![name.into()]).await;
        connection.close().await.map_err(failed)?;
        copied?;
        check(partial).await?;
        let flush = |path: &Path| fs::File::open(path)?.sync_all();
        flush(partial).map_err(unwritable(to))?;
        fs::rename(partial, to).map_err(unwritable(to))?;
        file::flush_folder(file::folder(to)).map_err(unwritable(to))
    }

    /// Ensures that no other process has a file open, and moves its write-ahead log into it, so that it is one file. For a
    /// damaged file this cannot always be determined; then its write-ahead log stays next to it.
    ///
    /// # Errors
    /// `Conflict` when another process holds it.
    pub async fn alone(path: &Path) -> Result<()> {
        let held = || {
            let what = format!("another process has {} open; end it and try again", path.display());
            Error::new(ErrorKind::Conflict, what)
        };
        if !path.exists() {
            return Ok(());
        }
        let options = SqliteConnectOptions::new().filename(path).busy_timeout(PATIENCE);
        let mut connection = match options.disable_statement_logging().connect().await.map_err(failed) {
            Ok(connection) => connection,
            Err(_) if is_locked(path) => return Err(held()),
            Err(_) => return Ok(()),
        };
        let done = rows(&mut connection, ONE_FILE, Vec::new()).await;
        drop(connection.close().await);
        match done {
            Err(error) if error.kind() == ErrorKind::Unavailable => Err(held()),
            Err(_) if is_locked(path) => Err(held()),
            _ => Ok(()),
        }
    }

    /// Whether some process has a file open, as far as the system shows; the check changes nothing.
    pub fn is_held(path: &Path) -> bool {
        is_locked(path)
    }

    /// Replaces a file, which is kept under another name with its write-ahead log. A file with the original name exists at
    /// every moment.
    ///
    /// # Errors
    /// `Unavailable` when the files cannot be moved; then the old one is unchanged.
    pub fn replace(path: &Path, new: &Path, aside: &Path) -> Result<()> {
        let moved = || -> io::Result<()> {
            if path.exists() {
                fs::hard_link(path, aside)?;
                let log = beside(path, "-wal");
                if log.exists() {
                    fs::rename(&log, beside(aside, "-wal"))?;
                }
                // What is shared between processes describes a log that is not there any more.
                remove(&beside(path, "-shm"))?;
            }
            fs::File::open(new)?.sync_all()?;
            fs::rename(new, path)?;
            file::flush_folder(file::folder(path))
        };
        moved().map_err(unwritable(path))
    }
}

/// Reads the whole copy back and checks its checksums.
async fn check(copy: &Path) -> Result<()> {
    let store = SqliteStore::open_with(copy, Options { readers: 1, ..Options::default() }).await?;
    let found = store.check().await;
    let closed = store.close().await;
    let found = found?;
    closed?;
    if found.findings.is_empty() {
        return Ok(());
    }
    let what = format!("the space is damaged, so its copy is too: {}", found.findings.join("; "));
    Err(Error::new(ErrorKind::Corrupt, what))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::new(ErrorKind::Unavailable, format!("cannot write {}", path.display())).because(error)
}

/// Whether some process holds a lock on a file, as far as the system shows.
#[cfg(target_os = "linux")]
pub(super) fn is_locked(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(inode) = path.metadata().map(|file| format!(":{} ", file.ino())) else { return false };
    fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.lines().any(|line| line.contains(&inode)))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_locked(_path: &Path) -> bool {
    false
}
