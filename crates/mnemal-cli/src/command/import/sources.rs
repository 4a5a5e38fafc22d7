//! The input files of an import path: the file itself, stdin, a folder, a zip or a compressed tar.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::ImportFormat;
#[cfg(feature = "ingest-docs")]
use mnemal::events::Packing;
use mnemal::events::may_hold_history;

use crate::command::ingest::walk;

/// Size of a read, in bytes. Source: own choice; format detection uses as many.
const BUFFER: usize = 1 << 18;

/// A file to import.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) reader: Result<Box<dyn BufRead + Send>>,
    pub(super) bytes: Option<u64>,
}

/// The files of a path.
pub(super) struct InputFiles {
    pub(super) sources: Box<dyn Iterator<Item = Source>>,
    /// Whether they are in a container.
    pub(super) is_packed: bool,
}

/// Returns the files of a path; each is opened when it is needed.
pub(super) fn of(path: &Path, format: ImportFormat) -> Result<InputFiles> {
    let one = |source| InputFiles { sources: Box::new(std::iter::once(source)), is_packed: false };
    if path.as_os_str() == "-" {
        let reader: Box<dyn BufRead + Send> = Box::new(BufReader::new(std::io::stdin()));
        return Ok(one(Source { name: "-".to_owned(), reader: Ok(reader), bytes: None }));
    }
    if !path.is_dir() {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let name = path.display().to_string();
        return if let Some(packing) = container(&name) {
            Ok(InputFiles { sources: unpacked("", file, packing, format), is_packed: true })
        } else {
            Ok(one(plain(name, file)))
        };
    }
    let is_wanted = move |name: &str| container(name).is_some() || may_hold_history(name, format);
    let found = walk::files(path)?.filter(move |found| is_wanted(&found.name));
    let sources = found.flat_map(move |found| match (found.file, container(&found.name)) {
        (Ok(file), Some(packing)) => unpacked(&format!("{}/", found.name), file, packing, format),
        (Ok(file), None) => Box::new(std::iter::once(plain(found.name, file))),
        (Err(why), _) => failed(found.name, why.into()),
    });
    Ok(InputFiles { sources: Box::new(sources), is_packed: false })
}

/// Returns the packing of a container, from its name.
fn container(name: &str) -> Option<Packing> {
    let containers = [(".zip", Packing::Zip), (".tar.gz", Packing::TarGz), (".tgz", Packing::TarGz)];
    containers.into_iter().find(|(end, _)| ends(name, end)).map(|(_, packing)| packing)
}

fn ends(name: &str, end: &str) -> bool {
    name.len() >= end.len()
        && name.get(name.len() - end.len()..).is_some_and(|own| own.eq_ignore_ascii_case(end))
}

fn plain(name: String, file: File) -> Source {
    let bytes = file.metadata().ok().map(|file| file.len());
    Source { name, reader: Ok(Box::new(BufReader::with_capacity(BUFFER, file))), bytes }
}

fn failed(name: String, why: anyhow::Error) -> Box<dyn Iterator<Item = Source>> {
    Box::new(std::iter::once(Source { name, reader: Err(why), bytes: None }))
}

/// Returns the files of a container with a possible format; their names are prefixed with the container's if there are several.
#[cfg(feature = "ingest-docs")]
fn unpacked(
    prefix: &str,
    file: File,
    packing: Packing,
    format: ImportFormat,
) -> Box<dyn Iterator<Item = Source>> {
    let files = match mnemal::events::PackedFiles::open(file, packing) {
        Ok(files) => files,
        Err(why) => return failed(prefix.trim_end_matches('/').to_owned(), why.into()),
    };
    let prefix = prefix.to_owned();
    let meant = files.names().to_vec().into_iter().filter(move |name| may_hold_history(name, format));
    Box::new(meant.map(move |name| {
        let reader = files.read(&name).map(|reader| Box::new(reader) as Box<dyn BufRead + Send>);
        Source { name: format!("{prefix}{name}"), reader: reader.map_err(Into::into), bytes: None }
    }))
}

#[cfg(not(feature = "ingest-docs"))]
fn unpacked(prefix: &str, _: File, _: Packing, _: ImportFormat) -> Box<dyn Iterator<Item = Source>> {
    let why = mnemal::Error::new(mnemal::ErrorKind::Unsupported, "this build reads no zip and no tar files");
    failed(prefix.trim_end_matches('/').to_owned(), why.into())
}

/// The packing of a container.
#[cfg(not(feature = "ingest-docs"))]
#[derive(Clone, Copy)]
enum Packing {
    Zip,
    TarGz,
}
