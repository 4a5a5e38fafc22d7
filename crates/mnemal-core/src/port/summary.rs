//! The port of the summary tree.

use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{ErasedNode, NodePath, Projection, Result, SummaryDelta, SummaryNode};

/// The nodes of the summary tree.
///
/// Guarantees: a node whose lines rest on an erased event is not served from the commit of the erase on: it is erased, its words
/// are deleted, and it stays so until it is written again or removed.
/// Not guaranteed: any check of the nodes' content, which is the projector's task.
#[async_trait]
pub trait SummaryStore: Projection<SummaryDelta> {
    /// Returns those of the requested nodes that exist and have a text, in the requested order.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>>;

    /// Returns the newest direct children of a node, by `last_at` descending, then by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>>;

    /// Returns stale nodes, by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn erased_nodes(&self, limit: NonZeroUsize) -> Result<Vec<ErasedNode>>;

    /// Returns every node that has a text, by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn all(&self) -> Result<Vec<SummaryNode>>;
}
