//! The port of the summary tree.

use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{HollowNode, NodePath, Projection, Result, SummaryDelta, SummaryNode};

/// The nodes of the summary tree.
///
/// Guarantees: a node whose lines rest on an erased event is served by no method from the commit of the erase on: it is
/// hollow, its words are gone, and it stays so until it is put again or removed.
/// Not guaranteed: any check of what the nodes say; they are a projector's.
#[async_trait]
pub trait SummaryStore: Projection<SummaryDelta> {
    /// Returns those of some nodes that are there and have a text, in the order asked.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>>;

    /// Returns the newest nodes right below one, the one with the latest `last_at` first, then by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>>;

    /// Returns nodes without a text, by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn hollow(&self, limit: NonZeroUsize) -> Result<Vec<HollowNode>>;

    /// Returns every node that has a text, by the text of the path.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn all(&self) -> Result<Vec<SummaryNode>>;
}
