//! Consumers of the log: a reader with a cursor, and the loop that brings projectors to the head.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{Clock, Cursor, Event, EventFilter, EventStore, Gap, GapCause, Projector, Result};

/// Events that a projector consumes in one step. Source: own choice; a step shall block the runtime for at most 5 ms.
const STEP: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
/// Steps without progress after which the work is left to another process. Source: own choice.
const PATIENCE: u32 = 3;

/// Reads the log from a cursor.
///
/// It keeps only the cursor: the caller stores results and cursor together.
#[derive(Debug)]
pub struct Consumer {
    /// Name of the consumer, for messages.
    pub name: String,
    /// The last consumed position.
    pub cursor: Cursor,
}

impl Consumer {
    /// Returns the next events that pass the filter, oldest first, and advances the cursor; empty at the head.
    ///
    /// # Errors
    /// As [`EventStore::scan`]; then the cursor stays, and the next call reads the same events.
    pub async fn next(
        &mut self,
        store: &dyn EventStore,
        filter: &EventFilter,
        limit: NonZeroUsize,
    ) -> Result<Vec<Event>> {
        let events = store.scan(filter, self.cursor, limit).await?;
        if let Some(last) = events.last() {
            self.cursor = Cursor(Some(last.seq));
        }
        Ok(events)
    }
}

/// Steps projectors, in order, until each has reached `head`; returns a gap for each that has not.
///
/// Stops stepping when `budget` of the monotonic clock is used up (`Stale`), when a projector fails (`Failed`), or when
/// another process holds its cursor (`Stale`). Every projector gets at least one step.
pub async fn catch_up(
    projectors: &[Arc<dyn Projector>],
    head: Cursor,
    budget: Duration,
    clock: &dyn Clock,
) -> Vec<Gap> {
    let until = clock.monotonic() + budget;
    let mut gaps = Vec::new();
    for projector in projectors {
        if let Err(cause) = bring(projector.as_ref(), head, until, clock).await {
            gaps.push(Gap { layer: projector.layer(), cause });
        }
    }
    gaps
}

async fn bring(
    projector: &dyn Projector,
    head: Cursor,
    until: Duration,
    clock: &dyn Clock,
) -> Result<(), GapCause> {
    let mut idle = 0;
    loop {
        let progress = projector.step(STEP).await?;
        let behind = progress.cursor.behind(head);
        if behind == 0 {
            return Ok(());
        }
        idle = if progress.consumed == 0 { idle + 1 } else { 0 };
        if idle == PATIENCE || clock.monotonic() >= until {
            return Err(GapCause::Stale { behind });
        }
    }
}
