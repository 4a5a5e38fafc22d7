//! Asking before something is gone for good.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::Result;
use mnemal::Error;

use crate::args::Global;
use crate::output::Output;

/// How far a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Going {
    /// It only says what would be.
    DryRun,
    /// It does it.
    Really,
}

/// The switch `--dry-run`.
impl From<bool> for Going {
    fn from(is_dry_run: bool) -> Self {
        if is_dry_run { Self::DryRun } else { Self::Really }
    }
}

/// Says what would go and asks for consent, unless it was given on the command line.
///
/// # Errors
/// `Invalid` where nobody can answer.
pub(crate) fn agreed(plan: &str, verb: &str, global: &Global, output: &Output) -> Result<bool> {
    if global.yes {
        return Ok(true);
    }
    output.talk(plan);
    if global.carried.is_some() || !std::io::stdin().is_terminal() {
        let said = format!("this asks before it {verb}s; say --yes where nobody can answer");
        return Err(Error::invalid(said).into());
    }
    output.talk(&format!("{verb}? [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
