//! One caller's view of working memory: what it may write, and what it sees.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{
    Category, Embedder, Error, ErrorKind, Expired, KeyPrefix, Result, Slot, Tag, Timestamp, WorkingEntry,
    WorkingKey, WorkingStore,
};

use crate::steady::SteadyClock;

/// Longest value, in bytes. Source: RB-51.
const LONGEST_VALUE: usize = 256 * 1_024;
/// Longest time to live. Source: RB-35.
const LONGEST_TTL: Duration = Duration::from_hours(7 * 24);
/// Most tags of an entry. Source: SURFACES 11.4, the limit of an event.
const MOST_TAGS: usize = 64;

/// How long entries live, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingSettings {
    /// Time to live of an entry that names none, up to 7 days.
    pub ttl: Duration,
    /// Most entries of a namespace.
    pub room: NonZeroUsize,
}

impl Default for WorkingSettings {
    /// Five minutes and fifty entries. Source: RB-35, RB-36.
    fn default() -> Self {
        const ROOM: NonZeroUsize = NonZeroUsize::new(50).expect("50 is not zero");
        Self { ttl: Duration::from_mins(5), room: ROOM }
    }
}

/// How an entry is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// For how long; the settings' time without it.
    pub ttl: Option<Duration>,
    /// What it is filed under.
    pub category: Option<Category>,
    /// Words attached to it, at most 64.
    pub tags: Vec<Tag>,
}

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it stands.
    pub key: WorkingKey,
    /// First moment at which it is no longer there.
    pub expires_at: Timestamp,
    /// Which entries had to make room for it although they had not expired, first what would have expired first.
    pub evicted: Vec<WorkingKey>,
}

/// An entry without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingItem {
    /// Where it stands.
    pub key: WorkingKey,
    /// When it was put there.
    pub stored_at: Timestamp,
    /// First moment at which it is no longer there.
    pub expires_at: Timestamp,
    /// How long that is from now.
    pub expires_in: Duration,
    /// What it is filed under.
    pub category: Option<Category>,
    /// Words attached to it.
    pub tags: Vec<Tag>,
}

impl WorkingItem {
    pub(crate) fn new(key: WorkingKey, entry: WorkingEntry, now: Timestamp) -> Self {
        let WorkingEntry { value: _, stored_at, expires_at, category, tags } = entry;
        Self { key, stored_at, expires_at, expires_in: between(now, expires_at), category, tags }
    }
}

/// Working memory as one caller has it: it writes into its own namespace and reads all.
#[derive(Clone, Debug)]
pub struct WorkingMemory {
    store: Arc<dyn WorkingStore>,
    clock: Arc<SteadyClock>,
    own: KeyPrefix,
    settings: WorkingSettings,
    pub(crate) embedder: Slot<dyn Embedder>,
}

impl WorkingMemory {
    /// Puts a caller with a namespace of its own before a store. All callers of a process share one clock.
    pub fn new(
        store: Arc<dyn WorkingStore>,
        clock: Arc<SteadyClock>,
        own: KeyPrefix,
        settings: WorkingSettings,
    ) -> Self {
        Self { store, clock, own, settings, embedder: Slot::Empty }
    }

    /// Finds entries by what they mean too; without an embedder they are found by their words.
    #[must_use]
    pub fn with_embedder(self, embedder: Slot<dyn Embedder>) -> Self {
        Self { embedder, ..self }
    }

    /// Returns the caller's own namespace.
    pub fn own(&self) -> &KeyPrefix {
        &self.own
    }

    /// Reads a key as a caller names it: a plain name means the own namespace, a path is a path.
    ///
    /// # Errors
    /// `Invalid` for what is no key.
    pub fn key(&self, name: &str) -> Result<WorkingKey> {
        if name.contains('/') { WorkingKey::new(name) } else { self.own.key(name) }
    }

    /// Puts an entry into the own namespace, in the place of one with the same key.
    ///
    /// # Errors
    /// `Invalid` for a key outside the own namespace, a value above 256 KiB, a time to live of zero or above 7 days, or more
    /// than 64 tags; `Unavailable` when the store does not answer.
    pub async fn put(&self, name: &str, value: String, keep: Keep) -> Result<Kept> {
        let key = self.own_key(name)?;
        let ttl = keep.ttl.unwrap_or(self.settings.ttl);
        if value.len() > LONGEST_VALUE {
            let bytes = value.len();
            return Err(Error::invalid(format!(
                "a value has at most {LONGEST_VALUE} bytes, this has {bytes}"
            )));
        }
        if ttl.is_zero() || ttl > LONGEST_TTL {
            return Err(Error::invalid("a time to live lies above zero and is at most 7 days"));
        }
        if keep.tags.len() > MOST_TAGS {
            return Err(Error::invalid(format!("an entry has at most {MOST_TAGS} tags")));
        }
        let stored_at = self.clock.now();
        let expires_at = stored_at.plus_micros(i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX));
        let entry = WorkingEntry { value, stored_at, expires_at, category: keep.category, tags: keep.tags };
        let gone = self.store.put(&key, &entry, self.settings.room).await?;
        let evicted = gone.into_iter().filter(|(_, end)| stored_at < *end).map(|(key, _)| key).collect();
        Ok(Kept { key, expires_at, evicted })
    }

    /// Returns an entry, of whatever namespace.
    ///
    /// # Errors
    /// `NotFound` when there is none; with [`Expired`] as its cause, when there was one. `Invalid` for what is no key.
    pub async fn get(&self, name: &str) -> Result<WorkingEntry> {
        let key = self.key(name)?;
        let entry = self.store.get(&key).await?;
        let now = self.clock.now();
        if entry.lives_at(now) {
            return Ok(entry);
        }
        let gone = Expired(between(entry.expires_at, now));
        Err(Error::new(ErrorKind::NotFound, format!("nothing under {key}: {gone}")).because(gone))
    }

    /// Returns what there is below a prefix, by key, without the values.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn inventory(&self, prefix: &KeyPrefix) -> Result<Vec<WorkingItem>> {
        self.told(std::slice::from_ref(prefix)).await
    }

    /// Returns what there is below any of these prefixes, by key, each once and without the values.
    pub(crate) async fn told(&self, prefixes: &[KeyPrefix]) -> Result<Vec<WorkingItem>> {
        let (living, now) = self.living(prefixes).await?;
        Ok(living.into_iter().map(|(key, entry)| WorkingItem::new(key, entry, now)).collect())
    }

    /// Removes an entry of the own namespace together with what stands below it, and returns how many had not expired.
    ///
    /// # Errors
    /// `Invalid` for a key outside the own namespace; `Unavailable` when the store does not answer.
    pub async fn remove(&self, name: &str) -> Result<u64> {
        let prefix = KeyPrefix::from(self.own_key(name)?);
        let (living, _) = self.living(std::slice::from_ref(&prefix)).await?;
        self.store.remove(&prefix).await?;
        Ok(living.len() as u64)
    }

    /// Removes what has expired, of every namespace, and returns how many; nothing while the clock is in doubt.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn sweep(&self) -> Result<u64> {
        if !self.clock.is_believed() {
            return Ok(0);
        }
        self.store.sweep(self.clock.now()).await
    }

    /// Returns the entries below these prefixes that have not expired, and the moment for which that is so.
    pub(crate) async fn living(
        &self,
        prefixes: &[KeyPrefix],
    ) -> Result<(Vec<(WorkingKey, WorkingEntry)>, Timestamp)> {
        let mut entries = self.store.list(prefixes).await?;
        let now = self.clock.now();
        entries.retain(|(_, entry)| entry.lives_at(now));
        Ok((entries, now))
    }

    fn own_key(&self, name: &str) -> Result<WorkingKey> {
        let key = self.key(name)?;
        if self.own.holds(&key) && key.as_str() != self.own.as_str() {
            return Ok(key);
        }
        Err(Error::invalid(format!("{key} is outside of {}, the only place to write", self.own)))
    }
}

fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(to.as_micros() - from.as_micros()).unwrap_or_default())
}
