//! The spaces of one installation: opened by name on demand, and closed when the limit of open spaces is reached.

mod folder;
mod marker;
mod pool;
mod storage;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemal_core::{
    Error, ErrorKind, EventFilter, Gap, Layer, Origin, Result, Scope, SpaceId, Speaker, Timestamp, Within,
};
use mnemal_dream::Pace;
use mnemal_extract::{SpeakerLabel, speaker_label};
#[cfg(feature = "postgres")]
use mnemal_store::PostgresDatabase;

use self::folder::Folder;
use self::marker::Marker;
use self::pool::{Pool, PoolEntry};
use self::storage::SpaceStorage;
use crate::audit::{AuditAct, AuditRecord};
use crate::builder::Builder;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::span::{Operation, OperationSpan};
use crate::status::Stats;

/// The space that is read together with every other one, unless the setting `read_global` is off: for facts that apply
/// everywhere.
pub const GLOBAL: &str = "global";
/// Folder of the databases in a data directory. Source: own choice, apart from keys and other files of the installation.
const FOLDER: &str = "spaces";

/// Whether a space is read together with every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlwaysOn {
    /// It is read only when it is named.
    No,
    /// It is read with every other space.
    Yes,
}

/// An entry of the list of spaces, available without opening the space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceEntry {
    /// Its name.
    pub space: SpaceId,
    /// Size of its database and write-ahead log, in bytes; 0 where many spaces share a database.
    pub bytes: u64,
    /// Whether it is read together with every other one.
    pub always_on: AlwaysOn,
    /// When it first became always-on; `None` if it never was, or if the time is unknown.
    pub always_on_since: Option<Timestamp>,
    /// Minimum interval between two scheduled cycles over its notes, in minutes: its own, or that of the settings.
    pub consolidate_interval_mins: u32,
    /// Speaker names of its owner, in addition to turns without a speaker and labels such as `user`; empty if none are set.
    pub owner: Vec<String>,
}

/// A report about one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceReport {
    /// Its list entry.
    pub entry: SpaceEntry,
    /// Its database; empty in memory and in PostgreSQL.
    pub file: PathBuf,
    /// Counts.
    pub stats: Stats,
    /// Recording time of its newest event; `None` for an empty space.
    pub last_at: Option<Timestamp>,
}

/// The spaces of one data directory; cheap to clone.
///
/// Each is one SQLite file, `spaces/NAME.db`, or all are in one database of PostgreSQL. At most `spaces.max_open` are open:
/// opening another one first closes the least recently used one, and those that were idle for 60 seconds. A space with a live
/// [`Memory`] is never closed. A file `spaces/NAME.always-on`, or a column in the database, marks an always-on space, and holds
/// its interval; there is no other registry.
#[derive(Clone, Debug)]
pub struct Spaces {
    inner: Arc<Inner>,
    /// The spaces that this handle may access.
    known: Within<Vec<SpaceId>>,
}

#[derive(Debug)]
struct Inner {
    storage: SpaceStorage,
    template: Builder,
    pool: Pool,
    /// The data directory, with the installation's key and the audit log; empty for an embedded engine.
    data: PathBuf,
}

impl Spaces {
    /// Creates it from a data directory, which need not exist, and the template of every engine.
    ///
    /// Without a key in the template, the installation's key is kept in `installation.key` in that directory.
    ///
    /// # Errors
    /// `Invalid` for settings out of range.
    pub fn new(data: impl Into<PathBuf>, template: Builder) -> Result<Self> {
        template.settings().check()?;
        let data = data.into();
        let storage = SpaceStorage::Folder(Folder::new(data.join(FOLDER)));
        Ok(Self::in_storage(data, storage, template))
    }

    /// Creates it from a database of PostgreSQL and a data directory, which holds the installation's key and the audit log, and
    /// need not exist. Any number of servers may use one database, if all have the same key; the database is bound to the first
    /// one that opens it.
    ///
    /// # Errors
    /// `Invalid` for settings out of range, `Conflict` for a database of another installation key, `Unavailable` when it does not
    /// answer, or the key can be neither read nor created.
    #[cfg(feature = "postgres")]
    pub async fn in_database(
        database: PostgresDatabase,
        data: impl Into<PathBuf>,
        template: Builder,
    ) -> Result<Self> {
        template.settings().check()?;
        let data = data.into();
        let spaces = Self::in_storage(data, SpaceStorage::Database(database.clone()), template);
        let key = spaces.inner.template.installation_key(&spaces.inner.data.join(crate::key_file::NAME))?;
        database.bind(&key.hash("installation", &[])).await?;
        Ok(spaces)
    }

    fn in_storage(data: PathBuf, storage: SpaceStorage, template: Builder) -> Self {
        let pool = Pool::new(template.settings().spaces.max_open, template.clock());
        let template = template.with_key_file_unless_known(data.join(crate::key_file::NAME));
        Self { inner: Arc::new(Inner { storage, template, pool, data }), known: Within::All }
    }

    /// Returns the one space of an engine that is open: of a file of any name, or in memory.
    ///
    /// It stays open until [`close`](Self::close), and cannot be opened again. No other space exists or can be created beside it,
    /// and it can neither be removed nor marked as always-on.
    ///
    /// # Errors
    /// `Invalid` for settings out of range.
    pub fn of_engine(engine: Engine, space: SpaceId) -> Result<Self> {
        let template = Engine::builder().with_settings(engine.settings().clone());
        template.settings().check()?;
        let pool = Pool::of_one(space.clone(), engine, template.clock());
        let storage = SpaceStorage::Embedded(space.clone());
        let inner = Inner { storage, template, pool, data: PathBuf::new() };
        Ok(Self { inner: Arc::new(inner), known: Within::Only(vec![space]) })
    }

    /// Returns the same spaces restricted to these: for every call, another one does not exist, cannot be created, is in no list,
    /// and is not read as a secondary space.
    #[must_use]
    pub fn only(&self, known: &Within<Vec<SpaceId>>) -> Self {
        let known = match known {
            Within::All => self.known.clone(),
            Within::Only(spaces) => {
                Within::Only(spaces.iter().filter(|space| self.knows(space)).cloned().collect())
            }
        };
        Self { inner: Arc::clone(&self.inner), known }
    }

    /// Returns the pace of background work from the settings of these spaces, for [`run_background`](Self::run_background).
    pub fn pace(&self) -> Pace {
        self.inner.template.settings().extract.pace()
    }

    /// Returns the totals of requests to models outside the process since its start, over all spaces, closed ones included.
    pub fn asked_of_models(&self) -> mnemal_providers::RequestCounts {
        self.inner.template.asked_of_models()
    }

    /// Opens an existing space.
    ///
    /// # Errors
    /// `NotFound` when there is none with this name, `Conflict` when it is being removed, `Unavailable` when `spaces.max_open`
    /// spaces are open and in use; and as [`Builder::open`].
    pub async fn open(&self, space: &SpaceId) -> Result<Memory> {
        if !self.has(space).await? {
            return Err(Error::not_found(format!("no space {space}")));
        }
        self.open_or_create(space).await
    }

    /// Opens a space, and creates it if it does not exist.
    ///
    /// # Errors
    /// As [`open`](Self::open), without `NotFound`.
    pub async fn open_or_create(&self, space: &SpaceId) -> Result<Memory> {
        Ok(self.engine(space).await?.memory(Scope::whole(space.clone())))
    }

    /// Creates a space.
    ///
    /// # Errors
    /// `Conflict` when one with this name exists; and as [`open`](Self::open).
    pub async fn create(&self, space: &SpaceId, always_on: AlwaysOn) -> Result<Memory> {
        if self.has(space).await? {
            return Err(Error::new(ErrorKind::Conflict, format!("there is a space {space}")));
        }
        let made = async {
            let memory = self.open_or_create(space).await?;
            self.set_always_on(space, always_on).await?;
            Ok(memory)
        };
        OperationSpan::new(Operation::CreateStore).space(space).run(Box::pin(made), |_, _| ()).await
    }

    /// Returns all spaces by name, without opening any.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be read, or the database does not answer.
    pub async fn list(&self) -> Result<Vec<SpaceEntry>> {
        let entries = self.inner.storage.entries().await?.into_iter();
        let known = entries.filter(|(space, _)| self.knows(space));
        Ok(known.map(|(space, marker)| self.entry_of(space, marker)).collect())
    }

    /// Whether a space exists.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn contains(&self, space: &SpaceId) -> Result<bool> {
        Ok(self.knows(space) && self.inner.storage.has(space).await?)
    }

    /// Returns the list entry of a space, without opening it.
    ///
    /// # Errors
    /// `NotFound` when there is none with this name, `Unavailable` when the database does not answer.
    pub async fn entry(&self, space: &SpaceId) -> Result<SpaceEntry> {
        if !self.contains(space).await? {
            return Err(Error::not_found(format!("no space {space}")));
        }
        let marker = self.inner.storage.marked(space).await?;
        Ok(self.entry_of(space.clone(), marker))
    }

    /// Returns a report about a space.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn show(&self, space: &SpaceId) -> Result<SpaceReport> {
        let memory = self.open(space).await?;
        let marker = self.inner.storage.marked(space).await?;
        let newest = memory.events().latest(&EventFilter::all(), NonZeroUsize::MIN).await?;
        Ok(SpaceReport {
            entry: self.entry_of(space.clone(), marker),
            file: memory.engine.file().map(Path::to_owned).unwrap_or_default(),
            stats: memory.admin().stats().await?,
            last_at: newest.first().map(|event| event.recorded_at),
        })
    }

    /// Opens a space as always-on, from its next opening on: creates it if it does not exist, and marks it if it is not marked;
    /// its interval and content stay unchanged. Idempotent.
    ///
    /// # Errors
    /// As [`open_or_create`](Self::open_or_create); `Unavailable` when its marker cannot be written.
    pub async fn use_always_on(&self, space: &SpaceId) -> Result<Memory> {
        let memory = self.open_or_create(space).await?;
        self.set_always_on(space, AlwaysOn::Yes).await?;
        Ok(memory)
    }

    /// Sets whether a space is always-on, from its next opening on, which includes scheduled insights. A space that is no longer
    /// always-on keeps its interval.
    ///
    /// # Errors
    /// `NotFound` when there is none with this name, `Unavailable` when its marker cannot be written.
    pub async fn set_always_on(&self, space: &SpaceId, always_on: AlwaysOn) -> Result<()> {
        self.mark(space, |marker| {
            let is_on = always_on == AlwaysOn::Yes;
            let since = marker.since.or_else(|| is_on.then(|| self.inner.template.clock().now()));
            Marker { is_on, since, ..marker }
        })
        .await?;
        if let Some(engine) = self.inner.pool.opened(space) {
            engine.look_for_insights(always_on);
        }
        Ok(())
    }

    /// Sets the minimum interval between two scheduled cycles over the notes of a space, in minutes, from its next opening on.
    ///
    /// # Errors
    /// `Invalid` for 0 minutes; `NotFound` when there is no space with this name, `Unavailable` when its marker cannot be
    /// written.
    pub async fn set_consolidate_interval(&self, space: &SpaceId, mins: u32) -> Result<()> {
        if mins == 0 {
            return Err(Error::invalid("consolidate_interval_mins must be at least 1"));
        }
        self.mark(space, |marker| Marker { interval_mins: Some(mins), ..marker }).await
    }

    /// Sets the speaker names of a space's owner, in addition to turns without a speaker and labels such as `user`, from its next
    /// opening on. Turns under these names count as the user's own; the wishes of other speakers are not instructions. Rebuild an
    /// existing graph afterwards.
    ///
    /// # Errors
    /// `Invalid` for the label of a machine; `NotFound` when there is no space with this name, `Unavailable` when its marker
    /// cannot be written.
    pub async fn set_owner(&self, space: &SpaceId, names: &[Speaker]) -> Result<()> {
        let is_machine = |name: &Speaker| speaker_label(name.as_str()).is_some_and(SpeakerLabel::is_machine);
        if let Some(machine) = names.iter().find(|name| is_machine(name)) {
            return Err(Error::invalid(format!("{:?} is what a machine is called", machine.as_str())));
        }
        let owner = names.iter().map(|name| name.as_str().trim().to_owned()).collect();
        self.mark(space, |marker| Marker { owner, ..marker }).await
    }

    /// Returns the always-on spaces, by name.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be read, or the database does not answer.
    pub async fn always_on(&self) -> Result<Vec<SpaceId>> {
        let (mut always_on, _) = self.inner.storage.standing().await?;
        always_on.retain(|space| self.knows(space));
        Ok(always_on)
    }

    /// Whether a space exists and is always-on.
    pub(crate) async fn is_always_on(&self, space: &SpaceId) -> bool {
        let is_on = async { Ok(self.has(space).await? && self.inner.storage.marked(space).await?.is_on) };
        let is_on: Result<bool> = is_on.await;
        // Who cannot look goes on with what was so.
        is_on.unwrap_or(true)
    }

    async fn mark(&self, space: &SpaceId, change: impl FnOnce(Marker) -> Marker) -> Result<()> {
        if !self.has(space).await? {
            return Err(Error::not_found(format!("no space {space}")));
        }
        self.inner.storage.check_many()?;
        let marked = self.inner.storage.marked(space).await?;
        let changed = change(marked.clone());
        if changed == marked { Ok(()) } else { self.inner.storage.mark(space, &changed).await }
    }

    /// Removes a space permanently: its database and related files, its marker, and the copies that migrations, recoveries and
    /// restores left in the folder. There is no undo; backups elsewhere are not touched.
    ///
    /// A process that opens the file between the check and the removal writes into an unlinked file.
    ///
    /// # Errors
    /// `NotFound` when there is none with this name; `Conflict` when it is open, here or in another process; `Invalid` for a file
    /// that is not a space; `Unavailable` when a file cannot be unlinked.
    pub async fn remove(&self, space: &SpaceId) -> Result<()> {
        OperationSpan::new(Operation::DeleteStore)
            .space(space)
            .run(Box::pin(self.unlink(space)), |(), _| ())
            .await
    }

    async fn unlink(&self, space: &SpaceId) -> Result<()> {
        if !self.has(space).await? {
            return Err(Error::not_found(format!("no space {space}")));
        }
        self.inner.storage.check_many()?;
        let mut barred = self.inner.pool.bar(space)?;
        if let Some(engine) = barred.engine.take() {
            engine.close().await?;
        }
        let log = self.inner.template.audit_log(&self.inner.data.join(crate::key_file::NAME))?;
        self.inner.storage.remove(space).await?;
        match log {
            Some(log) => {
                let act = AuditRecord::new(AuditAct::SpaceRemoved, Origin::UserDirect).space(space);
                log.append_done(&act, self.inner.template.clock().now())
            }
            None => Ok(()),
        }
    }

    /// Returns the memory with secondary spaces: the named ones, `global` if it exists and the settings enable it, and every
    /// always-on space. None is created by this.
    ///
    /// An always-on space that cannot be opened is a gap of every answer.
    ///
    /// # Errors
    /// As [`open`](Self::open), for a named one; `Unavailable` when the folder cannot be read, or the database does not answer.
    pub async fn beside(&self, primary: &Memory, named: &[SpaceId]) -> Result<Memory> {
        let mut memories = Vec::new();
        for space in named.iter().filter(|space| *space != &primary.scope.space) {
            memories.push(self.open(space).await?);
        }
        let mut gaps = Vec::new();
        for space in self.always_on_spaces().await? {
            if space == primary.scope.space || named.contains(&space) {
                continue;
            }
            match self.open(&space).await {
                Ok(memory) => memories.push(memory),
                Err(error) => gaps.push(Gap { layer: Layer::Events, cause: error.into() }),
            }
        }
        Ok(primary.reading_beside(memories, gaps))
    }

    /// Closes every space without a live handle, and the space of an embedded engine, which is let go; its later calls fail.
    ///
    /// # Errors
    /// `Unavailable` when a write-ahead log could not be emptied; acknowledged events are safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        let embedded = self.inner.pool.take_embedded();
        let mut closed = Ok(());
        for engine in self.inner.pool.unused().into_iter().chain(embedded) {
            closed = closed.and(engine.close().await);
        }
        closed
    }

    /// Returns the number of open spaces.
    pub fn n_open(&self) -> usize {
        self.inner.pool.n_open()
    }

    /// Returns the spaces that are read without being named.
    async fn always_on_spaces(&self) -> Result<Vec<SpaceId>> {
        let (mut standing, has_global) = self.inner.storage.standing().await?;
        let global = SpaceId::new(GLOBAL)?;
        if self.inner.template.settings().read_global && has_global {
            standing.retain(|space| *space != global);
            standing.insert(0, global);
        }
        standing.retain(|space| self.knows(space));
        Ok(standing)
    }

    fn knows(&self, space: &SpaceId) -> bool {
        self.known.only().is_none_or(|known| known.contains(space))
    }

    /// As [`contains`](Self::contains); an open space of a shared database is believed to exist, without a trip.
    async fn has(&self, space: &SpaceId) -> Result<bool> {
        let is_open = || self.inner.storage.is_shared() && self.inner.pool.opened(space).is_some();
        Ok(self.knows(space) && (is_open() || self.inner.storage.has(space).await?))
    }

    async fn engine(&self, space: &SpaceId) -> Result<Engine> {
        if !self.knows(space) {
            let is_embedded = matches!(self.inner.storage, SpaceStorage::Embedded(_));
            let beside = if is_embedded { ": an embedded memory is one space" } else { "" };
            return Err(Error::not_found(format!("no space {space}{beside}")));
        }
        if matches!(self.inner.storage, SpaceStorage::Embedded(_)) {
            let closed = || Error::new(ErrorKind::Unavailable, format!("the memory {space} is closed"));
            return self.inner.pool.opened(space).ok_or_else(closed);
        }
        let (entry, leaving) = self.inner.pool.enter(space)?;
        for engine in leaving {
            // The next opening moves what is left in its write-ahead log.
            let _later = engine.close().await;
        }
        let permit = match entry {
            PoolEntry::Engine(engine) => return Ok(engine),
            PoolEntry::Permit(permit) => permit,
        };
        let mut template = self.inner.template.clone();
        let marked = self.inner.storage.marked(space).await?;
        let is_on = marked.always_on();
        if let Some(mins) = marked.interval_mins {
            template = template.with_interval(mins);
        }
        if !marked.owner.is_empty() {
            template = template.with_owner(marked.owner);
        }
        let engine = self.inner.storage.open(space, template).await?;
        engine.look_for_insights(is_on);
        let (engine, twin) = permit.take(engine);
        if let Some(twin) = twin {
            let _later = twin.close().await;
        }
        Ok(engine)
    }

    /// Returns the size of a space in bytes: of its database and write-ahead log; 0 in memory, and where many spaces share a
    /// database.
    fn bytes(&self, space: &SpaceId) -> u64 {
        if matches!(self.inner.storage, SpaceStorage::Embedded(_)) {
            let engine = self.inner.pool.opened(space);
            return engine.and_then(|engine| engine.file().map(folder::size)).unwrap_or_default();
        }
        self.inner.storage.bytes(space)
    }

    fn entry_of(&self, space: SpaceId, marker: Marker) -> SpaceEntry {
        SpaceEntry {
            bytes: self.bytes(&space),
            always_on: if marker.is_on { AlwaysOn::Yes } else { AlwaysOn::No },
            always_on_since: marker.since,
            consolidate_interval_mins: marker
                .interval_mins
                .unwrap_or(self.inner.template.settings().dream.interval_mins),
            owner: marker.owner,
            space,
        }
    }
}
