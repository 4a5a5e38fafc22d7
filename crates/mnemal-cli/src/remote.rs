//! Remote servers: with a server address, commands run there, and no local file is opened.
//!
//! The server runs the same code, so texts, documents and exit codes are the same as with a local file. The key determines the
//! accessible spaces and operations.

use std::io::ErrorKind as IoKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemal::{Error, ErrorKind};
use mnemal_server::auth::Secret;
use mnemal_server::http::{REMOTE_COMMANDS, SPACE};
use serde_json::Value;

use crate::args::{Command, Global, MemoryVerb};
use crate::http::Connection;
use crate::output::Output;
use crate::remote_command::{CommandResult, RemoteCommand, RetryPolicy, reads_stdin, remote_policy};
use crate::{command, config, failure, paths};

/// The environment variable with the server's address. Source: own choice.
const SERVER: &str = "MNEMAL_SERVER";
/// The environment variable with the API key. Source: own choice.
const KEY: &str = "MNEMAL_API_KEY";
/// The reason why a hook is not run on a server.
pub(crate) const NO_HOOKS: &str =
    "hooks run on this machine, with its transcripts and spaces; unset MNEMAL_SERVER, and leave --server out";
/// Time limit of a connection to one address, and of an answer without work. Source: own default.
const CONNECT: Duration = Duration::from_secs(5);
/// Time limit of an answer that only names the server. Source: own choice; a person does not notice it.
const GLANCE: Duration = Duration::from_millis(500);
/// Time limit of an answer. Source: own default, ten times the server's default limit of a request.
const PATIENCE: Duration = Duration::from_mins(5);

/// Returns the address of the named server, if there is one.
pub(crate) fn named(global: &Global) -> Option<String> {
    global.server.clone().or_else(|| paths::variable(SERVER))
}

/// Runs a command on the named server, prints its output, and returns the exit code; `None` when no server is named, or the
/// command opens no persistent space.
pub(crate) fn through(
    global: &Global,
    command: &Command,
    arguments: &[std::ffi::OsString],
    output: &Output,
) -> Option<u8> {
    let url = named(global)?;
    if matches!(
        command,
        Command::Setup(_)
            | Command::Models(_)
            | Command::Database(_)
            | Command::Demo
            | Command::Health(_)
            | Command::Ui(_)
            | Command::Completions(_)
            | Command::Man(_)
    ) {
        return None;
    }
    let answered = match forward(&url, global, command, arguments) {
        Ok(Some(answered)) => answered,
        Ok(None) => return None,
        Err(error) => return Some(failure::report(&error, output)),
    };
    Some(match answered {
        ServerAnswer::Told(told) => told.print(output),
        ServerAnswer::Refused(status, problem) => print_problem(status, &problem, output),
    })
}

/// Checks whether a server is ready, and returns its answer, a JSON document.
///
/// # Errors
/// `Unavailable` when it is not ready, or cannot be reached; `Unsupported` or `Invalid` for an address as in [`ServerAddress::named`].
pub(crate) fn is_ready(url: &str) -> Result<String> {
    let server = ServerAddress::named(url)?;
    let mut connection = server.connected(CONNECT)?;
    let answered = connection
        .send(&server.head("GET", "/health/ready", "", 0), b"")
        .and_then(|()| connection.answer())
        .map_err(|cause| server.unreachable(cause))?;
    match answered {
        (200, body) => Ok(String::from_utf8_lossy(&body).into_owned()),
        (status, _) => {
            let what = format!("the server {url} is not ready: it answers {status}");
            Err(Error::new(ErrorKind::Unavailable, what).into())
        }
    }
}

/// Asks a server for a code that logs a browser in, with the key for that server.
///
/// # Errors
/// `Unavailable` when it cannot be reached, or refuses; those of [`ServerAddress::named`] and [`ServerAddress::key`].
pub(crate) fn login_code(url: &str) -> Result<String> {
    let server = ServerAddress::named(url)?;
    let key = server.key()?;
    let key = key.map(|key| format!("authorization: Bearer {}\r\n", key.expose())).unwrap_or_default();
    let mut connection = server.connected(CONNECT)?;
    let (status, body) = connection
        .send(&server.head("POST", "/v1/login/code", &key, 0), b"")
        .and_then(|()| connection.answer())
        .map_err(|cause| server.unreachable(cause))?;
    let told: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |field: &str| told.get(field).and_then(Value::as_str).map(str::to_owned);
    if let Some(code) = text("code").filter(|_| status == 200) {
        return Ok(code);
    }
    let detail = text("detail").unwrap_or_else(|| format!("it answers {status}"));
    Err(Error::new(ErrorKind::Conflict, format!("the server {url} logs nobody in: {detail}")).into())
}

/// Returns the version of the mnemal server at an address; `None` when something else is there, or nothing answers at once.
pub(crate) fn version_at(address: SocketAddr) -> Option<String> {
    let server = ServerAddress::named(&format!("http://{address}")).ok()?;
    let mut connection = server.connected(GLANCE).ok()?;
    connection.send(&server.head("GET", "/version", "", 0), b"").ok()?;
    let (status, body) = connection.answer().ok()?;
    let told: Value = serde_json::from_slice(&body).ok().filter(|_| status == 200)?;
    let text = |field: &str| told.get(field).and_then(Value::as_str);
    text("name").filter(|name| *name == mnemal::PRODUCT)?;
    text("version").map(str::to_owned)
}

/// Whether a server that did not answer may answer later.
pub(crate) fn may_come(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::Unavailable)
}

/// The answer of a server.
enum ServerAnswer {
    Told(CommandResult),
    /// An error: the status, and the problem document.
    Refused(u16, Value),
}

/// Sends the command; `None` when memory is disabled here.
fn forward(
    url: &str,
    global: &Global,
    command: &Command,
    arguments: &[std::ffi::OsString],
) -> Result<Option<ServerAnswer>> {
    let server = ServerAddress::named(url)?;
    let Some(again) =
        remote_policy(command).filter(|policy| policy.right.is_some()).map(|policy| policy.again)
    else {
        let why = why_not(command);
        return Err(Error::invalid(format!("a server ({url}) does not do this: {why}")).into());
    };
    if global.db.is_some() || global.config.is_some() {
        let what = format!("{url} has its own files and settings; leave --db and --config out");
        return Err(Error::invalid(what).into());
    }
    if !config::is_on(global)? {
        return Ok(None);
    }
    let arguments = arguments.iter().skip(1).map(|one| one.to_str().map(str::to_owned));
    let arguments = arguments.collect::<Option<Vec<String>>>();
    let arguments = arguments.ok_or_else(|| Error::invalid("the command line is not UTF-8"))?;
    let spaces: Vec<String> = paths::names(global)?.iter().map(ToString::to_string).collect();
    let stdin =
        if reads_stdin(command) { Some(command::text_or_stdin("-".to_owned(), global)?) } else { None };
    let command =
        RemoteCommand { terms: String::new(), arguments, space: spaces.join(","), folder: None, stdin };
    let key = server.key()?;
    let first = spaces.first().map(String::as_str).unwrap_or_default();
    let (status, body) = server.ask(&serde_json::to_vec(&command)?, first, key.as_ref(), again)?;
    let no_server =
        || Error::new(ErrorKind::Unavailable, format!("{url} does not answer as a server of mnemal"));
    if status == 200 {
        let told = serde_json::from_slice(&body).map_err(|cause| no_server().because(cause))?;
        return Ok(Some(ServerAnswer::Told(told)));
    }
    let problem: Value = serde_json::from_slice(&body).map_err(|cause| no_server().because(cause))?;
    if problem.get("code").is_none() {
        return Err(no_server().into());
    }
    Ok(Some(ServerAnswer::Refused(status, problem)))
}

/// Returns the reason why a command cannot run remotely.
fn why_not(command: &Command) -> &'static str {
    match command {
        Command::Mcp(_) => "clients of the protocol reach the server themselves, at /mcp/SPACE",
        Command::Hook(_) => NO_HOOKS,
        Command::Forget(_) => "--receipt writes a file; leave it out, the answer has what was erased",
        Command::Import(_)
        | Command::Ingest(_)
        | Command::Export(_)
        | Command::Graph(_)
        | Command::VerifyReceipt(_)
        | Command::MemoryTool
        | Command::Memory(MemoryVerb::Export(_) | MemoryVerb::Import(_)) => {
            "it reads or writes a file or a stream here; its route in /openapi.json takes and gives it"
        }
        _ => "it works on the files or the settings of an installation; run it on the machine of the server",
    }
}

/// Prints the server's error, and returns the exit code.
fn print_problem(status: u16, problem: &Value, output: &Output) -> u8 {
    if output.is_machine() {
        output.talk(&problem.to_string());
    } else {
        let part = |name: &str| problem.get(name).and_then(Value::as_str);
        let detail = part("detail").or_else(|| part("title")).unwrap_or("it does not say why");
        let hint = if status == 401 { format!("; {KEY} must hold one") } else { String::new() };
        output.talk(&format!("error: the server refuses: {detail}{hint}"));
    }
    code(status)
}

/// Returns the exit code of an HTTP status.
fn code(status: u16) -> u8 {
    let kind = match status {
        401 | 403 => return failure::NOT_ALLOWED,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        429 | 502..=504 => ErrorKind::Unavailable,
        400..=499 | 501 => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    };
    failure::code(kind)
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerAddress {
    /// The address as given.
    url: String,
    /// Host and port, as in the address.
    authority: String,
    host: String,
    port: u16,
    /// Path prefix, for a server behind a reverse proxy.
    prefix: String,
}

impl ServerAddress {
    /// Parses an address.
    ///
    /// # Errors
    /// `Unsupported` for another scheme than `http`, `Invalid` for a malformed address.
    fn named(url: &str) -> Result<Self> {
        let Some(rest) = url.strip_prefix("http://") else {
            let what = "a server is named as http://HOST:PORT; for one behind TLS lead a tunnel to it";
            return Err(Error::new(ErrorKind::Unsupported, format!("{url:?}: {what}")).into());
        };
        let wrong = || Error::invalid(format!("{url:?} is no address of a server: http://HOST:PORT"));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#@\"".contains(&byte));
        if !is_plain(rest) {
            return Err(wrong().into());
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (authority, 80),
        };
        // An IPv6 address is in brackets.
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bare.or_else(|| Some(host).filter(|host| !host.contains(':'))).ok_or_else(wrong)?;
        if host.is_empty() || port == 0 {
            return Err(wrong().into());
        }
        let path = path.trim_end_matches('/');
        let prefix = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Self { url: url.to_owned(), authority: authority.to_owned(), host: host.to_owned(), port, prefix })
    }

    /// Returns the API key for the server: that of the environment, else for a server on this machine the local one, if there is
    /// one.
    ///
    /// # Errors
    /// `Invalid` for a malformed key.
    fn key(&self) -> Result<Option<Secret>> {
        if let Some(text) = paths::variable(KEY) {
            let wrong = || Error::invalid(format!("{KEY} holds no key; one begins with mnk_"));
            return Ok(Some(Secret::parse(&text).ok_or_else(wrong)?));
        }
        let ip = self.host.parse::<std::net::IpAddr>();
        if self.host != "localhost" && !ip.is_ok_and(|ip| ip.is_loopback()) {
            return Ok(None);
        }
        let file = paths::local_key_file()?;
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(Secret::parse(&text)),
            Err(cause) if cause.kind() == IoKind::NotFound => Ok(None),
            Err(cause) => Err(cause).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    /// Sends a command, and returns the status and the body of the answer.
    ///
    /// # Errors
    /// `Unavailable` when the server cannot be reached, or the connection breaks.
    fn ask(
        &self,
        command: &[u8],
        space: &str,
        key: Option<&Secret>,
        again: RetryPolicy,
    ) -> Result<(u16, Vec<u8>)> {
        let key = key.map(|key| format!("authorization: Bearer {}\r\n", key.expose())).unwrap_or_default();
        let head = format!("{SPACE}: {space}\r\n{key}content-type: application/json\r\n");
        let mut server = self.connected(PATIENCE)?;
        let sent = server.send(&self.head("POST", REMOTE_COMMANDS, &head, command.len()), command);
        // A server that stops reading may have sent an error.
        match (server.answer(), sent) {
            (Ok(answered), _) => Ok(answered),
            (Err(cause), _) if cause.kind() == IoKind::InvalidData => Err(self.unreachable(cause)),
            (Err(cause), Ok(())) => {
                let then = match again {
                    RetryPolicy::Harmless => "say it again",
                    RetryPolicy::Twice => "look whether it is done, then say it again",
                };
                let what = format!("the server {} broke off: {then}", self.url);
                Err(Error::new(ErrorKind::Unavailable, what).because(cause).into())
            }
            (Err(_), Err(cause)) => Err(self.unreachable(cause)),
        }
    }

    /// Writes the head of a request.
    fn head(&self, method: &str, path: &str, more: &str, length: usize) -> String {
        let Self { authority, prefix, .. } = self;
        format!(
            "{method} {prefix}{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n{more}content-length: {length}\r\n\r\n"
        )
    }

    fn unreachable(&self, cause: std::io::Error) -> anyhow::Error {
        let what = format!("cannot reach the server {}", self.url);
        Error::new(ErrorKind::Unavailable, what).because(cause).into()
    }

    /// Connects to the first reachable address of the server; reads and writes then have this time limit.
    ///
    /// # Errors
    /// `Unavailable` when none is reachable.
    fn connected(&self, patience: Duration) -> Result<Connection<TcpStream>> {
        let connected = || {
            let stream = self.first()?;
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            Ok(Connection::new(stream))
        };
        connected().map_err(|cause| self.unreachable(cause))
    }

    fn first(&self) -> std::io::Result<TcpStream> {
        let mut failed = IoKind::AddrNotAvailable.into();
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(cause) => failed = cause,
            }
        }
        Err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_perhaps_a_port_and_what_stands_before_paths() {
        for (url, authority, host, port, prefix) in [
            ("http://127.0.0.1:14767", "127.0.0.1:14767", "127.0.0.1", 14767, ""),
            ("http://memory.example/", "memory.example", "memory.example", 80, ""),
            ("http://[::1]:14767/", "[::1]:14767", "::1", 14767, ""),
            ("http://[::1]", "[::1]", "::1", 80, ""),
            ("http://localhost:80/a/b/", "localhost:80", "localhost", 80, "/a/b"),
        ] {
            let read = ServerAddress::named(url).unwrap();
            let expect = (authority, host, port, prefix);
            assert_eq!((&*read.authority, &*read.host, read.port, &*read.prefix), expect, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "",
            "127.0.0.1:14767",
            "https://memory.example",
            "unix:/run/x",
            "http://",
            "http:///path",
            "http://:14767",
            "http://host:",
            "http://host:0",
            "http://host:70000",
            "http://::1:14767",
            "http://user@host",
            "http://host\r\nx: y",
            "http://host/?a",
        ] {
            let error = ServerAddress::named(url).unwrap_err();
            assert_eq!(
                failure::code(error.downcast_ref::<Error>().unwrap().kind()),
                failure::USAGE,
                "{url:?}"
            );
        }
    }

    #[test]
    fn every_status_has_the_exit_code_of_its_kind() {
        for (status, expect) in [
            (400, 2),
            (401, 4),
            (403, 4),
            (404, 3),
            (409, 5),
            (413, 2),
            (415, 2),
            (429, 7),
            (500, 1),
            (501, 2),
            (503, 7),
        ] {
            assert_eq!(code(status), expect, "{status}");
        }
    }
}
