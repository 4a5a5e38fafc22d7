//! Learnings and the cursor that moves with them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AsOf, Cursor, DeadLetter, Error, ErrorKind, Learning, LearningDelta, LearningFilter,
    LearningStore, NoteKey, Projection, Result,
};

use super::{MemoryStore, SpaceState};
use crate::ordering;

#[async_trait]
impl Projection<LearningDelta> for MemoryStore {
    async fn cursor(&self) -> Result<Cursor> {
        Ok(self.state().cursor)
    }

    async fn apply(&self, delta: &LearningDelta, advance: &Advance) -> Result<()> {
        let mut state = self.state();
        if state.cursor != advance.expect {
            return Err(Error::new(ErrorKind::Conflict, "cannot apply learnings: their cursor has moved"));
        }
        for learning in &delta.put {
            state.learnings.insert(learning.id, learning.clone());
        }
        state.drop_erased_learnings();
        for id in &delta.remove {
            state.learnings.remove(id);
        }
        for letter in &advance.dead {
            state.dead.insert(letter.event, letter.clone());
        }
        state.cursor = advance.next;
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        let mut state = self.state();
        state.learnings.clear();
        state.dead.clear();
        state.cursor = Cursor::START;
        Ok(())
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        let state = self.state();
        let mut letters: Vec<DeadLetter> = state.dead.values().cloned().collect();
        letters.sort_by_key(|letter| (state.places.get(&letter.event), letter.event));
        letters.truncate(limit.get());
        Ok(letters)
    }
}

#[async_trait]
impl LearningStore for MemoryStore {
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>> {
        let state = self.state();
        let living = state.living().filter(|learning| filter.accepts(learning));
        Ok(ordering::active(living.cloned().collect(), as_of).into_iter().map(Arc::new).collect())
    }

    async fn all(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        let state = self.state();
        Ok(state.learnings.values().filter(|learning| filter.accepts(learning)).cloned().collect())
    }

    async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        let state = self.state();
        let versions = state.living().filter(|learning| learning.key.as_ref() == Some(key));
        ordering::history(key, versions.cloned().collect())
    }
}

impl SpaceState {
    /// Removes learnings whose sources are all erased; the projector derives the others again.
    pub(super) fn drop_erased_learnings(&mut self) {
        let mut learnings = std::mem::take(&mut self.learnings);
        learnings.retain(|_, learning| {
            let sources = &learning.sources;
            sources.is_empty() || sources.iter().any(|source| !self.is_erased(source.event))
        });
        self.learnings = learnings;
    }

    /// Learnings without an erased source.
    fn living(&self) -> impl Iterator<Item = &Learning> {
        let erased = |learning: &Learning| learning.sources.iter().any(|source| self.is_erased(source.event));
        self.learnings.values().filter(move |learning| !erased(learning))
    }
}
