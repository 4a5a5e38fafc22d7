//! Working memory.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{Error, KeyPrefix, Result, Timestamp, WorkingEntry, WorkingKey, WorkingStore};

use super::MemoryStore;

#[async_trait]
impl WorkingStore for MemoryStore {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        let (mut state, namespace) = (self.state(), key.namespace());
        state.working.insert(key.clone(), entry.clone());
        let others =
            state.working.iter().filter(|(other, _)| *other != key && other.namespace() == namespace);
        let mut ends: Vec<(Timestamp, WorkingKey)> =
            others.map(|(other, entry)| (entry.expires_at, other.clone())).collect();
        ends.sort();
        ends.truncate((ends.len() + 1).saturating_sub(room.get()));
        for (_, gone) in &ends {
            state.working.remove(gone);
        }
        Ok(ends.into_iter().map(|(end, key)| (key, end)).collect())
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        let found = self.state().working.get(key).cloned();
        found.ok_or_else(|| Error::not_found(format!("nothing under {key}")))
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        let state = self.state();
        let is_below = |key: &WorkingKey| prefixes.iter().any(|prefix| prefix.holds(key));
        let below = state.working.iter().filter(|(key, _)| is_below(key));
        Ok(below.map(|(key, entry)| (key.clone(), entry.clone())).collect())
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        Ok(self.keep_working(|key, _| !prefix.holds(key)))
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        Ok(self.keep_working(|_, entry| entry.lives_at(at)))
    }
}

impl MemoryStore {
    /// Keeps what passes, and returns how many entries do not.
    fn keep_working(&self, passes: impl Fn(&WorkingKey, &WorkingEntry) -> bool) -> u64 {
        let mut state = self.state();
        let before = state.working.len();
        state.working.retain(|key, entry| passes(key, entry));
        (before - state.working.len()) as u64
    }
}
