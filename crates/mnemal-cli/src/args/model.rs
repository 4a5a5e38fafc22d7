//! `model`.

use clap::Subcommand;

/// `model`.
#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Say what the model has cost this space, and how much is left under the caps. Nothing is sent.
    Status,
    /// Ask the model one small question that shows nothing of the memory.
    Check,
    /// Take back everything that the model did in this space and that still stands; what was said stays as it was.
    Undo,
}
