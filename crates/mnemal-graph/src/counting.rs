//! Cardinality pass: learns how many values the custom predicates of a space hold.

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

/// Proposes single-value-at-a-time for custom predicates, or confirms that they are sets, as soon as their claims show
/// it. Predicates that a person decided on are skipped, and a shipped predicate never changes by itself.
///
/// The pass needs no model, and costs one row read in a space without custom predicates.
#[derive(Clone, Debug)]
pub struct Counting {
    graph: Arc<dyn GraphStore>,
    clock: Arc<dyn Clock>,
}

impl Counting {
    /// Creates the pass over these rows; the clock measures the 90 days of silence.
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
        // The pass reads claims and not notes, so it runs whether or not the notes changed.
        let mut looked = Looked { through: Some(self.graph.cursor().await?), ..Looked::default() };
        let graph = Graph::new(Arc::clone(&self.graph));
        let observed = graph.observed(Within::Only(own), self.clock.now()).await?;
        looked.proposals.extend(observed.iter().filter_map(proposal));
        Ok(looked)
    }
}

/// Proposes what the claims show, unless it is already in effect.
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
