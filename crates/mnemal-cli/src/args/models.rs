//! `models`.

use std::path::PathBuf;

use clap::Subcommand;

/// `models`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List what was added.
    List,
    /// Check the file of a trained reader and copy it to where every command finds it; what was said is read anew with it.
    Add {
        /// The file, `*.mnrd`.
        file: PathBuf,
    },
    /// Remove the trained reader; what was said is read anew by the rules alone.
    Remove,
}
