//! Recursive listing of a folder's files, ordered by name.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::{Error, ErrorKind};

/// Maximum depth. Source: own choice; links are not followed, so only a real tree is that deep.
const DEEPEST: usize = 64;

/// A listed file, opened.
pub(in crate::command) struct ListedFile {
    /// Its path relative to the folder, with `/` between the parts.
    pub(in crate::command) name: String,
    /// The file, or why it cannot be opened.
    pub(in crate::command) file: mnemal::Result<File>,
}

/// Returns the files of a folder; hidden files and links are left out.
///
/// Each is opened when it is needed.
pub(in crate::command) fn files(folder: &Path) -> Result<impl Iterator<Item = ListedFile> + use<>> {
    let mut paths = Vec::new();
    collect(folder, 0, &mut paths)?;
    let folder = folder.to_owned();
    Ok(paths.into_iter().map(move |path| {
        let below = path.strip_prefix(&folder).unwrap_or(&path);
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        ListedFile { name: parts.join("/"), file: open(&path) }
    }))
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<()> {
    let list = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut list = list.collect::<std::io::Result<Vec<_>>>()?;
    list.sort_by_key(std::fs::DirEntry::file_name);
    for entry in list {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let kind = entry.file_type()?;
        if is_hidden || kind.is_symlink() {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            collect(&entry.path(), depth + 1, paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// Opens a file that is not a link, neither when listed nor now.
fn open(path: &Path) -> mnemal::Result<File> {
    let about = std::fs::symlink_metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(Error::invalid("not a regular file"));
    }
    OpenOptions::new().read(true).open(path).map_err(failed)
}

fn failed(why: std::io::Error) -> Error {
    let kind = match why.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorKind::Invalid,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, "cannot open it").because(why)
}
