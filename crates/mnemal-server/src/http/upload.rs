//! A zip that a client sends: kept in a file without a name, because the table of a zip stands at its end.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Error as IoError, Read, Result as Io, Write as _};
use std::path::Path;

use mnemal::events::{PackedFiles, Packing};
use mnemal_core::{Error, ErrorKind};

use crate::auth::Secret;
use crate::http::problem::Problem;

/// Most bytes of a zip. Source: own choice; the account export of years is some hundred megabytes, most of it pictures.
const MOST: u64 = 1 << 30;
/// Bytes that are written at once. Source: own choice.
const CHUNK: u64 = 1 << 20;

/// The files of a zip that was received.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) files: PackedFiles,
}

impl Upload {
    /// Receives a zip to its end and opens it; zip bombs are refused when they are read.
    ///
    /// # Errors
    /// `too_large` for one over the limit, `invalid_request` for a damaged one, `unavailable` when it does not come to its end
    /// or cannot be kept.
    pub(crate) fn receive(body: &mut (impl Read + ?Sized)) -> Result<Self, Problem> {
        Self::within(body, MOST)
    }

    fn within(body: &mut (impl Read + ?Sized), most: u64) -> Result<Self, Problem> {
        let unavailable = |what: &'static str| {
            move |why: IoError| Problem::from(Error::new(ErrorKind::Unavailable, what).because(why))
        };
        let mut file = nameless(&std::env::temp_dir()).map_err(unavailable("cannot keep the zip"))?;
        let mut received = 0;
        loop {
            let mut chunk = Vec::new();
            let read = Read::take(&mut *body, CHUNK).read_to_end(&mut chunk);
            read.map_err(unavailable("cannot read the body"))?;
            received += chunk.len() as u64;
            if received > most {
                return Err(Problem::new(
                    "too_large",
                    format!("the zip has more than {} MiB; unpack it, and import its files", most >> 20),
                ));
            }
            if chunk.is_empty() {
                return Ok(Self { files: PackedFiles::open(file, Packing::Zip)? });
            }
            file.write_all(&chunk).map_err(unavailable("cannot keep the zip"))?;
        }
    }

    /// Opens one of its files.
    pub(crate) fn open(&self, name: &str) -> Result<UploadedFile<impl BufRead + Send + use<>>, Problem> {
        Ok(UploadedFile { reader: self.files.read(name)?, failed: None })
    }
}

/// A file of a zip, which remembers why it could not be read: that is a mistake of the zip.
#[derive(Debug)]
pub(crate) struct UploadedFile<R> {
    reader: R,
    failed: Option<String>,
}

impl<R> UploadedFile<R> {
    pub(crate) fn why_failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }
}

impl<R: BufRead> Read for UploadedFile<R> {
    fn read(&mut self, room: &mut [u8]) -> Io<usize> {
        let read = self.reader.read(room);
        self.failed = self.failed.take().or_else(|| read.as_ref().err().map(ToString::to_string));
        read
    }
}

impl<R: BufRead> BufRead for UploadedFile<R> {
    fn fill_buf(&mut self) -> Io<&[u8]> {
        let filled = self.reader.fill_buf();
        self.failed = self.failed.take().or_else(|| filled.as_ref().err().map(ToString::to_string));
        filled
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
    }
}

/// Creates a file that its owner alone can read, and that is gone when nobody has it open.
fn nameless(folder: &Path) -> Io<File> {
    let secret = Secret::random().map_err(IoError::other)?;
    let path = folder.join(format!("mnemal-{}.zip", secret.id()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // FILE_FLAG_DELETE_ON_CLOSE: a file that is open cannot be removed there.
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, 0x0400_0000);
    let file = options.open(&path)?;
    #[cfg(unix)]
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zip_over_the_limit_and_what_is_none_are_refused_and_leave_nothing() {
        let code = |bytes: &[u8]| Upload::within(&mut &*bytes, 1_000).unwrap_err().code();
        assert_eq!(code(&[b'x'; 1_001]), "too_large");
        assert_eq!(code(b"PK\x03\x04 and no more"), "invalid_request");
        let folder = tempfile::tempdir().unwrap();
        let mut file = nameless(folder.path()).unwrap();
        file.write_all(b"kept").unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
