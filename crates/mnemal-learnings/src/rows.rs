//! Rows under construction, by id and by key, with their changes.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{Learning, LearningDelta, LearningId, NoteKey};

use crate::ending::Ending;
use crate::supersession::Inference;

/// The rows of a space that the next event may affect: those with a key, and others while they are loaded.
///
/// A note without a key changes only by an operation that names it, or by an undo; both load it from the store. So memory
/// does not grow with notes that are only stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    by_id: BTreeMap<LearningId, Learning>,
    by_key: BTreeMap<NoteKey, BTreeSet<LearningId>>,
    /// The endings among them.
    endings: BTreeMap<LearningId, Ending>,
    /// The previous state of changed rows.
    before: BTreeMap<LearningId, Option<Learning>>,
    /// Whether inferred preferences can be active.
    inference: Inference,
}

impl Rows {
    /// Returns whether inferred preferences can be active.
    pub(crate) fn inference(&self) -> Inference {
        self.inference
    }

    /// Sets whether inferred preferences can be active.
    pub(crate) fn infer(&mut self, inference: Inference) {
        self.inference = inference;
    }

    /// Loads stored rows.
    pub(crate) fn from_stored(stored: Vec<Learning>) -> Self {
        let mut rows = Self::default();
        for row in stored {
            rows.insert(row);
        }
        rows
    }

    /// Marks the rows as the replacement of these stored ones.
    pub(crate) fn replacing(mut self, stored: &Self) -> Self {
        self.before = stored.by_id.iter().map(|(id, row)| (*id, Some(row.clone()))).collect();
        let new = self.by_id.keys().filter(|id| !stored.by_id.contains_key(id)).map(|id| (*id, None));
        self.before.extend(new.collect::<Vec<_>>());
        self
    }

    pub(crate) fn contains(&self, id: LearningId) -> bool {
        self.by_id.contains_key(&id)
    }

    pub(crate) fn get(&self, id: LearningId) -> Option<&Learning> {
        self.by_id.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Learning> {
        self.by_id.values()
    }

    pub(crate) fn keys(&self) -> Vec<NoteKey> {
        self.by_key.keys().cloned().collect()
    }

    pub(crate) fn of_key<'a>(&'a self, key: &NoteKey) -> impl Iterator<Item = &'a Learning> + use<'a> {
        let ids = self.by_key.get(key).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
    }

    /// Returns the endings, in no order.
    pub(crate) fn endings(&self) -> impl Iterator<Item = &Ending> {
        self.endings.values()
    }

    /// Returns the keys of the rows that an ending affects.
    pub(crate) fn ended_by(&self, ending: &Ending) -> BTreeSet<NoteKey> {
        self.all().filter(|row| ending.ends(row)).filter_map(|row| row.key.clone()).collect()
    }

    /// Writes a new or changed row.
    pub(crate) fn put(&mut self, row: Learning) {
        if self.by_id.get(&row.id) == Some(&row) {
            return;
        }
        self.before.entry(row.id).or_insert_with(|| self.by_id.get(&row.id).cloned());
        self.insert(row);
    }

    fn insert(&mut self, row: Learning) {
        if let Some(ending) = Ending::of(&row) {
            self.endings.insert(row.id, ending);
        }
        if let Some(key) = &row.key {
            self.by_key.entry(key.clone()).or_default().insert(row.id);
        }
        self.by_id.insert(row.id, row);
    }

    /// Adds a stored row, unless it is loaded.
    pub(crate) fn look_at(&mut self, row: Learning) {
        if !self.by_id.contains_key(&row.id) {
            self.insert(row);
        }
    }

    /// Drops the rows without a key; take the changes first.
    pub(crate) fn let_go(&mut self) {
        self.by_id.retain(|_, row| row.key.is_some());
    }

    /// Returns the changes, once.
    pub(crate) fn take_delta(&mut self) -> LearningDelta {
        let mut delta = LearningDelta::default();
        for (id, was) in std::mem::take(&mut self.before) {
            match (self.by_id.get(&id), was) {
                (None, Some(_)) => delta.remove.push(id),
                (Some(is), was) if Some(is) != was.as_ref() => delta.put.push(is.clone()),
                _ => {}
            }
        }
        delta
    }
}
