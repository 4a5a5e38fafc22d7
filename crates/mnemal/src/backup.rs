//! Backup and restore: verified copies with manifests; erased events stay erased after a restore.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use mnemal_core::{
    Cursor, Error, ErrorKind, EventFilter, EventId, InstallationKey, Origin, Result, SpaceId, Timestamp,
    Tombstone, Upkeep as _,
};
use mnemal_events::Exporter;
pub use mnemal_store::Manifest;
use mnemal_store::{Digest, Options, Salvage, SqliteStore};

use crate::areas::AdminHandle;
use crate::audit::{AuditAct, AuditRecord};
use crate::builder::Builder;
use crate::engine::{Engine, MANY};
use crate::settings::Settings;

/// Suffixes of a database file, its write-ahead log and its shared memory.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// Number of events in the restored space, erased ones included.
    pub events: u64,
    /// Events of the backup that were forgotten after it was made, and were erased again.
    pub forgotten_again: u64,
    /// Tombstones of the restored space.
    pub tombstones: u64,
    /// The manifest of the backup; `None` for a copy without one.
    pub manifest: Option<Manifest>,
    /// Path of the previous file, if there was one. It is an ordinary space, and a later forget does not reach it.
    pub aside: Option<PathBuf>,
}

impl AdminHandle<'_> {
    /// Copies the space at one moment into a new file, concurrently with writers; verifies the copy, and writes its manifest to
    /// `NAME.manifest.json` in the same folder. The copy is an ordinary space. A later forget does not reach it.
    ///
    /// # Errors
    /// `Conflict` when the file exists; `Corrupt` when the space is damaged; `Unsupported` without a file;
    /// `Unavailable` when the copy cannot be written.
    pub async fn backup(self, to: &Path) -> Result<Manifest> {
        self.memory.must_be_whole("a backup")?;
        let engine = &self.memory.engine;
        engine.upkeep()?.backup(to).await?;
        let store = SqliteStore::open_with(to, Options { readers: 1, ..Options::default() }).await?;
        let parts = engine.parts();
        let exported = exported(&store, &self.memory.scope.space, &parts.key, &parts.settings).await;
        store.close().await?;
        let (counted, hash) = exported?;
        let manifest = Manifest {
            last_seq: counted.events,
            events: counted.events,
            tombstones: counted.tombstones,
            ..Manifest::new(self.memory.scope.space.as_str(), env!("CARGO_PKG_VERSION"), engine.now(), &hash)
        };
        manifest.write(to)?;
        let written = Manifest::read(to)?;
        if written.as_ref() == Some(&manifest) {
            engine.note_copy("backup", "bak", manifest.events).await;
            let act = AuditRecord::new(AuditAct::Backup, Origin::UserDirect).space(&self.memory.scope.space);
            engine.audit(&act.count("events", manifest.events))?;
            return Ok(manifest);
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            "the manifest of the backup does not read back as it was written",
        ))
    }
}

/// Hashes the canonical export of a store.
async fn exported(
    store: &SqliteStore,
    space: &SpaceId,
    key: &InstallationKey,
    settings: &Settings,
) -> Result<(mnemal_events::ExportOutcome, Digest)> {
    let mut hash = Digest::default();
    let settings = crate::builder::log_settings(settings);
    let exporter = Exporter::new(store, space.clone(), key.clone(), &settings);
    let counted = exporter.write(mnemal_events::Form::Lines, &mut hash).await?;
    Ok((counted, hash))
}

/// Tombstones and forget decisions of the present file, whether or not it can still be opened.
#[derive(Debug, Default)]
struct CurrentFile {
    tombstones: HashMap<EventId, Tombstone>,
    /// Events that a decision in the log forgets.
    forgotten: HashSet<EventId>,
    alive: HashSet<EventId>,
}

impl CurrentFile {
    fn of(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let salvage = Salvage::of(file)?;
        Ok(Self {
            tombstones: salvage.tombstones().map(|stone| (stone.event, stone.clone())).collect(),
            forgotten: salvage.forgotten(),
            alive: salvage.ids().filter(|(_, alive)| *alive).map(|(id, _)| id).collect(),
        })
    }

    /// Returns the tombstone for an event of the backup that must not return: its own, or a new one when only the hash of its
    /// text or a decision is known.
    fn buries(&self, own: Tombstone, words: &HashSet<mnemal_core::TombstoneHash>) -> Option<Tombstone> {
        if let Some(known) = self.tombstones.get(&own.event) {
            return Some(known.clone());
        }
        let said = words.contains(&own.body) && !self.alive.contains(&own.event);
        (said || self.forgotten.contains(&own.event)).then_some(own)
    }
}

/// Returns the number of events in the file of a space, damaged or not; 0 for a missing file.
///
/// # Errors
/// `Unavailable` when it cannot be read.
pub fn events_in(file: &Path) -> Result<u64> {
    if file.exists() { Ok(Salvage::of(file)?.len() as u64) } else { Ok(0) }
}

impl Builder {
    /// Replaces the file of a space with a backup. Everything that was forgotten in the file or in the backup is erased in the
    /// result; the previous file is kept under another name.
    ///
    /// The backup is opened read-only. The space is not changed until the backup is verified and all forgets are replayed.
    ///
    /// # Errors
    /// `Conflict` when another process has the space open; `NotFound` without a backup; `Invalid` for a file that is not a space,
    /// `Unsupported` for one of a newer version, `Corrupt` for a damaged one or one that does not match its manifest;
    /// `Unavailable` when files cannot be written.
    pub async fn restore(self, space: &SpaceId, backup: &Path, file: &Path) -> Result<RestoreReport> {
        if !backup.exists() {
            return Err(Error::not_found(format!("no backup {}", backup.display())));
        }
        refuse_held(file)?;
        let manifest = Manifest::read(backup)?;
        let draft = beside(file, ".restoring");
        clear(&draft)?;
        let prepared = self.prepare(space, (backup, &draft), manifest.as_ref(), file).await;
        let aside = file.exists().then(|| aside(file, "before-restore", self.clock().now()));
        let done = match prepared {
            Ok(prepared) => install(file, &draft, aside.as_deref()).await.map(|()| prepared),
            Err(error) => Err(error),
        };
        let (events, forgotten_again, tombstones) = match done {
            Ok(done) => done,
            Err(error) => {
                clear(&draft)?;
                return Err(error);
            }
        };
        if let Some(log) = self.audit_log(file)? {
            let act = AuditRecord::new(AuditAct::Restore, Origin::UserDirect).space(space);
            let act = act.count("events", events).count("forgotten_again", forgotten_again);
            log.append_done(&act, self.clock().now())?;
        }
        Ok(RestoreReport { events, forgotten_again, tombstones, manifest, aside })
    }

    /// Copies the backup, verifies it, and erases in it what was forgotten since.
    async fn prepare(
        &self,
        space: &SpaceId,
        (backup, draft): (&Path, &Path),
        manifest: Option<&Manifest>,
        file: &Path,
    ) -> Result<(u64, u64, u64)> {
        copy(backup, draft)?;
        let key = self.installation_key(file)?;
        let store = SqliteStore::open_with(draft, Options { readers: 1, ..Options::default() }).await;
        let store = store.map_err(|error| {
            let what = format!("cannot restore {}: {}", backup.display(), error.what());
            Error::new(error.kind(), what).because(error)
        })?;
        let checked = check(&store, backup, (space, &key, self.settings()), manifest).await;
        store.close().await?;
        checked?;
        let engine = self.clone().with_key(key).open(draft).await?;
        let replayed = replay(&engine, &CurrentFile::of(file)?).await;
        let counts = match replayed {
            Ok(forgotten_again) => {
                let head = engine.events()?.head().await?.count();
                Ok((head, forgotten_again, engine.events()?.tombstones().await?.len() as u64))
            }
            Err(error) => Err(error),
        };
        engine.close().await?;
        counts
    }
}

/// Checks a copy against its checksums and its manifest.
async fn check(
    store: &SqliteStore,
    backup: &Path,
    (space, key, settings): (&SpaceId, &InstallationKey, &Settings),
    manifest: Option<&Manifest>,
) -> Result<()> {
    let damaged = |why: &str| {
        Error::new(ErrorKind::Corrupt, format!("cannot restore {}: it is damaged: {why}", backup.display()))
    };
    let found = store.check().await?;
    if !found.findings.is_empty() {
        return Err(damaged(&found.findings.join("; ")));
    }
    let Some(manifest) = manifest else { return Ok(()) };
    let named = SpaceId::new(manifest.space.clone()).unwrap_or_else(|_| space.clone());
    let (_, hash) = exported(store, &named, key, settings).await?;
    if hash.hash() == manifest.export_hash {
        return Ok(());
    }
    Err(damaged("its content is not what its manifest says"))
}

/// Erases in an engine what the present file lists as forgotten, and imports its tombstones; returns the number of events.
async fn replay(engine: &Engine, present: &CurrentFile) -> Result<u64> {
    let (events, key) = (engine.events()?, &engine.parts().key);
    let words: HashSet<_> = present.tombstones.values().map(|stone| stone.body).collect();
    let (mut stones, mut buried, mut after) = (Vec::new(), Vec::new(), Cursor::START);
    loop {
        let page = events.scan(&EventFilter::all(), after, MANY).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        let own = mnemal_events::tombstones_for(&page, key, engine.now());
        for (stone, event) in own.into_iter().zip(page.iter().filter(|event| event.body().is_some())) {
            if let Some(stone) = present.buries(stone, &words) {
                stones.push(stone);
                buried.push(event.clone());
            }
        }
    }
    let all: Vec<Tombstone> = present.tombstones.values().cloned().collect();
    let erasure = engine.erase_with_proof(&buried, &stones).await?;
    engine.log()?.adopt(&all).await?;
    if erasure.verified() {
        return Ok(stones.len() as u64);
    }
    Err(Error::internal(format!("a forgotten text would come back: {}", erasure.residual.join("; "))))
}

/// Moves the draft to the file's path, once no process has the file open.
async fn install(file: &Path, draft: &Path, aside: Option<&Path>) -> Result<()> {
    SqliteStore::alone(draft).await?;
    SqliteStore::alone(file).await?;
    SqliteStore::replace(file, draft, aside.unwrap_or(file))
}

/// Returns an error while another process has the file open.
pub(crate) fn refuse_held(file: &Path) -> Result<()> {
    if SqliteStore::is_held(file) {
        let what = format!("another process has {} open; end it and try again", file.display());
        return Err(Error::new(ErrorKind::Conflict, what));
    }
    Ok(())
}

/// Returns the name for a replaced file: `NAME.db.WHY-20260301T120000Z`.
pub(crate) fn aside(file: &Path, why: &str, at: Timestamp) -> PathBuf {
    let date: String = at.to_string().chars().take(19).filter(char::is_ascii_alphanumeric).collect();
    let name = |number: u32| match number {
        0 => beside(file, &format!(".{why}-{date}Z")),
        number => beside(file, &format!(".{why}-{date}Z-{number}")),
    };
    (0..=u32::MAX).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(0))
}

/// Returns a file name with a suffix, in the same folder.
pub(crate) fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Removes an unfinished draft.
pub(crate) fn clear(draft: &Path) -> Result<()> {
    for path in BESIDE.map(|end| beside(draft, end)) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let what = format!("cannot remove {}", path.display());
                return Err(Error::new(ErrorKind::Unavailable, what).because(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies a file with its write-ahead log, if there is one.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let copied = || -> std::io::Result<()> {
        if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        fs::copy(from, to)?;
        let log = beside(from, "-wal");
        if log.exists() {
            fs::copy(log, beside(to, "-wal"))?;
        }
        Ok(())
    };
    copied().map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("cannot copy {}", from.display())).because(error)
    })
}
