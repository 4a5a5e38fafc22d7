//! What a forget reaches in the log.

use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Error, Event, EventFilter, EventId, EventKind, NoteKey, Result, Role, Selector, Within,
};

use super::EventLog;

const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

impl EventLog {
    /// Returns the living events that a forget erases, ascending by id.
    ///
    /// For a key these are all versions of the note and the choices to put it away; for a conversation everything in it,
    /// quarantined events included. Records of earlier forgets hold no content and stay.
    /// Derived rows that rest on these events are not listed: their layers follow.
    ///
    /// # Errors
    /// `NotFound` when nothing is left to erase, or a named event is unknown.
    pub async fn closure(&self, selector: &Selector) -> Result<Vec<EventId>> {
        let mut ids = match selector {
            Selector::Events(ids) => {
                let mut wanted = ids.clone();
                wanted.sort_unstable();
                wanted.dedup();
                erasable(&self.parts.store.get(&wanted).await?)
            }
            Selector::Session(session) => {
                let filter = EventFilter { session: Within::Only(session.clone()), ..EventFilter::all() };
                self.every(&filter, &|_| true).await?
            }
            Selector::Key(key) => {
                let filter = EventFilter {
                    roles: Within::Only(vec![Role::Decision]),
                    erased: Within::Only(false),
                    ..EventFilter::all()
                };
                self.every(&filter, &|event| is_about(event, key)).await?
            }
            _ => {
                return Err(Error::new(
                    mnemal_core::ErrorKind::Unsupported,
                    "cannot forget by this selector",
                ));
            }
        };
        if ids.is_empty() {
            return Err(Error::not_found("nothing to forget: the selection holds no living event"));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    async fn every(
        &self,
        filter: &EventFilter,
        wanted: &(dyn Fn(&Event) -> bool + Sync),
    ) -> Result<Vec<EventId>> {
        let mut ids = Vec::new();
        let mut after = Cursor::START;
        loop {
            let mut page = self.parts.store.scan(filter, after, PAGE).await?;
            let Some(last) = page.last().map(|event| event.seq) else { return Ok(ids) };
            after = Cursor(Some(last));
            page.retain(|event| wanted(event));
            ids.extend(erasable(&page));
        }
    }
}

fn erasable(events: &[Event]) -> Vec<EventId> {
    let erasable = |event: &&Event| {
        event.kept().is_some_and(|kept| !matches!(kept.kind, EventKind::Decision(Decision::Forget(_))))
    };
    events.iter().filter(erasable).map(|event| event.id).collect()
}

fn is_about(event: &Event, key: &NoteKey) -> bool {
    match event.kept().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Remember(note))) => note.key.as_ref() == Some(key),
        Some(EventKind::Decision(Decision::Archive { key: archived })) => archived == key,
        _ => false,
    }
}
