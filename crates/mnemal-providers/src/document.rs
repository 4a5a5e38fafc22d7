//! Text extraction from files: the file kind and its text.
//!
//! Plain text, Markdown, JSON and CSV are read in this process. Formats with large parsers are read in a sandboxed child
//! process; pictures, sound and video by a program that the user configures.

mod markdown;
mod table;

#[cfg(feature = "ingest-docs")]
mod archive;
#[cfg(feature = "ingest-docs")]
mod container;
#[cfg(feature = "ingest-docs")]
mod epub;
#[cfg(feature = "ingest-docs")]
mod html;
#[cfg(feature = "ingest-docs")]
mod mail;
#[cfg(feature = "ingest-docs")]
mod markup;
#[cfg(feature = "ingest-docs")]
mod outline;
#[cfg(feature = "ingest-docs")]
mod pdf;
#[cfg(feature = "ingest-docs")]
mod tar_files;
#[cfg(feature = "ingest-docs")]
mod word;
#[cfg(feature = "ingest-docs")]
mod zip_files;

mod kind;
mod sandbox;
mod wire;

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use mnemal_core::{Document, Error, ErrorKind, Metadata, Passage, Result, Timestamp};

#[cfg(feature = "ingest-docs")]
pub use self::container::{PackedFiles, Packing};
pub use self::kind::{FileKind, Medium};
pub use self::sandbox::{GUARDED, serve};

/// Most bytes of a file. Source: own default, setting `ingest.max_file_mb`.
pub const MOST_BYTES: u64 = 25 * 1024 * 1024;
/// Wall-clock limit for one file in the child process. Source: own choice.
const GUARDED_TIME: Duration = Duration::from_secs(30);
/// Time limit of a description. Source: own default; a small model needs that long for some minutes of speech.
const DESCRIBE_TIME: Duration = Duration::from_mins(5);

/// The content of a file, before it has a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) fields: Metadata,
    pub(crate) written_at: Option<Timestamp>,
    pub(crate) passages: Vec<Passage>,
}

/// A program that gets a file on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Settings of file reading.
#[derive(Clone, Debug)]
pub struct DocumentReader {
    /// Most bytes of a file.
    pub most_bytes: u64,
    /// The program that calls [`serve`] with the kind as its last argument; without it, kinds that need the sandbox are
    /// refused.
    pub guarded: Option<Program>,
    /// The program that describes pictures or transcribes recordings: it gets the file on standard input, its name and medium
    /// in `MNEMAL_FILE` and `MNEMAL_MEDIUM`, and writes text. Without one such files are refused.
    pub describe: Option<Program>,
}

impl Default for DocumentReader {
    fn default() -> Self {
        Self { most_bytes: MOST_BYTES, guarded: None, describe: None }
    }
}

impl DocumentReader {
    /// Reads an open file.
    ///
    /// # Errors
    /// `Invalid` with the reason for an unreadable file: not a regular file, too large, broken, of the wrong encoding, without
    /// text; `Unsupported` for an unsupported kind; `Unavailable` when the file, or the reading program, fails temporarily.
    pub async fn read(&self, file: File, name: &str, kind: FileKind) -> Result<Document> {
        let (bytes, changed) = self.bytes(file, name)?;
        let mut document = self.read_bytes(&bytes, name, kind).await?;
        document.written_at = document.written_at.or(changed);
        Ok(document)
    }

    /// Reads an open file; a picture or recording without a description becomes a document that names the file, with the
    /// reason.
    ///
    /// # Errors
    /// As [`read`](Self::read), and `Unsupported` for documents only.
    pub async fn read_or_name(&self, file: File, name: &str, kind: FileKind) -> Result<Document> {
        let FileKind::Medium(medium) = kind else { return self.read(file, name, kind).await };
        if self.describe.is_some() {
            return self.read(file, name, kind).await;
        }
        let (bytes, changed) = self.bytes(file, name)?;
        Ok(Document { written_at: changed, ..named(&bytes, name, medium) })
    }

    /// Returns the bytes of a file, and its time of writing.
    fn bytes(&self, mut file: File, name: &str) -> Result<(Vec<u8>, Option<Timestamp>)> {
        let about = file.metadata().map_err(|why| unavailable(name, why))?;
        if !about.is_file() {
            return Err(Error::invalid("not a regular file"));
        }
        let mut bytes = Vec::new();
        let most = self.most_bytes;
        let read = (&mut file).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|why| unavailable(name, why))?;
        if bytes.len() as u64 > most {
            return Err(Error::invalid(format!("larger than {most} bytes, `ingest.max_file_mb`")));
        }
        Ok((bytes, about.modified().ok().and_then(moment)))
    }

    /// Reads a file from memory.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_bytes(&self, bytes: &[u8], name: &str, kind: FileKind) -> Result<Document> {
        let content = match kind {
            FileKind::Medium(medium) => self.described(bytes, name, medium).await?,
            _ if kind.is_guarded() => self.guarded(bytes, name, kind).await?,
            _ => read_here(kind, bytes).map_err(Error::invalid)?,
        };
        if content.passages.iter().all(|passage| passage.text.trim().is_empty()) {
            return Err(Error::invalid("holds no text"));
        }
        Ok(Document {
            name: name.to_owned(),
            kind: kind.as_str().to_owned(),
            hash: *blake3::hash(bytes).as_bytes(),
            written_at: content.written_at,
            fields: content.fields,
            passages: content.passages,
            location: None,
            undescribed: None,
        })
    }

    async fn guarded(&self, bytes: &[u8], name: &str, kind: FileKind) -> Result<Content> {
        let without = || Error::new(ErrorKind::Unsupported, format!("this build reads no {kind} files"));
        let program = self.guarded.as_ref().filter(|_| cfg!(feature = "ingest-docs")).ok_or_else(without)?;
        sandbox::read(program, kind, name, (bytes, GUARDED_TIME)).await
    }

    async fn described(&self, bytes: &[u8], name: &str, medium: Medium) -> Result<Content> {
        let Some(program) = &self.describe else {
            return Err(Error::new(ErrorKind::Unsupported, undescribed(medium)));
        };
        let text = sandbox::describe(program, medium, name, (bytes, DESCRIBE_TIME)).await?;
        let passages = vec![Passage { text, ..Passage::default() }];
        Ok(Content { passages, ..Content::default() })
    }
}

fn undescribed(medium: Medium) -> String {
    format!("nothing describes {medium} files: name a program in `ingest.describe`")
}

/// Returns the description of an undescribed file: type, name, size and hash.
fn named(bytes: &[u8], name: &str, medium: Medium) -> Document {
    let hash = blake3::hash(bytes);
    let text = format!("{name}: {medium} of {} bytes that nobody has described", bytes.len());
    let fields = [("size", bytes.len().to_string()), ("blake3", hash.to_hex().to_string())];
    Document {
        name: name.to_owned(),
        kind: medium.as_str().to_owned(),
        hash: *hash.as_bytes(),
        written_at: None,
        fields: fields.map(|(field, value)| (field.to_owned(), value)).into(),
        passages: vec![Passage { text, ..Passage::default() }],
        location: None,
        undescribed: Some(undescribed(medium)),
    }
}

/// Reads kinds that need no sandbox.
fn read_here(kind: FileKind, bytes: &[u8]) -> Result<Content, String> {
    let text = decode(bytes)?;
    match kind {
        FileKind::Markdown => Ok(markdown::read(&text)),
        FileKind::Json => table::json(&text),
        FileKind::Csv => table::csv(&text),
        _ => Ok(Content { passages: vec![Passage { text, ..Passage::default() }], ..Content::default() }),
    }
}

/// Reads kinds that need the sandbox; called in the child.
#[cfg(feature = "ingest-docs")]
fn read_there(kind: FileKind, bytes: &[u8]) -> Result<Content, String> {
    match kind {
        FileKind::Html => Ok(html::read(&decode(bytes)?)),
        FileKind::Mail => mail::read(bytes),
        FileKind::Mailbox => mail::read_all(bytes),
        FileKind::Word => word::read(bytes),
        FileKind::Epub => epub::read(bytes),
        FileKind::Pdf => pdf::read(bytes),
        other => read_here(other, bytes),
    }
}

#[cfg(not(feature = "ingest-docs"))]
fn read_there(kind: FileKind, _: &[u8]) -> Result<Content, String> {
    Err(format!("this build reads no {kind} files"))
}

/// Decodes bytes as text: UTF-8, or UTF-16 with a byte order mark.
fn decode(bytes: &[u8]) -> Result<String, String> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            let skipped = bytes.len() - rest.len();
            let text = std::str::from_utf8(rest);
            text.map(str::to_owned)
                .map_err(|why| format!("not UTF-8: byte {} is wrong", skipped + why.valid_up_to()))
        }
    }
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut at = 2;
    for letter in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let letter = letter.map_err(|_| format!("not UTF-16: byte {at} is wrong"))?;
        at += 2 * letter.len_utf16();
        text.push(letter);
    }
    if rest.is_empty() { Ok(text) } else { Err(format!("not UTF-16: byte {at} is wrong")) }
}

/// Returns the time of a file; `None` outside the range of timestamps.
fn moment(of: std::time::SystemTime) -> Option<Timestamp> {
    let since = of.duration_since(std::time::UNIX_EPOCH).ok()?;
    Timestamp::from_micros(i64::try_from(since.as_micros()).ok()?).ok()
}

fn unavailable(name: &str, why: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot read {name}")).because(why)
}

#[cfg(all(test, feature = "ingest-docs"))]
mod corpus;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_or_marked_utf16_and_anything_else_names_the_byte() {
        assert_eq!(decode("\u{FEFF}grün".as_bytes()).unwrap(), "grün");
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(decode(&wide("\u{FEFF}grün 🌳")).unwrap(), "grün 🌳");
        assert_eq!(decode(b"ab\xFFc").unwrap_err(), "not UTF-8: byte 2 is wrong");
        assert_eq!(decode(b"\xEF\xBB\xBFab\xFFc").unwrap_err(), "not UTF-8: byte 5 is wrong");
        assert_eq!(decode(b"\xFF\xFEa\0\0\xDC").unwrap_err(), "not UTF-16: byte 4 is wrong");
        assert_eq!(decode(b"\xFF\xFEa\0b").unwrap_err(), "not UTF-16: byte 4 is wrong");
    }
}
