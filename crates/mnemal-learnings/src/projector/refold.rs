//! Refold after a forget or an undo: the rows without the removed events.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, DeadLetter, Decision, Event, EventFilter, EventId, Learning, LearningFilter, Result, Role, Seq,
    Within,
};

use super::{LearningProjector, PageResult, forgotten, scene, taken_in};
use crate::fold::{Fold, decision, is_learned};
use crate::read::{self, BEFORE};
use crate::rows::Rows;
use crate::task;

/// Events per page. Source: own default; the largest batch that an append accepts.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

impl LearningProjector {
    pub(super) async fn refold(&self, batch: &[Event], end: Cursor) -> Result<PageResult> {
        let stored = Rows::from_stored(self.store.all(&LearningFilter::all()).await?);
        let observed = stored.all().any(task::may_be_observed)
            || batch.iter().filter_map(Event::body).any(task::is_step)
            || self.may_forget_a_task(batch).await?;
        let mut roles = vec![Role::Decision, Role::Tool];
        roles.extend(observed.then_some(Role::Document));
        let events = self.replay_events(roles, end).await?;
        let gone = taken_back(&events);
        let concerned = self.affected_messages(batch, end).await?;
        let mut fold = self.empty();
        fold.learn(unaffected_learnings(&stored, &gone, &concerned));
        for (event, before) in
            concerned.values().filter(|(event, _)| !gone.contains(&event.id) && !self.leaves_out(event))
        {
            let before: Vec<&Event> = before.iter().filter(|event| !gone.contains(&event.id)).collect();
            let found = read::read(event, &scene(&before, before.len()), &mut fold.feedback)?;
            fold.learn(found);
        }
        let mut dead = Vec::new();
        let living: Vec<&Event> = events.iter().filter(|event| !gone.contains(&event.id)).collect();
        for (place, event) in living.iter().enumerate().filter(|(_, event)| !self.leaves_out(event)) {
            // Of the events before it only the call of a result matters, which was read too.
            let earlier = living.get(place.saturating_sub(BEFORE)..place).unwrap_or_default();
            let is_near = |other: &&&Event| other.seq.0 + BEFORE as u64 >= event.seq.0;
            let before: Vec<&Event> = earlier.iter().filter(is_near).copied().collect();
            dead.extend(taken_in(&mut fold, event, &before));
        }
        dead.retain(|letter: &DeadLetter| batch.iter().any(|event| event.id == letter.event));
        fold.rows.keys().iter().filter(|key| is_learned(key)).for_each(|key| fold.settle(key));
        let mut rows = fold.rows.replacing(&stored);
        let delta = rows.take_delta();
        rows.let_go();
        // After a forget everything is read again: no forgotten content stays in the cache.
        Ok(PageResult { fold: Some(Fold { rows, ..Fold::default() }), delta, dead })
    }

    /// Whether a page forgets a possible task event: its row, with the task's key, may be gone already.
    async fn may_forget_a_task(&self, batch: &[Event]) -> Result<bool> {
        let ids: Vec<EventId> = batch.iter().filter_map(forgotten).flatten().copied().collect();
        let events = self.events.get(&ids).await?;
        Ok(events.iter().any(|event| matches!(event.role, Role::Decision | Role::Document)))
    }

    /// Returns all events of these roles up to a position, oldest first; of documents and observations only those about
    /// tasks.
    async fn replay_events(&self, roles: Vec<Role>, end: Cursor) -> Result<Vec<Event>> {
        let filter = EventFilter { roles: Within::Only(roles), ..EventFilter::all() };
        // Documents are long, and are not folded.
        let is_folded =
            |event: &Event| event.role != Role::Document || event.body().is_some_and(task::is_step);
        self.stretch(&filter, Cursor::START, end, is_folded).await
    }

    /// Returns the messages of a page, and those whose reading a forget in it may change, each with the preceding events.
    async fn affected_messages(
        &self,
        batch: &[Event],
        end: Cursor,
    ) -> Result<BTreeMap<Seq, (Event, Vec<Event>)>> {
        let ids: Vec<EventId> = batch.iter().filter_map(forgotten).flatten().copied().collect();
        let mut after: BTreeSet<u64> = self.events.get(&ids).await?.iter().map(|event| event.seq.0).collect();
        let first = batch.first().map_or(0, |event| event.seq.0);
        after.insert(first.saturating_sub(1));
        let mut concerned = BTreeMap::new();
        let mut read_to = 0;
        for at in after {
            let last = if at + 1 >= first { end.count() } else { (at + BEFORE as u64).min(end.count()) };
            if last <= read_to {
                continue;
            }
            let from = at.saturating_sub(BEFORE as u64);
            let from = Cursor((from > 0).then_some(Seq(from)));
            let stretch = self.stretch(&EventFilter::all(), from, Cursor(Some(Seq(last))), |_| true).await?;
            for (place, event) in
                stretch.iter().enumerate().filter(|(_, event)| event.seq.0 > at.max(read_to))
            {
                if read::is_read(event) {
                    let before = stretch.get(place.saturating_sub(BEFORE)..place).unwrap_or_default();
                    concerned.insert(event.seq, (event.clone(), before.to_vec()));
                }
            }
            read_to = last;
        }
        Ok(concerned)
    }

    async fn stretch(
        &self,
        filter: &EventFilter,
        from: Cursor,
        end: Cursor,
        is_wanted: impl Fn(&Event) -> bool,
    ) -> Result<Vec<Event>> {
        let (mut events, mut after) = (Vec::new(), from);
        while after < end {
            let page = self.events.scan(filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let is_wanted = |event: &Event| Cursor(Some(event.seq)) <= end && is_wanted(event);
            events.extend(page.into_iter().filter(is_wanted));
        }
        Ok(events)
    }
}

/// Returns the forgotten events, and the decisions undone by someone of at least equal standing.
fn taken_back(events: &[Event]) -> BTreeSet<EventId> {
    let levels: BTreeMap<EventId, _> = events.iter().map(|event| (event.id, event.level)).collect();
    let mut gone: BTreeSet<EventId> = events.iter().filter_map(forgotten).flatten().copied().collect();
    let undone = |event: &Event| match decision(event) {
        Some(Decision::Undo { decision }) if event.quarantined.is_none() => {
            levels.get(decision).filter(|level| **level <= event.level).map(|_| *decision)
        }
        _ => None,
    };
    let undone: Vec<EventId> =
        events.iter().filter(|event| !gone.contains(&event.id)).filter_map(undone).collect();
    gone.extend(undone);
    gone
}

/// Returns learnings from messages that are neither removed nor read again, without the decisions about them.
fn unaffected_learnings(
    stored: &Rows,
    gone: &BTreeSet<EventId>,
    concerned: &BTreeMap<Seq, (Event, Vec<Event>)>,
) -> Vec<Learning> {
    let again: BTreeSet<EventId> = concerned.values().map(|(event, _)| event.id).collect();
    let is_spared = |row: &&Learning| {
        let of = |event| gone.contains(&event) || again.contains(&event);
        row.producer.id == read::producer().id && !row.sources.iter().any(|source| of(source.event))
    };
    stored
        .all()
        .filter(is_spared)
        .map(|row| Learning { verdict: None, away: Vec::new(), ..row.clone() })
        .collect()
}
