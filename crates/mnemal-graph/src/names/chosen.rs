//! Names that a person chose: a decision gives one, its undo takes it away.

use std::sync::Arc;

use mnemal_core::{EntityId, EntityName, EventId};

use super::{Names, Said, note, shown};
use crate::key::name_key;

impl Names {
    /// Shows an entity, or what it is taken for, by the name that a person chose; it is found by that name too.
    pub(crate) fn choose(&mut self, id: EntityId, text: &str, said: Said<'_>) {
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
        entity.name = shown(entity).to_owned();
        note(entity, said.event);
        self.changed.insert(id);
        self.index(id);
    }

    /// Takes the name away that a decision gave; one that the entity has otherwise stays.
    pub(crate) fn unchoose(&mut self, decision: EventId, said: Said<'_>) {
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
            entity.name = shown(entity).to_owned();
            note(entity, said.event);
            self.changed.insert(entity.id);
            is_changed = true;
        }
        if is_changed {
            self.index_anew();
        }
    }

    /// Makes what is looked up by name anew, because it knows no way to take a name out; an undo is rare.
    pub(super) fn index_anew(&mut self) {
        let (changed, owner) = (std::mem::take(&mut self.changed), Arc::clone(&self.owner));
        let rows = std::mem::take(&mut self.entities).into_values().collect();
        *self = Self::from_rows(rows).of_owner(owner);
        self.changed = changed;
    }
}
