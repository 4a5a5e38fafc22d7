//! The summary tree and the cursor that moves with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, DeadLetter, ErasedNode, Error, ErrorKind, EventId, NodePath, Projection, Result,
    SummaryDelta, SummaryNode, SummaryStore,
};

use super::{MemoryStore, SpaceState};

/// The nodes by the texts of their paths; a stale one has only its position.
#[derive(Debug, Default)]
pub(super) struct SummaryRows {
    nodes: BTreeMap<String, Result<SummaryNode, ErasedNode>>,
    cursor: Cursor,
    dead: BTreeMap<EventId, DeadLetter>,
}

impl SummaryRows {
    fn living(&self) -> impl Iterator<Item = &SummaryNode> {
        self.nodes.values().filter_map(|node| node.as_ref().ok())
    }
}

#[async_trait]
impl Projection<SummaryDelta> for MemoryStore {
    async fn cursor(&self) -> Result<Cursor> {
        Ok(self.state().summaries.cursor)
    }

    async fn apply(&self, delta: &SummaryDelta, advance: &Advance) -> Result<()> {
        let mut state = self.state();
        let rows = &mut state.summaries;
        if rows.cursor != advance.expect {
            return Err(Error::new(ErrorKind::Conflict, "cannot apply summaries: their cursor has moved"));
        }
        delta.remove.iter().for_each(|path| drop(rows.nodes.remove(&path.to_string())));
        rows.nodes.extend(delta.put.iter().map(|node| (node.path.to_string(), Ok(node.clone()))));
        advance.revived.iter().for_each(|event| drop(rows.dead.remove(event)));
        rows.dead.extend(advance.dead.iter().map(|letter| (letter.event, letter.clone())));
        rows.cursor = advance.next;
        state.hollow_erased_summaries();
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        self.state().summaries = SummaryRows::default();
        Ok(())
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        let state = self.state();
        let mut letters: Vec<DeadLetter> = state.summaries.dead.values().cloned().collect();
        letters.sort_by_key(|letter| (state.places.get(&letter.event), letter.event));
        letters.truncate(limit.get());
        Ok(letters)
    }
}

#[async_trait]
impl SummaryStore for MemoryStore {
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>> {
        let state = self.state();
        let node = |path: &NodePath| state.summaries.nodes.get(&path.to_string())?.as_ref().ok().cloned();
        Ok(paths.iter().filter_map(node).collect())
    }

    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>> {
        let state = self.state();
        let mut children: Vec<&SummaryNode> =
            state.summaries.living().filter(|node| node.parents.contains(path)).collect();
        children.sort_by_key(|node| Reverse(node.last_at));
        Ok(children.into_iter().take(limit.get()).cloned().collect())
    }

    async fn erased_nodes(&self, limit: NonZeroUsize) -> Result<Vec<ErasedNode>> {
        let state = self.state();
        let nodes = state.summaries.nodes.values().filter_map(|node| node.as_ref().err());
        Ok(nodes.take(limit.get()).cloned().collect())
    }

    async fn all(&self) -> Result<Vec<SummaryNode>> {
        Ok(self.state().summaries.living().cloned().collect())
    }
}

impl SpaceState {
    /// Removes the text of every node that rests on an erased event.
    pub(super) fn hollow_erased_summaries(&mut self) {
        if !self.has_erased() {
            return;
        }
        let mut nodes = std::mem::take(&mut self.summaries.nodes);
        for row in nodes.values_mut() {
            let erased = row.as_ref().ok().filter(|node| node.sources.iter().any(|id| self.is_erased(*id)));
            if let Some(SummaryNode { path, parents, .. }) = erased.cloned() {
                let mut parents = parents;
                parents.sort_by_key(NodePath::to_string);
                *row = Err(ErasedNode { path, parents });
            }
        }
        self.summaries.nodes = nodes;
    }
}
