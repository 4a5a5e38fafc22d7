//! Working memory from one caller's view: write access and visibility.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{
    Category, Embedder, Error, ErrorKind, ExpiryError, KeyPrefix, Result, Slot, Tag, Timestamp, WorkingEntry,
    WorkingKey, WorkingStore,
};

use crate::steady::SteadyClock;

/// Longest value, in bytes. Source: RB-51, up to 256 KiB.
const LONGEST_VALUE: usize = 256 * 1_024;
/// Longest time to live. Source: RB-35, at most a week.
const LONGEST_TTL: Duration = Duration::from_hours(7 * 24);
/// Most tags of an entry. Source: the same limit as for an event.
const MOST_TAGS: usize = 64;

/// Lifetime and capacity of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingSettings {
    /// Default time to live, up to 7 days.
    pub ttl: Duration,
    /// Most entries of a namespace.
    pub room: NonZeroUsize,
}

impl Default for WorkingSettings {
    /// Five minutes and fifty entries. Source: RockBot's working memory (RB-35, RB-36).
    fn default() -> Self {
        const ROOM: NonZeroUsize = NonZeroUsize::new(50).expect("50 is not zero");
        Self { ttl: Duration::from_mins(5), room: ROOM }
    }
}

/// Options of a stored entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutOptions {
    /// Time to live; the default of the settings if `None`.
    pub ttl: Option<Duration>,
    /// Its category.
    pub category: Option<Category>,
    /// Its tags, at most 64.
    pub tags: Vec<Tag>,
}

/// The result of storing an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOutcome {
    /// Its key.
    pub key: WorkingKey,
    /// The moment at which it expires.
    pub expires_at: Timestamp,
    /// Unexpired entries evicted to make room, earliest expiry first.
    pub evicted: Vec<WorkingKey>,
}

/// An entry without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingItem {
    /// Its key.
    pub key: WorkingKey,
    /// When it was stored.
    pub stored_at: Timestamp,
    /// The moment at which it expires.
    pub expires_at: Timestamp,
    /// The time left.
    pub expires_in: Duration,
    /// Its category.
    pub category: Option<Category>,
    /// Its tags.
    pub tags: Vec<Tag>,
}

impl WorkingItem {
    pub(crate) fn new(key: WorkingKey, entry: WorkingEntry, now: Timestamp) -> Self {
        let WorkingEntry { value: _, stored_at, expires_at, category, tags } = entry;
        Self { key, stored_at, expires_at, expires_in: between(now, expires_at), category, tags }
    }
}

/// Working memory for one caller, who writes only into its own namespace and reads all of them.
#[derive(Clone, Debug)]
pub struct WorkingMemory {
    store: Arc<dyn WorkingStore>,
    clock: Arc<SteadyClock>,
    own: KeyPrefix,
    settings: WorkingSettings,
    pub(crate) embedder: Slot<dyn Embedder>,
}

impl WorkingMemory {
    /// Creates a caller with its own namespace over a store. All callers of a process share one clock.
    pub fn new(
        store: Arc<dyn WorkingStore>,
        clock: Arc<SteadyClock>,
        own: KeyPrefix,
        settings: WorkingSettings,
    ) -> Self {
        Self { store, clock, own, settings, embedder: Slot::Empty }
    }

    /// Adds vector search; without an embedder entries are found by words only.
    #[must_use]
    pub fn with_embedder(self, embedder: Slot<dyn Embedder>) -> Self {
        Self { embedder, ..self }
    }

    /// Returns the caller's own namespace.
    pub fn own(&self) -> &KeyPrefix {
        &self.own
    }

    /// Resolves a caller's key: a plain name is in the caller's own namespace, a path is absolute.
    ///
    /// # Errors
    /// `Invalid` for an invalid key.
    pub fn key(&self, name: &str) -> Result<WorkingKey> {
        if name.contains('/') { WorkingKey::new(name) } else { self.own.key(name) }
    }

    /// Stores an entry in the caller's own namespace, replacing one with the same key.
    ///
    /// # Errors
    /// `Invalid` for a key outside the own namespace, a value above 256 KiB, a time to live of zero or above 7 days, or
    /// more than 64 tags; `Unavailable` when the store does not answer.
    pub async fn put(&self, name: &str, value: String, keep: PutOptions) -> Result<PutOutcome> {
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
        Ok(PutOutcome { key, expires_at, evicted })
    }

    /// Returns an entry of any namespace.
    ///
    /// # Errors
    /// `NotFound` when there is none, with [`ExpiryError`] as its cause if it has expired. `Invalid` for an invalid key.
    pub async fn get(&self, name: &str) -> Result<WorkingEntry> {
        let key = self.key(name)?;
        let entry = self.store.get(&key).await?;
        let now = self.clock.now();
        if entry.lives_at(now) {
            return Ok(entry);
        }
        let gone = ExpiryError(between(entry.expires_at, now));
        Err(Error::new(ErrorKind::NotFound, format!("nothing under {key}: {gone}")).because(gone))
    }

    /// Returns the entries below a prefix, by key, without the values.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn inventory(&self, prefix: &KeyPrefix) -> Result<Vec<WorkingItem>> {
        self.items(std::slice::from_ref(prefix)).await
    }

    /// Returns the entries below any of these prefixes, by key, each once and without the values.
    pub(crate) async fn items(&self, prefixes: &[KeyPrefix]) -> Result<Vec<WorkingItem>> {
        let (living, now) = self.live_entries(prefixes).await?;
        Ok(living.into_iter().map(|(key, entry)| WorkingItem::new(key, entry, now)).collect())
    }

    /// Removes an entry of the own namespace and everything below it, and returns how many had not expired.
    ///
    /// # Errors
    /// `Invalid` for a key outside the own namespace; `Unavailable` when the store does not answer.
    pub async fn remove(&self, name: &str) -> Result<u64> {
        let prefix = KeyPrefix::from(self.own_key(name)?);
        let (living, _) = self.live_entries(std::slice::from_ref(&prefix)).await?;
        self.store.remove(&prefix).await?;
        Ok(living.len() as u64)
    }

    /// Removes the expired entries of every namespace, and returns how many; none while the clock is not trusted.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn sweep(&self) -> Result<u64> {
        if !self.clock.is_believed() {
            return Ok(0);
        }
        self.store.sweep(self.clock.now()).await
    }

    /// Returns the unexpired entries below these prefixes, and the moment of that state.
    pub(crate) async fn live_entries(
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
