//! Vector index of recall: its construction in the background.

use std::num::NonZeroUsize;
use std::pin::pin;

use futures_util::future::{Either, Shared, select};
use mnemal_core::Result;
use mnemal_dream::Pace;

use crate::background::{BackgroundReport, is_over};
use crate::engine::Engine;

/// Vectors that are added as one piece of work. Source: own choice; the graph takes about a millisecond for each (ADR 15).
const STEP: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not zero");

impl Engine {
    /// Builds the vector index that `recall.vector_index` or [`Builder::with_vector_index`](crate::Builder::with_vector_index)
    /// asks for, or brings it up to date, in pieces that give way to foreground calls. Dropping the future keeps what was built.
    ///
    /// Returns at once for the exact scan and for sign bits, which need no construction. The index is in memory: each process
    /// builds its own, and anew after a forget. [`run_background`](Self::run_background) does it all along;
    /// [`maintain`](Self::maintain) does not, so call this after it, without its lease. Until the index is complete, answers
    /// scan all vectors.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` when a block is damaged.
    pub async fn build_vector_index(&self) -> Result<()> {
        let Some(recall) = self.parts().recall.as_ref().filter(|recall| recall.builds_vectors()) else {
            return Ok(());
        };
        loop {
            // Other work does not wait while the index is read from the store.
            recall.load().await?;
            let piece = self.piece().await;
            let lacking = recall.build_vectors(STEP).await?;
            drop(piece);
            if lacking == 0 {
                return Ok(());
            }
        }
    }

    /// Keeps the index up to date until `stop` is ready; other work does not wait for it.
    pub(crate) async fn run_vector_index<S: Future<Output = ()>>(
        &self,
        pace: &Pace,
        stop: Shared<S>,
    ) -> BackgroundReport {
        let mut attended = BackgroundReport::default();
        if !self.parts().recall.as_ref().is_some_and(|recall| recall.builds_vectors()) {
            return attended;
        }
        loop {
            match select(pin!(self.build_vector_index()), stop.clone()).await {
                Either::Left((built, _)) => attended.failed += u64::from(built.is_err()),
                Either::Right(_) => return attended,
            }
            if is_over(&stop, pace.every).await {
                return attended;
            }
        }
    }
}
