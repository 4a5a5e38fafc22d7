//! Retention: scheduled forgets of events beyond the age or number of the settings.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::time::Duration;

use mnemal_core::{
    AsOf, Cursor, Decision, EventFilter, EventId, EventKind, FactFilter, Forget, LearningFilter, Origin,
    Result, Selector, Within,
};

use crate::areas::EventsHandle;
use crate::audit::{AuditAct, AuditRecord};
use crate::engine::{Engine, FOLD_WAIT};
use crate::message::{Defaults, Message};

/// Maximum number of events of one forget. Source: babyagi3, which deletes in batches of this size.
const BATCH: usize = 1_000;
/// Interval of retention. Source: own choice; the settings count days.
const EVERY: Duration = Duration::from_hours(24);
/// Category of compressed conversations; it has its own retention time, and its notes support nothing. Source: PicoBot's memory
/// kind of this name.
const TIMELINE: &str = "timeline";
/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

impl EventsHandle<'_> {
    /// Returns the events that retention would forget next, at most 1,000, whether it is enabled or not: first events above the
    /// age limit of their kind, oldest first, then those above the maximum number.
    ///
    /// Decisions and sources of pinned notes are never included. Sources of valid facts or learnings are not taken for their age,
    /// and come last for the number. Events that the graph and the notes have not read yet are never included, because their use
    /// as sources is unknown. Age is measured from the recording time.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn outdated(self) -> Result<Vec<EventId>> {
        // What they cannot read in this time is left for later.
        let _behind =
            (self.memory.engine.fold().await, self.memory.engine.fold_graph_within(FOLD_WAIT).await);
        let outdated = self.memory.engine.outdated().await?.ids;
        match self.memory.only_user() {
            None => Ok(outdated),
            Some(_) => Ok(self.memory.own_events(&outdated).await?),
        }
    }
}

/// The next batch of retention.
#[derive(Debug)]
struct RetentionBatch {
    ids: Vec<EventId>,
    /// Whether older events are left out until they are read.
    waits: bool,
}

/// The live events by retention class.
#[derive(Debug, Default)]
struct LiveEvents {
    old: Vec<EventId>,
    /// Other events, oldest first: those without dependents, and sources of valid records.
    free: Vec<EventId>,
    bearing: Vec<EventId>,
    count: u64,
    /// Whether some old event is not read yet.
    waits: bool,
}

impl Engine {
    async fn outdated(&self) -> Result<RetentionBatch> {
        // Read the cursors first: events that are read meanwhile are considered the next time.
        let read = self.read_by_all().await?;
        let (bearing, pinned) = self.bearing().await?;
        let (settings, now) = (&self.settings().retention, self.now());
        let mut living = LiveEvents::default();
        let filter = EventFilter { erased: Within::Only(false), ..EventFilter::all() };
        let mut after = Cursor::START;
        loop {
            let page = self.events()?.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                let Some(kept) = event.body().and_then(|kept| settings.retention_of(&kept.kind)) else {
                    continue;
                };
                let micros = i64::try_from(kept.as_micros()).unwrap_or(i64::MAX);
                let is_old = event.recorded_at < now.plus_micros(-micros);
                if read.is_some_and(|read| Cursor(Some(event.seq)) > read) {
                    living.waits |= is_old;
                    continue;
                }
                living.count += 1;
                match (pinned.contains(&event.id), bearing.contains(&event.id)) {
                    (true, _) => {}
                    (false, true) => living.bearing.push(event.id),
                    (false, false) if is_old => living.old.push(event.id),
                    (false, false) => living.free.push(event.id),
                }
            }
        }
        let left = living.count.saturating_sub(living.old.len() as u64);
        let over = usize::try_from(left.saturating_sub(settings.max_events)).unwrap_or(usize::MAX);
        let more = living.free.into_iter().chain(living.bearing).take(over);
        let ids = living.old.into_iter().chain(more).take(BATCH).collect();
        Ok(RetentionBatch { ids, waits: living.waits })
    }

    /// Returns the log position up to which all dependent layers have read; `None` without such a layer.
    async fn read_by_all(&self) -> Result<Option<Cursor>> {
        let mut read: Option<Cursor> = None;
        if let Ok(graph) = self.guarded().graph.part() {
            read = Some(graph.cursor().await?);
        }
        if let Ok(notes) = self.guarded().learnings.part() {
            let notes = notes.cursor().await?;
            read = Some(read.map_or(notes, |read| read.min(notes)));
        }
        Ok(read)
    }

    /// Returns the source events of valid records, and the source events of pinned records.
    async fn bearing(&self) -> Result<(BTreeSet<EventId>, BTreeSet<EventId>)> {
        let (mut bearing, mut pinned, now) = (BTreeSet::new(), BTreeSet::new(), AsOf::present(self.now()));
        if let Ok(graph) = self.guarded().graph.part() {
            let facts = graph.facts(&FactFilter::all(), now).await?;
            bearing.extend(facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source.event));
        }
        if let Ok(notes) = self.guarded().learnings.part() {
            for note in notes.active(&LearningFilter::all(), now).await?.iter() {
                let events = note.sources.iter().map(|source| source.event);
                if mnemal_learnings::is_pinned(note) {
                    pinned.extend(events);
                } else if note.category.as_str() != TIMELINE {
                    bearing.extend(events);
                }
            }
        }
        Ok((bearing, pinned))
    }

    /// Runs retention, if it is enabled and due; returns the number of forgotten events.
    pub(crate) async fn retain(&self) -> Result<u64> {
        if !self.settings().retention.enabled || !self.is_time_to_retain() {
            return Ok(0);
        }
        let piece = self.piece().await;
        let RetentionBatch { ids, waits } = self.outdated().await?;
        drop(piece);
        if waits || ids.len() == BATCH {
            // More is pending: the next step continues.
            *self.parts().retained.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if ids.is_empty() {
            return Ok(0);
        }
        self.finish_forgets().await?;
        let forget = Forget { selector: Selector::Events(Vec::new()), events: ids.clone() };
        let decision = Message::of(EventKind::Decision(Decision::Forget(forget)), Origin::UserDirect, "");
        let defaults =
            Defaults { session: None, user: None, agent: None, now: self.now(), key: &self.parts().key };
        let acks = self.append_to(self.log()?, vec![decision.into_event(&defaults)?]).await?.value;
        let Some(ack) = acks.into_iter().next() else { return Ok(0) };
        let piece = self.piece().await;
        let done = self.erase(&ids).await?;
        drop(piece);
        if done.truncated {
            self.upkeep()?.forgets_finished(&[ack.id]).await?;
        }
        tracing::info!(events = done.events, grade = done.grade.as_str(), decision = %ack.id, "retention forgot");
        let act = AuditRecord::new(AuditAct::Forget, Origin::Engine).id(ack.id);
        self.audit(&act.count("events", done.events))?;
        Ok(done.events)
    }

    fn is_time_to_retain(&self) -> bool {
        let now = self.parts().clock.monotonic();
        let mut retained = self.parts().retained.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = retained.is_none_or(|last| now.saturating_sub(last) >= EVERY);
        if is_time {
            *retained = Some(now);
        }
        is_time
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mnemal_core::{Scope, SpaceId};
    use mnemal_testkit::ManualClock;

    use super::*;

    #[tokio::test]
    async fn what_the_graph_has_not_read_yet_is_not_let_go() {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder().with_clock(Arc::<ManualClock>::clone(&clock)).in_memory().unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
        let _kept = memory.log(Message::user("I live in Oslo.")).await.unwrap();
        let idle = memory.log(Message::user("The heron of the pond was grey today.")).await.unwrap().value.id;
        clock.advance(400 * EVERY);
        let behind = engine.outdated().await.unwrap();
        assert_eq!((behind.ids.as_slice(), behind.waits), (&[][..], true), "nobody knows what they carry");
        assert!(engine.fold_graph_within(FOLD_WAIT).await.is_empty() && engine.fold().await.is_empty());
        let read = engine.outdated().await.unwrap();
        assert_eq!((read.ids.as_slice(), read.waits), (&[idle][..], false), "what carries a fact stays");
    }
}
