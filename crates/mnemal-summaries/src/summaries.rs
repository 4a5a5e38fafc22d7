//! Reads the tree: nodes, what stands below them, and how many events are not in their text yet.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Cursor, Error, Event, EventStore, NewEvent, NodePath, Result, Seq, SummaryNode, SummaryStore,
};

use crate::calendar;
use crate::tree::{BLOCK, CHILDREN, STALE, block_of, leaf, sources};

/// Most events that are looked at for what is not in a text yet. Source: own choice; who is further behind is told so.
const TAIL: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Nodes that are listed below one. Source: as many as it is made of.
const LISTED: NonZeroUsize = NonZeroUsize::new(CHILDREN).expect("a branch is made of something");

/// Reads summaries; nothing here waits for one to be made.
#[derive(Clone, Debug)]
pub struct Summaries {
    events: Arc<dyn EventStore>,
    store: Arc<dyn SummaryStore>,
}

/// A node as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Steps below the node that was asked for.
    pub depth: usize,
    /// The node.
    pub node: SummaryNode,
    /// Events below it that are not in its text yet, up to 1,000.
    pub behind: u64,
}

impl Standing {
    /// Whether so much was said since that the text should not be relied on.
    pub fn is_stale(&self) -> bool {
        self.behind >= STALE
    }
}

impl Summaries {
    /// Reads the tree of this log.
    pub fn new(events: Arc<dyn EventStore>, store: Arc<dyn SummaryStore>) -> Self {
        Self { events, store }
    }

    /// Returns a node.
    ///
    /// # Errors
    /// `NotFound` when nothing was said there, or it is not summed up yet.
    pub async fn get(&self, path: &NodePath) -> Result<Standing> {
        let node = self.store.nodes(std::slice::from_ref(path)).await?.pop();
        let node = node.ok_or_else(|| Error::not_found(format!("there is no summary of {path}")))?;
        let mut standing = self.standing(vec![(0, node)]).await?;
        standing.pop().ok_or_else(|| Error::internal("a node stands nowhere"))
    }

    /// Returns a node and what stands below it, up to `depth` steps, each node in front of those below it, the newest first;
    /// 30 below each, without the parts of conversations.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn tree(&self, path: &NodePath, depth: usize) -> Result<Vec<Standing>> {
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
        self.standing(found).await
    }

    async fn standing(&self, nodes: Vec<(usize, SummaryNode)>) -> Result<Vec<Standing>> {
        let waiting = self.waiting().await?;
        let behind = |path: &NodePath| {
            waiting.iter().filter_map(Event::kept).filter(|said| is_below(said, path)).count() as u64
        };
        let standing = |(depth, node): (usize, SummaryNode)| {
            let behind = behind(&node.path);
            Standing { depth, node, behind }
        };
        Ok(nodes.into_iter().map(standing).collect())
    }

    /// Returns the events that no text holds yet, from the log: those behind the cursor, and those that stand behind the last
    /// one of their leaf.
    async fn waiting(&self) -> Result<Vec<Event>> {
        let cursor = self.store.cursor().await?;
        let start = block_of(Seq(cursor.count() + 1)) * BLOCK;
        let mut events =
            self.events.scan(&sources(), Cursor((start > 0).then_some(Seq(start))), TAIL).await?;
        let leaf = |event: &Event| event.kept().map(|said| leaf(event.seq, said));
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

/// Whether an event stands somewhere below a node.
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
