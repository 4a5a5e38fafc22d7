//! The closure of a forget: every event that it reaches in the log.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Error, Event, EventFilter, EventId, EventKind, NoteKey, Operation, Result, Role,
    Selector, Within,
};

use super::EventLog;

const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

impl EventLog {
    /// Returns the events that a forget erases, ascending by id.
    ///
    /// Operations whose text was made from erased events are included, and released copies. A key covers all versions of the
    /// note and the decisions to archive it; a conversation or a user covers all its events, quarantined ones included. Records of
    /// earlier forgets hold no content and stay. Derived rows are not listed: their layers follow.
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
                self.every(&filter).await?
            }
            Selector::User(user) => {
                let filter = EventFilter { user: Within::Only(user.clone()), ..EventFilter::all() };
                self.every(&filter).await?
            }
            Selector::Key(key) => erasable(&self.decided(&|event| is_about(event, key)).await?),
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
        self.add_released(&mut ids).await?;
        self.add_operations(&mut ids).await?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Adds the operations whose text was made from notes that will be erased, and those made from these operations.
    pub(super) async fn add_operations(&self, ids: &mut Vec<EventId>) -> Result<()> {
        let mut gone: BTreeSet<EventId> = ids.iter().copied().collect();
        // An operation names only what was there before it, so one way along the log finds all.
        let operations = self.decided(&|event| operation(event).is_some()).await?;
        for event in &operations {
            let rests = |kind: &mnemal_core::OperationKind| {
                kind.has_text() && kind.names().iter().any(|name| gone.contains(name))
            };
            if operation(event).is_some_and(|one| rests(&one.kind)) && gone.insert(event.id) {
                ids.push(event.id);
            }
        }
        Ok(())
    }

    async fn every(&self, filter: &EventFilter) -> Result<Vec<EventId>> {
        let mut ids = Vec::new();
        let mut after = Cursor::START;
        loop {
            let page = self.parts.store.scan(filter, after, PAGE).await?;
            let Some(last) = page.last().map(|event| event.seq) else { return Ok(ids) };
            after = Cursor(Some(last));
            ids.extend(erasable(&page));
        }
    }

    /// Returns the selected decisions that are not erased, oldest first.
    pub(super) async fn decided(&self, wanted: &(dyn Fn(&Event) -> bool + Sync)) -> Result<Vec<Event>> {
        let filter = EventFilter {
            roles: Within::Only(vec![Role::Decision]),
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        let (mut found, mut after) = (Vec::new(), Cursor::START);
        loop {
            let page = self.parts.store.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last().map(|event| event.seq) else { return Ok(found) };
            after = Cursor(Some(last));
            found.extend(page.into_iter().filter(|event| wanted(event)));
        }
    }
}

pub(super) fn erasable(events: &[Event]) -> Vec<EventId> {
    let erasable = |event: &&Event| {
        event.body().is_some_and(|kept| !matches!(kept.kind, EventKind::Decision(Decision::Forget(_))))
    };
    events.iter().filter(erasable).map(|event| event.id).collect()
}

fn operation(event: &Event) -> Option<&Operation> {
    match &event.body()?.kind {
        EventKind::Operation(operation) => Some(operation),
        _ => None,
    }
}

fn is_about(event: &Event, key: &NoteKey) -> bool {
    match event.body().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Remember(note))) => note.key.as_ref() == Some(key),
        Some(EventKind::Decision(
            Decision::Archive(target) | Decision::Restore(target) | Decision::Reject(target),
        )) => target.key.as_ref() == Some(key),
        _ => false,
    }
}
