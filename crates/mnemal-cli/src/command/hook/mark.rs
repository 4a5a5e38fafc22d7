//! The capture position of a transcript, kept in a small file of the state folder.
//!
//! A lost or outdated position costs only time: events that are read again are recognized by their keys and not stored twice.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use mnemal::Timestamp;
use mnemal::events::{Cursor, Position, Seq};
use serde::{Deserialize, Serialize};

use crate::paths::{self, SpacePaths};

/// The folder of these files.
const FOLDER: &str = "hooks";
/// Positions that were not updated for so long are removed. Source: own choice; clients keep transcripts for a month.
const KEPT: Duration = Duration::from_hours(35 * 24);

/// A position in the transcript, and the state of the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mark {
    offset: u64,
    tail: u64,
    /// The head of the log. A log that is shorter now was replaced or restored, and lacks captured events.
    head: u64,
}

impl Mark {
    pub(super) fn new(position: Position, head: Cursor) -> Self {
        Self { offset: position.offset, tail: position.tail, head: number(head) }
    }

    /// Returns where to continue, given the head of the log.
    pub(super) fn position(self, head: Cursor) -> Position {
        if number(head) < self.head {
            return Position::default();
        }
        Position { offset: self.offset, tail: self.tail }
    }
}

fn number(head: Cursor) -> u64 {
    head.0.map_or(0, |Seq(seq)| seq)
}

/// The file for one transcript and one space.
#[derive(Debug)]
pub(super) struct MarkFile(PathBuf);

impl MarkFile {
    pub(super) fn of(transcript: &Path, place: &SpacePaths) -> Result<Self> {
        let both = format!("{}\n{}\n{}", transcript.display(), place.storage, place.space);
        let name = format!("{}.json", mnemal::types::path_fingerprint(&both));
        Ok(Self(paths::state_directory()?.join(FOLDER).join(name)))
    }

    /// Returns the stored position, or the start.
    pub(super) fn read(&self) -> Mark {
        let text = std::fs::read(&self.0).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Replaces the file atomically.
    pub(super) fn write(&self, mark: Mark) -> Result<()> {
        paths::make_private(self.0.parent().context("a mark lies in a folder")?)?;
        let draft = self.0.with_extension(format!("json-{}", std::process::id()));
        std::fs::write(&draft, serde_json::to_vec(&mark)?)?;
        Ok(std::fs::rename(&draft, &self.0)?)
    }

    /// Removes old files.
    pub(super) fn sweep(&self, now: Timestamp) {
        let now = Duration::from_micros(u64::try_from(now.as_micros()).unwrap_or_default());
        let entries = self.0.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let written = entry.metadata().and_then(|file| file.modified()).ok();
            let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            if written.is_some_and(|written| written + KEPT < now) {
                // Another process may have removed it.
                let _gone = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_shorter_than_it_was_is_filled_from_the_start_of_the_transcript() {
        let position = Position { offset: 70, tail: 9 };
        let mark = Mark::new(position, Cursor(Some(Seq(5))));
        assert_eq!(mark.position(Cursor(Some(Seq(5)))), position);
        assert_eq!(mark.position(Cursor(Some(Seq(8)))), position);
        assert_eq!(mark.position(Cursor(Some(Seq(4)))), Position::default());
        assert_eq!(mark.position(Cursor::START), Position::default());
    }
}
