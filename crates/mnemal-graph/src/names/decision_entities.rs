//! Entities known only from decisions such as notes: undoing the last one removes the entity from lookup.

use mnemal_core::{EntityId, EventId, EventKind, NamingDecision, Timestamp};

use super::{Names, Statement, note};

/// Most decisions stored per entity; an entity with more is kept in any case. Source: own choice. A row is rewritten with
/// each decision, and so many decisions are not a mistake to undo.
const MOST: usize = 256;

impl Statement<'_> {
    /// Returns this event as a naming decision, if it is a decision.
    pub(super) fn decision(self) -> Option<NamingDecision> {
        let is_decision = matches!(self.event.body()?.kind, EventKind::Decision(_));
        is_decision.then_some(NamingDecision { decision: self.event.id, expired_at: None })
    }
}

impl Names {
    /// Whether every source that ever named an entity is an undone decision.
    pub(crate) fn is_withdrawn(&self, id: EntityId) -> bool {
        self.entities.get(&id).is_some_and(|entity| !entity.is_known_at(Timestamp::MAX))
    }

    /// Records that an event names an entity known only from decisions so far.
    pub(crate) fn record_source(&mut self, id: EntityId, said: Statement<'_>) {
        let Some(entity) = self.entities.get_mut(&id).filter(|entity| !entity.decisions.is_empty()) else {
            return;
        };
        match said.decision() {
            Some(by) if entity.decisions.len() < MOST => {
                if entity.decisions.iter().any(|known| known.decision == by.decision) {
                    return;
                }
                entity.decisions.push(by);
            }
            _ => entity.decisions.clear(),
        }
        note(entity, said.event);
        self.changed.insert(id);
    }

    /// Undoes that a decision names entities.
    pub(crate) fn withdraw(&mut self, decision: EventId, said: Statement<'_>) {
        let mut is_gone = false;
        for entity in self.entities.values_mut() {
            let mut named = entity.decisions.iter_mut();
            let Some(by) = named.find(|by| by.decision == decision && by.expired_at.is_none()) else {
                continue;
            };
            by.expired_at = Some(said.event.recorded_at);
            note(entity, said.event);
            self.changed.insert(entity.id);
            is_gone |= !entity.is_known_at(Timestamp::MAX);
        }
        if is_gone {
            self.index_anew();
        }
    }
}
