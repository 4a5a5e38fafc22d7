//! `models`.

use std::path::PathBuf;

use clap::Subcommand;

/// `models`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List the trained readers: the one that was added, and the one that came with the program.
    List,
    /// Check the file of a trained reader and copy it to where every command finds it; what was said is read anew with it.
    Add {
        /// The file, `*.mnrd`.
        file: PathBuf,
    },
    /// Remove the reader that was added; one that came with the program reads then, else the rules alone.
    /// `extract.reader = "none"` turns both off.
    Remove,
}
