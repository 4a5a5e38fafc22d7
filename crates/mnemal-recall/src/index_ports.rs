//! Ports of the indexes that recall searches: vector indexes built in the background, and lexical indexes.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::IndexBlock;

use crate::lexical::LexicalIndex;
use crate::vector::{FlatIndex, VectorIndex};

/// The search for the nearest vectors.
#[derive(Clone, Debug, Default)]
pub enum VectorSearch {
    /// An exact scan of every vector.
    Flat,
    /// Sign bits ([`SignBits`](crate::SignBits)) in a large space, and an exact scan in a small one.
    #[default]
    SignBits,
    /// An index that is built in the background ([`Recall::build_vectors`](crate::Recall::build_vectors)); an exact scan
    /// until it is complete, and for the rows that it does not cover yet.
    Built(Arc<dyn VectorIndexFactory>),
}

/// Makes the vector indexes of spaces.
pub trait VectorIndexFactory: Debug + Send + Sync + 'static {
    /// Returns the number of vectors from which on the index pays; a space with fewer is scanned.
    fn pays_from(&self) -> u32 {
        0
    }

    /// Makes an empty builder for vectors of `dimensions` values: one for each space and model, and a new one after an erasure.
    fn builder(&self, dimensions: usize) -> Box<dyn VectorIndexBuilder>;
}

/// Builds the vector index of one space and model in steps, in the background. No read and no append waits for it.
pub trait VectorIndexBuilder: Debug + Send {
    /// Adds up to `most` vectors that the index lacks; returns how many it lacks then. It is called again while it lacks
    /// some, and later with newer rows.
    ///
    /// Rows keep their numbers from call to call, but an older row may get its vector late.
    fn update(&mut self, rows: &FlatIndex, most: NonZeroUsize) -> usize;

    /// Returns the index over the rows of the last update; `None` while it lacks a vector of theirs.
    fn index(&self) -> Option<Arc<dyn VectorIndex>>;
}

/// Makes the lexical indexes of spaces.
pub trait LexicalIndexFactory: Debug + Send + Sync + 'static {
    /// Makes the index of these blocks, whose rows are numbered from 0. Called before an answer, once for each state of the
    /// space, so it must be cheap: keep what a block costs under the block's address.
    fn index(&self, blocks: &[Arc<IndexBlock>]) -> Arc<dyn LexicalIndex>;
}
