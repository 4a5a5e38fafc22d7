//! The log.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{
    AppendOutcome, Body, Cursor, Decision, Error, ErrorKind, Event, EventCaps, EventFilter, EventId,
    EventKind, EventStore, LogEntry, Result, SessionId, SessionSummary, Tombstone,
};

use super::{MemoryStore, SpaceState, StoredEvent};
use crate::admit;

#[async_trait]
impl EventStore for MemoryStore {
    fn capabilities(&self) -> EventCaps {
        EventCaps { durable: false, shared: false, largest_batch: admit::LARGEST_BATCH }
    }

    async fn head(&self) -> Result<Cursor> {
        Ok(self.state().head())
    }

    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
        let dimensions = admit::batch(batch)?;
        let mut state = self.state();
        for (model, found) in &dimensions {
            admit::same(model, *state.dimensions.get(model).unwrap_or(found), *found)?;
        }
        let known = state.repetitions(batch)?;
        state.dimensions.extend(dimensions);
        Ok(batch.iter().zip(known).map(|(entry, known)| state.take(entry, known)).collect())
    }

    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        let state = self.state();
        let one = |id: &EventId| {
            let stored = state.places.get(id).and_then(|place| state.events.get(*place));
            stored
                .map(|stored| stored.event.clone())
                .ok_or_else(|| Error::not_found(format!("no event {id}")))
        };
        ids.iter().map(one).collect()
    }

    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        let state = self.state();
        let passing = state.behind(after).iter().filter(|stored| filter.accepts(&stored.event));
        Ok(passing.take(limit.get()).map(|stored| stored.event.clone()).collect())
    }

    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        let state = self.state();
        let passing = state.events.iter().rev().filter(|stored| filter.accepts(&stored.event));
        Ok(passing.take(limit.get()).map(|stored| stored.event.clone()).collect())
    }

    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        let state = self.state();
        let mut known: BTreeMap<&SessionId, (SessionSummary, u64)> = BTreeMap::new();
        for stored in &state.events {
            let Some(event) = stored.event.body() else { continue };
            let fresh = || SessionSummary {
                session: event.session.clone(),
                channel: event.channel.clone(),
                events: 0,
                first_at: event.occurred_at,
                last_at: event.occurred_at,
            };
            let (summary, last) = known.entry(&event.session).or_insert_with(|| (fresh(), 0));
            summary.events += 1;
            summary.channel.clone_from(&event.channel);
            summary.last_at = event.occurred_at;
            *last = stored.event.seq.0;
        }
        let mut summaries: Vec<_> = known.into_values().collect();
        summaries.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
        Ok(summaries.into_iter().take(limit.get()).map(|(summary, _)| summary).collect())
    }

    async fn erase(&self, tombstones: &[Tombstone]) -> Result<u64> {
        let mut state = self.state();
        if let Some(missing) = tombstones.iter().find(|stone| !state.places.contains_key(&stone.event)) {
            return Err(Error::not_found(format!("cannot erase event {}: it is not there", missing.event)));
        }
        let erased: u64 = tombstones.iter().map(|stone| u64::from(state.erase(stone))).sum();
        if erased > 0 {
            state.forgets += 1;
            state.drop_erased_learnings();
            state.drop_erased_graph();
            state.hollow_erased_summaries();
        }
        Ok(erased)
    }

    async fn tombstones(&self) -> Result<Vec<Tombstone>> {
        Ok(self.state().tombstones.values().cloned().collect())
    }

    async fn adopt(&self, tombstones: &[Tombstone]) -> Result<()> {
        let mut state = self.state();
        let known = state.tombstones.len();
        for stone in tombstones {
            state.tombstones.entry(stone.event).or_insert_with(|| stone.clone());
        }
        state.forgets += u64::from(state.tombstones.len() > known);
        Ok(())
    }
}

impl SpaceState {
    /// Returns, for each entry, the place of the event that it repeats; `None` for a new one.
    fn repetitions(&self, batch: &[LogEntry]) -> Result<Vec<Option<usize>>> {
        let mut keys: HashMap<&str, (usize, [u8; 32])> = HashMap::new();
        let mut ids: HashMap<EventId, usize> = HashMap::new();
        let mut answers = Vec::with_capacity(batch.len());
        let mut next = self.events.len();
        for entry in batch {
            let key = entry.event.idempotency_key.as_deref();
            let stored = key.and_then(|key| self.keys.get(key)).copied();
            let known = match (stored, key.and_then(|key| keys.get(key))) {
                (Some(place), _) => Some((place, self.events.get(place).and_then(|stored| stored.body_hash))),
                (None, Some((place, hash))) => Some((*place, Some(*hash))),
                (None, None) => None,
            };
            if let Some((place, hash)) = known {
                if hash.is_some_and(|hash| hash != entry.body_hash) {
                    return Err(conflict(entry, "its idempotency key names another body"));
                }
                answers.push(Some(place));
                continue;
            }
            if self.places.contains_key(&entry.id) || ids.contains_key(&entry.id) {
                return Err(conflict(entry, "the id is known"));
            }
            let parent = entry.event.parent;
            if parent.is_some_and(|id| !self.places.contains_key(&id) && !ids.contains_key(&id)) {
                return Err(Error::invalid(format!(
                    "cannot append event {}: its parent is unknown",
                    entry.id
                )));
            }
            ids.insert(entry.id, next);
            if let Some(key) = key {
                keys.insert(key, (next, entry.body_hash));
            }
            next += 1;
            answers.push(None);
        }
        Ok(answers)
    }

    fn take(&mut self, entry: &LogEntry, known: Option<usize>) -> AppendOutcome {
        if let Some(stored) = known.and_then(|place| self.events.get(place)) {
            return AppendOutcome { id: stored.event.id, seq: stored.event.seq, fresh: false };
        }
        let (place, seq) = (self.events.len(), self.next_seq());
        let last = self.events.last().map(|stored| stored.event.recorded_at);
        let event = Event {
            id: entry.id,
            seq,
            recorded_at: last.map_or(entry.recorded_at, |last| entry.recorded_at.or_after(last)),
            role: entry.event.kind.role(),
            trust: entry.event.origin.trust(),
            level: entry.event.origin.level(),
            quarantined: entry.quarantined.clone(),
            echo: entry.echo.clone(),
            body: Body::Present(Box::new(entry.event.clone())),
        };
        let index = entry.index.clone().filter(|_| entry.quarantined.is_none());
        self.events.push(StoredEvent { event, index, body_hash: Some(entry.body_hash) });
        self.places.insert(entry.id, place);
        if matches!(entry.event.kind, EventKind::Decision(Decision::Forget(_))) {
            self.forgetting.push(entry.id);
        }
        if let Some(key) = &entry.event.idempotency_key {
            self.keys.insert(key.clone(), place);
        }
        AppendOutcome { id: entry.id, seq, fresh: true }
    }

    fn erase(&mut self, stone: &Tombstone) -> bool {
        let place = self.places.get(&stone.event).copied();
        let Some(stored) = place.and_then(|place| self.events.get_mut(place)) else { return false };
        if stored.event.body().is_none() {
            return false;
        }
        stored.event.body = Body::Erased { at: stone.at };
        stored.event.echo = Vec::new();
        stored.index = None;
        stored.body_hash = None;
        self.tombstones.insert(stone.event, stone.clone());
        true
    }
}

fn conflict(entry: &LogEntry, why: &str) -> Error {
    Error::new(ErrorKind::Conflict, format!("cannot append event {}: {why}", entry.id))
}
