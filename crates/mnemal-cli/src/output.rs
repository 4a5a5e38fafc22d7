//! Output of commands: data on stdout, messages on stderr.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use serde::Serialize;

use crate::args::Global;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    Human,
    Json,
    Lines,
}

/// The output streams and format.
#[derive(Debug)]
pub(crate) struct Output {
    form: OutputFormat,
    quiet: bool,
    color: anstream::ColorChoice,
    /// The captured output, when it is for another process.
    kept: Option<Mutex<CapturedOutput>>,
}

/// The output so far.
#[derive(Debug, Default)]
struct CapturedOutput {
    out: String,
    err: String,
}

impl Output {
    /// Creates it from the options of the command line.
    pub(crate) fn new(global: &Global) -> Self {
        let form = match (global.json, global.jsonl) {
            (true, _) => OutputFormat::Json,
            (_, true) => OutputFormat::Lines,
            _ => OutputFormat::Human,
        };
        let color = if global.no_color { anstream::ColorChoice::Never } else { anstream::ColorChoice::Auto };
        Self { form, quiet: global.quiet, color, kept: None }
    }

    /// As [`new`](Self::new), capturing the output for the calling process.
    pub(crate) fn keeping(global: &Global) -> Self {
        Self { kept: Some(Mutex::default()), ..Self::new(global) }
    }

    /// Returns the captured output: stdout, and stderr.
    pub(crate) fn captured(self) -> (String, String) {
        let kept = self.kept.unwrap_or_default().into_inner().unwrap_or_else(PoisonError::into_inner);
        (kept.out, kept.err)
    }

    /// Prints the output of another process.
    ///
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn pass_on(&self, out: &str, err: &str) -> Result<()> {
        if !err.is_empty() {
            self.talk(err.trim_end_matches('\n'));
        }
        self.print(out)
    }

    /// Whether the output is for programs.
    pub(crate) fn is_machine(&self) -> bool {
        self.form != OutputFormat::Human
    }

    /// Whether a person sees the messages.
    pub(crate) fn is_watched(&self) -> bool {
        !self.quiet && self.kept.is_none() && !self.is_machine() && std::io::stderr().is_terminal()
    }

    /// Prints an answer: one document for programs, the text for people.
    ///
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn answer(&self, document: &impl Serialize, human: impl FnOnce() -> String) -> Result<()> {
        match self.form {
            OutputFormat::Human => self.print(&human()),
            OutputFormat::Json | OutputFormat::Lines => self.print(&serde_json::to_string(document)?),
        }
    }

    /// Prints a list: one document, one object per line, or the text for people.
    ///
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn list<T: Serialize>(
        &self,
        items: &[T],
        document: &impl Serialize,
        human: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.form != OutputFormat::Lines {
            return self.answer(document, human);
        }
        items.iter().try_for_each(|item| self.print(&serde_json::to_string(item)?))
    }

    /// Prints raw data, with a line break unless it is empty.
    ///
    /// # Errors
    /// When stdout is closed.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(kept) = &self.kept {
            let out = &mut kept.lock().unwrap_or_else(PoisonError::into_inner).out;
            out.push_str(text.trim_end_matches('\n'));
            out.push('\n');
        } else {
            let mut out = anstream::AutoStream::new(std::io::stdout().lock(), self.color);
            writeln!(out, "{}", text.trim_end_matches('\n'))?;
        }
        Ok(())
    }

    /// Prints a message on stderr, unless the output is quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet && !self.is_machine() {
            self.talk(text);
        }
    }

    /// Prints an important message on stderr; a closed stderr is ignored.
    pub(crate) fn talk(&self, text: &str) {
        if let Some(kept) = &self.kept {
            let err = &mut kept.lock().unwrap_or_else(PoisonError::into_inner).err;
            err.push_str(text);
            err.push('\n');
            return;
        }
        let mut err = anstream::AutoStream::new(std::io::stderr().lock(), self.color);
        let _unread = writeln!(err, "{text}");
    }
}
