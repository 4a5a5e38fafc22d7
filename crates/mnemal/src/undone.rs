//! Undone decisions and operations.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{Cursor, Decision, Event, EventFilter, EventId, EventKind, Result, Role, Within};

use crate::areas::EventsHandle;

/// Decisions that are read at once. Source: own default, the largest batch of one append (1,000 events).
const READ: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

impl EventsHandle<'_> {
    /// Returns those of the given operations and decisions that were undone since, each with the decision that did it first.
    /// Decisions about notes are left out: what became of a note is told by the note. Costs nothing where none of the events is
    /// meant, and otherwise reads the decisions after the oldest of them.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` for damaged bytes.
    pub async fn undone(self, events: &[Event]) -> Result<BTreeMap<EventId, EventId>> {
        let meant: BTreeMap<EventId, _> =
            events.iter().filter(|event| is_meant(event)).map(|event| (event.id, event.seq)).collect();
        let mut undone = BTreeMap::new();
        let Some(oldest) = meant.values().min() else { return Ok(undone) };
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let mut after = Cursor(Some(*oldest));
        loop {
            let page = self.scan(&filter, after, READ).await?;
            let Some(last) = page.last() else { return Ok(undone) };
            after = Cursor(Some(last.seq));
            for event in &page {
                let Some(EventKind::Decision(Decision::Undo { decision })) =
                    event.body().map(|kept| &kept.kind)
                else {
                    continue;
                };
                if meant.contains_key(decision) {
                    undone.entry(*decision).or_insert(event.id);
                }
            }
        }
    }
}

/// Whether an event can be undone, and is no decision about a note.
fn is_meant(event: &Event) -> bool {
    match event.body().map(|kept| &kept.kind) {
        Some(EventKind::Operation(_)) => true,
        Some(EventKind::Decision(decision)) => {
            let is_note = matches!(
                decision,
                Decision::Remember(_) | Decision::Archive(_) | Decision::Restore(_) | Decision::Reject(_)
            );
            decision.can_be_undone() && !is_note
        }
        _ => false,
    }
}
