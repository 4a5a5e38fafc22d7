//! The files that a path means: itself, stdin, those below a folder, and those in a zip.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::args::ImportFormat;
use crate::command::ingest::walk;

/// Bytes that are read at once. Source: own choice; the format is told by as many.
const BUFFER: usize = 1 << 18;

/// A file to read.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) reader: Result<Box<dyn BufRead + Send>>,
    pub(super) bytes: Option<u64>,
}

/// The files that a path means.
pub(super) struct Found {
    pub(super) sources: Box<dyn Iterator<Item = Source>>,
    /// Whether they stand in a zip.
    pub(super) is_zip: bool,
}

/// Returns the files that a path means, each opened when it is asked for.
pub(super) fn of(path: &Path, format: ImportFormat) -> Result<Found> {
    let one = |source| Found { sources: Box::new(std::iter::once(source)), is_zip: false };
    if path.as_os_str() == "-" {
        let reader: Box<dyn BufRead + Send> = Box::new(BufReader::new(std::io::stdin()));
        return Ok(one(Source { name: "-".to_owned(), reader: Ok(reader), bytes: None }));
    }
    if !path.is_dir() {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let name = path.display().to_string();
        return if is_zip(&name) {
            Ok(Found { sources: zipped("", file, format), is_zip: true })
        } else {
            Ok(one(plain(name, file)))
        };
    }
    let found = walk::files(path)?.filter(move |found| is_zip(&found.name) || is_meant(&found.name, format));
    let sources = found.flat_map(move |found| match found.file {
        Ok(file) if is_zip(&found.name) => zipped(&format!("{}/", found.name), file, format),
        Ok(file) => Box::new(std::iter::once(plain(found.name, file))),
        Err(why) => failed(found.name, why.into()),
    });
    Ok(Found { sources: Box::new(sources), is_zip: false })
}

fn is_zip(name: &str) -> bool {
    ends(name, ".zip")
}

fn ends(name: &str, end: &str) -> bool {
    name.len() >= end.len()
        && name.get(name.len() - end.len()..).is_some_and(|own| own.eq_ignore_ascii_case(end))
}

/// Whether a file may be of a format, by its name.
fn is_meant(name: &str, format: ImportFormat) -> bool {
    let known: &[&str] = match format {
        ImportFormat::MemoryMd => &[".md", ".jsonl"],
        ImportFormat::Obsidian => &[".md"],
        ImportFormat::Rockbot => &[".json"],
        _ => &[".md", ".json", ".jsonl", ".af"],
    };
    known.iter().any(|end| ends(name, end))
}

fn plain(name: String, file: File) -> Source {
    let bytes = file.metadata().ok().map(|file| file.len());
    Source { name, reader: Ok(Box::new(BufReader::with_capacity(BUFFER, file))), bytes }
}

fn failed(name: String, why: anyhow::Error) -> Box<dyn Iterator<Item = Source>> {
    Box::new(std::iter::once(Source { name, reader: Err(why), bytes: None }))
}

/// Returns the files of a zip that some format may fit; their names begin with that of the zip where it is one of several.
#[cfg(feature = "ingest-docs")]
fn zipped(prefix: &str, file: File, format: ImportFormat) -> Box<dyn Iterator<Item = Source>> {
    let files = match mnemal::ZippedFiles::open(file) {
        Ok(files) => files,
        Err(why) => return failed(prefix.trim_end_matches('/').to_owned(), why.into()),
    };
    let prefix = prefix.to_owned();
    let names: Vec<String> = files.names().iter().filter(|name| is_meant(name, format)).cloned().collect();
    Box::new(names.into_iter().map(move |name| {
        let reader = files.read(&name).map(|reader| Box::new(reader) as Box<dyn BufRead + Send>);
        Source { name: format!("{prefix}{name}"), reader: reader.map_err(Into::into), bytes: None }
    }))
}

#[cfg(not(feature = "ingest-docs"))]
fn zipped(prefix: &str, _: File, _: ImportFormat) -> Box<dyn Iterator<Item = Source>> {
    let why = mnemal::Error::new(mnemal::ErrorKind::Unsupported, "this build reads no zip files");
    failed(prefix.trim_end_matches('/').to_owned(), why.into())
}
