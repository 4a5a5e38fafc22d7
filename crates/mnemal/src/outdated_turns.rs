//! Marking of outdated turns in a context: turns whose facts have all ended.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, EventId, Fact, FactFilter, FactStatus, Fragment, GapCause, Gaps,
    GraphStore, Inventory, Layer, Level, RecordRef, Remark, Result, Slot, Within,
};

/// Wraps a context source, and marks the user's turns whose facts have all ended.
#[derive(Debug)]
struct OutdatedMarker {
    source: Arc<dyn ContextSource>,
    graph: Arc<dyn GraphStore>,
}

/// Wraps a source so that outdated turns are marked; without a graph it returns the source itself.
pub(crate) fn marked(source: Arc<dyn ContextSource>, graph: &Slot<dyn GraphStore>) -> Arc<dyn ContextSource> {
    match graph {
        Slot::Filled(graph) => Arc::new(OutdatedMarker { source, graph: Arc::clone(graph) }),
        Slot::Empty => source,
    }
}

#[async_trait]
impl ContextSource for OutdatedMarker {
    fn layer(&self) -> Layer {
        self.source.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let found = self.source.fragments(request).await?;
        let turns: BTreeSet<EventId> = found.value.iter().filter_map(turn).collect();
        if turns.is_empty() || !request.as_of.is_present() {
            return Ok(found);
        }
        let filter = FactFilter { sources: Within::Only(turns.into_iter().collect()), ..FactFilter::all() };
        // Without the graph the turns are shown with their dates only, and the answer has the gap.
        let mut gaps = Gaps::default();
        let facts = gaps.keep(Layer::Graph, self.graph.believed(&filter).await.map_err(GapCause::from));
        let mut value = gaps.merge(found);
        for fragment in &mut value {
            let is_past = turn(fragment).is_some_and(|turn| is_past(turn, &facts));
            if is_past && fragment.label.remark.is_none() {
                fragment.label.remark = Some(Remark::Past);
            }
        }
        Ok(gaps.attach(value))
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        self.source.inventories(request).await
    }
}

/// Returns the user's turn that a fragment quotes.
fn turn(fragment: &Fragment) -> Option<EventId> {
    match fragment.record {
        RecordRef::Event(event) if fragment.label.level == Level::User => Some(event),
        _ => None,
    }
}

/// Whether a turn states some fact that another event ended or that was rejected, and none that still holds.
fn is_past(turn: EventId, facts: &[Fact]) -> bool {
    let says = |fact: &&Fact| fact.supports.iter().any(|one| one.source.event == turn && one.says_so());
    let said: Vec<&Fact> = facts.iter().filter(says).collect();
    let is_over = |fact: &&Fact| {
        let by_another = fact.superseded.as_ref().is_some_and(|by| by.by != turn);
        by_another || fact.status == FactStatus::Rejected
    };
    !said.is_empty() && said.iter().all(is_over)
}
