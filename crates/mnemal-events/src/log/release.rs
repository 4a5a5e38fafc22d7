//! Release of a quarantined event by a decision of the user.

use std::collections::BTreeSet;

use mnemal_core::{Decision, Degraded, Error, ErrorKind, Event, EventId, EventKind, Gaps, NewEvent, Result};

use super::import_batch::{existing_ids, imported_id};
use super::{Ack, EventLog, SkipReason};

/// Result of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseOutcome {
    /// The quarantined event, which stays so.
    pub event: EventId,
    /// The usable copy, at its own level.
    pub copy: EventId,
    /// The decision; undoing it erases the copy.
    pub decision: EventId,
    /// Whether the release is new.
    pub created: bool,
}

impl EventLog {
    /// Releases a quarantined event: stores a copy with the same words, times, names and origin, so at the same level, without
    /// the write screen but through the rest of the pipeline. `decided` makes the event of the decision, which is stored with
    /// it. A released event is not released twice.
    ///
    /// # Errors
    /// `NotFound` for an event that is unknown or erased, `Invalid` for one that is not quarantined, or that has no storable
    /// text any more; as [`append`](Self::append).
    pub async fn release(
        &self,
        event: EventId,
        decided: impl FnOnce(Decision) -> Result<NewEvent> + Send,
    ) -> Result<Degraded<ReleaseOutcome>> {
        let held = self.get(event).await?;
        let kept = held.body().ok_or_else(|| Error::not_found(format!("{event} is erased")))?;
        if held.quarantined.is_none() {
            return Err(Error::invalid(format!("{event} is not held back")));
        }
        let earlier: Vec<ReleaseOutcome> =
            self.releases().await?.into_iter().filter(|one| one.event == event).collect();
        if let Some(last) = earlier.last() {
            match self.get(last.copy).await {
                Ok(copy) if copy.body().is_some() => return Ok(Degraded::whole(*last)),
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // Whoever decides the same at the same time says the same.
        let name = format!("released/{event}/{}", earlier.len());
        let copy = imported_id(&self.parts.key, &name);
        let decision = decided(Decision::Release { event, copy })?;
        let said = NewEvent { idempotency_key: Some(name.clone()), ..kept.clone() };
        let decision = NewEvent { idempotency_key: Some(format!("{name}/decided")), ..decision };
        let mut gaps = Gaps::default();
        let mut drafts = self.run_pipeline(vec![said, decision], &mut gaps).await?;
        if let Some(Err(why)) = drafts.first() {
            return Err(Error::invalid(format!("nothing of {event} may be stored: {}", why.as_str())));
        }
        drafts.iter_mut().flatten().for_each(|draft| draft.finding.quarantined = None);
        let id_of = |event: &NewEvent| (event.idempotency_key.as_ref() == Some(&name)).then_some(copy);
        let stored = self.write(drafts, &mut gaps, &id_of).await?;
        let decision = stored.into_iter().nth(1).and_then(Result::<Ack, SkipReason>::ok);
        let decision = decision.ok_or_else(|| Error::internal("a decision was not stored"))?;
        Ok(gaps.attach(ReleaseOutcome { event, copy, decision: decision.id, created: !decision.duplicate }))
    }

    /// Returns every release, oldest first, including undone ones.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn releases(&self) -> Result<Vec<ReleaseOutcome>> {
        let decided = self.decided(&|event| released(event).is_some()).await?;
        Ok(decided.iter().filter_map(released).collect())
    }

    /// Returns the events to erase when a release is undone: the copy, and operations whose text was made from it. The
    /// quarantined event stays.
    ///
    /// # Errors
    /// `NotFound` when the copy is already erased.
    pub async fn closure_of_copy(&self, copy: EventId) -> Result<Vec<EventId>> {
        let mut ids = super::closure::erasable(&self.parts.store.get(&[copy]).await?);
        if ids.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("{copy} is erased")));
        }
        self.add_operations(&mut ids).await?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether some events are released copies, or were made from them, while the quarantined event stays: they are erased
    /// without a tombstone of their words.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn are_copies(&self, events: &[Event]) -> Result<bool> {
        let gone: BTreeSet<EventId> = events.iter().map(|event| event.id).collect();
        let copies: BTreeSet<EventId> = self
            .releases()
            .await?
            .iter()
            .filter(|one| gone.contains(&one.copy) && !gone.contains(&one.event))
            .map(|one| one.copy)
            .collect();
        let is_made =
            |event: &Event| event.body().is_none_or(|kept| matches!(kept.kind, EventKind::Operation(_)));
        Ok(!copies.is_empty() && events.iter().all(|event| copies.contains(&event.id) || is_made(event)))
    }

    /// Adds to events that will be erased their released copies, and the reverse.
    pub(super) async fn add_released(&self, ids: &mut Vec<EventId>) -> Result<()> {
        let mut gone: BTreeSet<EventId> = ids.iter().copied().collect();
        let mut others = Vec::new();
        let releases = self.releases().await?;
        // From a copy to what it says again, and from there to its other copies.
        for one in &releases {
            if gone.contains(&one.copy) && gone.insert(one.event) {
                others.push(one.event);
            }
        }
        for one in &releases {
            if gone.contains(&one.event) && gone.insert(one.copy) {
                others.push(one.copy);
            }
        }
        let here = existing_ids(self.parts.store.as_ref(), others).await?;
        let here: Vec<EventId> = here.into_iter().collect();
        if !here.is_empty() {
            ids.extend(super::closure::erasable(&self.parts.store.get(&here).await?));
        }
        Ok(())
    }
}

fn released(event: &Event) -> Option<ReleaseOutcome> {
    match &event.body()?.kind {
        EventKind::Decision(Decision::Release { event: held, copy }) => {
            Some(ReleaseOutcome { event: *held, copy: *copy, decision: event.id, created: false })
        }
        _ => None,
    }
}
