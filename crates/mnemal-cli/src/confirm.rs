//! Confirmation prompts before irreversible commands.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::Result;
use mnemal::Error;

use crate::args::Global;
use crate::output::Output;

/// Whether a command is a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// Preview only.
    DryRun,
    /// Execute.
    Really,
}

/// The switch `--dry-run`.
impl From<bool> for RunMode {
    fn from(is_dry_run: bool) -> Self {
        if is_dry_run { Self::DryRun } else { Self::Really }
    }
}

/// Shows what will be erased and asks for confirmation, unless it was given on the command line.
///
/// # Errors
/// `Invalid` when stdin is not a terminal, so that no confirmation is possible.
pub(crate) fn agreed(plan: &str, verb: &str, global: &Global, output: &Output) -> Result<bool> {
    if global.yes {
        return Ok(true);
    }
    output.talk(plan);
    if global.open_spaces.is_some() || !std::io::stdin().is_terminal() {
        let said = format!("this asks before it {verb}s; say --yes where nobody can answer");
        return Err(Error::invalid(said).into());
    }
    output.talk(&format!("{verb}? [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
