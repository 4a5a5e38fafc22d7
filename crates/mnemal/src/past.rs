//! Turns that stand in a context though what they say has ended since.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, EventId, Fact, FactFilter, FactStatus, Fragment, GapCause, Gaps,
    GraphStore, Inventory, Layer, Level, RecordRef, Remark, Result, Slot, Within,
};

/// Offers what another source offers, and says of the user's turns of which every fact has ended that they hold no more.
#[derive(Debug)]
struct Marked {
    source: Arc<dyn ContextSource>,
    graph: Arc<dyn GraphStore>,
}

/// Returns a source with the turns marked whose facts have ended; without a graph it is the source itself.
pub(crate) fn marked(source: Arc<dyn ContextSource>, graph: &Slot<dyn GraphStore>) -> Arc<dyn ContextSource> {
    match graph {
        Slot::Filled(graph) => Arc::new(Marked { source, graph: Arc::clone(graph) }),
        Slot::Empty => source,
    }
}

#[async_trait]
impl ContextSource for Marked {
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
        // Without the graph the turns stand with their days alone, and the answer says so.
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

/// Returns the turn of the user that a fragment quotes.
fn turn(fragment: &Fragment) -> Option<EventId> {
    match fragment.record {
        RecordRef::Event(event) if fragment.label.level == Level::User => Some(event),
        _ => None,
    }
}

/// Whether a turn says something that was so and was ended by something else, and nothing that still is.
fn is_past(turn: EventId, facts: &[Fact]) -> bool {
    let says = |fact: &&Fact| fact.supports.iter().any(|one| one.source.event == turn && one.says_so());
    let said: Vec<&Fact> = facts.iter().filter(says).collect();
    let is_over = |fact: &&Fact| {
        let by_another = fact.superseded.as_ref().is_some_and(|by| by.by != turn);
        by_another || fact.status == FactStatus::Rejected
    };
    !said.is_empty() && said.iter().all(is_over)
}
