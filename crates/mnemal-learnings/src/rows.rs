//! Rows under construction, by id and by key, and what changed since they were taken over.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{Learning, LearningDelta, LearningId, NoteKey};

use crate::ending::Ending;
use crate::settle::Inference;

/// The rows of a space that the next event may touch: those with a key, and others while they are looked at.
///
/// A note without a key is touched again by an operation that names it, or where something is taken back; both read it from the
/// store. So what is held in memory does not grow with notes that are only kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    by_id: BTreeMap<LearningId, Learning>,
    by_key: BTreeMap<NoteKey, BTreeSet<LearningId>>,
    /// What those among them end that end something.
    endings: BTreeMap<LearningId, Ending>,
    /// What the rows that were touched had been.
    before: BTreeMap<LearningId, Option<Learning>>,
    /// Whether what nobody said outright may hold.
    inference: Inference,
}

impl Rows {
    /// Whether what nobody said outright may hold.
    pub(crate) fn inference(&self) -> Inference {
        self.inference
    }

    /// Says whether what nobody said outright may hold.
    pub(crate) fn infer(&mut self, inference: Inference) {
        self.inference = inference;
    }

    /// Takes stored rows over.
    pub(crate) fn from_stored(stored: Vec<Learning>) -> Self {
        let mut rows = Self::default();
        for row in stored {
            rows.insert(row);
        }
        rows
    }

    /// Says that the touched rows are those of a store that has these.
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

    /// Returns what is ended, in no order.
    pub(crate) fn endings(&self) -> impl Iterator<Item = &Ending> {
        self.endings.values()
    }

    /// Returns the keys of the rows that something ends.
    pub(crate) fn ended_by(&self, ending: &Ending) -> BTreeSet<NoteKey> {
        self.all().filter(|row| ending.ends(row)).filter_map(|row| row.key.clone()).collect()
    }

    /// Writes a row, new or changed.
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

    /// Takes a stored row over, unless it is known.
    pub(crate) fn look_at(&mut self, row: Learning) {
        if !self.by_id.contains_key(&row.id) {
            self.insert(row);
        }
    }

    /// Lets go of the rows without a key; what changed must have been taken before.
    pub(crate) fn let_go(&mut self) {
        self.by_id.retain(|_, row| row.key.is_some());
    }

    /// Returns what changed, once.
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
