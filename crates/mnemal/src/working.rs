//! Working memory with expiry.

pub use mnemal_core::{ExpiryError, KeyPrefix, WorkingEntry, WorkingKey};
pub use mnemal_working::{PutOptions, PutOutcome, WorkingItem, WorkingMemory, WorkingQuery};

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use mnemal_core::{Category, GapCause, Result, SessionId, Slot, Tag, Timestamp, WorkingStore};
use mnemal_events::Cleaner;
use mnemal_working::{SteadyClock, WorkingSource};

use crate::engine::{Engine, missing};
use crate::memory::Memory;

/// Session of a scope that names none. Source: own choice, as for turns.
const UNNAMED: &str = "default";

impl Memory {
    /// Returns working memory with the namespace of this session, `session/default` for a scope without one.
    ///
    /// # Errors
    /// `Unsupported` when the engine has no working memory.
    pub fn working(&self) -> Result<WorkingMemory> {
        let session = self.scope.session.only().cloned().map_or_else(|| SessionId::new(UNNAMED), Ok)?;
        self.admin().working_in(KeyPrefix::of_session(&session))
    }
}

impl Engine {
    /// Returns working memory with a namespace of the caller's choice: `patrol/disk-check`, `subagent/review`.
    ///
    /// # Errors
    /// `Unsupported` when the engine has no working memory.
    pub fn working(&self, own: KeyPrefix) -> Result<WorkingMemory> {
        let Slot::Filled(store) = &self.guarded().working else { return Err(missing("working memory")) };
        Ok(self.working_of(Arc::clone(store), own))
    }

    /// Returns working memory in a store, with a namespace of the caller's choice.
    pub(crate) fn working_of(&self, store: Arc<dyn WorkingStore>, own: KeyPrefix) -> WorkingMemory {
        let clock = Arc::clone(&self.parts().steady);
        let view = WorkingMemory::new(store, clock, own, self.settings().working.limits());
        view.with_embedder(self.guarded().embedder.clone())
    }
}

impl Engine {
    /// Sweeps working memory if the interval has passed; returns the number of expired entries.
    pub(crate) async fn sweep_working(&self) -> Result<u64, GapCause> {
        if !self.guarded().working.is_filled() || !self.is_time_to_sweep() {
            return Ok(0);
        }
        Ok(self.working(KeyPrefix::all())?.sweep().await?)
    }

    fn is_time_to_sweep(&self) -> bool {
        let (now, every) = (self.parts().clock.monotonic(), self.settings().working.sweep_every());
        let mut swept = self.parts().swept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = swept.is_none_or(|last| now.saturating_sub(last) >= every);
        if is_time {
            *swept = Some(now);
        }
        is_time
    }
}

/// Returns the context source of working memory; a request without a session uses the namespace of [`Memory::working`] without
/// one.
pub(crate) fn source(store: &Arc<dyn WorkingStore>, clock: &Arc<SteadyClock>) -> WorkingSource {
    let source = WorkingSource::new(Arc::clone(store), Arc::clone(clock));
    match SessionId::new(UNNAMED) {
        Ok(unnamed) => source.with_unnamed(SessionId::nobody(), KeyPrefix::of_session(&unnamed)),
        Err(_) => source,
    }
}

/// Removes secrets and private parts before entries are stored.
#[derive(Debug)]
pub(crate) struct RedactingStore {
    pub(crate) store: Arc<dyn WorkingStore>,
    pub(crate) cleaner: Cleaner,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl WorkingStore for RedactingStore {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        self.cleaner.check_name("a key", key.as_str())?;
        let names = entry.category.iter().map(Category::as_str);
        for name in names.chain(entry.tags.iter().map(Tag::as_str)) {
            self.cleaner.check_name("a category or tag", name)?;
        }
        let mut entry = entry.clone();
        self.cleaner.clean_text("the value", &mut entry.value)?;
        self.store.put(key, &entry, room).await
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        self.store.get(key).await
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        self.store.list(prefixes).await
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        self.store.remove(prefix).await
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        self.store.sweep(at).await
    }
}
