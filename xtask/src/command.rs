//! A command line that can be shown before it runs.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program with its arguments and additional environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

/// Which stream of a program is read line by line while it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

impl Line {
    /// Makes a command line.
    pub(crate) fn new(program: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { program: program.to_owned(), arguments, variables: Vec::new() }
    }

    /// Appends one argument.
    pub(crate) fn arg(self, argument: impl Into<String>) -> Self {
        self.args([argument.into()])
    }

    /// Appends arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = String>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    /// Sets a variable of the program's environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the program with its output shown and no input; fails with the command line.
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        let status = self.command(root).status().with_context(|| format!("cannot start `{self}`"))?;
        if status.success() { Ok(()) } else { bail!("`{self}` failed: {status}") }
    }

    /// Runs the program with its output discarded; fails with the command line.
    pub(crate) fn silent(&self, root: &Path) -> Result<()> {
        let status = self.command(root).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.with_context(|| format!("cannot start `{self}`"))?;
        if status.success() { Ok(()) } else { bail!("`{self}` failed: {status}") }
    }

    /// Runs the program, shows both streams, and hands each line of one of them to `see`.
    pub(crate) fn watch(&self, root: &Path, stream: Stream, mut see: impl FnMut(&str)) -> Result<()> {
        let mut command = self.command(root);
        match stream {
            Stream::Out => command.stdout(Stdio::piped()),
            Stream::Error => command.stderr(Stdio::piped()),
        };
        let mut child = command.spawn().with_context(|| format!("cannot start `{self}`"))?;
        if let Some(out) = child.stdout.take() {
            show(BufReader::new(out), &mut see);
        } else if let Some(error) = child.stderr.take() {
            show(BufReader::new(error), &mut see);
        }
        let status = child.wait()?;
        if status.success() { Ok(()) } else { bail!("`{self}` failed: {status}") }
    }

    /// Runs the program silently and returns what it prints; fails with its errors.
    pub(crate) fn read(&self, root: &Path) -> Result<String> {
        let output = self.command(root).output().with_context(|| format!("cannot start `{self}`"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        bail!("`{self}` failed: {}", String::from_utf8_lossy(&output.stderr))
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(root).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn show(mut reader: impl BufRead, see: &mut impl FnMut(&str)) {
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&bytes);
        let line = text.trim_end_matches('\n');
        println!("{line}");
        see(line);
        bytes.clear();
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '"']) { format!("'{word}'") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn a_line_is_shown_as_a_shell_would_take_it() {
        let line = Line::new("cargo", &["doc"]).arg("--no-deps").with("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(line.to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn a_failing_program_is_named_and_a_watched_one_is_read() {
        let error = Line::new("cargo", &["no-such-command"]).read(&root()).unwrap_err().to_string();
        assert!(error.starts_with("`cargo no-such-command` failed"), "{error}");
        let mut lines = Vec::new();
        Line::new("cargo", &["--version"])
            .watch(&root(), Stream::Out, |line| lines.push(line.to_owned()))
            .unwrap();
        assert!(lines.iter().any(|line| line.starts_with("cargo ")), "{lines:?}");
    }
}
