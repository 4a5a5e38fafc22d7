//! The facts of one subject that are believed, by id and by slot, so that a claim costs what its slot holds.

use std::collections::BTreeMap;

use mnemal_core::{EntityId, Fact, FactId};

use crate::cardinality::Cardinalities;
use crate::slot::{Slot, places};

/// The believed facts of a subject.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Each with the slots of its claims as of when it was put here, which is one but for rows that say otherwise.
    facts: BTreeMap<FactId, (Fact, Vec<Slot>)>,
    by_slot: BTreeMap<Slot, Vec<FactId>>,
}

impl Held {
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values().map(|(fact, _)| fact)
    }

    /// Puts a fact in; `held` says how many values its predicate holds, `canon` what an entity is taken for.
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

    /// Takes out the facts of a slot, by id.
    pub(super) fn take_slot(&mut self, slot: &Slot) -> Vec<Fact> {
        let mut ids = self.by_slot.get(slot).cloned().unwrap_or_default();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.remove(id)).map(|(fact, _)| fact).collect()
    }

    /// Takes out the facts that `fits` chooses, by id, each with the slots in which it was.
    pub(super) fn take(&mut self, fits: impl Fn(&Fact) -> bool) -> Vec<(Fact, Vec<Slot>)> {
        let ids: Vec<FactId> = self.facts().filter(|fact| fits(fact)).map(|fact| fact.id).collect();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}
