//! Remote commands: command lines that a server runs for another process.
//!
//! The command line goes to the server, the same code runs there with the open spaces, and the captured output comes back: both
//! ways give the same answers because they run the same code. The table in this file lists the remote commands, whether each is
//! safe to retry, and the right that a key needs for it.

use std::path::PathBuf;

use mnemal::types::ReceiptId;
use mnemal::{ErrorKind, SpaceId, Spaces};
use mnemal_server::auth::{KeyClass, Principal, Right};
use mnemal_server::http::Rejection;
use serde::{Deserialize, Serialize};

use crate::args::{
    Command, Dream, DreamVerb, Entity, Fact, Global, Log, MemoryCall, MemoryVerb, Session, Working,
};
use crate::failure;
use crate::output::Output;

/// A request to run a command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RemoteCommand {
    /// The settings and folders that must be equal on both sides, for processes of the same user.
    #[serde(default)]
    pub(crate) terms: String,
    /// The command line without the program's name.
    pub(crate) arguments: Vec<String>,
    /// The named spaces.
    pub(crate) space: String,
    /// The working directory, if both are on one machine.
    #[serde(default)]
    pub(crate) folder: Option<PathBuf>,
    /// The content of stdin, for a command that reads it.
    #[serde(default)]
    pub(crate) stdin: Option<String>,
}

/// The result of a command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CommandResult {
    /// The exit code.
    pub(crate) code: u8,
    /// The content of stdout.
    pub(crate) out: String,
    /// The content of stderr.
    pub(crate) err: String,
}

impl CommandResult {
    /// Prints it in this process, and returns the exit code.
    pub(crate) fn print(&self, output: &Output) -> u8 {
        match output.pass_on(&self.out, &self.err) {
            Ok(()) => self.code,
            Err(error) => failure::report(&error, output),
        }
    }
}

/// Whether a command can be retried after a lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryPolicy {
    /// Safe to retry: it reads, or is idempotent.
    Harmless,
    /// Not safe: it may have been executed.
    Twice,
}

/// How a command can be run remotely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemotePolicy {
    /// Whether it can be retried.
    pub(crate) again: RetryPolicy,
    /// The right that a key needs for it; `None` for a command that only processes of the same user may run.
    pub(crate) right: Option<Right>,
}

const READS: RemotePolicy = RemotePolicy { again: RetryPolicy::Harmless, right: Some(Right::Read) };
/// An idempotent write.
const PUTS: RemotePolicy = RemotePolicy { again: RetryPolicy::Harmless, right: Some(Right::Write) };
const WRITES: RemotePolicy = RemotePolicy { again: RetryPolicy::Twice, right: Some(Right::Write) };
const ERASES: RemotePolicy = RemotePolicy { again: RetryPolicy::Twice, right: Some(Right::Erase) };

/// Returns how a command can be run remotely; `None` for one that reads or writes local files, or needs exclusive access to the
/// space's file.
///
/// The right is that of the route of the same operation.
#[expect(clippy::match_same_arms, reason = "a table of the commands by their areas")]
pub(crate) fn remote_policy(command: &Command) -> Option<RemotePolicy> {
    Some(match command {
        // It calls an endpoint in the name of the server.
        Command::Recall(call) if call.ask_endpoint => PUTS,
        Command::Ask(call) if call.endpoint => PUTS,
        Command::Context(call) if call.ask_endpoint => PUTS,
        Command::Recall(_)
        | Command::Ask(_)
        | Command::Context(_)
        | Command::Why(_)
        | Command::WhyNot(_)
        | Command::Diff(_)
        | Command::Report(_)
        | Command::Status
        | Command::Topic(_)
        | Command::Summary(_) => READS,
        // It runs on the machine of its host, whose transcripts it may read.
        Command::Hook(_) => RemotePolicy { right: None, ..READS },
        Command::Remember(_) => WRITES,
        Command::Feedback(_) => PUTS,
        Command::Log(Log::List(_) | Log::Show { .. }) => READS,
        Command::Log(Log::Release { .. }) => PUTS,
        Command::Log(Log::Add(call)) => match call.idempotency_key {
            Some(_) => PUTS,
            None => WRITES,
        },
        Command::Working(Working::Get { .. } | Working::List { .. } | Working::Search { .. }) => READS,
        Command::Working(Working::Put { .. } | Working::Rm { .. }) => PUTS,
        // The file of a receipt, or of a text, is local.
        Command::VerifyReceipt(call)
            if call.receipt.starts_with(ReceiptId::PREFIX) && call.text.is_none() =>
        {
            READS
        }
        Command::Forget(call) if call.receipt.is_some() => return None,
        Command::Forget(_) => RemotePolicy { again: RetryPolicy::Harmless, ..ERASES },
        Command::Memory(MemoryVerb::Export(_) | MemoryVerb::Import(_)) => return None,
        Command::Memory(MemoryVerb::Rows(call)) | Command::Learning(call) | Command::Preference(call) => {
            rows(call)
        }
        Command::Memory(MemoryVerb::Forget { .. }) => ERASES,
        Command::Memory(
            MemoryVerb::Status
            | MemoryVerb::Search(_)
            | MemoryVerb::Entities { .. }
            | MemoryVerb::Entity { .. }
            | MemoryVerb::Summary(_),
        ) => READS,
        Command::Session(Session::List { .. } | Session::Show { .. }) => READS,
        Command::Session(Session::Compress(_)) => WRITES,
        Command::Session(Session::Rm { .. }) => ERASES,
        Command::Entity(
            Entity::List { .. } | Entity::Show { .. } | Entity::Path { .. } | Entity::Suggestions { .. },
        ) => READS,
        Command::Entity(Entity::Merge { .. } | Entity::Split { .. } | Entity::Rename { .. }) => WRITES,
        Command::Entity(Entity::Forget { .. }) => ERASES,
        Command::Fact(Fact::List { .. }) => READS,
        Command::Fact(_) => WRITES,
        Command::Dream(Dream { verb: Some(DreamVerb::Log { .. } | DreamVerb::Sample), .. }) => READS,
        Command::Dream(_) | Command::Undo(_) => WRITES,
        _ => return None,
    })
}

fn rows(call: &MemoryCall) -> RemotePolicy {
    match call {
        MemoryCall::List(_)
        | MemoryCall::Show { .. }
        | MemoryCall::History { .. }
        | MemoryCall::Categories => READS,
        MemoryCall::Archive { .. }
        | MemoryCall::Restore { .. }
        | MemoryCall::Reject { .. }
        | MemoryCall::Confirm { .. }
        | MemoryCall::Pin { .. }
        | MemoryCall::Unpin { .. } => WRITES,
    }
}

/// Whether a remote command reads stdin, so that its content must be sent along.
pub(crate) fn reads_stdin(command: &Command) -> bool {
    match command {
        Command::Remember(call) => call.text == "-",
        Command::Log(Log::Add(call)) => call.text == "-",
        Command::Working(Working::Put { value, .. }) => value == "-",
        _ => false,
    }
}

/// Maximum number of events in one answer to the holder of a key; the routes use pages. Source: own default, some megabytes of
/// the server's memory.
const MOST: usize = 10_000;

/// Returns the number of requested events.
fn n_asked(command: &Command) -> usize {
    match command {
        Command::Recall(call) | Command::Memory(MemoryVerb::Search(call)) => call.limit.unwrap_or_default(),
        Command::Log(Log::List(call)) => call.limit,
        Command::Forget(call) => call.limit,
        Command::Session(Session::List { limit }) => *limit,
        Command::Session(Session::Show { last, .. }) => *last,
        _ => 0,
    }
}

/// Authorizes a command for the holder of a key in the spaces that the key may access, and removes parts about the caller's
/// machine or this one.
///
/// # Errors
/// The error for the caller; an inaccessible space gives the same error as a missing one.
pub(crate) async fn grant(
    holder: &Principal,
    spaces: &Spaces,
    (global, command): (&mut Global, &Command),
) -> Result<(), Rejection> {
    if global.db.is_some() || global.config.is_some() {
        return Err(Rejection::Wrong("--db and --config name files of the machine of the server".to_owned()));
    }
    let right = remote_policy(command).and_then(|policy| policy.right).ok_or(Rejection::Other)?;
    if n_asked(command) > MOST {
        return Err(Rejection::Wrong(format!("at most {MOST} are given at once; the routes have pages")));
    }
    let named = global.space.as_deref().unwrap_or_default();
    let mut first = None;
    for name in named.split(',').map(str::trim) {
        let space = SpaceId::new(name).ok().filter(|space| holder.knows(space));
        let space = space.ok_or_else(|| Rejection::NoSpace(name.to_owned()))?;
        first.get_or_insert(space);
    }
    if !holder.may(right) {
        return Err(Rejection::Right(right));
    }
    // Command lines act in the user's own name.
    if right != Right::Read && holder.class == KeyClass::Agent {
        return Err(Rejection::AppKey);
    }
    // Only writes create a space.
    if right != Right::Write
        && let Some(space) = first
        && spaces.open(&space).await.is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        return Err(Rejection::NoSpace(space.to_string()));
    }
    if let Some(user) = &holder.user {
        if global.only_user.as_deref().is_some_and(|named| named != user.as_str()) {
            return Err(Rejection::Wrong(format!("the key is of user {user}")));
        }
        global.only_user = Some(user.to_string());
    }
    global.verbose = 0;
    global.for_all = true;
    global.folder = None;
    global.is_remote = true;
    Ok(())
}
