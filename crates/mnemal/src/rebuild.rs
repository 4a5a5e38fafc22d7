//! Rebuild of layers from the log, and comparison of stored rows with a fresh fold.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{
    DeadLetter, Difference, Edition, Layer, LearningFilter, LearningStore, Projector, Result, Slot,
    SummaryNode, SummaryStore,
};
use mnemal_graph::GraphProjector;
use mnemal_learnings::LearningProjector;

use crate::builder::as_set;
use mnemal_store::MemoryStore;

use crate::engine::{Engine, MANY, missing};
use crate::settings::UpgradePolicy;

/// Events of a step. Source: own choice, so that a step occupies a thread for at most 5 ms.
const STEP: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");

/// The mode of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebuildMode {
    /// Folds the log separately and compares; nothing changes.
    Check,
    /// Folds the log, and replaces the rows that differ.
    Anew,
}

/// The result of a rebuild.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RebuildReport {
    /// Number of rows that were not bit-identical, or of index rows that did not fit their events.
    pub rows: u64,
    /// The difference, if the layer can describe it.
    pub difference: Option<Difference>,
}

/// The state of the graph's rows as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphState {
    /// The producer of the rows, and the changes of the last rebuild.
    pub edition: Edition,
    /// Whether a rebuild is due: after a forget, when dead letters became readable, or with another version of the extractor.
    pub is_due: bool,
    /// Whether the rebuild waits for a person's approval: another extractor version gives other rows, and [`UpgradePolicy::Ask`] is set.
    /// The edition holds the difference, once upkeep has computed it.
    pub is_held: bool,
    /// Dead letters, oldest first, up to 1,000.
    pub dead: Vec<DeadLetter>,
}

impl Engine {
    /// Rebuilds a layer from the log while its old rows serve reads, or compares it. Costs a fold of the whole log.
    ///
    /// # Errors
    /// `Unsupported` for a layer that this build lacks or that is not derived from the log, `Unavailable` when the store does not
    /// answer; the next call continues an interrupted rebuild.
    pub async fn rebuild(&self, layer: Layer, what: RebuildMode) -> Result<RebuildReport> {
        match (layer, what) {
            (Layer::Graph, RebuildMode::Check) => self.graph_compared().await,
            (Layer::Graph, RebuildMode::Anew) => self.graph_anew().await,
            (Layer::Learnings, _) => self.notes_rebuilt(what).await,
            (Layer::Summaries, _) => self.summaries_rebuilt(what).await,
            (Layer::Lexical, RebuildMode::Check) => {
                let damaged = self.upkeep()?.damaged_index().await?;
                let rows = damaged.iter().map(|(first, last)| last.0 - first.0 + 1).sum();
                Ok(RebuildReport { rows, difference: None })
            }
            (Layer::Lexical, RebuildMode::Anew) => {
                Ok(RebuildReport { rows: self.reindex_damaged().await?, difference: None })
            }
            _ => Err(missing("a way to rebuild this layer")),
        }
    }

    /// Returns the state of the graph's rows as a whole.
    ///
    /// # Errors
    /// `Unsupported` without a graph, `Unavailable` when the store does not answer.
    pub async fn graph_state(&self) -> Result<GraphState> {
        let projector = self.graph_projector()?;
        let graph = self.guarded().graph.part().map_err(|_| missing("a graph"))?;
        Ok(GraphState {
            edition: graph.edition().await?,
            is_due: projector.is_due().await?,
            is_held: self.is_asked() && projector.is_read_otherwise().await?,
            dead: graph.dead_letters(MANY).await?,
        })
    }

    /// Whether another extractor version needs approval before its rows replace the old ones.
    fn is_asked(&self) -> bool {
        self.settings().extract.switch == UpgradePolicy::Ask
    }

    /// Rebuilds the graph's rows until they match the log, or until the difference of another extractor version is computed and
    /// waits for approval, or until the time is over; returns the number of remaining events.
    pub(crate) async fn renew_graph(&self, budget: Duration) -> Result<u64> {
        let Ok(projector) = self.graph_projector() else { return Ok(0) };
        let clock = &self.parts().clock;
        let until = clock.monotonic() + budget;
        let mut weighs = self.is_asked() && projector.is_read_otherwise().await?;
        loop {
            let renewal = if weighs { projector.weigh(STEP).await? } else { projector.renew(STEP).await? };
            let is_silent = renewal.difference.as_ref().is_some_and(Difference::is_silent);
            let is_done = renewal.behind == 0;
            if is_done && weighs && is_silent {
                // The difference cannot be shown, so no approval is asked for.
                weighs = false;
            } else if is_done || clock.monotonic() >= until {
                return Ok(renewal.behind);
            }
        }
    }

    /// Steps a projector until it has caught up; each step is one piece of background work.
    async fn step_up(&self, projector: &dyn Projector) -> Result<()> {
        loop {
            let _piece = self.piece().await;
            if projector.step(STEP).await?.behind == 0 {
                return Ok(());
            }
        }
    }

    fn graph_projector(&self) -> Result<&Arc<GraphProjector>> {
        match &self.parts().graph_projector {
            Slot::Filled(projector) => Ok(projector),
            Slot::Empty => Err(missing("a graph")),
        }
    }

    async fn graph_compared(&self) -> Result<RebuildReport> {
        let projector = self.graph_projector()?;
        loop {
            let _piece = self.piece().await;
            if let Some(difference) = projector.compare(STEP).await?.difference {
                return Ok(RebuildReport { rows: difference.rows, difference: Some(difference) });
            }
        }
    }

    async fn graph_anew(&self) -> Result<RebuildReport> {
        let projector = self.graph_projector()?;
        self.step_up(projector.as_ref()).await?;
        if !projector.is_due().await? {
            projector.doubt().await?;
        }
        loop {
            let _piece = self.piece().await;
            if projector.renew(STEP).await?.behind == 0 {
                break;
            }
        }
        let difference = self.graph_state().await?.edition.difference;
        Ok(RebuildReport { rows: difference.as_ref().map_or(0, |difference| difference.rows), difference })
    }

    async fn notes_rebuilt(&self, what: RebuildMode) -> Result<RebuildReport> {
        let stores = self.stores();
        let (Slot::Filled(events), Slot::Filled(notes)) = (&stores.events, &stores.learnings) else {
            return Err(missing("notes"));
        };
        let beside = Arc::new(MemoryStore::new());
        let shadow = LearningProjector::new(Arc::clone(events), Arc::<MemoryStore>::clone(&beside));
        let shadow = as_set(shadow, self.settings(), stores);
        self.step_up(&shadow).await?;
        let all = LearningFilter::all();
        let by_id = |rows: Vec<mnemal_core::Learning>| rows.into_iter().map(|row| (row.id, row)).collect();
        let rows = differing(
            &by_id(LearningStore::all(beside.as_ref(), &all).await?),
            &by_id(notes.all(&all).await?),
        );
        if what == RebuildMode::Anew && rows > 0 {
            let projector = LearningProjector::new(Arc::clone(events), Arc::clone(notes));
            let projector = as_set(projector, self.settings(), stores);
            projector.reset().await?;
            self.step_up(&projector).await?;
        }
        Ok(RebuildReport { rows, difference: None })
    }

    async fn summaries_rebuilt(&self, what: RebuildMode) -> Result<RebuildReport> {
        let stores = self.stores();
        let Slot::Filled(projector) = &self.parts().summary_projector else {
            return Err(missing("summaries"));
        };
        let (events, summaries) = (&stores.events, &stores.summaries);
        let (Slot::Filled(events), Slot::Filled(summaries)) = (events, summaries) else {
            return Err(missing("summaries"));
        };
        // Lag is not an error.
        self.step_up(projector.as_ref()).await?;
        let beside = Arc::new(MemoryStore::new());
        let shadow = projector.for_stores(Arc::clone(events), Arc::<MemoryStore>::clone(&beside));
        self.step_up(&shadow).await?;
        let by_path =
            |nodes: Vec<SummaryNode>| nodes.into_iter().map(|node| (node.path.clone(), node)).collect();
        let rows =
            differing(&by_path(SummaryStore::all(beside.as_ref()).await?), &by_path(summaries.all().await?));
        if what == RebuildMode::Anew && rows > 0 {
            projector.reset().await?;
            self.step_up(projector.as_ref()).await?;
        }
        Ok(RebuildReport { rows, difference: None })
    }
}

/// Returns the number of rows in one store that are missing or differ bit by bit in the other.
fn differing<K: Ord, R: PartialEq>(one: &BTreeMap<K, R>, other: &BTreeMap<K, R>) -> u64 {
    let changed = one.iter().filter(|(id, row)| other.get(id) != Some(row)).count();
    (changed + other.keys().filter(|id| !one.contains_key(id)).count()) as u64
}
