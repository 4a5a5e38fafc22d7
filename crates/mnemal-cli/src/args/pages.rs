//! `completions`, `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// `completions`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Man {
    /// The folder; it is made if there is none.
    pub(crate) folder: PathBuf,
}
