//! Summary texts pass: a model rewrites the extracted sentences of summary nodes.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, ErrorKind, Event, EventId, EventStore, LedgerStore, ModelCaller, NodePath,
    Operation, OperationKind, Pass, PassOutcome, PromptHash, Proposal, Result, SkippedGroup, Slot, Source,
    SummaryEditor, SummaryNode, SummaryStore, WrittenLine,
};

use crate::check::sentence;
use crate::history::{History, operation_identity};
use crate::retry_backoff::{GroupState, RetryBackoff};

/// The name in the ledger.
const NAME: &str = "texts";
/// Texts per cycle. Source: own choice; three answers each leave room for the other passes in the 20 calls of a cycle.
const AT_ONCE: usize = 3;
/// Fewest sentences of a rewritten node. Source: own choice; one sentence cannot be shortened.
const SENTENCES: usize = 2;
/// Most events that the tree may be behind the log. Source: NB-40, the staleness threshold of summaries.
const STALE: u64 = 10;
/// Most child nodes that are considered, the newest. Source: as many as a node is made of.
const BELOW: NonZeroUsize = NonZeroUsize::new(30).expect("30 is not zero");

/// Asks a model for the text of up-to-date nodes: the root, then channels and months, then the nodes below them, newest
/// first, without the parts of sessions.
///
/// The model edits the previous text, as far as its sentences still belong to the node; a line that rests on another
/// sentence is removed. The answer becomes an operation that names the sentences, so it is shown while the node consists of
/// them, and is removed with any of them. A node without a usable answer keeps its sentences, and is retried after 7 days,
/// then 14, 28, and every 56.
#[derive(Clone, Debug)]
pub struct SummaryTextsPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// The summary tree.
    pub summaries: Arc<dyn SummaryStore>,
    /// The skipped nodes; without a ledger every node is new in every cycle.
    pub ledger: Slot<dyn LedgerStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub writer: Arc<dyn SummaryEditor>,
}

impl SummaryTextsPass {
    /// Returns the nodes without a text of their sentences, in processing order.
    async fn nodes(&self, history: &History) -> Result<Vec<SummaryNode>> {
        let settled = RetryBackoff::read(&self.ledger, NAME).await?;
        let now = self.clock.now();
        let mut waiting: VecDeque<SummaryNode> =
            self.summaries.nodes(&[NodePath::Root]).await?.into_iter().collect();
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some(node) = waiting.pop_front() {
            if !seen.insert(node.path.clone()) {
                continue;
            }
            let below = self.summaries.children(&node.path, BELOW).await?;
            waiting.extend(below.into_iter().filter(|child| !matches!(child.path, NodePath::Part { .. })));
            let kind = OperationKind::Summarize { node: node.path.clone(), of: of(&node), rests: Vec::new() };
            let is_written = history.operations.iter().any(|(_, known)| is_of(known, &kind));
            let is_taken_back = history.taken_back.contains(&operation_identity(&kind));
            let is_closed = settled.state(NAME, &kind.names(), now) == GroupState::Closed;
            if node.lines.len() >= SENTENCES && !is_written && !is_taken_back && !is_closed {
                found.push(node);
            }
        }
        Ok(found)
    }

    /// Returns the lines of a node's newest text that rest on current sentences, by their indexes.
    async fn previous_lines(&self, node: &SummaryNode, history: &History) -> Result<Vec<WrittenLine>> {
        let of_node = |known: &&(EventId, OperationKind)| matches!(&known.1, OperationKind::Summarize { node: of, .. } if *of == node.path);
        let Some((event, OperationKind::Summarize { of: then, rests, .. })) =
            history.operations.iter().rev().find(of_node)
        else {
            return Ok(Vec::new());
        };
        let event = self.events.get(&[*event]).await?.pop();
        let Some(kept) = event.as_ref().and_then(Event::body) else { return Ok(Vec::new()) };
        let now = of(node);
        let place = |then_place: &u32| {
            let source = then.get(*then_place as usize)?;
            u32::try_from(now.iter().position(|one| one == source)?).ok()
        };
        let line = |(text, rests): (&str, &Vec<u32>)| {
            let rests: Vec<u32> = rests.iter().map(place).collect::<Option<_>>()?;
            Some(WrittenLine { text: text.to_owned(), rests })
        };
        Ok(kept.content.lines().zip(rests).filter_map(line).collect())
    }

    async fn write_text(
        &self,
        permit: &mut BackgroundPermit,
        node: &SummaryNode,
        history: &History,
    ) -> Result<Option<Proposal>> {
        let of = of(node);
        let names: Vec<EventId> =
            of.iter().map(|one| one.event).collect::<BTreeSet<_>>().into_iter().collect();
        let said = self.events.get(&names).await?;
        let shown = |line: &mnemal_core::SummaryLine| {
            let event = said.iter().find(|event| event.id == line.source.event)?;
            Some(sentence(event.body()?, &line.text))
        };
        // A sentence forgotten meanwhile also drops the text of the node.
        let Some(sentences) = node.lines.iter().map(shown).collect::<Option<Vec<String>>>() else {
            return Ok(None);
        };
        let before = self.previous_lines(node, history).await?;
        let prompt = self.writer.prompt(&before, &sentences);
        let hash = PromptHash::of(self.caller.model.model(), &prompt);
        let read = |completion: &_| self.writer.parse(&before, &sentences, completion);
        let lines = self.caller.ask(permit, &prompt, &names, read).await?;
        let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let operation = Operation {
            kind: OperationKind::Summarize {
                node: node.path.clone(),
                of,
                rests: lines.iter().map(|line| line.rests.clone()).collect(),
            },
            producer: self.caller.producer(&self.writer.producer()),
            prompt: Some(hash),
            shown: names,
            because: "a model wrote a text of the sentences of a summary".to_owned(),
        };
        Ok(Some(Proposal { operation, text: text.join("\n") }))
    }
}

#[async_trait]
impl Pass for SummaryTextsPass {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (cursor, head) = (self.summaries.cursor().await?, self.events.head().await?);
        // The tree is not part of the notes: with this, unchanged notes do not skip the pass.
        let mut looked = PassOutcome { through: Some(cursor), ..PassOutcome::default() };
        if cursor.behind(head) >= STALE {
            return Ok(looked);
        }
        let history = History::read(self.events.as_ref()).await?;
        let nodes = self.nodes(&history).await?;
        looked.waiting = nodes.len().saturating_sub(AT_ONCE) as u64;
        for node in nodes.iter().take(AT_ONCE) {
            match self.write_text(permit, node, &history).await {
                Ok(proposal) => looked.proposals.extend(proposal),
                Err(error) if error.kind() == ErrorKind::Unsupported => looked.left.push(SkippedGroup {
                    notes: of(node)
                        .iter()
                        .map(|source| source.event)
                        .collect::<BTreeSet<_>>()
                        .into_iter()
                        .collect(),
                    why: "no answer of the model could be used".to_owned(),
                }),
                Err(error) if looked.proposals.is_empty() && looked.left.is_empty() => return Err(error),
                // Earlier answers are kept.
                Err(error) => {
                    looked.stopped = Some(error.kind());
                    break;
                }
            }
        }
        Ok(looked)
    }
}

/// Returns the source sentences of a node.
fn of(node: &SummaryNode) -> Vec<Source> {
    node.lines.iter().map(|line| line.source).collect()
}

/// Whether two operations are texts of the same node and the same sentences.
fn is_of(known: &OperationKind, wanted: &OperationKind) -> bool {
    match (known, wanted) {
        (
            OperationKind::Summarize { node, of, .. },
            OperationKind::Summarize { node: wanted, of: sentences, .. },
        ) => node == wanted && of == sentences,
        _ => false,
    }
}
