//! The files of a zip, one after the other, unpacked while they are read: nothing of them is ever on a disk or held as a whole.

use std::fs::File;
use std::io::{BufRead, Cursor, Read, Result as Io};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use mnemal_core::{Error, Result};
use zip::ZipArchive;

/// Most files. Source: own choice; an account export has some hundred, and pictures.
pub(super) const FILES: usize = 100_000;
/// How many times larger a file may be than its container; text of chats is packed to a tenth. Source: RELIABILITY 12, ratio 100.
const RATIO: u64 = 100;
/// Bytes that are always allowed. Source: own choice, small containers of plain text are packed well.
const ALWAYS: u64 = 64 * 1024 * 1024;
/// Bytes that are unpacked at once, and how often before they are read. Source: own choice.
const CHUNK: usize = 256 * 1024;
const AHEAD: usize = 4;

/// The files of a zip.
#[derive(Debug)]
pub struct ZippedFiles {
    file: File,
    names: Vec<String>,
}

impl ZippedFiles {
    /// Opens a zip and looks at the names in it.
    ///
    /// # Errors
    /// `Invalid` for what is no zip or a damaged one; `Unavailable` when it cannot be read.
    pub fn open(file: File) -> Result<Self> {
        let own = file.try_clone().map_err(unreadable)?;
        let zip = ZipArchive::new(own).map_err(|why| Error::invalid(format!("no readable zip: {why}")))?;
        if zip.len() > FILES {
            return Err(Error::invalid(format!("a zip of more than {FILES} files")));
        }
        let files = zip.file_names().filter_map(std::result::Result::ok).map(std::borrow::Cow::into_owned);
        let mut names: Vec<String> = files.filter(|name| !name.ends_with('/')).collect();
        names.sort();
        Ok(Self { file, names })
    }

    /// Returns the names of the files, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what a file holds; an error while it is unpacked is one of the reader.
    ///
    /// # Errors
    /// `Unavailable` when the zip cannot be opened a second time.
    pub fn read(&self, name: &str) -> Result<impl BufRead + Send + use<>> {
        let file = self.file.try_clone().map_err(unreadable)?;
        let name = name.to_owned();
        Unpacked::by(move |give| {
            let most = most(&file)?;
            let mut zip = ZipArchive::new(file).map_err(std::io::Error::other)?;
            let entry = zip.by_name(&name).map_err(std::io::Error::other)?;
            hand_over(entry, most, give)
        })
    }
}

/// Returns how many bytes a container may hold.
pub(super) fn most(file: &File) -> Io<u64> {
    Ok(file.metadata()?.len().saturating_mul(RATIO).max(ALWAYS))
}

/// Hands over what is unpacked, piece by piece.
pub(super) fn hand_over(mut entry: impl Read, most: u64, give: &SyncSender<Io<Vec<u8>>>) -> Io<()> {
    let mut given = 0;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        (&mut entry).take(CHUNK as u64).read_to_end(&mut chunk)?;
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

/// What another thread unpacks.
pub(super) struct Unpacked {
    take: Option<Receiver<Io<Vec<u8>>>>,
    thread: Option<JoinHandle<()>>,
    chunk: Cursor<Vec<u8>>,
}

impl Unpacked {
    /// Starts a thread that unpacks.
    ///
    /// # Errors
    /// `Unavailable` when there is no thread.
    pub(super) fn by(work: impl FnOnce(&SyncSender<Io<Vec<u8>>>) -> Io<()> + Send + 'static) -> Result<Self> {
        let (give, take) = sync_channel(AHEAD);
        let work = move || {
            if let Err(why) = work(&give) {
                // Nobody waits any more where this fails.
                let _gone = give.send(Err(why));
            }
        };
        let thread = Builder::new().name("unpack".to_owned()).spawn(work).map_err(unreadable)?;
        Ok(Self { take: Some(take), thread: Some(thread), chunk: Cursor::new(Vec::new()) })
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // The thread ends when nobody takes any more.
        self.take = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl BufRead for Unpacked {
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

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> Io<usize> {
        let read = self.fill_buf()?.read(to)?;
        self.consume(read);
        Ok(read)
    }
}

pub(super) fn unreadable(why: std::io::Error) -> Error {
    Error::new(mnemal_core::ErrorKind::Unavailable, "cannot read the container").because(why)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn files_of_a_zip_are_read_as_they_were_packed() {
        let mut zip = zip::ZipWriter::new(tempfile::tempfile().unwrap());
        let long = "a line of a long file\n".repeat(100_000);
        for (name, text) in [("b/long.txt", long.as_str()), ("a.json", "[]")] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.add_directory("b/", zip::write::SimpleFileOptions::default()).unwrap();
        let files = ZippedFiles::open(zip.finish().unwrap()).unwrap();
        assert_eq!(files.names(), ["a.json", "b/long.txt"]);
        let mut text = String::new();
        files.read("b/long.txt").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, long);
        assert!(ZippedFiles::open(tempfile::tempfile().unwrap()).is_err());
    }
}
