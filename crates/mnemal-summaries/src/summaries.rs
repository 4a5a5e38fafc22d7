//! Summary queries: nodes, their children, and the number of events not in their text yet.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    AsOf, Cursor, Error, Event, EventFilter, EventStore, NewEvent, NodePath, Result, Seq, SummaryNode,
    SummaryStore, Within,
};
use mnemal_text::Language;

use crate::calendar;
use crate::model_summary::{ModelSummaries, ModelSummary};
use crate::render::render;
use crate::tree::{BLOCK, CHILDREN, STALE, block_of, build_node, leaf, sources};

/// Most events scanned for what is not in a text yet. Source: own choice; a larger delay is reported as this.
const TAIL: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Newest events that a historical node is made of. Source: own choice, the content of a few long conversations; choosing
/// among them takes some 20 ms.
const PAST: NonZeroUsize = NonZeroUsize::new(300).expect("300 is not zero");
/// Children listed per node. Source: as many as it is made of.
const LISTED: NonZeroUsize = NonZeroUsize::new(CHILDREN).expect("a branch is made of something");

/// Reads summaries; reads never wait for one to be built.
#[derive(Clone, Debug)]
pub struct Summaries {
    events: Arc<dyn EventStore>,
    store: Arc<dyn SummaryStore>,
    language: Language,
    stale_from: u64,
    by_model: Option<Arc<ModelSummaries>>,
}

/// A node in its current state.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryState {
    /// Depth below the requested node.
    pub depth: usize,
    /// The node.
    pub node: SummaryNode,
    /// Events below it that are not in its text yet, up to 1,000.
    pub behind: u64,
    /// The number of such events from which it is stale.
    pub stale_from: u64,
    /// Its model-written text, if one exists for these sentences and is requested.
    pub written: Option<ModelSummary>,
}

impl SummaryState {
    /// Returns a node that was just built.
    pub fn fresh(depth: usize, node: SummaryNode) -> Self {
        Self { depth, node, behind: 0, stale_from: STALE, written: None }
    }

    /// Returns the text: the model-written one if it exists, one statement per line, else the sentences.
    pub fn text(&self) -> String {
        match &self.written {
            Some(written) => {
                written.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
            }
            None => render(&self.node.lines),
        }
    }

    /// Returns how the text was made: `extractive`, where every sentence is a quote, or `model`.
    pub fn method(&self) -> &'static str {
        if self.written.is_some() { "model" } else { "extractive" }
    }

    /// Whether enough was said since that the text should not be relied on.
    pub fn is_stale(&self) -> bool {
        self.behind >= self.stale_from
    }
}

impl Summaries {
    /// Reads the tree of this log.
    pub fn new(events: Arc<dyn EventStore>, store: Arc<dyn SummaryStore>) -> Self {
        Self { events, store, language: Language::English, stale_from: STALE, by_model: None }
    }

    /// Sets the main language, which matters for historical nodes; English by default.
    #[must_use]
    pub fn with_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Sets the number of pending events from which a node is stale, at least one; ten by default.
    #[must_use]
    pub fn with_stale_from(self, events: u64) -> Self {
        Self { stale_from: events.max(1), ..self }
    }

    /// Shows model-written texts in place of the sentences; off by default.
    #[must_use]
    pub fn with_model_summaries(self, by_model: Arc<ModelSummaries>) -> Self {
        Self { by_model: Some(by_model), ..self }
    }

    /// Returns a node.
    ///
    /// # Errors
    /// `NotFound` when nothing was said there, or it is not summarized yet.
    pub async fn get(&self, path: &NodePath) -> Result<SummaryState> {
        let node = self.store.nodes(std::slice::from_ref(path)).await?.pop();
        let node = node.ok_or_else(|| Error::not_found(format!("there is no summary of {path}")))?;
        let mut standing = self.states(vec![(0, node)]).await?;
        standing.pop().ok_or_else(|| Error::internal("a node stands nowhere"))
    }

    /// Returns a node as of a moment: the root, a channel or a session, built on the fly from the newest 300 events said
    /// before the world time and known at the belief time, without events forgotten since.
    ///
    /// # Errors
    /// `NotFound` when nothing was said there by then; `Invalid` for a node of another kind, because a calendar node has
    /// its own end; `Unavailable` when the database does not answer.
    pub async fn get_as_of(&self, path: &NodePath, as_of: AsOf) -> Result<SummaryState> {
        let mut filter = EventFilter { until: Some(as_of.world.plus_micros(1)), ..sources() };
        let parents = match path {
            NodePath::Root => Vec::new(),
            NodePath::Channel(channel) => {
                filter.channel = Within::Only(channel.clone());
                vec![NodePath::Root]
            }
            NodePath::Session(session) => {
                filter.session = Within::Only(session.clone());
                Vec::new()
            }
            _ => return Err(Error::invalid(format!("{path} has no past: ask without a time"))),
        };
        let mut events = self.events.latest(&filter, PAST).await?;
        events.retain(|event| event.recorded_at <= as_of.belief);
        let node = build_node(self.language, path, parents, events);
        let node = node.ok_or_else(|| Error::not_found(format!("nothing was said in {path} by then")))?;
        Ok(SummaryState::fresh(0, node))
    }

    /// Returns a node and its descendants, up to `depth` levels, parents before children, newest first; 30 below each,
    /// without the parts of sessions.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn tree(&self, path: &NodePath, depth: usize) -> Result<Vec<SummaryState>> {
        let mut waiting = vec![(0, self.get(path).await?.node)];
        let mut found = Vec::new();
        while let Some((level, node)) = waiting.pop() {
            if level < depth {
                let below = self.store.children(&node.path, LISTED).await?.into_iter().rev();
                let shown = below.filter(|child| !matches!(child.path, NodePath::Part { .. }));
                waiting.extend(shown.map(|child| (level + 1, child)));
            }
            found.push((level, node));
        }
        self.states(found).await
    }

    async fn states(&self, nodes: Vec<(usize, SummaryNode)>) -> Result<Vec<SummaryState>> {
        let waiting = self.waiting().await?;
        let behind = |path: &NodePath| {
            waiting.iter().filter_map(Event::body).filter(|said| is_below(said, path)).count() as u64
        };
        let written = match &self.by_model {
            Some(by_model) => {
                let nodes: Vec<SummaryNode> = nodes.iter().map(|(_, node)| node.clone()).collect();
                by_model.of(&nodes).await?
            }
            None => Vec::new(),
        };
        let written = written.into_iter().chain(std::iter::repeat(None));
        let standing = |((depth, node), written): ((usize, SummaryNode), Option<ModelSummary>)| {
            let behind = behind(&node.path);
            SummaryState { depth, node, behind, stale_from: self.stale_from, written }
        };
        Ok(nodes.into_iter().zip(written).map(standing).collect())
    }

    /// Returns the events that are in no text yet, from the log: those after the cursor, and those after the last covered
    /// one of their leaf.
    async fn waiting(&self) -> Result<Vec<Event>> {
        let cursor = self.store.cursor().await?;
        let start = block_of(Seq(cursor.count() + 1)) * BLOCK;
        let mut events =
            self.events.scan(&sources(), Cursor((start > 0).then_some(Seq(start))), TAIL).await?;
        let leaf = |event: &Event| event.body().map(|said| leaf(event.seq, said));
        let mut leaves: Vec<NodePath> = events.iter().filter_map(leaf).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let leaves = self.store.nodes(&leaves).await?;
        let is_in = |event: &Event| {
            let path = leaf(event);
            leaves.iter().any(|node| Some(&node.path) == path.as_ref() && event.seq <= node.through)
        };
        events.retain(|event| !is_in(event));
        Ok(events)
    }
}

/// Whether an event is below a node.
fn is_below(said: &NewEvent, path: &NodePath) -> bool {
    let day = calendar::day(said.occurred_at, &said.zone);
    match path {
        NodePath::Root => true,
        NodePath::Channel(channel) => *channel == said.channel,
        NodePath::Session(session) => *session == said.session,
        NodePath::Day(_) => *path == day,
        NodePath::Week(_) => calendar::above(&day).as_ref() == Some(path),
        NodePath::Month(_) => {
            calendar::above(&day).and_then(|week| calendar::above(&week)).as_ref() == Some(path)
        }
        _ => false,
    }
}
