//! `mnemal setup`: installs our hooks and MCP server in the settings of a client, and removes them.

mod claude_code;
mod diff;
mod edit;
mod jsonc;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::Error;

use self::claude_code::{FileState, SettingsPart, SettingsScope};
use crate::args::{Global, Setup};
use crate::confirm::agreed;
use crate::output::Output;

/// A pending change of one file.
struct FileChange {
    file: PathBuf,
    before: Option<String>,
    after: FileState,
}

/// Shows the change, asks for confirmation, and applies it; a file that cannot be edited safely is not touched.
pub(super) fn run(global: &Global, call: &Setup, output: &Output) -> Result<u8> {
    let reach = if call.project { SettingsScope::Project } else { SettingsScope::Global };
    let parts: &[SettingsPart] =
        if call.hooks { &[SettingsPart::Hooks] } else { &[SettingsPart::Hooks, SettingsPart::Server] };
    let mut changes = Vec::new();
    for part in parts {
        changes.extend(planned(*part, reach, call)?);
    }
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
        output.say(&format!(
            "{} {}",
            if change.after == FileState::Nothing { "removed" } else { "wrote" },
            change.file.display()
        ));
    }
    if !call.undo {
        let option = if call.project { " --project" } else { "" };
        output.say(&format!("undo with: mnemal setup claude-code --undo{option}"));
    }
    Ok(0)
}

fn planned(part: SettingsPart, reach: SettingsScope, call: &Setup) -> Result<Option<FileChange>> {
    let named = part.file(reach)?;
    // A link is followed, so that its target changes and the link stays.
    let file = named.canonicalize().unwrap_or(named);
    let before = match std::fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let after = match (&before, call.undo) {
        (None, true) => return Ok(None),
        (Some(text), true) => part.removed(text),
        (text, false) => part.added(text.as_deref()).map(FileState::Text),
    };
    let Some(after) = after else {
        let snippet = part.added(None).unwrap_or_default();
        return Err(Error::invalid(format!(
            "{} is left alone, because it is not the JSON that was expected; this belongs in it:\n{snippet}",
            file.display()
        ))
        .into());
    };
    let is_same = matches!((&before, &after), (Some(before), FileState::Text(after)) if before == after);
    Ok((!is_same).then_some(FileChange { file, before, after }))
}

fn plan(changes: &[FileChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let after = match &change.after {
            FileState::Text(text) => text.as_str(),
            FileState::Nothing => "",
        };
        let lines = diff::diff(change.before.as_deref().unwrap_or_default(), after);
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{}\n{lines}", change.file.display());
    }
    text.trim_end().to_owned()
}

impl FileChange {
    fn make(&self, call: &Setup) -> Result<()> {
        let failed = || format!("cannot write {}", self.file.display());
        let FileState::Text(text) = &self.after else {
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
