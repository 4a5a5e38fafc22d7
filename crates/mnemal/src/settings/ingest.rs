//! Settings of file ingestion.

use std::path::{Path, PathBuf};

use mnemal_core::{Error, Result};
use mnemal_events::{LONGEST_CONTENT, MOST_CHUNKS};
use mnemal_text::CHUNK_CHARACTERS;
use serde::{Deserialize, Serialize};

/// Settings of file ingestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IngestSettings {
    /// Inbox folder with one subfolder per space, named like the space, whose files are ingested; empty for none.
    pub inbox: String,
    /// Folder with one subfolder per space, on the same file system, for processed files; empty for `processed` in the space's
    /// inbox.
    pub processed: String,
    /// Maximum size of a file, in megabytes.
    pub max_file_mb: u32,
    /// Maximum length of a chunk, in characters; a chunk is one event.
    pub chunk_chars: usize,
    /// Maximum number of chunks of a file.
    pub max_chunks: usize,
    /// File name extensions that an inbox or a folder ingests; other files are ignored.
    pub types: Vec<String>,
    /// Command that describes pictures, audio and video: it reads the file from standard input and writes text. Empty for none:
    /// then only the metadata of such a file is stored, and it counts as unsupported.
    pub describe: Vec<String>,
}

/// Source: own default; a file is held in memory while it is read.
const MAX_FILE_MB: u32 = 25;
/// Largest value of `max_file_mb`. Source: own choice; a file is held in memory while it is read.
const MOST_MB: u32 = 1_024;
/// Smallest value of `chunk_chars`. Source: own choice, two or three sentences.
const LEAST_CHUNK: usize = 200;
/// Source: Google's always-on memory agent, and formats of documents; a build without a reader rejects such a file with a
/// message, and of media without a description only the metadata is stored.
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
    /// Returns the maximum size of a file, in bytes.
    pub fn most_bytes(&self) -> u64 {
        u64::from(self.max_file_mb) * 1024 * 1024
    }

    /// Returns the inbox folder of a space; `None` without one.
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
