//! All spaces of one installation: found by name, opened when they are asked for, closed when others need their place.

mod folder;
mod pool;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use mnemal_core::{
    Error, ErrorKind, EventFilter, Gap, Layer, Origin, Result, Scope, SpaceId, Speaker, Timestamp, Within,
};
use mnemal_dream::Pace;
use mnemal_extract::{SpeakerLabel, speaker_label};
use mnemal_store::SqliteStore;

use self::folder::{Folder, Marker};
use self::pool::{Entry, Pool};
use crate::audit::{Audited, AuditedAct};
use crate::builder::Builder;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::span::{Observed, Operation};
use crate::status::Stats;

/// The space that is read beside every other one, unless the setting `read_global` says no: what holds for the user
/// wherever he works.
pub const GLOBAL: &str = "global";
/// Folder of the databases in a data directory. Source: RELIABILITY 3.6.
const FOLDER: &str = "spaces";

/// Whether a space is read beside every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlwaysOn {
    /// It is read when it is named.
    No,
    /// It is read whatever space is named.
    Yes,
}

/// A space as a list shows it, without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceEntry {
    /// Its name.
    pub space: SpaceId,
    /// Bytes of its database and of what is written ahead of it.
    pub bytes: u64,
    /// Whether it is read beside every other one.
    pub always_on: AlwaysOn,
    /// When it became always-on for the first time; `None` for one that never was, or of which nobody wrote it down.
    pub always_on_since: Option<Timestamp>,
    /// Least minutes between two cycles over its notes that nobody asked for; those of the settings unless it has its own.
    pub consolidate_interval_mins: u32,
    /// Under which names its owner speaks, beside none at all and labels as `user`; empty where nobody said.
    pub owner: Vec<String>,
}

/// What is known of one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceReport {
    /// What a list shows of it.
    pub entry: SpaceEntry,
    /// Its database.
    pub file: PathBuf,
    /// Counts.
    pub stats: Stats,
    /// When its newest event was recorded; `None` for an empty space.
    pub last_at: Option<Timestamp>,
}

/// All spaces of one data directory; cheap to clone.
///
/// Each is one SQLite file, `spaces/NAME.db`. At most `spaces.max_open` of them are open: when another one is asked for, the
/// one that was not asked for longest is closed first, and those that were not for 60 seconds. A space that somebody holds a
/// [`Memory`] of is never closed. A file `spaces/NAME.always-on` marks a space that is read beside every other one, and holds
/// its interval; there is no other register.
#[derive(Clone, Debug)]
pub struct Spaces {
    inner: Arc<Inner>,
    /// Those that are there for whoever holds this.
    known: Within<Vec<SpaceId>>,
}

#[derive(Debug)]
struct Inner {
    folder: Folder,
    template: Builder,
    pool: Pool,
}

impl Spaces {
    /// Takes a data directory, which need not exist, and what every engine is made of.
    ///
    /// Without a key of the template's own the installation's key is kept in `installation.key` in that directory.
    ///
    /// # Errors
    /// `Invalid` for settings out of range.
    pub fn new(data: impl Into<PathBuf>, template: Builder) -> Result<Self> {
        template.settings().check()?;
        let data = data.into();
        let pool = Pool::new(template.settings().spaces.max_open, template.clock());
        let template = template.with_key_file_unless_known(data.join(crate::key_file::NAME));
        let inner = Inner { folder: Folder::new(data.join(FOLDER)), template, pool };
        Ok(Self { inner: Arc::new(inner), known: Within::All })
    }

    /// Returns the same spaces for somebody who must know no others than these: to every call another one is not there, cannot
    /// be made, is in no list, and is not read beside one that is known.
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

    /// Returns how often background work steps by the settings of these spaces, for [`attend`](Self::attend).
    pub fn pace(&self) -> Pace {
        self.inner.template.settings().extract.pace()
    }

    /// Returns what was asked of models outside the process since it began, over all spaces, those that are closed again too.
    pub fn asked_of_models(&self) -> mnemal_providers::Asked {
        self.inner.template.asked_of_models()
    }

    /// Opens a space that is there.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name, `Conflict` when it is being removed, `Unavailable` when
    /// `spaces.max_open` spaces are open and held; and as [`Builder::open`].
    pub async fn open(&self, space: &SpaceId) -> Result<Memory> {
        if !self.has(space) {
            return Err(Error::not_found(format!("no space {space}")));
        }
        self.open_or_create(space).await
    }

    /// Opens a space, which is made if it is not there.
    ///
    /// # Errors
    /// As [`open`](Self::open), without `NotFound`.
    pub async fn open_or_create(&self, space: &SpaceId) -> Result<Memory> {
        Ok(self.engine(space).await?.memory(Scope::whole(space.clone())))
    }

    /// Makes a space.
    ///
    /// # Errors
    /// `Conflict` when there is one of this name; and as [`open`](Self::open).
    pub async fn create(&self, space: &SpaceId, always_on: AlwaysOn) -> Result<Memory> {
        if self.has(space) {
            return Err(Error::new(ErrorKind::Conflict, format!("there is a space {space}")));
        }
        let made = async {
            let memory = self.open_or_create(space).await?;
            self.set_always_on(space, always_on)?;
            Ok(memory)
        };
        Observed::new(Operation::CreateStore).space(space).run(Box::pin(made), |_, _| ()).await
    }

    /// Returns all spaces by name, without opening any.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be read.
    pub fn list(&self) -> Result<Vec<SpaceEntry>> {
        let names = self.inner.folder.names()?.into_iter();
        Ok(names.filter(|space| self.knows(space)).map(|space| self.entry(space)).collect())
    }

    /// Returns what is known of a space.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn show(&self, space: &SpaceId) -> Result<SpaceReport> {
        let memory = self.open(space).await?;
        let newest = memory.latest(&EventFilter::all(), NonZeroUsize::MIN).await?;
        Ok(SpaceReport {
            entry: self.entry(space.clone()),
            file: self.inner.folder.file(space),
            stats: memory.stats().await?,
            last_at: newest.first().map(|event| event.recorded_at),
        })
    }

    /// Opens a space that is read beside every other one from the next opening on: it is made if it is not there, and becomes
    /// always-on if it is not; its interval and what it holds stay as they were. Twice is as once.
    ///
    /// # Errors
    /// As [`open_or_create`](Self::open_or_create); `Unavailable` when its marker cannot be written.
    pub async fn use_always_on(&self, space: &SpaceId) -> Result<Memory> {
        let memory = self.open_or_create(space).await?;
        self.set_always_on(space, AlwaysOn::Yes)?;
        Ok(memory)
    }

    /// Says whether a space is read beside every other one, from the next opening on, and looks for insights by itself. One that is
    /// not any more keeps its interval.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name, `Unavailable` when its marker cannot be written.
    pub fn set_always_on(&self, space: &SpaceId, always_on: AlwaysOn) -> Result<()> {
        self.mark(space, |marker| {
            let is_on = always_on == AlwaysOn::Yes;
            let since = marker.since.or_else(|| is_on.then(|| self.inner.template.clock().now()));
            Marker { is_on, since, ..marker }
        })?;
        if let Some(engine) = self.inner.pool.opened(space) {
            engine.look_for_insights(always_on);
        }
        Ok(())
    }

    /// Sets the least minutes between two cycles over the notes of a space that nobody asked for, from its next opening on.
    ///
    /// # Errors
    /// `Invalid` for no minutes; `NotFound` when there is no space of this name, `Unavailable` when its marker cannot be
    /// written.
    pub fn set_consolidate_interval(&self, space: &SpaceId, mins: u32) -> Result<()> {
        if mins == 0 {
            return Err(Error::invalid("consolidate_interval_mins must be at least 1"));
        }
        self.mark(space, |marker| Marker { interval_mins: Some(mins), ..marker })
    }

    /// Says under which names the owner of a space speaks, beside none at all and labels as `user`, from its next opening on: his
    /// words are the user's, and the wishes of others are no orders. Make the graph anew where it was read before.
    ///
    /// # Errors
    /// `Invalid` for the label of a machine; `NotFound` when there is no space of this name, `Unavailable` when its marker cannot be
    /// written.
    pub fn set_owner(&self, space: &SpaceId, names: &[Speaker]) -> Result<()> {
        let is_machine = |name: &Speaker| speaker_label(name.as_str()).is_some_and(SpeakerLabel::is_machine);
        if let Some(machine) = names.iter().find(|name| is_machine(name)) {
            return Err(Error::invalid(format!("{:?} is what a machine is called", machine.as_str())));
        }
        let owner = names.iter().map(|name| name.as_str().trim().to_owned()).collect();
        self.mark(space, |marker| Marker { owner, ..marker })
    }

    /// Returns the spaces that are always on, by name.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be read.
    pub fn always_on(&self) -> Result<Vec<SpaceId>> {
        let mut always_on = self.inner.folder.always_on()?;
        always_on.retain(|space| self.knows(space));
        Ok(always_on)
    }

    /// Whether a space is there and always on.
    pub(crate) fn is_always_on(&self, space: &SpaceId) -> bool {
        self.has(space) && self.inner.folder.marked(space).is_on
    }

    fn mark(&self, space: &SpaceId, change: impl FnOnce(Marker) -> Marker) -> Result<()> {
        let folder = &self.inner.folder;
        if !self.has(space) {
            return Err(Error::not_found(format!("no space {space}")));
        }
        let marked = folder.marked(space);
        let changed = change(marked.clone());
        if changed == marked { Ok(()) } else { folder.mark(space, &changed) }
    }

    /// Removes a space for good: its database with all that stands beside it, its marker, and the copies that migrations,
    /// repairs and restorations left in the folder. There is no undo; backups that were made elsewhere stay.
    ///
    /// A process that opens the file between the check and its end writes into a file that has no name any more.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name; `Conflict` when it is open, here or in another process; `Invalid` for a
    /// file that is no space; `Unavailable` when a file cannot be unlinked.
    pub async fn remove(&self, space: &SpaceId) -> Result<()> {
        Observed::new(Operation::DeleteStore).space(space).run(Box::pin(self.unlink(space)), |(), _| ()).await
    }

    async fn unlink(&self, space: &SpaceId) -> Result<()> {
        let folder = &self.inner.folder;
        if !self.has(space) {
            return Err(Error::not_found(format!("no space {space}")));
        }
        let mut barred = self.inner.pool.bar(space)?;
        if let Some(engine) = barred.engine.take() {
            engine.close().await?;
        }
        self.is_ours_alone(space).await?;
        let log = self.inner.template.audit_log(&folder.file(space))?;
        folder.remove(space)?;
        match log {
            Some(log) => {
                let act = Audited::new(AuditedAct::SpaceRemoved, Origin::UserDirect).space(space);
                log.done(&act, self.inner.template.clock().now())
            }
            None => Ok(()),
        }
    }

    /// Returns the memory, which from now on is read together with the spaces that are named, with `global` if there is one
    /// and the settings say so, and with every always-on space. None is made by this.
    ///
    /// One of the latter that cannot be opened is a gap of every answer.
    ///
    /// # Errors
    /// As [`open`](Self::open), for one that is named; `Unavailable` when the folder cannot be read.
    pub async fn beside(&self, primary: &Memory, named: &[SpaceId]) -> Result<Memory> {
        let mut memories = Vec::new();
        for space in named.iter().filter(|space| *space != &primary.scope.space) {
            memories.push(self.open(space).await?);
        }
        let mut gaps = Vec::new();
        for space in self.standing()? {
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

    /// Closes every space that nobody holds.
    ///
    /// # Errors
    /// `Unavailable` when a write-ahead log could not be emptied; what was acknowledged is safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        let mut closed = Ok(());
        for engine in self.inner.pool.unused() {
            closed = closed.and(engine.close().await);
        }
        closed
    }

    /// Returns how many spaces are open.
    pub fn n_open(&self) -> usize {
        self.inner.pool.n_open()
    }

    /// Returns the spaces that are read without being named.
    fn standing(&self) -> Result<Vec<SpaceId>> {
        let mut standing = self.always_on()?;
        let global = SpaceId::new(GLOBAL)?;
        if self.inner.template.settings().read_global && self.has(&global) {
            standing.retain(|space| *space != global);
            standing.insert(0, global);
        }
        Ok(standing)
    }

    fn knows(&self, space: &SpaceId) -> bool {
        self.known.only().is_none_or(|known| known.contains(space))
    }

    fn has(&self, space: &SpaceId) -> bool {
        self.knows(space) && self.inner.folder.has(space)
    }

    async fn engine(&self, space: &SpaceId) -> Result<Engine> {
        if !self.knows(space) {
            return Err(Error::not_found(format!("no space {space}")));
        }
        let (entry, leaving) = self.inner.pool.enter(space)?;
        for engine in leaving {
            // What it could not move out of its write-ahead log, the next opening does.
            let _later = engine.close().await;
        }
        let seat = match entry {
            Entry::Engine(engine) => return Ok(engine),
            Entry::Seat(seat) => seat,
        };
        let mut template = self.inner.template.clone();
        let marked = self.inner.folder.marked(space);
        let is_on = marked.always_on();
        if let Some(mins) = marked.interval_mins {
            template = template.with_interval(mins);
        }
        if !marked.owner.is_empty() {
            template = template.with_owner(marked.owner);
        }
        let engine = template.open(self.inner.folder.file(space)).await?;
        engine.look_for_insights(is_on);
        let (engine, twin) = seat.take(engine);
        if let Some(twin) = twin {
            let _later = twin.close().await;
        }
        Ok(engine)
    }

    /// Makes sure that the file is a space, though it may be a damaged one, and that no other process has it open.
    async fn is_ours_alone(&self, space: &SpaceId) -> Result<()> {
        let file = self.inner.folder.file(space);
        match SqliteStore::open(&file).await {
            Ok(store) => store.close().await?,
            Err(error) if error.kind() == ErrorKind::Corrupt => {}
            Err(error) => return Err(error),
        }
        SqliteStore::alone(&file).await
    }

    fn entry(&self, space: SpaceId) -> SpaceEntry {
        let folder = &self.inner.folder;
        let marked = folder.marked(&space);
        SpaceEntry {
            bytes: folder.bytes(&space),
            always_on: if marked.is_on { AlwaysOn::Yes } else { AlwaysOn::No },
            always_on_since: marked.since,
            consolidate_interval_mins: marked
                .interval_mins
                .unwrap_or(self.inner.template.settings().dream.interval_mins),
            owner: marked.owner,
            space,
        }
    }
}
