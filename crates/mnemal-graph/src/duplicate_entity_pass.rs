//! Duplicate entity pass: proposes merges, and tracks a person's decision on each proposal.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    AsOf, BackgroundPermit, Cursor, Decision, EntityFilter, EntityId, EventFilter, EventId, EventKind,
    EventStore, GraphStore, LedgerKind, LedgerLine, LedgerStore, MentionFilter, Operation, OperationKind,
    Pass, PassOutcome, Producer, Proposal, Result, Role, Slot, Timestamp, Within,
};

use crate::Graph;
use crate::graph::own;
use crate::names::Names;
use crate::suggest::{Suggestion, suggestions};

/// The name in the ledger.
const NAME: &str = "lookalikes";
/// Most open proposals at once. Source: AD-53, as many decisions as a person is shown in a week.
const MOST_OPEN: usize = 10;
/// Events per page. Source: own default; the largest batch that an append accepts.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// An upper bound for the lines of the pass ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Two entities that may be duplicates, and the proposal to merge them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeProposal {
    /// The pair, and what makes it similar.
    pub pair: Suggestion,
    /// The operation that proposes the merge and waits; undoing it marks the two as distinct.
    pub proposal: Option<EventId>,
}

impl Graph {
    /// Returns [`suggestions`](Self::suggestions) without the pairs whose proposal in this log a person rejected; proposed
    /// pairs come first. The cost adds a scan over the decisions of the log.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    /// `Unavailable` when the database does not answer.
    pub async fn merge_proposals(&self, events: &dyn EventStore) -> Result<Vec<MergeProposal>> {
        let names = Names::from_rows(own(self.store().entities(&EntityFilter::all()).await?));
        let mentions = self.store().mentions(&MentionFilter::all()).await?;
        let pair = |one, into| {
            let (one, into) = (names.canon(one), names.canon(into));
            (one.min(into), one.max(into))
        };
        // The proposed pair may have been merged into other entities since; a rejection stays in force whatever else was
        // proposed.
        let mut known: BTreeMap<(EntityId, EntityId), Option<EventId>> = BTreeMap::new();
        for (event, (one, into)) in proposals(events).await? {
            let known = known.entry(pair(one, into)).or_insert(event);
            *known = known.and(event);
        }
        let mut found: Vec<MergeProposal> = suggestions(&names, &mentions, usize::MAX)
            .into_iter()
            .filter_map(|found| match known.get(&pair(found.one, found.into)) {
                Some(None) => None,
                Some(proposal) => Some(MergeProposal { pair: found, proposal: *proposal }),
                None => Some(MergeProposal { pair: found, proposal: None }),
            })
            .collect();
        found.sort_by_key(|found| found.proposal.is_none());
        Ok(found)
    }
}

/// Returns every proposed pair with its operation, `None` where a person rejected it; oldest first.
async fn proposals(events: &dyn EventStore) -> Result<Vec<(Option<EventId>, (EntityId, EntityId))>> {
    let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
    let (mut found, mut after) = (Vec::new(), Cursor::START);
    loop {
        let page = events.scan(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = Cursor(Some(last.seq));
        for event in &page {
            match event.body().map(|kept| &kept.kind) {
                Some(EventKind::Operation(Operation {
                    kind: OperationKind::Suggest { one, into }, ..
                })) => {
                    found.push((Some(event.id), (*one, *into)));
                }
                Some(EventKind::Decision(Decision::Undo { decision })) => {
                    let taken = found.iter_mut().filter(|(proposal, _)| *proposal == Some(*decision));
                    taken.for_each(|(proposal, _)| *proposal = None);
                }
                _ => {}
            }
        }
    }
}

/// Proposes pairs of entities with similar names and co-occurrences ([`Graph::suggestions`]), most likely first.
///
/// A proposal is one event and changes nothing: merging the two accepts it, undoing it rejects it, and either is a decision
/// of a person. Each pair is proposed once, and at most ten are open at a time. Names that are alike across two scripts are
/// not proposed.
///
/// The pass needs no model. If the graph has processed nothing since the last run it costs one row read; otherwise every
/// name is compared with similar ones, some seconds for 10,000 (ADR 33).
#[derive(Clone, Debug)]
pub struct DuplicateEntityPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The graph rows that were extracted from it.
    pub graph: Arc<dyn GraphStore>,
    /// How far it was processed at the last run; without a ledger every cycle runs.
    pub ledger: Slot<dyn LedgerStore>,
}

impl DuplicateEntityPass {
    async fn last_cursor(&self) -> Result<Cursor> {
        let Slot::Filled(ledger) = &self.ledger else { return Ok(Cursor::START) };
        let lines = ledger.lines(LedgerKind::Pass, LINES).await?;
        Ok(lines.iter().find(|line| line.key == NAME).map_or(Cursor::START, LedgerLine::through))
    }
}

#[async_trait]
impl Pass for DuplicateEntityPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let end = self.graph.cursor().await?;
        let mut looked = PassOutcome { through: Some(end), ..PassOutcome::default() };
        if end == self.last_cursor().await? {
            return Ok(looked);
        }
        let graph = Graph::new(Arc::clone(&self.graph));
        let suggested = graph.merge_proposals(self.events.as_ref()).await?;
        let open = suggested.iter().filter(|found| found.proposal.is_some()).count();
        let new =
            suggested.iter().filter(|found| found.proposal.is_none() && !found.pair.why.is_for_people());
        for found in new.take(MOST_OPEN.saturating_sub(open)) {
            looked.proposals.push(proposal(&graph, &found.pair).await?);
        }
        Ok(looked)
    }
}

/// Proposes a pair; its sources are the latest event that mentions each.
async fn proposal(graph: &Graph, pair: &Suggestion) -> Result<Proposal> {
    let mut shown = Vec::new();
    for id in [pair.one, pair.into] {
        let named = graph.mentions(id, AsOf::present(Timestamp::MAX)).await?;
        let last = named.iter().max_by_key(|row| (row.occurred_at, row.source.event));
        shown.extend(last.map(|row| row.source.event));
    }
    let operation = Operation {
        kind: OperationKind::Suggest { one: pair.one, into: pair.into },
        producer: Producer { id: format!("dream/{NAME}"), version: 1 },
        prompt: None,
        shown,
        because: format!("alike by {}, {:.2}", pair.why.as_str(), pair.score.get()),
    };
    Ok(Proposal { operation, text: String::new() })
}
