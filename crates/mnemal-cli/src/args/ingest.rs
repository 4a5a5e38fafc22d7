//! `ingest` and `inbox`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// `ingest`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ingest {
    /// Files, folders with everything below them, or `-` for stdin.
    #[arg(required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// What stdin holds, or a file whose name does not tell: md, json, csv, html, eml, mbox, docx, epub, pdf; else plain text.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// The name of what stdin holds.
    #[arg(long, default_value = "stdin")]
    pub(crate) name: String,
    /// Take the one folder as an inbox until the program is stopped: its files move to `processed` or `failed` in it.
    #[arg(long, conflicts_with_all = ["kind", "name"])]
    pub(crate) watch: bool,
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
