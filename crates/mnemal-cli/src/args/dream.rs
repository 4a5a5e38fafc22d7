//! What can be said of background work.

use clap::{Args as ClapArgs, Subcommand};

/// `dream`.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Dream {
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask a model again about notes for which none of its answers could be used.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) retry: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<DreamVerb>,
}

/// What else can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum DreamVerb {
    /// Show the cycles that ran, what was refused or left alone, what the audit found, and why changes wait.
    Log {
        /// Most cycles, the newest.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
}
