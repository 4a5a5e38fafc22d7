//! What is kept for a time: which events are older, or more, than the settings say, and their forgetting.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::time::Duration;

use mnemal_core::{
    AsOf, Cursor, Decision, EventFilter, EventId, EventKind, FactFilter, Forget, LearningFilter, Origin,
    Result, Selector, Within,
};

use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::{Defaults, Message};

/// Most events of one forget. Source: BA-46.
const BATCH: usize = 1_000;
/// Time between two looks at what is too old. Source: own choice; the numbers count days.
const EVERY: Duration = Duration::from_hours(24);
/// Where what became of conversations is filed; it has a time of its own and carries nothing. Source: PB-11.
const TIMELINE: &str = "timeline";
/// Events a page. Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

impl Memory {
    /// Returns the events that retention would forget next, at most 1,000 of them, whether it is enabled or not: those that are
    /// older than their kind is kept, oldest first, then those beyond the number that is kept.
    ///
    /// Decisions are never among them, and so is nothing on which a note rests that is pinned. That on which a fact or a learning
    /// rests that holds is not taken for its age, and last for its number. Age counts from when an event was recorded.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn outdated(&self) -> Result<Vec<EventId>> {
        self.engine.outdated().await
    }
}

/// What is known of the living events.
#[derive(Debug, Default)]
struct Living {
    old: Vec<EventId>,
    /// Others, oldest first: those that nothing rests on, and those that carry something.
    free: Vec<EventId>,
    bearing: Vec<EventId>,
    count: u64,
}

impl Engine {
    async fn outdated(&self) -> Result<Vec<EventId>> {
        let (bearing, pinned) = self.bearing().await?;
        let (settings, now) = (&self.settings().retention, self.now());
        let mut living = Living::default();
        let filter = EventFilter { erased: Within::Only(false), ..EventFilter::all() };
        let mut after = Cursor::START;
        loop {
            let page = self.events()?.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                let Some(kept) = event.kept().and_then(|kept| settings.kept(&kept.kind)) else { continue };
                living.count += 1;
                let micros = i64::try_from(kept.as_micros()).unwrap_or(i64::MAX);
                let is_old = event.recorded_at < now.plus_micros(-micros);
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
        Ok(living.old.into_iter().chain(more).take(BATCH).collect())
    }

    /// Returns the events on which something rests that holds, and those on which something rests that is pinned.
    async fn bearing(&self) -> Result<(BTreeSet<EventId>, BTreeSet<EventId>)> {
        let (mut bearing, mut pinned, now) = (BTreeSet::new(), BTreeSet::new(), AsOf::present(self.now()));
        if let Ok(graph) = self.guarded().graph.part() {
            let facts = graph.facts(&FactFilter::all(), now).await?;
            bearing.extend(facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source.event));
        }
        if let Ok(notes) = self.guarded().learnings.part() {
            for note in notes.active(&LearningFilter::all(), now).await? {
                let events = note.sources.iter().map(|source| source.event);
                if mnemal_learnings::is_pinned(&note) {
                    pinned.extend(events);
                } else if note.category.as_str() != TIMELINE {
                    bearing.extend(events);
                }
            }
        }
        Ok((bearing, pinned))
    }

    /// Forgets what is outdated, if that is asked for and was not done today; returns how many events.
    pub(crate) async fn retain(&self) -> Result<u64> {
        if !self.settings().retention.enabled || !self.is_time_to_retain() {
            return Ok(0);
        }
        let ids = self.outdated().await?;
        if ids.is_empty() {
            return Ok(0);
        }
        self.finish_forgets().await?;
        let forget = Forget { selector: Selector::Events(Vec::new()), events: ids.clone() };
        let decision = Message::of(EventKind::Decision(Decision::Forget(forget)), Origin::UserDirect, "");
        let defaults = Defaults { session: None, user: None, agent: None, now: self.now() };
        let acks = self.append_to(self.log()?, vec![decision.into_event(&defaults)?]).await?.value;
        let Some(ack) = acks.into_iter().next() else { return Ok(0) };
        let done = self.erase(&ids).await?;
        if done.truncated {
            self.upkeep()?.forgets_finished(&[ack.id]).await?;
        }
        tracing::info!(events = done.events, verified = done.verified, decision = %ack.id, "retention forgot");
        if ids.len() == BATCH {
            // There is more.
            *self.parts().retained.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
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
