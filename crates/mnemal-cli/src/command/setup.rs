//! `mnemal setup`: puts our hooks and the MCP server into the settings of a host, and takes them out.

mod block;
mod diff;
mod edit;
mod jsonc;
mod part;

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::{Error, ErrorKind};

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
    changes.iter().try_for_each(FileChange::check)?;
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
        let before = read(&file)?;
        Ok(Self { file, after: before.clone(), before })
    }

    /// Reads the file again, which somebody may have changed while the question was open.
    ///
    /// # Errors
    /// `Conflict` when it is no longer as it was.
    fn check(&self) -> Result<()> {
        if read(&self.file)? == self.before {
            return Ok(());
        }
        let what =
            format!("{} changed meanwhile and is left alone; run the command again", self.file.display());
        Err(Error::new(ErrorKind::Conflict, what).into())
    }

    /// Applies the change, unless the file has changed since it was read.
    fn make(&self, call: &Setup) -> Result<()> {
        self.check()?;
        let failed = || format!("cannot write {}", self.file.display());
        let Some(text) = &self.after else {
            return std::fs::remove_file(&self.file).with_context(failed);
        };
        if self.before.is_some() && !call.undo {
            keep(&self.file).with_context(failed)?;
        }
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).with_context(failed)?;
        }
        replace(&self.file, text).with_context(failed)
    }
}

/// Reads a file; `None` if there is none.
fn read(file: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Copies a file with its permissions to `.bak`, or to `.bak-mnemal` if there is a `.bak`, which may be the user's own.
fn keep(file: &Path) -> io::Result<()> {
    let mut copy = beside(file, "bak");
    if copy.symlink_metadata().is_ok() {
        copy = beside(file, "bak-mnemal");
        discard(&copy)?;
    }
    std::fs::copy(file, copy)?;
    Ok(())
}

/// Replaces a file at once by one with another text and the same permissions.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let draft = beside(file, "mnemal-new");
    discard(&draft)?;
    let known = file.metadata().ok();
    let made = if known.is_some() { private(&draft) } else { File::create_new(&draft) };
    made?.write_all(text.as_bytes())?;
    if let Some(known) = known {
        std::fs::set_permissions(&draft, known.permissions())?;
    }
    std::fs::rename(&draft, file)
}

/// Creates a file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes a file that an earlier run may have left.
fn discard(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn call() -> Setup {
        let host = Host::named("zed").unwrap();
        Setup { host, hooks: false, print: false, undo: false, project: false, global: false }
    }

    #[test]
    fn a_file_that_changed_during_the_question_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        for (before, meanwhile) in [(Some("{}"), Some("{\"a\": 1}")), (Some("{}"), None), (None, Some("{}"))]
        {
            for after in [Some("{\"b\": 2}"), None] {
                discard(&file).unwrap();
                if let Some(text) = meanwhile {
                    std::fs::write(&file, text).unwrap();
                }
                let [before, after] = [before, after].map(|text| text.map(str::to_owned));
                let change = FileChange { file: file.clone(), before, after };
                let error = change.make(&call()).unwrap_err();
                let error = error.downcast_ref::<Error>().unwrap();
                assert_eq!(error.kind(), ErrorKind::Conflict);
                assert!(error.what().contains("run the command again"), "{error}");
                assert_eq!(read(&file).unwrap().as_deref(), meanwhile);
                assert_eq!(home.path().read_dir().unwrap().count(), usize::from(meanwhile.is_some()));
            }
        }
    }

    #[test]
    fn a_draft_that_was_left_is_in_nobodys_way() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings.json");
        for text in ["{}", "{\"a\": 1}"] {
            std::fs::write(beside(&file, "mnemal-new"), "left").unwrap();
            replace(&file, text).unwrap();
            assert_eq!(read(&file).unwrap().as_deref(), Some(text));
        }
        assert_eq!(home.path().read_dir().unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_a_draft() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let draft = private(&home.path().join("draft")).unwrap();
        assert_eq!(draft.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
