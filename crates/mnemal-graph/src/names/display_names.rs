//! Display names chosen by a person: a decision gives one, its undo removes it.

use std::sync::Arc;

use mnemal_core::{EntityId, EntityName, EventId};

use super::{Names, Statement, display_name, note};
use crate::key::name_key;

impl Names {
    /// Shows an entity, or its canonical entity, by the name that a person chose; the name also finds it.
    pub(crate) fn choose(&mut self, id: EntityId, text: &str, said: Statement<'_>) {
        let id = self.canon(id);
        let Some(entity) = self.entities.get_mut(&id) else { return };
        let key = name_key(text, entity.kind);
        if key.is_empty() {
            return;
        }
        let name = said.name(text, key);
        if !entity.names.iter().any(|known| known.key == name.key) {
            entity.names.push(name.clone());
        }
        entity.chosen.push(name);
        entity.name = display_name(entity).to_owned();
        note(entity, said.event);
        self.changed.insert(id);
        self.index(id);
    }

    /// Removes the name that a decision gave; a name with other sources is kept.
    pub(crate) fn unchoose(&mut self, decision: EventId, said: Statement<'_>) {
        let mut is_changed = false;
        for entity in self.entities.values_mut() {
            let is_meant = |name: &&mut EntityName| name.source == decision && name.expired_at.is_none();
            let Some(chosen) = entity.chosen.iter_mut().find(is_meant) else { continue };
            chosen.expired_at = Some(said.event.recorded_at);
            entity.names.retain(|name| name.source != decision);
            for chosen in entity.chosen.iter().filter(|name| name.expired_at.is_none()) {
                if !entity.names.iter().any(|known| known.key == chosen.key) {
                    entity.names.push(chosen.clone());
                }
            }
            entity.name = display_name(entity).to_owned();
            note(entity, said.event);
            self.changed.insert(entity.id);
            is_changed = true;
        }
        if is_changed {
            self.index_anew();
        }
    }

    /// Rebuilds the name index, because it cannot remove a single name; an undo is rare.
    pub(super) fn index_anew(&mut self) {
        let (changed, owner) = (std::mem::take(&mut self.changed), Arc::clone(&self.owner));
        let rows = std::mem::take(&mut self.entities).into_values().collect();
        *self = Self::from_rows(rows).of_owner(owner);
        self.changed = changed;
    }
}
