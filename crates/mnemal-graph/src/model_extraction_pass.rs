//! Model extraction pass: reads the turns from which the rules extracted nothing certain.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Cursor, ErrorKind, Event, EventFilter, EventId, EventStore, FactFilter, FactStatus,
    Gazetteer, GraphStore, LedgerKind, LedgerStore, MOST_CLAIMS, Operation, OperationKind, Pass, PassOutcome,
    Proposal, Result, Role, SkippedGroup, Slot, Utterance, Within,
};

use crate::model::ModelReader;
use crate::model_context::ModelContext;
use crate::{Graph, model_claims};

/// The name in the ledger.
const NAME: &str = "leftovers";
/// Turns per question. Source: own choice; four questions of three answers each leave some of the 20 calls of a cycle.
const TOGETHER: usize = 5;
/// Fewest words of a turn worth a question. Source: own choice; shorter turns thank, agree or greet.
const SHORTEST: usize = 4;
/// Turns per page. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");
/// Pages that one cycle scans. Source: own default; 5,000 turns.
const PAGES: usize = 10;
/// An upper bound for the lines of the pass ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Asks a model about turns from which the rules extracted nothing, or only candidates: a few per question, in log order,
/// each turn once.
///
/// Every answer is located in the words and passes through the gates of the rules; the rest is proposed as positions of
/// words in the turn, and the graph fold applies the gates once more. A turn counts as processed when one answer to it was
/// usable, or three were not; while the model is unavailable, the next cycle asks about the same turns.
#[derive(Clone, Debug)]
pub struct ModelExtractionPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The graph rows that were extracted from it.
    pub graph: Arc<dyn GraphStore>,
    /// How far it was processed; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The model reader.
    pub reader: ModelReader,
    /// Most turns per cycle.
    pub batch: NonZeroUsize,
}

impl ModelExtractionPass {
    /// Returns how far the turns were processed.
    async fn read_through(&self) -> Result<Cursor> {
        let Slot::Filled(ledger) = &self.ledger else { return Ok(Cursor::START) };
        let lines = ledger.lines(LedgerKind::Pass, LINES).await?;
        Ok(lines.iter().find(|line| line.key == NAME).map_or(Cursor::START, mnemal_core::LedgerLine::through))
    }

    /// Returns the next turns to ask about, and how far the log was scanned for them.
    async fn turns(&self, mut after: Cursor, end: Cursor) -> Result<(Vec<Event>, Cursor)> {
        let filter = EventFilter { roles: Within::Only(vec![Role::User]), ..EventFilter::live() };
        let mut turns = Vec::new();
        for _ in 0..PAGES {
            let page = self.events.scan(&filter, after, PAGE).await?;
            let is_last = page.len() < PAGE.get();
            let page: Vec<Event> = page.into_iter().filter(|event| Cursor(Some(event.seq)) <= end).collect();
            let known = self.settled_turns(&page).await?;
            for event in page {
                after = Cursor(Some(event.seq));
                if says_something(&event) && !known.contains(&event.id) {
                    turns.push(event);
                }
                if turns.len() == self.batch.get() {
                    return Ok((turns, after));
                }
            }
            if is_last {
                return Ok((turns, after.max(end)));
            }
        }
        Ok((turns, after))
    }

    /// Returns the turns with more than candidates, and those in which a model found claims before.
    async fn settled_turns(&self, page: &[Event]) -> Result<BTreeSet<EventId>> {
        let sources = Within::Only(page.iter().map(|event| event.id).collect());
        let facts = self.graph.believed(&FactFilter { sources, ..FactFilter::all() }).await?;
        let supports = facts.iter().flat_map(|fact| {
            let is_firm = fact.status != FactStatus::Candidate;
            fact.supports.iter().filter(move |support| is_firm || support.is_of_model())
        });
        Ok(supports.map(|support| support.source.event).collect())
    }

    /// Asks about some turns with one question.
    async fn ask(
        &self,
        permit: &mut BackgroundPermit,
        turns: &[Event],
        context: &ModelContext,
    ) -> Result<Vec<Proposal>> {
        let known = Gazetteer::default();
        let utterances: Vec<Utterance<'_>> =
            turns.iter().map(|event| Utterance { event, before: &[], known: &known }).collect();
        let texts: Vec<&str> =
            turns.iter().filter_map(|event| event.body()).map(|kept| kept.content.as_str()).collect();
        let familiar = context.of(&texts);
        let prompt = self.reader.question(&utterances, &familiar);
        let found = self.reader.read(permit, &utterances, &familiar).await?;
        let shown: Vec<EventId> = turns.iter().map(|event| event.id).collect();
        let mut proposals = Vec::new();
        for (event, extraction) in turns.iter().zip(found) {
            let text = event.body().map_or("", |kept| kept.content.as_str());
            let claims = extraction.facts.iter().filter_map(|fact| model_claims::claim_spans(text, fact));
            let claims: Vec<_> = claims.take(MOST_CLAIMS).collect();
            if claims.is_empty() {
                continue;
            }
            proposals.push(Proposal {
                operation: Operation {
                    kind: OperationKind::Claim { turn: event.id, claims },
                    producer: self.reader.producer(),
                    prompt: Some(prompt),
                    shown: shown.clone(),
                    because: "a model found what the rules did not read".to_owned(),
                },
                text: String::new(),
            });
        }
        Ok(proposals)
    }
}

#[async_trait]
impl Pass for ModelExtractionPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (after, end) = (self.read_through().await?, self.graph.cursor().await?);
        let (turns, through) = self.turns(after, end).await?;
        let mut looked = PassOutcome { through: Some(through), ..PassOutcome::default() };
        looked.waiting = u64::from(through < end);
        if turns.is_empty() {
            return Ok(looked);
        }
        let context = Graph::new(Arc::clone(&self.graph)).model_context().await?;
        let mut read = after;
        for some in turns.chunks(TOGETHER) {
            match self.ask(permit, some, &context).await {
                Ok(proposals) => looked.proposals.extend(proposals),
                Err(error) if error.kind() == ErrorKind::Unsupported => looked.left.push(SkippedGroup {
                    notes: some.iter().map(|event| event.id).collect(),
                    why: "no answer of the model could be used".to_owned(),
                }),
                Err(error) if read == after => return Err(error),
                // Earlier answers are kept.
                Err(error) => {
                    looked.stopped = Some(error.kind());
                    looked.through = Some(read);
                    break;
                }
            }
            read = some.last().map_or(read, |event| Cursor(Some(event.seq)));
        }
        Ok(looked)
    }
}

/// Whether a turn is long enough to state a fact.
fn says_something(event: &Event) -> bool {
    event.body().is_some_and(|kept| kept.content.split_whitespace().nth(SHORTEST - 1).is_some())
}
