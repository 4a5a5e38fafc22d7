//! Import offer: suggests importing earlier conversations when the space of a project is empty.

use std::path::{Path, PathBuf};

use super::input::Input;
use crate::paths::variable;

/// Returns the offer, if the client has earlier transcripts of the project.
pub(super) fn of_import(input: &Input) -> Option<String> {
    let folder = transcripts(input)?;
    let is_earlier = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "jsonl") && input.transcript.as_ref() != Some(path)
    };
    let entries = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
    let count = entries.filter(is_earlier).count();
    (count > 0).then(|| {
        let plural = if count == 1 { "conversation" } else { "conversations" };
        format!(
            "mnemal remembers nothing of this project yet. {count} earlier {plural} can be read in: \
             for file in {}/*.jsonl; do mnemal import --own-history --lenient \"$file\"; done",
            quoted(&folder)
        )
    })
}

/// Returns the folder of the project's transcripts: that of the current one, or the one that the client derives from the path.
fn transcripts(input: &Input) -> Option<PathBuf> {
    if let Some(folder) =
        input.transcript.as_ref().and_then(|path| path.parent()).filter(|path| path.is_dir())
    {
        return Some(folder.to_owned());
    }
    let home = variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".claude")))?;
    let name: String = input.folder.as_ref()?.to_str()?.chars().map(escaped).collect();
    Some(home.join("projects").join(name))
}

fn escaped(letter: char) -> char {
    if letter.is_ascii_alphanumeric() { letter } else { '-' }
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:".contains(letter);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
