//! The file of the installation's key.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Read as _, Write as _};
use std::path::Path;

use mnemal_core::{Error, ErrorKind, InstallationKey, Result};

use crate::clock::random_key;

/// The file's name, in the folder of a space that was opened by its path.
pub(crate) const NAME: &str = "installation.key";

/// Reads the key, or creates one: 32 bytes, readable by the owner only.
///
/// # Errors
/// `Corrupt` for a file of another length, `Unavailable` when it can be neither read nor created.
pub(crate) fn read_or_make(path: &Path) -> Result<InstallationKey> {
    match make(path) {
        Ok(key) => Ok(key),
        Err(cause) if cause.kind() == IoKind::AlreadyExists => read(path),
        Err(cause) => Err(failed("make", path, cause)),
    }
}

/// Writes a new key to a temporary file and links it, so that two processes that start together agree on one key.
fn make(path: &Path) -> std::io::Result<InstallationKey> {
    if path.exists() {
        return Err(IoKind::AlreadyExists.into());
    }
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let bytes = random_key().map_err(std::io::Error::other)?;
    let draft = path
        .with_extension(format!("key-{:08x}", u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    let written = private(&draft).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let linked = written.and_then(|()| std::fs::hard_link(&draft, path));
    std::fs::remove_file(&draft)?;
    linked.map(|()| InstallationKey::new(bytes))
}

fn read(path: &Path) -> Result<InstallationKey> {
    let mut bytes = Vec::new();
    let file = File::open(path).and_then(|file| file.take(33).read_to_end(&mut bytes));
    file.map_err(|cause| failed("read", path, cause))?;
    let wrong = |bytes: Vec<u8>| {
        Error::new(
            ErrorKind::Corrupt,
            format!(
                "{} must hold 32 bytes, it has {}; `mnemal recover` puts it aside",
                path.display(),
                bytes.len()
            ),
        )
    };
    Ok(InstallationKey::new(bytes.try_into().map_err(wrong)?))
}

fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    if folder.as_os_str().is_empty() || folder.exists() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn failed(what: &str, path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {what} {}", path.display())).because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/installation.key");
        let made = read_or_make(&path).unwrap();
        assert_eq!(read_or_make(&path).unwrap(), made);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_file_of_another_length_is_not_a_key() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("installation.key");
        for length in [0, 31, 33, 4_096] {
            std::fs::write(&path, vec![1; length]).unwrap();
            assert_eq!(read_or_make(&path).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
