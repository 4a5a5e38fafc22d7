//! `ingest` and `inbox`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// `ingest`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ingest {
    /// Files, folders with everything below them, or `-` for stdin. A file that is read again replaces its older reading.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What stdin holds, or a file whose name does not tell: md, json, csv, html, eml, mbox, docx, epub, pdf; else plain text.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// The name of what stdin holds, `stdin` without one; what has the same name replaces its older reading.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Take the one folder as an inbox until the program is stopped: its files move to `processed` or `failed` in it.
    #[arg(long, conflicts_with_all = ["kind", "name"])]
    pub(crate) watch: bool,
}

impl Ingest {
    /// Returns the name of the document on stdin.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("stdin")
    }
}

/// `inbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum Inbox {
    /// Say how many files wait, are processed, and failed.
    Status,
    /// Read what waits, and end when nothing waits.
    Run {
        /// Go on until the program is stopped.
        #[arg(long)]
        watch: bool,
    },
}
