//! Steps the fold along the log and commits its rows with the cursor.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, DeadLetter, Decision, ErrorKind, Event, EventFilter, EventId, EventStore, Layer,
    Learning, LearningDelta, LearningFilter, LearningStore, Progress, Projector, Result, Role, Within,
};

use crate::fold::{Fold, decision};

/// Events a page when a forget makes the notes anew.
///
/// Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// Folds decisions into notes.
///
/// A step costs its events and the notes that they touch. A step that sees a forget reads all decisions up to its end, so
/// that the rows are what the log would give without the forgotten events: an older version holds again, a note without a
/// living source is gone.
#[derive(Clone, Debug)]
pub struct NoteProjector {
    events: Arc<dyn EventStore>,
    notes: Arc<dyn LearningStore>,
}

impl NoteProjector {
    /// Folds this log into these rows.
    pub fn new(events: Arc<dyn EventStore>, notes: Arc<dyn LearningStore>) -> Self {
        Self { events, notes }
    }

    async fn delta(&self, batch: &[Event], end: Cursor) -> Result<(LearningDelta, Vec<DeadLetter>)> {
        if batch.iter().any(is_forget) {
            return self.refold(batch, end).await;
        }
        let before = self.touched(batch).await?;
        let mut fold = Fold::from_rows(before.clone());
        let dead = apply(&mut fold, batch);
        Ok((fold.delta(before), dead))
    }

    /// Returns the rows that the batch can change: of its keys, and those that its keyless notes made already.
    async fn touched(&self, batch: &[Event]) -> Result<Vec<Learning>> {
        let mut rows = BTreeMap::new();
        let mut keys = BTreeSet::new();
        let mut keyless = Vec::new();
        for event in batch {
            match decision(event) {
                Some(Decision::Remember(remember)) => match &remember.key {
                    Some(key) => drop(keys.insert(key)),
                    None => keyless.push(event.id),
                },
                Some(Decision::Archive { key }) => drop(keys.insert(key)),
                _ => {}
            }
        }
        let by_key = keys
            .into_iter()
            .map(|key| LearningFilter { key: Within::Only(key.clone()), ..LearningFilter::all() });
        let by_source = (!keyless.is_empty())
            .then(|| LearningFilter { sources: Within::Only(keyless), ..LearningFilter::all() });
        for filter in by_key.chain(by_source) {
            rows.extend(self.notes.all(&filter).await?.into_iter().map(|row| (row.id, row)));
        }
        Ok(rows.into_values().collect())
    }

    async fn refold(&self, batch: &[Event], end: Cursor) -> Result<(LearningDelta, Vec<DeadLetter>)> {
        let decisions = self.decisions(end).await?;
        let forgotten = decisions.iter().filter_map(forgotten).flatten().copied().collect();
        let mut fold = Fold::without(forgotten);
        let mut dead = apply(&mut fold, &decisions);
        dead.retain(|letter| batch.iter().any(|event| event.id == letter.event));
        Ok((fold.delta(self.notes.all(&LearningFilter::all()).await?), dead))
    }

    /// Returns all decisions up to a position, oldest first.
    async fn decisions(&self, end: Cursor) -> Result<Vec<Event>> {
        let filter = decisions();
        let mut decisions = Vec::new();
        let mut after = Cursor::START;
        loop {
            let page = self.events.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(decisions) };
            after = Cursor(Some(last.seq));
            decisions.extend(page.into_iter().filter(|event| Cursor(Some(event.seq)) <= end));
            if after >= end {
                return Ok(decisions);
            }
        }
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.events.head().await?);
        Ok(Progress { consumed, cursor, behind })
    }
}

#[async_trait]
impl Projector for NoteProjector {
    fn layer(&self) -> Layer {
        Layer::Learnings
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let (expect, head) = (self.notes.cursor().await?, self.events.head().await?);
        if expect >= head {
            return Ok(Progress { consumed: 0, cursor: expect, behind: 0 });
        }
        // Nothing but decisions changes a row, so the cursor passes everything else at once.
        let batch = self.events.scan(&decisions(), expect, limit).await?;
        let last = Cursor(batch.last().map(|event| event.seq));
        let next = if batch.len() < limit.get() { head.max(last) } else { last };
        let (delta, dead) = self.delta(&batch, next).await?;
        match self.notes.apply(&delta, &Advance { expect, next, dead, ..Advance::default() }).await {
            Ok(()) => self.progress(expect.behind(next), next).await,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.progress(0, self.notes.cursor().await?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&self) -> Result<()> {
        self.notes.reset().await
    }
}

/// The filter that every decision passes, erased ones included.
fn decisions() -> EventFilter {
    EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() }
}

fn apply(fold: &mut Fold, events: &[Event]) -> Vec<DeadLetter> {
    let letter = |event: &Event| {
        fold.apply(event).err().map(|error| DeadLetter { event: event.id, why: error.what().to_owned() })
    };
    events.iter().filter_map(letter).collect()
}

fn is_forget(event: &Event) -> bool {
    forgotten(event).is_some()
}

fn forgotten(event: &Event) -> Option<&Vec<EventId>> {
    match decision(event) {
        Some(Decision::Forget(forget)) => Some(&forget.events),
        _ => None,
    }
}
