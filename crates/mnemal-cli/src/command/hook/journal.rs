//! The log file of the hooks: one line per error, without any text of a conversation.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::Path;

use mnemal::Timestamp;

use crate::{failure, paths};

/// The file's name in the state folder.
const NAME: &str = "hooks.log";
/// Size at which the file is rotated, in bytes. Source: own choice; thousands of errors.
const LARGEST: u64 = 1024 * 1024;

/// Appends one line; a failure to do so is ignored.
pub(super) fn note(event: &str, error: &anyhow::Error, at: Timestamp) {
    let Ok(folder) = paths::state_directory() else { return };
    let line = format!("{at} {event}: {}", failure::chain(error));
    let _untold = append(&folder, &line);
}

fn append(folder: &Path, line: &str) -> Result<()> {
    paths::make_private(folder)?;
    let path = folder.join(NAME);
    if path.metadata().is_ok_and(|file| file.len() > LARGEST) {
        std::fs::rename(&path, path.with_extension("log.1"))?;
    }
    let line: String = line.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    private(&path)?.write_all(format!("{line}\n").as_bytes())
}

fn private(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
