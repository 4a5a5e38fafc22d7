//! Note queries: by key, by category, and history.

use std::collections::BTreeMap;
use std::sync::Arc;

use mnemal_core::{AsOf, Category, Error, Learning, LearningFilter, LearningStore, NoteKey, Result, Within};

/// Reads notes.
#[derive(Clone, Debug)]
pub struct Notes {
    store: Arc<dyn LearningStore>,
}

impl Notes {
    /// Reads these rows.
    pub fn new(store: Arc<dyn LearningStore>) -> Self {
        Self { store }
    }

    /// Returns the active version of a note as of a moment.
    ///
    /// # Errors
    /// `NotFound` when no version is active.
    pub async fn get(&self, key: &NoteKey, as_of: AsOf) -> Result<Learning> {
        let filter = LearningFilter { key: Within::Only(key.clone()), ..LearningFilter::all() };
        let found = self.store.active(&filter, as_of).await?;
        let found = found.first().map(|note| Learning::clone(note));
        found.ok_or_else(|| Error::not_found(format!("no note of key {key} holds")))
    }

    /// Returns the active notes that pass the filter, by category, then key, then id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn list(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Vec<Learning>> {
        Ok(self.store.active(filter, as_of).await?.iter().map(|note| Learning::clone(note)).collect())
    }

    /// Returns all versions of a key, newest first.
    ///
    /// # Errors
    /// `NotFound` when the key was never used, or all its versions are forgotten.
    pub async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        self.store.history(key).await
    }

    /// Returns the categories of active notes, in order, each with the number of notes in it and below it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn categories(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Vec<(Category, u64)>> {
        let mut counts: BTreeMap<Category, u64> = BTreeMap::new();
        for note in self.store.active(filter, as_of).await?.iter() {
            let path = note.category.as_str();
            let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
            for parent in ends.filter_map(|end| path.get(..end)) {
                *counts.entry(Category::new(parent)?).or_default() += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// Whether no note is active.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn is_empty(&self, as_of: AsOf) -> Result<bool> {
        Ok(self.store.active(&LearningFilter::all(), as_of).await?.is_empty())
    }
}
