//! `mnemal models list|add|remove`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::{Error, ErrorKind};
use serde::Serialize;

use crate::args::Models;
use crate::config::READER;
use crate::output::Output;
use crate::paths;

#[derive(Serialize)]
struct ModelForm {
    kind: &'static str,
    /// The start of the hash of the file; what it read names it.
    name: String,
    file: String,
    bytes: u64,
}

/// Lists the trained reader, adds one, or removes it. One that was damaged is listed and removed as well.
pub(super) fn run(call: &Models, output: &Output) -> Result<u8> {
    let target = paths::models()?.join(READER);
    match call {
        Models::List => {
            let added = target.is_file().then_some(target);
            let files = added.into_iter().chain(paths::packaged_model(READER));
            let found: Vec<ModelForm> = files.map(|file| form(&file)).collect::<Result<_>>()?;
            output.list(&found, &found, || match found.as_slice() {
                [] => "no model".to_owned(),
                found => found.iter().map(line).collect::<Vec<_>>().join("\n"),
            })?;
        }
        Models::Add { file } => {
            mnemal::extract::check_reader(file)?;
            copy(file, &target).with_context(|| format!("{} was not copied", file.display()))?;
            let added = form(&target)?;
            output.answer(&added, || format!("added {}", line(&added)))?;
        }
        Models::Remove => {
            if !target.is_file() {
                let what = "no trained reader was added; `extract.reader = \"none\"` turns off one that came with the program";
                return Err(Error::new(ErrorKind::NotFound, what).into());
            }
            let gone = form(&target)?;
            fs::remove_file(&target).with_context(|| format!("{} was not removed", target.display()))?;
            output.answer(&gone, || format!("removed {}", line(&gone)))?;
        }
    }
    Ok(0)
}

fn form(file: &Path) -> Result<ModelForm> {
    Ok(ModelForm {
        kind: "reader",
        name: mnemal::extract::check_reader(file)
            .unwrap_or_else(|error| format!("(cannot be read: {error})")),
        file: file.display().to_string(),
        bytes: file.metadata()?.len(),
    })
}

fn line(model: &ModelForm) -> String {
    format!("{} {} ({} bytes) {}", model.kind, model.name, model.bytes, model.file)
}

/// Copies a file beside its place and renames it, so that no command meets half of it.
fn copy(file: &Path, target: &Path) -> std::io::Result<()> {
    let folder = target.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    paths::make_private(&folder)?;
    let part = target.with_extension(format!("part-{}", std::process::id()));
    let copied = fs::copy(file, &part).and_then(|_| fs::rename(&part, target));
    if copied.is_err() {
        // What is left of it helps nobody.
        let _gone = fs::remove_file(&part);
    }
    copied
}
