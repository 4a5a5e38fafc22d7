//! `mnemal completions` and `mnemal man`: scripts and pages made from the definition of the command line.

use std::fs;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::args::{self, Completions, Man};
use crate::output::Output;

/// The name under which the program is called.
const NAME: &str = "mnemal";

#[derive(Serialize)]
struct ManForm {
    folder: String,
    pages: usize,
}

/// Prints the script that completes commands and options in a shell.
pub(super) fn completions(call: &Completions, output: &Output) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(call.shell, &mut args::command(), NAME, &mut script);
    output.print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Writes one page for each command.
pub(super) fn man(call: &Man, output: &Output) -> Result<u8> {
    let shown = call.folder.display().to_string();
    let written = fs::create_dir_all(&call.folder)
        .and_then(|()| clap_mangen::generate_to(args::command(), &call.folder))
        .and_then(|()| fs::read_dir(&call.folder));
    let pages = written.with_context(|| format!("cannot write into {shown}"))?.count();
    let form = ManForm { folder: shown, pages };
    output.answer(&form, || format!("{} pages in {}", form.pages, form.folder))?;
    Ok(0)
}
