//! The pages of a file and of its write-ahead log, without SQLite.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::super::file::beside;
use super::ByteRange;
use super::record::Cell;

/// Bytes per page. Source: the default of SQLite, which no space changes; the header itself may be damaged.
pub(super) const PAGE: usize = 4_096;
/// Bytes of the file's header on the first page.
const FILE_HEADER: usize = 100;
/// Bytes before the first frame of a write-ahead log. Source: SQLite's file format, like everything here.
const LOG_HEADER: u64 = 32;
/// Bytes before the page of a frame.
const FRAME_HEADER: u64 = 24;
/// Longest row that is assembled; nothing stored is longer.
///
/// Source: own default, 64 MiB; a damaged length must not fill the memory.
const LONGEST: usize = 1 << 26;

/// One version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageVersion {
    /// The page of this number in the file.
    File(u32),
    /// The page of this number at this position in the write-ahead log.
    Log { number: u32, at: u64 },
}

impl PageVersion {
    /// Returns where the page begins after the header of the file.
    pub(super) fn start(self) -> usize {
        if matches!(self, Self::File(1) | Self::Log { number: 1, .. }) { FILE_HEADER } else { 0 }
    }

    pub(super) fn is_in_file(self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// Which version of an overflow page belongs to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverflowVersion {
    /// That of the write-ahead log if it has one.
    OfTheLog,
    /// That of the file.
    OfTheFile,
}

/// A file and its write-ahead log.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    count: u32,
    log: Option<File>,
    /// All frames, in order.
    frames: Vec<(u32, u64)>,
    /// The last frame of each page.
    newest: HashMap<u32, u64>,
}

impl Pages {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let count = file.metadata()?.len().div_ceil(PAGE as u64);
        let log = File::open(beside(path, "-wal")).ok();
        let frames = log.as_ref().map(frames).unwrap_or_default();
        let newest = frames.iter().copied().collect();
        Ok(Self { file, count: u32::try_from(count).unwrap_or(u32::MAX), log, frames, newest })
    }

    /// Returns every version of every page, newest first.
    pub(super) fn versions(&self) -> impl Iterator<Item = PageVersion> + '_ {
        let log = self.frames.iter().rev().map(|(number, at)| PageVersion::Log { number: *number, at: *at });
        log.chain((1..=self.count).map(PageVersion::File))
    }

    /// Reads a page; missing bytes of the last one are zero.
    pub(super) fn read(&self, version: PageVersion) -> Option<Vec<u8>> {
        let (mut file, at) = match version {
            PageVersion::File(number) => (&self.file, u64::from(number.checked_sub(1)?) * PAGE as u64),
            PageVersion::Log { at, .. } => (self.log.as_ref()?, at),
        };
        let mut page = Vec::with_capacity(PAGE);
        file.seek(SeekFrom::Start(at)).ok()?;
        file.take(PAGE as u64).read_to_end(&mut page).ok()?;
        if page.is_empty() {
            return None;
        }
        page.resize(PAGE, 0);
        Some(page)
    }

    /// Returns the bytes of a page.
    pub(super) fn at(version: PageVersion) -> ByteRange {
        let (in_log, start) = match version {
            PageVersion::File(number) => (false, u64::from(number.saturating_sub(1)) * PAGE as u64),
            PageVersion::Log { at, .. } => (true, at),
        };
        ByteRange { in_log, start, end: start + PAGE as u64 }
    }

    /// Returns the overflow pages of a cell.
    pub(super) fn chain(&self, cell: &Cell, pages: OverflowVersion) -> Option<Vec<PageVersion>> {
        self.walk(cell, pages).map(|(_, chain)| chain)
    }

    /// Assembles the payload of a cell, from the newest pages or from those of the file.
    pub(super) fn payload(&self, cell: &Cell, pages: OverflowVersion) -> Option<Vec<u8>> {
        self.walk(cell, pages).map(|(payload, _)| payload)
    }

    fn walk(&self, cell: &Cell, pages: OverflowVersion) -> Option<(Vec<u8>, Vec<PageVersion>)> {
        let (mut payload, mut chain) = (cell.local.clone(), Vec::new());
        if cell.length > LONGEST {
            return None;
        }
        let mut next = cell.overflow;
        // Each page of a chain adds to the payload, so a chain that runs in a circle ends too.
        while payload.len() < cell.length {
            let number = next.filter(|number| *number > 1)?;
            let version = match self.newest.get(&number).filter(|_| pages == OverflowVersion::OfTheLog) {
                Some(at) => PageVersion::Log { number, at: *at },
                None if number <= self.count => PageVersion::File(number),
                None => return None,
            };
            chain.push(version);
            let page = self.read(version)?;
            let (head, rest) = page.split_first_chunk::<4>()?;
            next = Some(u32::from_be_bytes(*head));
            payload.extend(rest.iter().take(cell.length - payload.len()));
        }
        Some((payload, chain))
    }
}

/// Lists the frames of the write-ahead log's current generation: those with its salt.
fn frames(log: &File) -> Vec<(u32, u64)> {
    let mut frames = Vec::new();
    let header = read(log, 0);
    let first = read(log, LOG_HEADER);
    let salt_of = |words: &[u32; 6]| [words[2], words[3]];
    // The salt is the fifth and sixth word of the header; where that is damaged the first frame has it too.
    let salts = [read(log, 16).map(|words| [words[0], words[1]]), first.as_ref().map(salt_of)];
    let known = header.filter(|words| matches!(words[0], 0x377f_0682 | 0x377f_0683));
    let salts = if known.is_some() { salts } else { [None, salts[1]] };
    let mut at = LOG_HEADER;
    while let Some(frame) = read(log, at) {
        if salts.contains(&Some(salt_of(&frame))) && frame[0] > 0 {
            frames.push((frame[0], at + FRAME_HEADER));
        }
        at += FRAME_HEADER + PAGE as u64;
    }
    frames
}

/// Reads six numbers.
fn read(mut file: &File, at: u64) -> Option<[u32; 6]> {
    let mut bytes = [0; 24];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    let (words, _) = bytes.as_chunks::<4>();
    <[u32; 6]>::try_from(words.iter().map(|word| u32::from_be_bytes(*word)).collect::<Vec<_>>()).ok()
}
