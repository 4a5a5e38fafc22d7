//! Files of a gzipped tar.
//!
//! Shape: POSIX.1-2024 `pax`, `ustar` headers with extended ones before them, and the long names of GNU tar.

use std::fs::File;
use std::io::{BufReader, Read, Result as Io, Seek as _, SeekFrom, copy, sink};

use flate2::read::MultiGzDecoder;
use mnemal_core::{Error, Result};

use super::container::{FILES, most, unreadable};

/// Bytes of a block: headers are one, and contents are filled up to the next.
const BLOCK: usize = 512;
/// Longest name, and header that holds one. Source: own choice, more than a file system takes.
const LONGEST_NAME: u64 = 16 * 1024;

/// Returns the names of the files in a tar, at most one more than a container may hold; this takes as long as unpacking it.
///
/// # Errors
/// `Invalid` for what is no tar or a damaged one; `Unavailable` when it cannot be read.
pub(super) fn names(file: File) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut tar = TarStream::new(file).map_err(unreadable)?;
    while names.len() <= FILES
        && let Some(name) = tar.next().map_err(|why| damaged(&why))?
    {
        names.push(name);
    }
    Ok(names)
}

/// Passes the content of a file in a tar to `take`.
///
/// # Errors
/// What keeps it from being unpacked or taken.
pub(super) fn unpack(file: File, name: &str, take: impl FnOnce(&mut dyn Read) -> Io<()>) -> Io<()> {
    let mut tar = TarStream::new(file)?;
    while let Some(found) = tar.next()? {
        if found == name {
            return take(&mut tar.content());
        }
    }
    Ok(())
}

fn damaged(why: &std::io::Error) -> Error {
    Error::invalid(format!("no readable tar: {why}"))
}

/// A tar that is read from its start to its end.
struct TarStream {
    bytes: std::io::Take<MultiGzDecoder<BufReader<File>>>,
    /// Bytes of the file that is read now, and those that fill its last block.
    left: u64,
    filling: u64,
}

impl TarStream {
    fn new(mut file: File) -> Io<Self> {
        file.seek(SeekFrom::Start(0))?;
        let most = most(&file)?;
        let bytes = MultiGzDecoder::new(BufReader::new(file)).take(most);
        Ok(Self { bytes, left: 0, filling: 0 })
    }

    /// Goes on to the next file, and returns its name.
    fn next(&mut self) -> Io<Option<String>> {
        let mut long = None;
        loop {
            let rest = self.left + self.filling;
            if copy(&mut (&mut self.bytes).take(rest), &mut sink())? < rest {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            (self.left, self.filling) = (0, 0);
            let Some(header) = self.header()? else { return Ok(None) };
            self.left = number(header.get(124..136).unwrap_or_default())?;
            let block = BLOCK as u64;
            self.filling = (block - self.left % block) % block;
            match header.get(156) {
                Some(b'x') => long = path(&self.record()?).or(long),
                Some(b'L') => long = Some(text(&self.record()?)),
                Some(b'0' | b'7' | 0) => return Ok(Some(long.unwrap_or_else(|| name(&header)))),
                _ => long = None,
            }
        }
    }

    /// Returns the next header; `None` at the end, which is blocks of zeros.
    fn header(&mut self) -> Io<Option<Vec<u8>>> {
        let mut header = Vec::with_capacity(BLOCK);
        (&mut self.bytes).take(BLOCK as u64).read_to_end(&mut header)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let sum = number(header.get(148..156).unwrap_or_default())?;
        let of_others = header.iter().enumerate().filter(|(place, _)| !(148..156).contains(place));
        let own: u64 = of_others.map(|(_, byte)| u64::from(*byte)).sum::<u64>() + 8 * u64::from(b' ');
        if header.len() < BLOCK || own != sum {
            return Err(std::io::Error::other("a header that is damaged"));
        }
        Ok(Some(header))
    }

    /// Reads a header that holds a name.
    fn record(&mut self) -> Io<Vec<u8>> {
        let length = self.left;
        if length > LONGEST_NAME {
            return Err(std::io::Error::other("a name that is too long"));
        }
        let mut record = Vec::new();
        self.content().read_to_end(&mut record)?;
        self.left = 0;
        if (record.len() as u64) < length {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(record)
    }

    /// Returns the content of the current file.
    fn content(&mut self) -> impl Read {
        let left = std::mem::take(&mut self.left);
        (&mut self.bytes).take(left)
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

/// Returns the name in a header, with its prefix field.
fn name(header: &[u8]) -> String {
    let field = |from: usize, to: usize| text(header.get(from..to).unwrap_or_default());
    let is_ustar = header.get(257..262) == Some(b"ustar");
    match field(345, 500) {
        before if is_ustar && !before.is_empty() => format!("{before}/{}", field(0, 100)),
        _ => field(0, 100),
    }
}

/// Reads a number in octal digits.
fn number(field: &[u8]) -> Io<u64> {
    let digits = text(field);
    u64::from_str_radix(digits.trim(), 8).map_err(|_| std::io::Error::other("a header that is damaged"))
}

/// Returns the name in an extended header, whose lines are `LENGTH path=NAME`.
fn path(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    record.lines().find_map(|line| line.split_once(' ')?.1.strip_prefix("path=").map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::document::container::{PackedFiles, Packing};

    fn open(file: File) -> Result<PackedFiles> {
        PackedFiles::open(file, Packing::TarGz)
    }

    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut header = vec![0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = kind;
        header[257..263].copy_from_slice(b"ustar\0");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let filling = (BLOCK - content.len() % BLOCK) % BLOCK;
        [header, content.to_vec(), vec![0; filling]].concat()
    }

    fn packed(entries: &[Vec<u8>]) -> File {
        let mut out = GzEncoder::new(tempfile::tempfile().unwrap(), Compression::fast());
        out.write_all(&entries.concat()).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn files_of_a_tar_are_read_as_they_were_packed() {
        let long = "a line of a long file\n".repeat(50_000);
        let name = format!("{}/x.jsonl", "deep".repeat(40));
        let line = format!("000 path={name}\n");
        let files = packed(&[
            entry("cogx/", b'5', b""),
            entry("cogx/memories.jsonl", b'0', long.as_bytes()),
            entry("PaxHeader", b'x', line.as_bytes()),
            entry("short", b'0', b"{}"),
            entry("link", b'2', b""),
            vec![0; 2 * BLOCK],
        ]);
        let files = open(files).unwrap();
        assert_eq!(files.names(), ["cogx/memories.jsonl", name.as_str()]);
        let read = |name: &str| {
            let mut text = String::new();
            files.read(name).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!((read("cogx/memories.jsonl"), read(&name)), (long, "{}".to_owned()));
    }

    #[test]
    fn what_is_no_tar_or_ends_too_early_is_refused() {
        assert!(open(packed(&[b"no tar at all".to_vec()])).is_err());
        let mut cut = entry("a.jsonl", b'0', &[b'x'; 2_000]);
        cut.truncate(1_500);
        assert!(open(packed(&[cut])).is_err());
        let mut plain = tempfile::tempfile().unwrap();
        plain.write_all(b"plain").unwrap();
        assert!(open(plain).is_err());
    }
}
