//! Delegation to a running server: if a server holds the spaces, it runs the command.
//!
//! The command line goes to the server's socket in the data directory. The command opens the file itself, concurrently, which
//! SQLite allows, when no server answers at once, when the server has another version or other settings, and for commands that
//! read stdin or ask a person.

use std::time::Duration;

use anyhow::Result;
use mnemal::{Error, ErrorKind, Spaces};
use mnemal_server::ServerSettings;
use mnemal_server::auth::Principal;
use mnemal_server::http::Caller;
use serde_json::Value;

use crate::args::{Command, Global};
use crate::command::hook::HookSettings;
use crate::output::Output;
use crate::paths::{self, SpacePaths};
use crate::remote_command::{CommandResult, RemoteCommand, RetryPolicy, reads_stdin, remote_policy};
use crate::storage::Storage;
use crate::{config, failure};

/// The context in which a server runs remote commands.
#[derive(Clone, Debug)]
pub(crate) struct CommandHost {
    spaces: Spaces,
    terms: String,
}

impl CommandHost {
    /// Creates it from the spaces of the server.
    ///
    /// # Errors
    /// `Invalid` for invalid settings.
    pub(crate) fn new(spaces: Spaces, global: &Global) -> Result<Self> {
        Ok(Self { spaces, terms: terms(global)? })
    }

    /// Returns the spaces that the caller may access; `None` for a process of the same user with other settings.
    pub(crate) fn allowed_spaces(&self, caller: &Caller, request: &RemoteCommand) -> Option<Spaces> {
        match caller {
            Caller::LocalProcess => (request.terms == self.terms).then(|| self.spaces.clone()),
            Caller::Holder(Principal { spaces, .. }) => Some(self.spaces.only(spaces)),
        }
    }
}

/// Returns the parameters besides the command line that affect an answer: the settings, those of hooks, the state folder, and the
/// database.
fn terms(global: &Global) -> Result<String> {
    let hooks: HookSettings = config::section(global, "hooks")?;
    let storage = match SpacePaths::find_several(global)?.storage {
        Storage::Database(address) => address.expose().to_owned(),
        Storage::File(_) => String::new(),
    };
    let state = paths::state_directory()?;
    let all = format!("{:?}\n{hooks:?}\n{}\n{storage}", config::read(global)?, state.display());
    Ok(mnemal::types::path_fingerprint(&all))
}

/// Forwards a command to the server that holds its space, if there is one; `None` when the command should open the file.
///
/// # Errors
/// `Unavailable` when the connection broke and the command may have been executed.
pub(crate) fn forward(
    global: &Global,
    command: &Command,
    arguments: &[std::ffi::OsString],
    stdin: Option<String>,
) -> Result<Option<CommandResult>> {
    let Some(again) = remote_policy(command).filter(|_| !reads_stdin(command)).map(|policy| policy.again)
    else {
        return Ok(None);
    };
    // A confirmation prompt needs the local terminal.
    let may_ask = !global.yes && std::io::IsTerminal::is_terminal(&std::io::stdin());
    if (may_ask && asks(command)) || global.verbose > 0 || global.config.is_some() {
        return Ok(None);
    }
    let place = SpacePaths::find_several(global)?;
    let Some(server) = find_server(&place, global)? else { return Ok(None) };
    let arguments = arguments.iter().skip(1).map(|one| one.to_str().map(str::to_owned));
    let Some(arguments) = arguments.collect::<Option<Vec<String>>>() else { return Ok(None) };
    let request = build_command(&place, global, arguments, stdin)?;
    let outcome = wire::run(server, &serde_json::to_vec(&request)?, place.space.as_str());
    let told = match &outcome {
        wire::Outcome::NotBegun => return Ok(None),
        wire::Outcome::Done(answer) => serde_json::from_slice(answer).ok(),
        wire::Outcome::BrokenOff => None,
    };
    match told {
        Some(told) => Ok(Some(told)),
        None if again == RetryPolicy::Harmless => Ok(None),
        None => {
            let what =
                "the server that holds the space ended at work: look whether it is done, then say it again";
            Err(Error::new(ErrorKind::Unavailable, what).into())
        }
    }
}

/// A login into the web UI.
pub(crate) struct Login {
    /// The server's URL for browsers.
    pub(crate) url: String,
    /// The one-time code.
    pub(crate) code: String,
}

/// Asks the server that holds the spaces of the data directory for a login; `None` when none answers at its socket.
///
/// # Errors
/// `Conflict` when it refuses.
pub(crate) fn login(global: &Global) -> Result<Option<Login>> {
    let Some(server) = find_server(&SpacePaths::find_several(global)?, global)? else { return Ok(None) };
    let told: Option<Value> = wire::login(server).and_then(|body| serde_json::from_slice(&body).ok());
    let text = |field: &str| told.as_ref()?.get(field)?.as_str().map(str::to_owned);
    match (text("url"), text("code")) {
        (Some(url), Some(code)) => Ok(Some(Login { url, code })),
        _ => Err(Error::new(ErrorKind::Conflict, "the server that holds the spaces logs nobody in").into()),
    }
}

/// Returns the server that holds the spaces of a place, if it answers at once.
fn find_server(place: &SpacePaths, global: &Global) -> Result<Option<wire::Server>> {
    let Some(data) = &place.data else { return Ok(None) };
    if !config::is_on(global)? {
        return Ok(None);
    }
    let Some(stream) = wire::connected(data) else { return Ok(None) };
    let settings: ServerSettings = config::section(global, "server")?;
    Ok(wire::greeted(stream, Duration::from_millis(settings.greeting_ms)))
}

fn build_command(
    place: &SpacePaths,
    global: &Global,
    arguments: Vec<String>,
    stdin: Option<String>,
) -> Result<RemoteCommand> {
    let names = std::iter::once(&place.space).chain(&place.others).map(ToString::to_string);
    Ok(RemoteCommand {
        terms: terms(global)?,
        arguments,
        space: names.collect::<Vec<_>>().join(","),
        folder: global.folder.clone().or_else(|| std::env::current_dir().ok()),
        stdin,
    })
}

/// Returns a connection to the server that holds the space, for the Model Context Protocol with a profile; `None` when the file
/// should be opened.
#[cfg(unix)]
pub(crate) fn piped(global: &Global, profile: &str) -> Option<tokio::net::UnixStream> {
    if global.verbose > 0 || global.config.is_some() {
        return None;
    }
    // The error is reported with all reasons where the file is opened.
    let place = SpacePaths::find_several(global).ok()?;
    let server = find_server(&place, global).ok()??;
    let arguments = ["mcp", "--profile", profile].map(str::to_owned).to_vec();
    let request = build_command(&place, global, arguments, None).ok()?;
    let stream = wire::piped(server, &serde_json::to_vec(&request).ok()?)?;
    stream.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(stream).ok()
}

/// Whether a command may ask for confirmation.
fn asks(command: &Command) -> bool {
    matches!(
        command,
        Command::Forget(_)
            | Command::Session(_)
            | Command::Entity(_)
            | Command::Memory(_)
            | Command::Learning(_)
            | Command::Preference(_)
    )
}

/// Forwards to the server, prints its output, and returns the exit code; `None` when the command should open the file.
pub(crate) fn through(
    global: &Global,
    command: &Command,
    arguments: &[std::ffi::OsString],
    output: &Output,
) -> Option<u8> {
    match forward(global, command, arguments, None) {
        Ok(Some(told)) => Some(told.print(output)),
        Err(error) if is_broken_off(&error) => Some(failure::report(&error, output)),
        // The error is reported with all reasons where the file is opened.
        Ok(None) | Err(_) => None,
    }
}

fn is_broken_off(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::Unavailable)
}

/// The client side of the socket.
#[cfg(unix)]
mod wire {
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    use mnemal_server::http::{PIPED, PIPES, REMOTE_COMMANDS, SOCKET, SPACE};
    use serde_json::Value;

    use crate::http::Connection;

    /// A server that has greeted.
    pub(super) struct Server(Connection<UnixStream>);

    /// The outcome of a forwarded command.
    pub(super) enum Outcome {
        Done(Vec<u8>),
        /// The server did not accept it.
        NotBegun,
        /// The connection broke.
        BrokenOff,
    }

    /// Connects to the server that holds the spaces of a directory, if there is one.
    pub(super) fn connected(data: &Path) -> Option<UnixStream> {
        UnixStream::connect(data.join(SOCKET)).ok()
    }

    /// Waits for the greeting of a server of the same version, within the time limit.
    pub(super) fn greeted(stream: UnixStream, patience: Duration) -> Option<Server> {
        stream.set_read_timeout(Some(patience)).ok()?;
        stream.set_write_timeout(Some(patience)).ok()?;
        let mut server = Connection::new(stream);
        server.send("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n", b"").ok()?;
        let (status, body) = server.answer().ok()?;
        let said: Value = serde_json::from_slice(&body).ok().filter(|_| status == 200)?;
        let is_ours = said.get("version").and_then(Value::as_str) == Some(env!("CARGO_PKG_VERSION"));
        is_ours.then_some(Server(server))
    }

    /// Sends a command and waits for its result.
    pub(super) fn run(Server(mut server): Server, request: &[u8], space: &str) -> Outcome {
        let stream = server.stream();
        if stream.set_read_timeout(None).is_err() || stream.set_write_timeout(None).is_err() {
            return Outcome::NotBegun;
        }
        let head = format!(
            "POST {REMOTE_COMMANDS} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{SPACE}: {space}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            request.len()
        );
        if server.send(&head, request).is_err() {
            return Outcome::BrokenOff;
        }
        match server.answer() {
            Ok((200, body)) => Outcome::Done(body),
            // An internal error may occur after the work.
            Err(_) | Ok((500, _)) => Outcome::BrokenOff,
            Ok(_) => Outcome::NotBegun,
        }
    }

    /// Asks for a one-time code of a browser, and returns the answer; `None` when the server refuses.
    pub(super) fn login(Server(mut server): Server) -> Option<Vec<u8>> {
        let head = "POST /v1/login/code HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        server.send(head, b"").ok()?;
        let (status, body) = server.answer().ok()?;
        (status == 200).then_some(body)
    }

    /// Switches the connection to the Model Context Protocol; `None` when the server refuses.
    pub(super) fn piped(Server(mut server): Server, said: &[u8]) -> Option<UnixStream> {
        let head = format!(
            "POST {PIPES} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: {PIPED}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            said.len()
        );
        // Opening a space may take a while.
        server.stream().set_read_timeout(None).ok()?;
        server.send(&head, said).ok()?;
        let (status, _) = server.head().ok()?;
        let stream = server.into_stream();
        stream.set_write_timeout(None).ok()?;
        (status == 101).then_some(stream)
    }
}

/// Without such sockets every command opens the file.
#[cfg(not(unix))]
mod wire {
    use std::path::Path;

    pub(super) struct Server;

    pub(super) enum Outcome {
        Done(Vec<u8>),
        NotBegun,
        BrokenOff,
    }

    pub(super) fn connected(_data: &Path) -> Option<Server> {
        None
    }

    pub(super) fn greeted(server: Server, _patience: std::time::Duration) -> Option<Server> {
        Some(server)
    }

    pub(super) fn run(_server: Server, _request: &[u8], _space: &str) -> Outcome {
        Outcome::NotBegun
    }

    pub(super) fn login(_server: Server) -> Option<Vec<u8>> {
        None
    }
}
