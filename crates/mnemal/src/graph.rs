//! The knowledge graph: entities, facts, decisions, differences between two times.

pub use crate::areas::FactsHandle;
pub use crate::decide::{DecisionSubject, holding, is_shipped, renaming, value_key};
pub use crate::diff::{BeliefChange, BeliefDiff, ChangeKind};
pub use crate::entity_profile::{EntityProfile, FactView, ProfileText, SourceSentence};
pub use mnemal_core::{
    Cardinality, Change, Counts, Difference, Edition, Entity, EntityFilter, EntityMerge, EntityName, Example,
    Fact, FactFilter, FactStatus, GraphDelta, IdentityClaim, IdentityKind, MentionFilter, MentionRow,
    NamingDecision, Reason, Ruling, Supersession, Support, Value, facts_as_of, sort_facts, strongest_facts,
};
pub use mnemal_graph::{
    CardinalityEvidence, CardinalityOrigin, Cooccurrence, DuplicateReason, FactExplanation, Graph,
    MentionStats, MergeProposal, Neighborhood, Path, ReachedEntity, Suggestion, Topic,
};

use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{Cursor, Degraded, Error, Gap, GapCause, Layer, Result, Slot};

use crate::engine::missing;
use crate::memory::Memory;
use crate::status::STALE_EVENTS;
use crate::user::UserGraph;

/// Longest time in which the graph of one user is read, for whoever has no answer without it. Source: ADR 3.
const PATIENCE: Duration = Duration::from_secs(10);

impl Memory {
    /// Returns the graph of the user whose memory this is.
    async fn graph_of_user(&self, within: Duration) -> Result<Degraded<Graph>> {
        let graphs = self.engine.parts().user_graphs.as_ref().ok_or_else(|| missing("a graph"))?;
        let user = self.only_user().ok_or_else(|| Error::internal("a graph of no user"))?;
        let UserGraph { rows, log: _, gap } = graphs.of(user, within).await?;
        let behind = match gap.as_ref().map(|gap| gap.cause) {
            Some(GapCause::Stale { behind }) => behind,
            _ => 0,
        };
        let graph = Graph::new(rows).with_behind(behind).of_user(user.clone());
        Ok(Degraded { value: graph, gaps: gap.into_iter().collect() })
    }

    async fn read(&self, mut gaps: Vec<Gap>) -> Result<Degraded<Graph>> {
        let Slot::Filled(store) = &self.engine.guarded().graph else { return Err(missing("a graph")) };
        // Rows with a forgotten source are removed, also those that other events support, until the graph is rebuilt.
        if store.edition().await.is_ok_and(|edition| edition.producer.is_none()) {
            let behind = store.cursor().await.map_or(0, Cursor::count);
            gaps.push(Gap { layer: Layer::Graph, cause: GapCause::Stale { behind } });
        }
        // A few unread events are normal for every reader.
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

impl FactsHandle<'_> {
    /// Returns the reader of entities and facts, after the graph had 200 ms to catch up with the log; the remaining lag is a gap.
    ///
    /// The graph of one user is folded from that user's events only. The first call waits for it, for at most ten seconds. There
    /// is no narrower scope than a user.
    ///
    /// # Errors
    /// `Unsupported` when the engine was built without a graph.
    pub async fn graph(self) -> Result<Degraded<Graph>> {
        match self.memory.only_user() {
            Some(_) => Box::pin(self.memory.graph_of_user(PATIENCE)).await,
            None => self.memory.read(self.memory.engine.fold_graph().await).await,
        }
    }

    /// Returns the reader of entities and facts without waiting; unread events are a gap.
    ///
    /// # Errors
    /// As [`graph`](Self::graph).
    pub async fn stored_graph(self) -> Result<Degraded<Graph>> {
        if self.memory.only_user().is_some() {
            return Box::pin(self.memory.graph_of_user(self.memory.engine.settings().recall.catch_up()))
                .await;
        }
        let behind = match self.memory.engine.events()?.head().await {
            Ok(head) => self.memory.engine.stale_graph(head).await,
            Err(error) => Some(Gap { layer: Layer::Graph, cause: error.into() }),
        };
        self.memory.read(behind.into_iter().collect()).await
    }

    /// Returns pairs of entities that may be duplicates, at most `most`: first those that consolidation proposed and that await a
    /// person's decision, then the others, each group most likely first. Accept one with
    /// [`Decision::Merge`](mnemal_core::Decision::Merge); decline it with a split, or undo the proposal.
    ///
    /// # Errors
    /// As [`graph`](Self::graph).
    pub async fn suggestions(self, most: usize) -> Result<Degraded<Vec<MergeProposal>>> {
        let graph = self.graph().await?;
        let mut found = graph.value.merge_proposals(self.memory.log_to_read()?.as_ref()).await?;
        found.truncate(most);
        Ok(Degraded { value: found, gaps: graph.gaps })
    }
}
