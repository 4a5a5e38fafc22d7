//! The summaries of a memory, for reading.

use std::sync::Arc;

use mnemal_core::{Degraded, Gap, GapCause, Layer, Result, Slot};
use mnemal_summaries::Summaries;

use crate::engine::{Engine, missing};
use crate::memory::Memory;
use crate::status::STALE_EVENTS;

impl Memory {
    /// Returns what reads summaries, as they are; nothing is waited for. A tree that is far behind the log is a gap.
    ///
    /// A space is one tree: it knows no narrower scope.
    ///
    /// # Errors
    /// `Unsupported` when the engine was built without summaries or without a log.
    pub async fn summaries(&self) -> Result<Degraded<Summaries>> {
        let parts = self.engine.guarded();
        let Slot::Filled(store) = &parts.summaries else { return Err(missing("summaries")) };
        let Slot::Filled(events) = &parts.events else { return Err(missing("a log")) };
        let behind = match (store.cursor().await, events.head().await) {
            (Ok(cursor), Ok(head)) => Ok(cursor.behind(head)),
            (Err(error), _) | (_, Err(error)) => Err(GapCause::from(error)),
        };
        let cause = match behind {
            Ok(behind) => (behind > STALE_EVENTS).then_some(GapCause::Stale { behind }),
            Err(cause) => Some(cause),
        };
        let gaps = cause.map(|cause| Gap { layer: Layer::Summaries, cause }).into_iter().collect();
        Ok(Degraded { value: Summaries::new(Arc::clone(events), Arc::clone(store)), gaps })
    }
}

impl Engine {
    /// Gives the summaries 200 ms to catch up with the log; what is left is a gap.
    ///
    /// # Errors
    /// `Unsupported` when the engine was built without them.
    pub async fn refresh_summaries(&self) -> Result<Vec<Gap>> {
        if !self.guarded().summaries.is_filled() {
            return Err(missing("summaries"));
        }
        Ok(self.fold_summaries().await)
    }
}
