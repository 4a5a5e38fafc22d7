#![doc = include_str!("../README.md")]

mod decoding;
mod model;
mod names;
mod tokenizer;
mod votes;
mod words;

use std::path::Path;
use std::sync::Arc;

use mnemal_core::Result;

pub use decoding::{PredictedClaim, PredictedName, ReaderOutput};
pub use votes::{Votes, VotingExtractor};

use model::Model;

/// A trained model that reads claims, names, feedback, authorship, and endings. In process, and slower than the rules: some 15
/// ms per turn.
#[derive(Clone, Debug)]
pub struct TrainedReader(Arc<Model>);

impl TrainedReader {
    /// Loads a model file.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Unavailable` when it cannot be read, `Corrupt` when it is damaged or no reader model,
    /// `Unsupported` when a newer program made it.
    pub fn open(path: &Path) -> Result<Self> {
        Model::open(path).map(|model| Self(Arc::new(model)))
    }

    /// Returns the start of the hash of the file.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Reads a turn with the previous message: the beginning of a long turn, the end of a long message.
    ///
    /// The same texts give the same result on one machine. On another processor sums may differ in their last digits.
    ///
    /// # Errors
    /// `Internal` when the model fails to run.
    pub fn read(&self, text: &str, before: &str) -> Result<ReaderOutput> {
        ReaderOutput::of(&self.0, text, before)
    }
}
