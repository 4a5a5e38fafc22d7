//! The graph of a memory, for reading.

use std::sync::Arc;

use mnemal_core::{Cursor, Degraded, Gap, GapCause, Layer, Result, Slot};
use mnemal_graph::{Graph, Suggested};

use crate::engine::missing;
use crate::memory::Memory;
use crate::status::STALE_EVENTS;

impl Memory {
    /// Returns what reads entities and facts, after it was given 200 ms to catch up with the log; what is still unread is a
    /// gap.
    ///
    /// A space is one graph: it knows no narrower scope.
    ///
    /// # Errors
    /// `Unsupported` when the engine was built without a graph.
    pub async fn graph(&self) -> Result<Degraded<Graph>> {
        self.read(self.engine.fold_graph().await).await
    }

    /// Returns what reads entities and facts as they are, without waiting for what is still unread, which is a gap.
    ///
    /// # Errors
    /// As [`graph`](Self::graph).
    pub async fn stored_graph(&self) -> Result<Degraded<Graph>> {
        let behind = match self.engine.events()?.head().await {
            Ok(head) => self.engine.stale_graph(head).await,
            Err(error) => Some(Gap { layer: Layer::Graph, cause: error.into() }),
        };
        self.read(behind.into_iter().collect()).await
    }

    /// Returns pairs of entities that may be one, at most `most`: those that the dream proposed and that wait for a person before
    /// the others, and each of these the likeliest first. To agree is to decide [`Decision::Merge`](mnemal_core::Decision::Merge),
    /// to decline a split, or to take the proposal back.
    ///
    /// # Errors
    /// As [`graph`](Self::graph).
    pub async fn suggestions(&self, most: usize) -> Result<Degraded<Vec<Suggested>>> {
        let graph = self.graph().await?;
        let mut found = graph.value.suggested(self.engine.events()?).await?;
        found.truncate(most);
        Ok(Degraded { value: found, gaps: graph.gaps })
    }

    async fn read(&self, mut gaps: Vec<Gap>) -> Result<Degraded<Graph>> {
        let Slot::Filled(store) = &self.engine.guarded().graph else { return Err(missing("a graph")) };
        // Rows that rested on a forgotten event are gone, also those that others say too, until they are made anew.
        if store.edition().await.is_ok_and(|edition| edition.producer.is_none()) {
            let behind = store.cursor().await.map_or(0, Cursor::count);
            gaps.push(Gap { layer: Layer::Graph, cause: GapCause::Stale { behind } });
        }
        // Few unread events are what every reader lives with.
        let is_told = |gap: &Gap| match gap.cause {
            GapCause::Stale { behind } => behind > STALE_EVENTS,
            _ => true,
        };
        let behind = gaps.iter().filter(|gap| gap.layer == Layer::Graph).find_map(|gap| match gap.cause {
            GapCause::Stale { behind } => Some(behind),
            _ => None,
        });
        gaps.retain(|gap| gap.layer != Layer::Graph || is_told(gap));
        let graph = Graph::new(Arc::clone(store)).with_behind(behind.unwrap_or_default());
        Ok(Degraded { value: graph, gaps })
    }
}
