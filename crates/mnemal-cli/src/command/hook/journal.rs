//! The log file of the hooks: one line a fault, never a word of a conversation.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::Path;

use mnemal::Timestamp;

use crate::{failure, place};

/// The file in the state folder.
const NAME: &str = "hooks.log";
/// Size from which the file is put aside and a new one started. Source: own choice; thousands of faults.
const LARGEST: u64 = 1024 * 1024;

/// Writes one line; where that fails too, there is nobody left to tell.
pub(super) fn note(event: &str, error: &anyhow::Error, at: Timestamp) {
    let Ok(folder) = place::state_directory() else { return };
    let line = format!("{at} {event}: {}", failure::chain(error));
    let _untold = append(&folder, &line);
}

fn append(folder: &Path, line: &str) -> Result<()> {
    place::make_private(folder)?;
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
