//! File preparation before SQLite opens it: folder, modes, flush.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind as Io};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, Result};

/// Suffixes of SQLite's companion files.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Creates folder and file where they are missing, and makes the file private.
pub(super) fn prepare(path: &Path) -> Result<()> {
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Unavailable, format!("cannot create {}", path.display())).because(error)
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.exists()) {
        create_folder(folder).map_err(failed)?;
    }
    match create(path) {
        Ok(file) => {
            file.sync_all().map_err(failed)?;
            flush_folder(folder.unwrap_or(Path::new("."))).map_err(failed)
        }
        Err(error) if error.kind() == Io::AlreadyExists => {
            let files = BESIDE.iter().map(|end| beside(path, end)).chain([path.to_owned()]);
            files.filter(|file| file.exists()).try_for_each(|file| make_private(&file)).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Returns the path of a companion file.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Returns the folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a file that is no database begins, or began, like a space: with SQLite's header, or with our mark after it.
pub(super) fn may_be_ours(path: &Path, mark: i64) -> bool {
    use std::io::Read as _;
    let mut head = [0; 100];
    if File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_err() {
        return false;
    }
    let [.., a, b, c, d] = *head.first_chunk::<72>().unwrap_or(&[0; 72]);
    head.starts_with(b"SQLite format 3\0") || i64::from(u32::from_be_bytes([a, b, c, d])) == mark
}

/// Creates an empty private file; fails if it exists.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn make_private(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(file)?.permissions().mode();
    let others = mode & 0o077;
    if others == 0 {
        return Ok(());
    }
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(_file: &Path) -> io::Result<()> {
    Ok(())
}

/// Flushes a folder, so that a new name survives a power cut.
#[cfg(unix)]
pub(super) fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(super) fn flush_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
