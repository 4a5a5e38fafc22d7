//! `--only-user`: the commands that support one user's part of a space.

use anyhow::Result;
use mnemal::{Error, ErrorKind};

use crate::args::{Command, Log, MemoryCall, MemoryVerb};

/// Rejects a command on the whole space, or one that names another user.
///
/// # Errors
/// `Unsupported` for the first, `Invalid` for the second.
pub(super) fn check(command: &Command, user: &str) -> Result<()> {
    if is_of_whole(command) {
        let what = format!("this command is of the whole space, and --only-user means that of {user} alone");
        return Err(Error::new(ErrorKind::Unsupported, what).into());
    }
    match named(command) {
        Some(other) if other != user => {
            Err(Error::invalid(format!("--user {other} is not the user of --only-user {user}")).into())
        }
        _ => Ok(()),
    }
}

fn is_of_whole(command: &Command) -> bool {
    !matches!(
        command,
        Command::Remember(_)
            | Command::Recall(_)
            | Command::Ask(_)
            | Command::Context(_)
            | Command::Forget(_)
            | Command::Why(_)
            | Command::WhyNot(_)
            | Command::Feedback(_)
            | Command::Diff(_)
            | Command::Log(_)
            | Command::Entity(_)
            | Command::Fact(_)
            | Command::Topic(_)
            | Command::Summary(_)
            | Command::Session(_)
            | Command::Graph(_)
            | Command::Memory(_)
            | Command::Learning(_)
            | Command::Preference(_)
            | Command::Undo(_)
            | Command::Working(_)
            | Command::Import(_)
            | Command::Ingest(_)
            | Command::MemoryTool
            | Command::Mcp(_)
    )
}

/// Returns the user that a command names.
fn named(command: &Command) -> Option<&str> {
    let user = match command {
        Command::Remember(call) => &call.user,
        Command::Recall(call) | Command::Memory(MemoryVerb::Search(call)) => &call.filter.user,
        Command::Ask(call) => &call.user,
        Command::Context(call) => &call.user,
        Command::Forget(call) => &call.filter.user,
        Command::Log(Log::List(call)) => &call.filter.user,
        Command::Memory(MemoryVerb::Rows(MemoryCall::List(which)))
        | Command::Learning(MemoryCall::List(which))
        | Command::Preference(MemoryCall::List(which)) => &which.user,
        _ => &None,
    };
    user.as_deref()
}
