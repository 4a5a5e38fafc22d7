//! Summary projector: builds the tree along the log and commits its nodes with the cursor.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, ErasedNode, ErrorKind, Event, EventFilter, EventStore, Layer, NodePath, Progress,
    Projector, Result, Seq, SummaryDelta, SummaryNode, SummaryStore, Within,
};
use mnemal_text::Language;

use crate::tree::{
    BLOCK, CHILDREN, IsOver, OF_A_BLOCK, block_of, branch, covered_events, height, last_of, leaf,
    newest_first, part, producer, sources,
};

/// Default number of leaves per step, and of stale nodes that it checks. Source: NB-42, at most 20 nodes per cycle.
pub const CYCLE: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");

/// Most rows of a transaction, those of sources and of parents included, which keeps it short: three full leaves, or twenty
/// of one event each, with the branches above them. Source: ADR 9.
const ROWS: usize = 180;
/// Rows of the branches that all leaves of a step share: channel, day, week, month and root, each with its sources.
const SHARED: usize = 40;
/// Rows of a leaf in addition to its sources: its own, and those of two parents.
const OF_LEAF: usize = 3;
/// Rows of a session in addition to its sources, and most of these: a line has one.
const OF_SESSION: (usize, usize) = (2, 5);
/// Stale nodes per step: as many full leaves as fit a transaction.
const ERASED_AT_ONCE: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not zero");

/// Folds messages into the tree of summaries.
///
/// Every node is a function of the log up to the cursor: a leaf of the events of its block, a branch of the nodes below it.
/// So the size of steps does not matter, and a rebuild gives the same nodes. A step makes at most 20 leaves by default, and
/// as many as fit a short transaction, then the branches above them from the bottom up; unchanged subtrees are not read.
/// Nodes that an erasure made stale are rebuilt by the next steps, even without new messages.
#[derive(Clone, Debug)]
pub struct SummaryProjector {
    events: Arc<dyn EventStore>,
    summaries: Arc<dyn SummaryStore>,
    language: Language,
    at_once: NonZeroUsize,
}

/// The nodes of a step.
#[derive(Debug, Default)]
struct ChangedNodes {
    /// By path; `None` for a node that became empty.
    nodes: BTreeMap<NodePath, Option<SummaryNode>>,
    /// Branches to rebuild, by height.
    dirty: BTreeSet<(u8, NodePath)>,
}

impl ChangedNodes {
    /// Stores a node that differs from the stored one, and marks the parents of both.
    fn keep(&mut self, path: NodePath, before: &[NodePath], node: Option<SummaryNode>) {
        let above = before.iter().chain(node.iter().flat_map(|node| &node.parents));
        self.dirty.extend(above.map(|parent| (height(parent), parent.clone())));
        self.nodes.insert(path, node);
    }

    fn delta(self) -> SummaryDelta {
        let mut delta = SummaryDelta::default();
        for (path, node) in self.nodes {
            match node {
                Some(node) => delta.put.push(node),
                None => delta.remove.push(path),
            }
        }
        delta
    }
}

/// The leaves of a step's events.
type Leaves<'a> = BTreeMap<NodePath, Vec<&'a Event>>;

impl SummaryProjector {
    /// Folds this log, mainly in one language, into this tree.
    pub fn new(events: Arc<dyn EventStore>, summaries: Arc<dyn SummaryStore>, language: Language) -> Self {
        Self { events, summaries, language, at_once: CYCLE }
    }

    /// Sets the number of leaves per step; 20 by default. The resulting nodes are the same.
    #[must_use]
    pub fn with_leaves_at_once(self, at_once: NonZeroUsize) -> Self {
        Self { at_once, ..self }
    }

    /// Returns the same projector for another log and tree.
    #[must_use]
    pub fn for_stores(&self, events: Arc<dyn EventStore>, summaries: Arc<dyn SummaryStore>) -> Self {
        Self { events, summaries, language: self.language, at_once: self.at_once }
    }

    /// Builds the leaves of the events up to `next`, which start at a block border.
    async fn grow(&self, leaves: &Leaves<'_>, next: Cursor, changed: &mut ChangedNodes) -> Result<()> {
        for (path, events) in leaves {
            let events = in_text(path, events, next);
            let before = self.summaries.nodes(std::slice::from_ref(path)).await?.pop();
            let is_same = |node: &SummaryNode| {
                node.producer == producer() && Some((node.events, node.through)) == ends_of(events)
            };
            if before.as_ref().is_some_and(is_same) {
                continue;
            }
            let parents = before.map(|node| node.parents).unwrap_or_default();
            let node = part(self.language, path, events);
            changed.keep(path.clone(), &parents, node);
        }
        Ok(())
    }

    /// Rebuilds a leaf that lost its text by an erasure.
    async fn rebuild_erased(
        &self,
        erased: &ErasedNode,
        cursor: Cursor,
        changed: &mut ChangedNodes,
    ) -> Result<()> {
        let NodePath::Part { block, session, .. } = &erased.path else { return Ok(()) };
        let filter = EventFilter { session: Within::Only(session.clone()), ..sources() };
        let end = last_of(*block).min(cursor.count());
        let start = Cursor(block.checked_mul(BLOCK).filter(|seq| *seq > 0).map(Seq));
        let mut events = self.events.scan(&filter, start, OF_A_BLOCK).await?;
        let is_of = |event: &Event| event.body().is_some_and(|said| leaf(event.seq, said) == erased.path);
        events.retain(|event| event.seq.0 <= end && is_of(event));
        let events: Vec<&Event> = events.iter().collect();
        let node = part(self.language, &erased.path, in_text(&erased.path, &events, cursor));
        changed.keep(erased.path.clone(), &erased.parents, node);
        Ok(())
    }

    /// Builds the branches, from the bottom up.
    async fn branch_out(&self, changed: &mut ChangedNodes) -> Result<()> {
        while let Some((_, path)) = changed.dirty.pop_first() {
            let children = self.children(&path, changed).await?;
            let node = branch(self.language, &path, &children);
            let before = self.summaries.nodes(std::slice::from_ref(&path)).await?.pop();
            if before != node || node.is_none() {
                let parents = before.map(|node| node.parents).unwrap_or_default();
                changed.keep(path, &parents, node);
            }
        }
        Ok(())
    }

    /// Returns the newest children of a node in their new state.
    async fn children(&self, path: &NodePath, changed: &ChangedNodes) -> Result<Vec<SummaryNode>> {
        let limit = NonZeroUsize::new(CHILDREN + changed.nodes.len()).unwrap_or(NonZeroUsize::MIN);
        let mut children = self.summaries.children(path, limit).await?;
        children.retain(|node| !changed.nodes.contains_key(&node.path));
        let new = changed.nodes.values().flatten().filter(|node| node.parents.contains(path));
        children.extend(new.cloned());
        newest_first(&mut children);
        children.truncate(CHILDREN);
        Ok(children)
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.events.head().await?);
        let erased = self.summaries.erased_nodes(NonZeroUsize::MIN).await?.len() as u64;
        Ok(Progress { consumed, cursor, behind: behind.max(erased) })
    }

    /// Returns the changes of the next events, and the new cursor.
    async fn fold(
        &self,
        expect: Cursor,
        head: Cursor,
        limit: NonZeroUsize,
    ) -> Result<(ChangedNodes, Cursor)> {
        let mut changed = ChangedNodes::default();
        let erased = self.summaries.erased_nodes(self.at_once.min(ERASED_AT_ONCE)).await?;
        let mut next = expect;
        if erased.is_empty() && expect < head {
            // From the start of the block, because its leaves have events before the cursor.
            let start = block_of(Seq(expect.count() + 1)) * BLOCK;
            let after = Cursor((start > 0).then_some(Seq(start)));
            let limit = limit.saturating_add(OF_A_BLOCK.get());
            let events = self.events.scan(&sources(), after, limit).await?;
            let is_all = events.len() < limit.get();
            let (leaves, end) = leaves(&events, expect, self.at_once);
            let read = last(&events).max(expect);
            next = end.unwrap_or(if is_all { head.max(read) } else { read });
            self.grow(&leaves, next, &mut changed).await?;
        }
        for one in &erased {
            self.rebuild_erased(one, expect, &mut changed).await?;
            if !matches!(one.path, NodePath::Part { .. }) {
                changed.dirty.insert((height(&one.path), one.path.clone()));
                changed.dirty.extend(one.parents.iter().map(|parent| (height(parent), parent.clone())));
            }
        }
        self.branch_out(&mut changed).await?;
        Ok((changed, next))
    }
}

/// Groups events, ascending, by their leaves; stops before the first event after `after` that would exceed the number of
/// leaves or the rows of a transaction, and returns that position.
fn leaves(events: &[Event], after: Cursor, at_once: NonZeroUsize) -> (Leaves<'_>, Option<Cursor>) {
    let of_leaf = |event: &Event| Some(leaf(event.seq, event.body()?));
    let placed: Vec<(NodePath, &Event)> =
        events.iter().filter_map(|event| Some((of_leaf(event)?, event))).collect();
    let mut sizes: BTreeMap<&NodePath, usize> = BTreeMap::new();
    for (leaf, _) in &placed {
        *sizes.entry(leaf).or_default() += 1;
    }
    let (mut leaves, mut fresh, mut sessions) = (Leaves::new(), BTreeSet::new(), BTreeSet::new());
    let mut rows = SHARED;
    for (leaf, event) in &placed {
        if Cursor(Some(event.seq)) > after && fresh.insert(leaf) {
            let size = sizes.get(leaf).copied().unwrap_or_default();
            let is_new = matches!(leaf, NodePath::Part { session, .. } if sessions.insert(session));
            let (of_session, lines) = if is_new { OF_SESSION } else { (0, 0) };
            rows += OF_LEAF + size + of_session + size.min(lines);
            if fresh.len() > at_once.get() || (fresh.len() > 1 && rows > ROWS) {
                return (leaves, Some(Cursor(Some(Seq(event.seq.0 - 1)))));
            }
        }
        leaves.entry(leaf.clone()).or_default().push(event);
    }
    (leaves, None)
}

/// The events of a leaf up to a position that are in its text.
fn in_text<'a, 'e>(path: &NodePath, events: &'a [&'e Event], next: Cursor) -> &'a [&'e Event] {
    let is_past = matches!(path, NodePath::Part { block, .. } if next.count() >= last_of(*block));
    let is_over = if is_past { IsOver::Yes } else { IsOver::No };
    let n_covered = usize::try_from(covered_events(events.len() as u64, is_over)).unwrap_or(usize::MAX);
    events.get(..n_covered).unwrap_or(events)
}

fn last(events: &[Event]) -> Cursor {
    Cursor(events.last().map(|event| event.seq))
}

/// The number of events, and the position of the last one.
fn ends_of(events: &[&Event]) -> Option<(u64, Seq)> {
    Some((events.len() as u64, events.last()?.seq))
}

#[async_trait]
impl Projector for SummaryProjector {
    fn layer(&self) -> Layer {
        Layer::Summaries
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let (expect, head) = (self.summaries.cursor().await?, self.events.head().await?);
        let (changed, next) = self.fold(expect, head, limit).await?;
        let delta = changed.delta();
        if delta.is_empty() && next == expect {
            return self.progress(0, expect).await;
        }
        match self.summaries.apply(&delta, &Advance { expect, next, ..Advance::default() }).await {
            Ok(()) => self.progress(expect.behind(next), next).await,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.progress(0, self.summaries.cursor().await?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&self) -> Result<()> {
        self.summaries.reset().await
    }
}
