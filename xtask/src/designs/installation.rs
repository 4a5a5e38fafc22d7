//! A test installation: an empty home with the program, and optionally a server and a language model.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::model::{Mode, Model};
use super::row::Section;
use super::words::filled;

/// The environment of a section's steps. A running server is stopped when it is dropped.
#[derive(Debug)]
pub(super) struct TestInstallation {
    program: PathBuf,
    pub(super) home: PathBuf,
    environment: BTreeMap<String, String>,
    pub(super) model: Option<Model>,
    server: Option<Server>,
    /// Variables from earlier answers for later steps.
    pub(super) variables: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Server {
    process: Child,
    address: String,
    key: String,
}

/// The input of a program, and for how long it stays open.
#[derive(Debug, Default)]
pub(super) struct Input<'t> {
    pub(super) text: &'t str,
    pub(super) open: Duration,
}

/// The output of a program.
#[derive(Debug)]
pub(super) struct ProgramOutput {
    pub(super) code: u64,
    pub(super) out: String,
    pub(super) error: String,
}

impl TestInstallation {
    /// Makes an empty home, and starts the services of the section.
    pub(super) fn new(program: &Path, home: &Path, section: &Section) -> Result<Self> {
        std::fs::create_dir_all(home)?;
        let mut environment = BTreeMap::from(
            [
                ("HOME", home.display().to_string()),
                // A machine under load must not decide who answers.
                ("MNEMAL_RECALL__PART_DEADLINE_MS", "60000".to_owned()),
                ("MNEMAL_SERVER__GREETING_MS", "60000".to_owned()),
                ("MNEMAL_SERVER__RATE_LIMIT_RPS", "100000".to_owned()),
                ("MNEMAL_SERVER__RATE_LIMIT_BURST", "100000".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        let model = match &section.model {
            Some(mode) => Some(Model::start(Mode::of(mode)?, section.answers.clone())?),
            None => None,
        };
        if let Some(model) = &model {
            environment.insert("MNEMAL_LLM__PROVIDER".to_owned(), "openai-compatible".to_owned());
            environment.insert("MNEMAL_LLM__BASE_URL".to_owned(), model.url());
            environment.insert("MNEMAL_LLM__MODEL".to_owned(), "scripted".to_owned());
        }
        let variables = BTreeMap::from([("home".to_owned(), home.display().to_string())]);
        for (name, value) in &section.environment {
            environment.insert(name.clone(), filled(value, &variables)?);
        }
        if let Some(config) = &section.config {
            let path = home.join("mnemal.toml");
            std::fs::write(&path, config)?;
            environment.insert("MNEMAL_CONFIG".to_owned(), path.display().to_string());
        }
        let (program, home) = (program.to_path_buf(), home.to_path_buf());
        let mut place = Self { program, home, environment, model, server: None, variables };
        if section.has_server {
            place.serve()?;
        }
        Ok(place)
    }

    /// Runs the program with arguments, and with additional variables.
    pub(super) fn run(
        &self,
        arguments: &[String],
        environment: &BTreeMap<String, String>,
        input: &Input<'_>,
    ) -> Result<ProgramOutput> {
        let mut child = self.command(arguments, environment).stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("no input")?;
        // A program that does not read ends before everything is written.
        drop(stdin.write_all(input.text.as_bytes()));
        hold(input.open);
        drop(stdin);
        let output = child.wait_with_output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().and_then(|code| u64::try_from(code).ok()).unwrap_or(u64::MAX);
        Ok(ProgramOutput { code, out: text(&output.stdout), error: text(&output.stderr) })
    }

    /// Returns the address of the server, and its key.
    pub(super) fn server(&self) -> Result<(&str, &str)> {
        let server = self.server.as_ref().context("the section has no server")?;
        Ok((&server.address, &server.key))
    }

    /// Ends the server and starts it again.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.server = None;
        self.serve()
    }

    fn serve(&mut self) -> Result<()> {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut command = self.command(&words("serve --listen 127.0.0.1:0"), &BTreeMap::new());
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut lines = BufReader::new(process.stderr.take().context("no errors")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        // What else the server has to say is read, so that it never waits for a reader; the thread ends with the server.
        let rest = std::thread::Builder::new().name("server".to_owned());
        rest.spawn(move || drop(lines.read_to_end(&mut Vec::new())))?;
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let mut server = Server { process, address: String::new(), key: String::new() };
        address.with_context(|| format!("no address: {line}"))?.clone_into(&mut server.address);
        let key = self.run(&words("key local"), &BTreeMap::new(), &Input::default())?.out;
        key.trim().clone_into(&mut server.key);
        self.variables.insert("address".to_owned(), server.address.clone());
        self.variables.insert("key".to_owned(), server.key.clone());
        self.server = Some(server);
        Ok(())
    }

    fn command(&self, arguments: &[String], environment: &BTreeMap<String, String>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.home).env_clear();
        // Programs that a setting names are found as a user's are.
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs(&self.environment).envs(environment);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

#[expect(clippy::disallowed_methods, reason = "a client that stays is one whose input stays open")]
fn hold(time: Duration) {
    if !time.is_zero() {
        std::thread::sleep(time);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended where neither can be done.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
