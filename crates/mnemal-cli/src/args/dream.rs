//! The arguments of `dream`.

use clap::{Args as ClapArgs, Subcommand};
use mnemal::dream::Assessment;

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
    /// Show decisions of this week for you to judge, ten of a kind: merges, near notes, what much rests on, what was put away.
    Sample,
    /// Say what you think of one of them.
    Judge {
        /// Its id.
        #[arg(value_parser = hex)]
        id: u128,
        /// `right` or `wrong`.
        #[arg(value_parser = assessment)]
        opinion: Assessment,
        /// The words of its notes on which that rests, as they stand there.
        words: String,
    },
}

fn assessment(text: &str) -> Result<Assessment, String> {
    let named = Assessment::ALL.into_iter().find(|one| one.as_str() == text);
    named.ok_or_else(|| "it is `right` or `wrong`".to_owned())
}

fn hex(text: &str) -> Result<u128, String> {
    u128::from_str_radix(text, 16).map_err(|_| "an id has 32 digits of base 16".to_owned())
}
