//! The file of a static table: one int8 row per word piece, the pieces' spellings and a hash table over them.
//!
//! All numbers are little endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic `MNEMTABL` |
//! | 2 + 2 | format 1; dimensions d |
//! | 4 + 4 | rows n; model version |
//! | 4 + 4 + 4 | hash slots s, a power of two; bytes of text t; longest piece in bytes, without `##` |
//! | 32 | BLAKE3 of everything else |
//! | 4 n | one f32 scale a row |
//! | d n | rows, i8 |
//! | 4 (n + 1) | where each spelling begins in the text |
//! | t | spellings in the order of the rows, UTF-8 |
//! | 4 s | piece + 1, or 0 for an empty slot; linear probing from folded FNV-1a |
//!
//! The file is used in place: opening it costs nothing that grows with n.

use std::borrow::Cow;
use std::ops::Range;

use mnemal_core::{Error, ErrorKind, Result};

use crate::vocabulary::{PieceId, SpellingHash, Vocabulary};

static BUILT_IN: &[u8] = include_bytes!("../data/mnemal-static-1.bin");

const MAGIC: &[u8] = b"MNEMTABL";
const FORMAT: u16 = 1;
const HEADER: usize = 32;
const HASH: Range<usize> = HEADER..HEADER + 32;
/// Largest number of dimensions. Source: the widest sentence transformers in use have 1,024; four times that.
const MOST_DIMENSIONS: usize = 4096;

/// A table over its bytes.
#[derive(Clone)]
pub(crate) struct EmbeddingTable {
    bytes: Cow<'static, [u8]>,
    header: Header,
}

impl EmbeddingTable {
    /// Returns the compiled-in table.
    pub(crate) fn built_in() -> Self {
        Self::trusted(Cow::Borrowed(BUILT_IN)).expect("the table that is compiled in has a valid header")
    }

    /// Reads the header and checks the length; the rest is trusted.
    pub(crate) fn trusted(bytes: Cow<'static, [u8]>) -> Result<Self> {
        let header = Header::read(&bytes).ok_or_else(|| corrupt("it has no valid header"))?;
        let table = Self { bytes, header };
        if table.slots_at().end == table.bytes.len() {
            Ok(table)
        } else {
            Err(corrupt("its length is wrong"))
        }
    }

    /// Reads the header and checks everything, once over all bytes.
    ///
    /// # Errors
    /// `Corrupt` with what is wrong.
    pub(crate) fn checked(bytes: Vec<u8>) -> Result<Self> {
        let table = Self::trusted(Cow::Owned(bytes))?;
        let bytes = &*table.bytes;
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes.get(..HASH.start).unwrap_or_default());
        hasher.update(bytes.get(HASH.end..).unwrap_or_default());
        if bytes.get(HASH) != Some(hasher.finalize().as_bytes().as_slice()) {
            return Err(corrupt("its bytes do not match their checksum"));
        }
        table.check_contents()?;
        Ok(table)
    }

    /// Rejects inconsistent contents that a table writer could produce although the checksum holds.
    fn check_contents(&self) -> Result<()> {
        let all_pieces = 0..self.header.n_pieces;
        if all_pieces
            .clone()
            .any(|piece| self.spelling(piece).is_none_or(|text| std::str::from_utf8(text).is_err()))
        {
            return Err(corrupt("a spelling is not text"));
        }
        if all_pieces
            .clone()
            .any(|piece| self.scale(piece).is_none_or(|scale| !scale.is_finite() || scale < 0.0))
        {
            return Err(corrupt("a scale is not a positive number"));
        }
        let slots = self.u32s(self.slots_at());
        let (mut filled, mut outside) = (0, 0);
        for slot in slots {
            filled += usize::from(slot != 0);
            outside += usize::from(slot as usize > self.header.rows);
        }
        if outside > 0 || filled > self.header.rows || filled == self.header.slots {
            return Err(corrupt("its hash table is wrong"));
        }
        Ok(())
    }

    /// Returns the dimension of a row.
    pub(crate) fn dimensions(&self) -> usize {
        self.header.dimensions
    }

    /// Returns the size of the vocabulary.
    pub(crate) fn rows(&self) -> usize {
        self.header.rows
    }

    /// Returns the version of the model that the table holds.
    pub(crate) fn version(&self) -> u32 {
        self.header.version
    }

    /// Returns the factor of a row; zero for pieces without meaning.
    pub(crate) fn scale(&self, piece: PieceId) -> Option<f32> {
        let at = HASH.end.checked_add(4 * piece as usize)?;
        if piece as usize >= self.header.rows { None } else { self.u32_at(at).map(f32::from_bits) }
    }

    /// Returns the row of a piece, `dimensions` bytes that are i8.
    pub(crate) fn row(&self, piece: PieceId) -> Option<&[u8]> {
        let at = (piece as usize).checked_mul(self.header.dimensions)?;
        self.bytes.get(self.rows_at())?.get(at..at + self.header.dimensions)
    }

    fn rows_at(&self) -> Range<usize> {
        let start = HASH.end + 4 * self.header.rows;
        start..start + self.header.dimensions * self.header.rows
    }

    fn offsets_at(&self) -> Range<usize> {
        let start = self.rows_at().end;
        start..start + 4 * (self.header.rows + 1)
    }

    fn text_at(&self) -> Range<usize> {
        let start = self.offsets_at().end;
        start..start + self.header.text_length
    }

    fn slots_at(&self) -> Range<usize> {
        let start = self.text_at().end;
        start..start + 4 * self.header.slots
    }

    fn u32_at(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..at + 4)?.try_into().map(u32::from_le_bytes).ok()
    }

    fn u32s(&self, at: Range<usize>) -> impl Iterator<Item = u32> {
        at.step_by(4).filter_map(|at| self.u32_at(at))
    }
}

impl Vocabulary for EmbeddingTable {
    fn longest(&self) -> usize {
        self.header.longest
    }

    fn spelling(&self, piece: PieceId) -> Option<&[u8]> {
        let at = self.offsets_at().start.checked_add(4 * piece as usize)?;
        if piece as usize >= self.header.rows {
            return None;
        }
        let (first, last) = (self.u32_at(at)? as usize, self.u32_at(at + 4)? as usize);
        self.bytes.get(self.text_at())?.get(first..last)
    }

    fn find(&self, state: SpellingHash, word: &[u8]) -> Option<PieceId> {
        let slots = self.bytes.get(self.slots_at())?;
        let mask = self.header.slots - 1;
        let mut at = state.folded() as usize & mask;
        for _ in 0..self.header.slots {
            let slot = slots.get(4 * at..4 * at + 4)?.try_into().map(u32::from_le_bytes).ok()?;
            let piece = slot.checked_sub(1)?;
            let spelling = self.spelling(piece)?;
            let same = if state.is_continuing() { spelling.strip_prefix(b"##") } else { Some(spelling) };
            if same == Some(word) {
                return Some(piece);
            }
            at = (at + 1) & mask;
        }
        None
    }
}

/// The numbers at the start of a file, in ranges in which no sum of them overflows.
#[derive(Clone, Copy)]
struct Header {
    dimensions: usize,
    n_pieces: PieceId,
    rows: usize,
    version: u32,
    slots: usize,
    text_length: usize,
    longest: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let short = |at: usize| bytes.get(at..at + 2)?.try_into().map(u16::from_le_bytes).ok();
        let long = |at: usize| bytes.get(at..at + 4)?.try_into().map(u32::from_le_bytes).ok();
        let size = |at: usize| usize::try_from(long(at)?).ok();
        if !bytes.starts_with(MAGIC) || short(8)? != FORMAT {
            return None;
        }
        let header = Self {
            dimensions: usize::from(short(10)?),
            n_pieces: long(12)?,
            rows: size(12)?,
            version: long(16)?,
            slots: size(20)?,
            text_length: size(24)?,
            longest: size(28)?,
        };
        // Nothing in the file can be larger than the file.
        let fits = |n: usize| n > 0 && n <= bytes.len();
        let plausible =
            fits(header.rows) && fits(header.slots) && fits(header.text_length) && fits(header.longest);
        let rows_fit = header.rows.checked_mul(header.dimensions).is_some_and(fits);
        let shaped = (1..=MOST_DIMENSIONS).contains(&header.dimensions) && header.slots.is_power_of_two();
        (plausible && rows_fit && shaped).then_some(header)
    }
}

fn corrupt(why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("cannot use the static table: {why}"))
}
