//! Files that are read.

use std::path::{Path, PathBuf};

use mnemal_core::{Error, Result};
use mnemal_events::{LONGEST_CONTENT, MOST_CHUNKS};
use mnemal_text::CHUNK_CHARACTERS;
use serde::{Deserialize, Serialize};

/// Files that are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IngestSettings {
    /// A folder with one folder a space, named like the space, whose files are read; empty for none.
    pub inbox: String,
    /// A folder with one folder a space, on the same file system, to which files go that were read; empty for `processed` in the
    /// inbox of the space.
    pub processed: String,
    /// Most megabytes of a file.
    pub max_file_mb: u32,
    /// Most characters of a chunk, which is one event.
    pub chunk_chars: usize,
    /// Most chunks of a file.
    pub max_chunks: usize,
    /// Endings of the names of files that an inbox or a folder gives; the others are left alone.
    pub types: Vec<String>,
    /// A program, with what it is called with, that puts pictures, sound and films into words: it reads the file from
    /// standard input and writes text. Empty for none: then what such a file is is stored, and it counts as unsupported.
    pub describe: Vec<String>,
}

/// Source: SURFACES 4.2.
const MAX_FILE_MB: u32 = 25;
/// Largest value of `max_file_mb`. Source: own choice; a file is in memory while it is read.
const MOST_MB: u32 = 1_024;
/// Smallest value of `chunk_chars`. Source: own choice, two or three sentences.
const LEAST_CHUNK: usize = 200;
/// Source: GA-08, with the formats of documents beside them; a build without a reader refuses such a file and says so, and of a
/// picture or recording that nothing describes only what it is is stored.
const TYPES: [&str; 37] = [
    "txt", "text", "log", "xml", "yaml", "yml", "md", "markdown", "json", "csv", "tsv", "html", "htm",
    "xhtml", "eml", "mbox", "docx", "epub", "pdf", "png", "jpg", "jpeg", "gif", "webp", "bmp", "svg", "mp3",
    "wav", "ogg", "flac", "m4a", "aac", "mp4", "webm", "mov", "avi", "mkv",
];

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            inbox: String::new(),
            processed: String::new(),
            max_file_mb: MAX_FILE_MB,
            chunk_chars: CHUNK_CHARACTERS,
            max_chunks: MOST_CHUNKS,
            types: TYPES.map(str::to_owned).to_vec(),
            describe: Vec::new(),
        }
    }
}

impl IngestSettings {
    /// Returns the most bytes of a file.
    pub fn most_bytes(&self) -> u64 {
        u64::from(self.max_file_mb) * 1024 * 1024
    }

    /// Returns the folder of a space in the inbox; `None` without one.
    pub fn inbox_of(&self, space: &str) -> Option<PathBuf> {
        (!self.inbox.is_empty()).then(|| Path::new(&self.inbox).join(space))
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(1..=MOST_MB).contains(&self.max_file_mb) {
            return Err(Error::invalid(format!("ingest.max_file_mb must lie in 1 to {MOST_MB}")));
        }
        let longest = LONGEST_CONTENT / char::MAX.len_utf8();
        if !(LEAST_CHUNK..=longest).contains(&self.chunk_chars) {
            return Err(Error::invalid(format!("ingest.chunk_chars must lie in {LEAST_CHUNK} to {longest}")));
        }
        if self.max_chunks == 0 {
            return Err(Error::invalid("ingest.max_chunks must be at least 1"));
        }
        let is_plain =
            |ending: &String| ending.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if self.types.iter().any(|ending| ending.is_empty() || !is_plain(ending)) {
            return Err(Error::invalid("ingest.types holds endings in small letters, without the dot"));
        }
        if self.describe.first().is_some_and(|program| program.trim().is_empty()) {
            return Err(Error::invalid("ingest.describe begins with the path of a program"));
        }
        Ok(())
    }
}
