//! The recall index: terms and vectors, one entry per event, in columnar blocks.
//!
//! A block is the unit on disk and in memory. One append writes one block; maintenance merges small blocks.

use crate::{Cursor, Error, EventId, Level, ModelId, Result, Role, Seq, Timestamp};

/// Most events in one block; rows are numbered by `u16`. Source: own choice; 98 blocks of 100,000 events load in 20 to 30 ms.
pub const BLOCK_ROWS: usize = 1_024;
/// Tolerance for the length of a unit vector. Source: own choice, above the rounding error of `f32`.
const UNIT_TOLERANCE: f32 = 1e-3;

/// Hash of an analyzed term; no term is stored as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermHash(pub u64);

/// Hashes of the analyzed terms of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Number of terms in the text, repetitions included.
    pub length: u32,
    /// Each distinct term with how often it occurs (at least 1), ascending by hash.
    pub counts: Vec<(TermHash, u16)>,
}

/// Surface marks of a turn, found without a model; a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks(pub u8);

impl Marks {
    /// The text asks a question.
    pub const QUESTION: Self = Self(1);
    /// The text mentions a time.
    pub const TIME: Self = Self(2);
    /// The text contains a number.
    pub const NUMBER: Self = Self(4);
    /// The text only greets or thanks.
    pub const GREETING: Self = Self(8);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A unit vector as int8 codes and one scale: value `i` is `codes[i] · scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    scale: f32,
    codes: Box<[i8]>,
}

impl Vector {
    /// Quantizes a unit vector.
    ///
    /// # Errors
    /// `Invalid` for an empty vector, a value that is not finite, or a length further than 1e-3 from 1.
    pub fn from_unit(values: &[f32]) -> Result<Self> {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !length.is_finite() || (length - 1.0).abs() > UNIT_TOLERANCE {
            return Err(Error::invalid(format!("a vector of {} values must have length 1", values.len())));
        }
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        #[expect(clippy::cast_possible_truncation, reason = "the quotient lies in −127 to 127")]
        let codes = values.iter().map(|value| (value / scale).round() as i8).collect();
        Ok(Self { scale, codes })
    }

    /// Rebuilds a vector from stored codes.
    ///
    /// # Errors
    /// `Corrupt` when the scale is not a positive finite number or there are no codes.
    pub fn from_codes(scale: f32, codes: Box<[i8]>) -> Result<Self> {
        if scale.is_finite() && scale > 0.0 && !codes.is_empty() {
            Ok(Self { scale, codes })
        } else {
            Err(Error::new(crate::ErrorKind::Corrupt, "a stored vector has no positive scale or no codes"))
        }
    }

    /// Returns the value of one code step.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Returns the codes, −127 to 127.
    pub fn codes(&self) -> &[i8] {
        &self.codes
    }
}

/// The index entry of one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexEntry {
    /// Terms of the indexed text.
    pub terms: Terms,
    /// Surface marks of the turn.
    pub marks: Marks,
    /// At most one vector per model.
    pub vectors: Vec<(ModelId, Vector)>,
}

/// State of the index that a reader compares before each answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexMark {
    /// Last position of the log.
    pub head: Cursor,
    /// Incremented by every erase, and where the log is found to have another history than the one that was shown.
    pub forgets: u64,
    /// Incremented whenever vectors are added to events that were indexed before.
    pub vectors: u64,
}

/// One string per row, from a small dictionary; `0` means none, `n` means `names[n − 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Distinct values, in order of first appearance.
    pub names: Vec<String>,
    /// One code per row.
    pub rows: Vec<u16>,
}

impl Labels {
    /// Appends a row.
    pub fn push(&mut self, name: Option<&str>) {
        let code = match name {
            None => 0,
            Some(name) => {
                let known = self.names.iter().position(|known| known == name);
                let place = known.unwrap_or_else(|| {
                    self.names.push(name.to_owned());
                    self.names.len() - 1
                });
                place + 1
            }
        };
        self.rows.push(u16::try_from(code).unwrap_or_default());
    }

    /// Returns the value of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = usize::from(*self.rows.get(row)?);
        self.names.get(code.checked_sub(1)?).map(String::as_str)
    }
}

/// Bits of a posting for the count; the others are the row number in a block.
const COUNT_BITS: u32 = 6;
/// The counts that a posting can store: all numbers up to 48, then each about a fifth above the one before.
///
/// Source: own choice; BM25 of a term that occurs 50 times in a text moves by less than 3 % of its weight from one step to the
/// next, and a posting of two bytes is half as long as one with a count of its own (ADR 14).
const COUNTS: [u16; 64] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 57, 68, 81, 97, 116, 139,
    166, 199, 238, 285, 342, 410, 492, 590, 708, 849,
];

/// An occurrence of a term: a row of a block and a count, in two bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Posting(u16);

impl Posting {
    /// Makes a posting for a row below [`BLOCK_ROWS`]. A count that cannot be stored is rounded down: all counts up to 48 fit,
    /// then steps of a fifth up to 849.
    pub fn new(row: u16, count: u16) -> Self {
        let place = match count {
            0..=48 => count.saturating_sub(1),
            _ => u16::try_from(COUNTS.partition_point(|fits| *fits <= count)).map_or(0, |behind| behind - 1),
        };
        Self(row << COUNT_BITS | place)
    }

    /// Returns the row in the block.
    #[inline]
    pub fn row(self) -> u16 {
        self.0 >> COUNT_BITS
    }

    /// Returns how often the term occurs there, at least 1.
    #[inline]
    pub fn count(self) -> u16 {
        COUNTS.get(usize::from(self.0 & ((1 << COUNT_BITS) - 1))).copied().unwrap_or(1)
    }
}

impl std::fmt::Debug for Posting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}×{}", self.row(), self.count())
    }
}

/// The vectors of one model in a block.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorColumn {
    /// The model.
    pub model: ModelId,
    /// Values per vector.
    pub dimensions: usize,
    /// One scale per row; 0 where the row has no vector.
    pub scales: Vec<f32>,
    /// Rows × `dimensions`, row-major; zeros where the row has no vector.
    pub codes: Vec<i8>,
}

/// Up to [`BLOCK_ROWS`] events, columnar, rows ascending by `seq`; every column has one value per row.
///
/// Erased and quarantined events are excluded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexBlock {
    /// The events.
    pub events: Vec<EventId>,
    /// Their positions, ascending.
    pub seqs: Vec<Seq>,
    /// Times of occurrence.
    pub occurred_at: Vec<Timestamp>,
    /// Roles of their authors.
    pub roles: Vec<Role>,
    /// Their levels.
    pub levels: Vec<Level>,
    /// Their surface marks.
    pub marks: Vec<Marks>,
    /// Their conversations.
    pub sessions: Labels,
    /// Their channels.
    pub channels: Labels,
    /// Their speakers.
    pub speakers: Labels,
    /// Their users.
    pub users: Labels,
    /// Their agents.
    pub agents: Labels,
    /// Number of terms.
    pub lengths: Vec<u32>,
    /// Distinct terms of the block, ascending.
    pub terms: Vec<TermHash>,
    /// Offsets of each term's postings in `postings`; one more than `terms`, the last is `postings.len()`.
    pub starts: Vec<u32>,
    /// Postings of all terms, by term, then by row.
    pub postings: Vec<Posting>,
    /// Vectors, one column per model, ordered by model.
    pub vectors: Vec<VectorColumn>,
}

impl IndexBlock {
    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the block is empty.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the postings of a term, ascending by row; empty when no row has it. Costs one binary search.
    pub fn postings(&self, term: TermHash) -> &[Posting] {
        let range = self.terms.binary_search(&term).ok().and_then(|place| {
            let start = *self.starts.get(place)? as usize;
            let end = *self.starts.get(place + 1)? as usize;
            self.postings.get(start..end)
        });
        range.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-03 (what has no direction is refused at write)
    #[test]
    fn a_vector_keeps_direction_and_refuses_what_has_none() {
        let vector = Vector::from_unit(&[0.6, -0.8]).unwrap();
        assert_eq!(vector.codes(), [95, -127]);
        assert!((f32::from(vector.codes()[1]) * vector.scale() + 0.8).abs() < 0.01);
        for wrong in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY], &[3.0, 4.0]] {
            assert_eq!(Vector::from_unit(wrong).unwrap_err().kind(), crate::ErrorKind::Invalid);
        }
    }

    #[test]
    fn a_posting_keeps_its_row_and_counts_in_steps() {
        for count in 1..2_000 {
            for row in [0, 1, 511, 1_023] {
                let posting = Posting::new(row, count);
                assert_eq!(posting.row(), row);
                assert_eq!(Posting::new(row, posting.count()), posting, "what was read back fits");
                assert!(posting.count() <= count && (count > 48 || posting.count() == count));
                assert!(count > 849 || u32::from(posting.count()) * 6 / 5 + 1 >= u32::from(count), "{count}");
            }
        }
        assert_eq!(Posting::new(3, 0).count(), 1);
        assert_eq!(Posting::new(3, u16::MAX).count(), COUNTS[63]);
    }

    #[test]
    fn labels_share_names_and_know_none() {
        let mut labels = Labels::default();
        for name in [Some("a"), None, Some("b"), Some("a")] {
            labels.push(name);
        }
        assert_eq!(labels.names, ["a", "b"]);
        assert_eq!(
            (0..5).map(|row| labels.get(row)).collect::<Vec<_>>(),
            [Some("a"), None, Some("b"), Some("a"), None]
        );
    }
}
