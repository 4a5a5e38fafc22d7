//! `mnemal setup`: puts our hooks and the MCP server into the settings of a host, and takes them out.

mod block;
mod diff;
mod edit;
mod jsonc;
mod part;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::Error;

use self::part::{After, SettingsScope, SetupPart};
use crate::args::{Global, Setup};
use crate::confirm::agreed;
use crate::output::Output;

/// A pending change of one file; without a text there is no file.
struct FileChange {
    file: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

/// Shows the change, asks for confirmation, and applies it; a file that cannot be edited safely is not touched.
pub(super) fn run(global: &Global, call: &Setup, output: &Output) -> Result<u8> {
    let changes = planned(call)?;
    let plan = plan(&changes);
    if changes.is_empty() {
        output.say("nothing to change");
        return Ok(0);
    }
    if call.print {
        output.print(&plan)?;
        return Ok(0);
    }
    output.say(&plan);
    if !agreed("", if call.undo { "undo" } else { "change" }, global, output)? {
        return Ok(0);
    }
    for change in &changes {
        change.make(call)?;
        let done = if change.after.is_none() { "removed" } else { "wrote" };
        output.say(&format!("{done} {}", change.file.display()));
    }
    if !call.undo {
        let option = if call.project { " --project" } else { "" };
        output.say(&format!("undo with: mnemal setup {} --undo{option}", call.host.name));
        if let Some(then) = call.host.then {
            output.say(&format!("next: {then}"));
        }
    }
    Ok(0)
}

/// Returns the changes of all files, each with those of all parts.
fn planned(call: &Setup) -> Result<Vec<FileChange>> {
    let reach = if call.project { SettingsScope::Project } else { SettingsScope::Global };
    let mut parts = SetupPart::of(call)?;
    if call.undo {
        // What came last goes first, so that each removal finds the text that its addition left.
        parts.reverse();
    }
    let mut changes = Vec::new();
    for part in parts {
        let mut files = part.files(reach)?;
        if files.is_empty() {
            let what = format!("{} has no settings of a project; leave --project out", call.host.title);
            return Err(Error::invalid(what).into());
        }
        files.truncate(if call.undo { files.len() } else { 1 });
        for file in files {
            change(part, file, call, &mut changes)?;
        }
    }
    changes.retain(|change| change.before != change.after);
    Ok(changes)
}

/// Adds a part to a file, or removes it, on top of the earlier changes of the file.
fn change(part: SetupPart, named: PathBuf, call: &Setup, changes: &mut Vec<FileChange>) -> Result<()> {
    // A link is followed, so that its target changes and the link stays.
    let file = named.canonicalize().unwrap_or(named);
    let known = changes.iter().position(|change| change.file == file);
    let mut change = match known {
        Some(place) => changes.swap_remove(place),
        None => FileChange::none(file)?,
    };
    let after = match (&change.after, call.undo) {
        (None, true) => Some(After::Nothing),
        (Some(text), true) => part.removed(text),
        (text, false) => part.added(text.as_deref()).map(After::Text),
    };
    let Some(after) = after else {
        let belongs = if call.undo { "take this out of it" } else { "this belongs in it" };
        let snippet = part.added(None).unwrap_or_default();
        return Err(Error::invalid(format!(
            "{} is left alone, because it cannot be parsed, or something else has this place; {belongs}:\n{snippet}",
            change.file.display()
        ))
        .into());
    };
    change.after = match after {
        After::Text(text) => Some(text),
        After::Nothing => None,
    };
    changes.push(change);
    Ok(())
}

fn plan(changes: &[FileChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let [before, after] = [&change.before, &change.after].map(|text| text.as_deref().unwrap_or_default());
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{}\n{}", change.file.display(), diff::diff(before, after));
    }
    text.trim_end().to_owned()
}

impl FileChange {
    /// Reads a file that does not change yet.
    fn none(file: PathBuf) -> Result<Self> {
        let before = match std::fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
        };
        Ok(Self { file, after: before.clone(), before })
    }

    fn make(&self, call: &Setup) -> Result<()> {
        let failed = || format!("cannot write {}", self.file.display());
        let Some(text) = &self.after else {
            return std::fs::remove_file(&self.file).with_context(failed);
        };
        if let Some(before) = self.before.as_ref().filter(|_| !call.undo) {
            std::fs::write(beside(&self.file, "bak"), before).with_context(failed)?;
        }
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).with_context(failed)?;
        }
        let draft = beside(&self.file, "mnemal-new");
        std::fs::write(&draft, text).with_context(failed)?;
        if let Ok(known) = self.file.metadata() {
            std::fs::set_permissions(&draft, known.permissions()).with_context(failed)?;
        }
        std::fs::rename(&draft, &self.file).with_context(failed)
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    file.with_file_name(name)
}
