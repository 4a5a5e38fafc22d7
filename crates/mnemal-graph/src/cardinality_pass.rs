//! Cardinality pass: learns how many values the custom predicates of a space hold.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Cardinality, Clock, GraphStore, Operation, OperationKind, Pass, PassOutcome, Predicate,
    Producer, Proposal, Result, Within,
};

use crate::Graph;
use crate::cardinality::{Cardinalities, CardinalityOrigin};
use crate::cardinality_evidence::CardinalityEvidence;

/// The name in the ledger.
const NAME: &str = "cardinality";

/// Proposes single-value-at-a-time for custom predicates, or confirms that they are sets, as soon as their claims show
/// it. Predicates that a person decided on are skipped, and a shipped predicate never changes by itself.
///
/// The pass needs no model, and costs one row read in a space without custom predicates.
#[derive(Clone, Debug)]
pub struct CardinalityPass {
    graph: Arc<dyn GraphStore>,
    clock: Arc<dyn Clock>,
}

impl CardinalityPass {
    /// Creates the pass over these rows; the clock measures the 90 days of silence.
    pub fn new(graph: Arc<dyn GraphStore>, clock: Arc<dyn Clock>) -> Self {
        Self { graph, clock }
    }
}

#[async_trait]
impl Pass for CardinalityPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let known = Cardinalities::from_rows(self.graph.edition().await?.predicates);
        let may_change = |predicate: &&Predicate| {
            matches!(known.origin(predicate), CardinalityOrigin::Candidate | CardinalityOrigin::Learned)
        };
        let own: Vec<Predicate> = known.rows().keys().filter(may_change).cloned().collect();
        if own.is_empty() {
            return Ok(PassOutcome::default());
        }
        // The pass reads claims and not notes, so it runs whether or not the notes changed.
        let mut looked = PassOutcome { through: Some(self.graph.cursor().await?), ..PassOutcome::default() };
        let graph = Graph::new(Arc::clone(&self.graph));
        let observed = graph.cardinality_evidence(Within::Only(own), self.clock.now()).await?;
        looked.proposals.extend(observed.iter().filter_map(proposal));
        Ok(looked)
    }
}

/// Proposes what the claims show, unless it is already in effect.
fn proposal(observed: &CardinalityEvidence) -> Option<Proposal> {
    let shows: Cardinality = observed.shows()?;
    if observed.origin == CardinalityOrigin::Learned && observed.cardinality == shows {
        return None;
    }
    let operation = Operation {
        kind: OperationKind::Cardinality { predicate: observed.predicate.clone(), cardinality: shows },
        producer: Producer { id: format!("dream/{NAME}"), version: 1 },
        prompt: None,
        shown: observed.sources.clone(),
        because: observed.to_string(),
    };
    Some(Proposal { operation, text: String::new() })
}
