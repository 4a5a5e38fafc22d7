//! Streaming reader of a container's files, unpacked while they are read: never on disk, never held as a whole.

use std::fs::File;
use std::io::{BufRead, Cursor, Read, Result as Io};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use mnemal_core::{Error, Result};

use super::{tar_files, zip_files};

/// Most files. Source: own choice; an account export has some hundred, and pictures.
pub(super) const FILES: usize = 100_000;
/// Highest expansion ratio of a file; chat text packs to a tenth. Source: own choice; zip bombs exceed it.
const RATIO: u64 = 100;
/// Bytes that are always allowed. Source: own choice, small containers of plain text are packed well.
const ALWAYS: u64 = 64 * 1024 * 1024;
/// Bytes that are unpacked at once, and buffered chunks. Source: own choice.
const CHUNK: usize = 256 * 1024;
const AHEAD: usize = 4;

/// The packing of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// A zip.
    Zip,
    /// A tar that is packed with gzip.
    TarGz,
}

/// The files of a container.
#[derive(Debug)]
pub struct PackedFiles {
    packing: Packing,
    file: File,
    names: Vec<String>,
}

impl PackedFiles {
    /// Opens a container and checks the names in it; a tar is unpacked for that.
    ///
    /// # Errors
    /// `Invalid` for a file that is no such container, is damaged, or holds too much; `Unavailable` when it cannot be read.
    pub fn open(file: File, packing: Packing) -> Result<Self> {
        let own = file.try_clone().map_err(unreadable)?;
        let mut names = match packing {
            Packing::Zip => zip_files::names(own),
            Packing::TarGz => tar_files::names(own),
        }?;
        if names.len() > FILES {
            return Err(Error::invalid(format!("a container of more than {FILES} files")));
        }
        names.sort();
        names.dedup();
        Ok(Self { packing, file, names })
    }

    /// Returns the names of the files, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the content of a file; an error while it is unpacked is one of the reader.
    ///
    /// # Errors
    /// `Unavailable` when the container cannot be opened a second time.
    pub fn read(&self, name: &str) -> Result<impl BufRead + Send + use<>> {
        let file = self.file.try_clone().map_err(unreadable)?;
        let (name, packing) = (name.to_owned(), self.packing);
        UnpackedData::by(move |give| {
            let most = most(&file)?;
            match packing {
                Packing::Zip => zip_files::unpack(file, &name, |entry| hand_over(entry, most, give)),
                Packing::TarGz => tar_files::unpack(file, &name, |entry| hand_over(entry, most, give)),
            }
        })
    }
}

/// Returns how many bytes a container may hold.
pub(super) fn most(file: &File) -> Io<u64> {
    Ok(file.metadata()?.len().saturating_mul(RATIO).max(ALWAYS))
}

/// Passes on unpacked data, piece by piece.
fn hand_over(entry: &mut dyn Read, most: u64, give: &SyncSender<Io<Vec<u8>>>) -> Io<()> {
    let mut given = 0;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        Read::take(&mut *entry, CHUNK as u64).read_to_end(&mut chunk)?;
        given += chunk.len() as u64;
        if given > most {
            let why = format!("a container that holds more than {RATIO} times its size");
            return Err(std::io::Error::other(why));
        }
        if chunk.is_empty() || give.send(Ok(chunk)).is_err() {
            return Ok(());
        }
    }
}

/// Data that another thread unpacks.
struct UnpackedData {
    take: Option<Receiver<Io<Vec<u8>>>>,
    thread: Option<JoinHandle<()>>,
    chunk: Cursor<Vec<u8>>,
}

impl UnpackedData {
    /// Starts a thread that unpacks.
    ///
    /// # Errors
    /// `Unavailable` when there is no thread.
    fn by(work: impl FnOnce(&SyncSender<Io<Vec<u8>>>) -> Io<()> + Send + 'static) -> Result<Self> {
        let (give, take) = sync_channel(AHEAD);
        let work = move || {
            if let Err(why) = work(&give) {
                // If this fails, no reader is left.
                let _gone = give.send(Err(why));
            }
        };
        let thread = Builder::new().name("unpack".to_owned()).spawn(work).map_err(unreadable)?;
        Ok(Self { take: Some(take), thread: Some(thread), chunk: Cursor::new(Vec::new()) })
    }
}

impl Drop for UnpackedData {
    fn drop(&mut self) {
        // The thread ends when there is no reader any more.
        self.take = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl BufRead for UnpackedData {
    fn fill_buf(&mut self) -> Io<&[u8]> {
        if self.chunk.position() >= self.chunk.get_ref().len() as u64
            && let Some(Ok(next)) = self.take.as_ref().map(Receiver::recv)
        {
            self.chunk = Cursor::new(next?);
        }
        self.chunk.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.chunk.consume(amount);
    }
}

impl Read for UnpackedData {
    fn read(&mut self, to: &mut [u8]) -> Io<usize> {
        let read = self.fill_buf()?.read(to)?;
        self.consume(read);
        Ok(read)
    }
}

/// Returns the error of a container that cannot be read.
pub(super) fn unreadable(why: std::io::Error) -> Error {
    Error::new(mnemal_core::ErrorKind::Unavailable, "cannot read the container").because(why)
}
