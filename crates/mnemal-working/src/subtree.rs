//! Subtree view of working memory.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{KeyPrefix, Result, Timestamp, WorkingEntry, WorkingKey, WorkingStore};

/// The entries below one prefix, with keys relative to it; nothing else is visible or writable.
#[derive(Clone, Debug)]
pub struct SubtreeStore {
    store: Arc<dyn WorkingStore>,
    root: KeyPrefix,
}

impl SubtreeStore {
    /// Creates a view of a prefix of a store.
    pub fn new(store: Arc<dyn WorkingStore>, root: KeyPrefix) -> Self {
        Self { store, root }
    }

    fn outer(&self, key: &WorkingKey) -> Result<WorkingKey> {
        self.root.key(key.as_str())
    }

    fn outer_prefix(&self, prefix: &KeyPrefix) -> Result<KeyPrefix> {
        if prefix.as_str().is_empty() {
            return Ok(self.root.clone());
        }
        Ok(self.root.key(prefix.as_str())?.into())
    }

    /// Returns the key relative to the root; `None` for a key outside.
    fn inner(&self, key: &WorkingKey) -> Option<WorkingKey> {
        let below = key.as_str().strip_prefix(self.root.as_str())?.strip_prefix('/')?;
        WorkingKey::new(below).ok()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl WorkingStore for SubtreeStore {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        let evicted = self.store.put(&self.outer(key)?, entry, room).await?;
        Ok(evicted.into_iter().filter_map(|(key, at)| Some((self.inner(&key)?, at))).collect())
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        self.store.get(&self.outer(key)?).await
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        let prefixes = prefixes.iter().map(|prefix| self.outer_prefix(prefix)).collect::<Result<Vec<_>>>()?;
        let found = self.store.list(&prefixes).await?;
        Ok(found.into_iter().filter_map(|(key, entry)| Some((self.inner(&key)?, entry))).collect())
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        self.store.remove(&self.outer_prefix(prefix)?).await
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        self.store.sweep(at).await
    }
}
