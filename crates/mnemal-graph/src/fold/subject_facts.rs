//! Believed facts of one subject, indexed by id and by slot, so that a claim costs only the size of its slot.

use std::collections::BTreeMap;

use mnemal_core::{EntityId, Fact, FactId};

use crate::cardinality::Cardinalities;
use crate::slot::{Slot, places};

/// The believed facts of a subject.
#[derive(Clone, Debug, Default)]
pub(super) struct SubjectFacts {
    /// Each fact with the slots of its claims at insertion: one, except in inconsistent rows.
    facts: BTreeMap<FactId, (Fact, Vec<Slot>)>,
    by_slot: BTreeMap<Slot, Vec<FactId>>,
}

impl SubjectFacts {
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values().map(|(fact, _)| fact)
    }

    /// Inserts a fact; `held` gives the cardinality of its predicate, `canon` maps to the canonical entity.
    pub(super) fn insert(
        &mut self,
        fact: Fact,
        held: &Cardinalities,
        canon: impl Fn(EntityId) -> EntityId + Copy,
    ) {
        self.remove(fact.id);
        let mut slots: Vec<Slot> = places(&fact, held, canon).map(|(slot, _)| slot).collect();
        slots.sort_unstable();
        slots.dedup();
        for slot in &slots {
            self.by_slot.entry(slot.clone()).or_default().push(fact.id);
        }
        self.facts.insert(fact.id, (fact, slots));
    }

    fn remove(&mut self, id: FactId) -> Option<(Fact, Vec<Slot>)> {
        let (fact, slots) = self.facts.remove(&id)?;
        for slot in &slots {
            if let Some(ids) = self.by_slot.get_mut(slot) {
                ids.retain(|of| *of != id);
                if ids.is_empty() {
                    self.by_slot.remove(slot);
                }
            }
        }
        Some((fact, slots))
    }

    /// Removes the facts of a slot, by id.
    pub(super) fn take_slot(&mut self, slot: &Slot) -> Vec<Fact> {
        let mut ids = self.by_slot.get(slot).cloned().unwrap_or_default();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.remove(id)).map(|(fact, _)| fact).collect()
    }

    /// Removes the facts that `fits` selects, by id, each with its slots.
    pub(super) fn take(&mut self, fits: impl Fn(&Fact) -> bool) -> Vec<(Fact, Vec<Slot>)> {
        let ids: Vec<FactId> = self.facts().filter(|fact| fits(fact)).map(|fact| fact.id).collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}
