//! The program `mnemal serve` as a process, and a client that speaks HTTP with it over one connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

/// A rate limit that is never reached: the load is meant to find the limit of the work, not of a key.
const NO_LIMIT: &str = "1000000";
/// Timeout of a client.
const PATIENCE: Duration = Duration::from_secs(30);

/// An installation: the program, and the folder that is its home.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The program `mnemal`.
    pub program: PathBuf,
    /// Home and data directory.
    pub home: PathBuf,
}

impl Installation {
    /// Returns the data directory.
    pub fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    /// Returns a command of the program in this home; the user's own configuration does not count.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.home).env("HOME", &self.home);
        command.env("MNEMAL_DATA_DIR", self.data()).env_remove("XDG_CONFIG_HOME").env_remove("MNEMAL_SPACE");
        // What waits for a machine with other work on it says nothing about this work.
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "60000");
        // Notes of agents come by the thousand, and each of them must be used.
        command.env("MNEMAL_PRIVACY__AGENT_ITEMS_PER_HOUR", "0");
        command
    }

    /// Runs a command and returns its output.
    ///
    /// # Errors
    /// One that fails.
    pub fn said(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output().context("cannot start the program")?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`mnemal {}` failed: {} {told}", arguments.join(" "), output.status);
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts the server on a port of its own.
    ///
    /// # Errors
    /// One that does not say where it listens.
    pub fn serve(&self) -> Result<Serving> {
        self.serve_with(&[
            ("MNEMAL_SERVER__RATE_LIMIT_RPS", NO_LIMIT),
            ("MNEMAL_SERVER__RATE_LIMIT_BURST", NO_LIMIT),
        ])
    }

    /// The same with the limits that a server has by default.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub fn serve_as_installed(&self) -> Result<Serving> {
        self.serve_with(&[])
    }

    fn serve_with(&self, settings: &[(&str, &str)]) -> Result<Serving> {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(settings.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut talk = BufReader::new(child.stderr.take().context("a process has a stderr")?);
        let mut line = String::new();
        talk.read_line(&mut line)?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).map(str::to_owned);
        let address = address.with_context(|| format!("the server said {line:?}"))?;
        let key = self.said(&["key", "local"])?.trim().to_owned();
        Ok(Serving { child: Some(child), address, key, talk: Some(talk) })
    }
}

/// A server that runs; it is killed when this is dropped.
#[derive(Debug)]
pub struct Serving {
    child: Option<Child>,
    /// Where it listens.
    pub address: String,
    key: String,
    /// Kept open, so that it can say what it must.
    talk: Option<BufReader<ChildStderr>>,
}

impl Serving {
    /// Opens a connection.
    ///
    /// # Errors
    /// A server that does not take it.
    pub fn connect(&self) -> Result<Client> {
        Client::new(&self.address, &self.key)
    }

    /// Returns the local key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the number of its process.
    pub fn number(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Returns the process, with the end of its output pipe, which must be kept open.
    pub fn apart(mut self) -> Option<(Child, BufReader<ChildStderr>)> {
        Some((self.child.take()?, self.talk.take()?))
    }

    /// Asks it to end, waits, and says whether it ended well.
    ///
    /// # Errors
    /// A process that cannot be asked.
    pub fn end(mut self) -> Result<bool> {
        let mut child = self.child.take().context("it was given away")?;
        end(&mut child)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended before.
        if let Some(child) = &mut self.child {
            let _ended = child.kill();
            let _ended = child.wait();
        }
    }
}

/// Asks a process to end, waits, and says whether it ended well.
///
/// # Errors
/// A process that cannot be asked.
pub fn end(child: &mut Child) -> Result<bool> {
    let process = rustix::process::Pid::from_raw(i32::try_from(child.id())?);
    let process = process.context("a process has a number")?;
    if matches!(child.try_wait(), Ok(None)) {
        rustix::process::kill_process(process, rustix::process::Signal::TERM)?;
    }
    Ok(child.wait()?.success())
}

/// One connection, which asks one thing after the other.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// A server that does not take it.
    pub fn new(address: &str, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head =
            format!("host: {address}\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n");
        Ok(Self { stream: BufReader::new(stream), head })
    }

    /// Asks, and returns status and body of the answer.
    ///
    /// # Errors
    /// A connection that breaks, or an answer without a length.
    pub fn ask(&mut self, line: &str, headers: &str, body: &str) -> Result<(u16, Vec<u8>)> {
        let length = body.len();
        let request =
            format!("{line} HTTP/1.1\r\n{}{headers}content-length: {length}\r\n\r\n{body}", self.head);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length, mut line) = (None, None, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                bail!("the server closed the connection");
            }
            if status.is_none() {
                status = line.split(' ').nth(1).and_then(|number| number.parse::<u16>().ok());
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<usize>().ok();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut answer = vec![0; length.context("an answer without a length")?];
        self.stream.read_exact(&mut answer)?;
        Ok((status.context("an answer without a status")?, answer))
    }
}

/// Returns the program `mnemal`: the one that is given, else one that is built with the profile of this program, beside it.
///
/// # Errors
/// A build that fails.
pub fn program(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.canonicalize()?);
    }
    let here = std::env::current_exe()?;
    let folder = here.parent().context("a program lies in a folder")?;
    let profile = if folder.ends_with("dist") { "dist" } else { "release" };
    let build = ["build", "--profile", profile, "--quiet", "-p", "mnemal-cli"];
    let status = Command::new(env!("CARGO")).args(build).current_dir(env!("CARGO_MANIFEST_DIR")).status()?;
    ensure!(status.success(), "`cargo {}` failed", build.join(" "));
    Ok(folder.with_file_name(profile).join("mnemal"))
}
