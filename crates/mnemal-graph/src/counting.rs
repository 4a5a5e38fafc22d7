//! A pass that learns how many values the predicates of a space's own hold.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Cardinality, Clock, Deed, GraphStore, Looked, Operation, Pass, Predicate, Producer,
    Proposal, Result, Within,
};

use crate::Graph;
use crate::cardinality::{Cardinalities, Standing};
use crate::observed::Observed;

/// The name in the ledger.
const NAME: &str = "cardinality";

/// Proposes for predicates that no shipped table knows that they hold one value at a time, or confirms that they are sets, as soon
/// as their claims show it. What a person decided about is left alone, and a shipped predicate never changes by itself.
///
/// It needs no model, and costs one read of a row where a space has no predicates of its own.
#[derive(Clone, Debug)]
pub struct Counting {
    graph: Arc<dyn GraphStore>,
    clock: Arc<dyn Clock>,
}

impl Counting {
    /// Looks at these rows; 90 days of silence are counted by this clock.
    pub fn new(graph: Arc<dyn GraphStore>, clock: Arc<dyn Clock>) -> Self {
        Self { graph, clock }
    }
}

#[async_trait]
impl Pass for Counting {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<Looked> {
        let known = Cardinalities::from_rows(self.graph.edition().await?.predicates);
        let may_change = |predicate: &&Predicate| {
            matches!(known.standing(predicate), Standing::Candidate | Standing::Learnt)
        };
        let own: Vec<Predicate> = known.rows().keys().filter(may_change).cloned().collect();
        if own.is_empty() {
            return Ok(Looked::default());
        }
        // What it looks at is not the notes, so it looks again whether or not they changed.
        let mut looked = Looked { through: Some(self.graph.cursor().await?), ..Looked::default() };
        let graph = Graph::new(Arc::clone(&self.graph));
        let observed = graph.observed(Within::Only(own), self.clock.now()).await?;
        looked.proposals.extend(observed.iter().filter_map(proposal));
        Ok(looked)
    }
}

/// Proposes what the claims show, unless that is known already.
fn proposal(observed: &Observed) -> Option<Proposal> {
    let shows: Cardinality = observed.shows()?;
    if observed.standing == Standing::Learnt && observed.cardinality == shows {
        return None;
    }
    let operation = Operation {
        deed: Deed::Cardinality { predicate: observed.predicate.clone(), cardinality: shows },
        producer: Producer { id: format!("dream/{NAME}"), version: 1 },
        prompt: None,
        shown: observed.sources.clone(),
        because: observed.to_string(),
    };
    Some(Proposal { operation, text: String::new() })
}
