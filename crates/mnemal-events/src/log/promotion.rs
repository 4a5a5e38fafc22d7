//! Promotion of an import from external evidence to the owner's own history.

use mnemal_core::{Event, EventId, InstallationKey, Level, NewEvent, Result};

use super::EventLog;
use super::import_batch::{existing_ids, imported_id};
use crate::import::ImportBatch;

/// Turns that were stored as external evidence and are the user's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Promotion {
    /// The same turns at their own level; pass them to [`EventLog::import`].
    pub events: Vec<NewEvent>,
    /// The events that they replace; remove them once the new ones are stored.
    pub replaced: Vec<EventId>,
}

impl EventLog {
    /// Returns those of an import's user events that are stored as external evidence, under new names.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn promotion(&self, events: Vec<NewEvent>) -> Result<Promotion> {
        let named = |event: NewEvent| {
            let id = imported_id(&self.parts.key, event.idempotency_key.as_deref()?);
            (event.origin.level() == Level::User).then_some((id, event))
        };
        let mut own: Vec<(EventId, NewEvent)> = events.into_iter().filter_map(named).collect();
        let store = self.parts.store.as_ref();
        let known = existing_ids(store, own.iter().map(|(id, _)| *id).collect()).await?;
        own.retain(|(id, _)| known.contains(id));
        let ids: Vec<EventId> = own.iter().map(|(id, _)| *id).collect();
        let stored = if ids.is_empty() { Vec::new() } else { store.get(&ids).await? };
        let is_lower = |event: &&Event| event.body().is_some() && event.level < Level::User;
        let replaced: Vec<EventId> = stored.iter().filter(is_lower).map(|event| event.id).collect();
        own.retain(|(id, _)| replaced.contains(id));
        let again = |(id, event): (EventId, NewEvent)| NewEvent {
            idempotency_key: Some(promoted_name(id)),
            parent: event.parent.map(|parent| {
                if replaced.contains(&parent) { promoted_id(&self.parts.key, parent) } else { parent }
            }),
            ..event
        };
        Ok(Promotion { events: own.into_iter().map(again).collect(), replaced: replaced.clone() })
    }

    /// Returns the ids of promoted events, in addition to their own.
    pub fn with_promoted(&self, ids: &[EventId]) -> Vec<EventId> {
        ids.iter().flat_map(|id| [*id, promoted_id(&self.parts.key, *id)]).collect()
    }
}

impl Promotion {
    /// Returns the turns as a batch of their import.
    pub fn batch(events: Vec<NewEvent>) -> ImportBatch {
        ImportBatch {
            events,
            exact: None,
            withdrawn: Vec::new(),
            lines: 0..0,
            skipped: Vec::new(),
            bytes_read: 0,
        }
    }
}

fn promoted_name(id: EventId) -> String {
    format!("import:raised:{id}")
}

fn promoted_id(key: &InstallationKey, id: EventId) -> EventId {
    imported_id(key, &promoted_name(id))
}
