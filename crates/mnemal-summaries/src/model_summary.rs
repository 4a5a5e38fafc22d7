//! Model-written summary texts, read from the log.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{
    Cursor, Decision, EventFilter, EventId, EventKind, EventStore, Level, NodePath, OperationKind, Producer,
    Result, Role, Source, SummaryLine, SummaryNode, Trust, Within,
};

/// Decisions and operations per page. Source: own default; the largest batch that an append accepts.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Texts kept per node, the newest. Source: own choice; an older one is used again when the newest is undone.
const KEPT: usize = 4;

/// A model-written text of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSummary {
    /// The operation that stores it.
    pub event: EventId,
    /// Its producer.
    pub producer: Producer,
    /// Its lines, at least one.
    pub lines: Vec<ModelSummaryLine>,
}

/// A line of such a text.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSummaryLine {
    /// The text.
    pub text: String,
    /// The source sentences of the node, at least one, in order.
    pub of: Vec<SummaryLine>,
}

impl ModelSummaryLine {
    /// Returns its trust: the lowest of its sentences, and at most that of a conclusion.
    pub fn trust(&self) -> Trust {
        self.of.iter().map(|line| line.trust).min().unwrap_or(Trust::Inferred).min(Trust::Inferred)
    }

    /// Returns its level: the lowest of its sentences.
    pub fn level(&self) -> Level {
        self.of.iter().map(|line| line.level).min().unwrap_or(Level::External)
    }
}

/// Reads model-written texts, each valid as long as its node has the same sentences.
///
/// The log is scanned once and then incrementally; nothing is stored besides the log.
#[derive(Debug)]
pub struct ModelSummaries {
    events: Arc<dyn EventStore>,
    known: Mutex<TextsByNode>,
}

#[derive(Clone, Debug, Default)]
struct TextsByNode {
    read: Cursor,
    by_node: BTreeMap<NodePath, Vec<StoredText>>,
}

#[derive(Clone, Debug)]
struct StoredText {
    event: EventId,
    producer: Producer,
    of: Vec<Source>,
    lines: Vec<(String, Vec<u32>)>,
}

impl ModelSummaries {
    /// Reads texts of this log.
    pub fn new(events: Arc<dyn EventStore>) -> Self {
        Self { events, known: Mutex::default() }
    }

    /// Returns the newest text of each node that matches its current sentences, in node order.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn of(&self, nodes: &[SummaryNode]) -> Result<Vec<Option<ModelSummary>>> {
        self.catch_up().await?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |node: &SummaryNode| {
            let texts = known.by_node.get(&node.path)?;
            texts.iter().rev().find_map(|text| text.current(node))
        };
        Ok(nodes.iter().map(text).collect())
    }

    async fn catch_up(&self) -> Result<()> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        loop {
            let after = self.known.lock().unwrap_or_else(PoisonError::into_inner).read;
            let page = self.events.scan(&filter, after, PAGE).await?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            // Another call may have read further meanwhile.
            let read = known.read;
            for event in page.iter().filter(|event| Cursor(Some(event.seq)) > read) {
                if let Some(kept) = event.body() {
                    known.read_one(event.id, &kept.kind, &kept.content);
                }
            }
            known.read = known.read.max(Cursor(page.last().map(|event| event.seq)));
            if page.len() < PAGE.get() {
                return Ok(());
            }
        }
    }
}

impl TextsByNode {
    fn read_one(&mut self, event: EventId, kind: &EventKind, content: &str) {
        match kind {
            EventKind::Operation(operation) => {
                let OperationKind::Summarize { node, of, rests } = &operation.kind else { return };
                let lines = content.lines().map(str::to_owned).zip(rests.iter().cloned()).collect();
                let texts = self.by_node.entry(node.clone()).or_default();
                texts.push(StoredText { event, producer: operation.producer.clone(), of: of.clone(), lines });
                if texts.len() > KEPT {
                    texts.remove(0);
                }
            }
            EventKind::Decision(Decision::Undo { decision }) => self.let_go(&[*decision]),
            EventKind::Decision(Decision::Forget(forget)) => self.let_go(&forget.events),
            _ => {}
        }
    }

    fn let_go(&mut self, events: &[EventId]) {
        for texts in self.by_node.values_mut() {
            texts.retain(|text| !events.contains(&text.event));
        }
    }
}

impl StoredText {
    /// Returns the text if the node has its sentences.
    fn current(&self, node: &SummaryNode) -> Option<ModelSummary> {
        if !self.of.iter().eq(node.lines.iter().map(|line| &line.source)) {
            return None;
        }
        let line = |(text, rests): &(String, Vec<u32>)| {
            let of: Vec<SummaryLine> =
                rests.iter().map(|place| node.lines.get(*place as usize).cloned()).collect::<Option<_>>()?;
            (!of.is_empty()).then(|| ModelSummaryLine { text: text.clone(), of })
        };
        let lines: Vec<ModelSummaryLine> = self.lines.iter().map(line).collect::<Option<_>>()?;
        (!lines.is_empty()).then(|| ModelSummary {
            event: self.event,
            producer: self.producer.clone(),
            lines,
        })
    }
}
