//! Score table per search, with pooled memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemal_core::BLOCK_ROWS;

use crate::rows::window;

/// Most pooled tables. Source: own choice; two concurrent readers allocate nothing.
const MOST_IDLE: usize = 2;

/// Tables of completed searches.
///
/// A megabyte per 300,000 rows plus that for matching rows: fresh memory would cost a search as much as its scoring.
static IDLE: Mutex<Vec<TableMemory>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<TableMemory>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Score of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RowScore {
    /// BM25.
    pub(super) raw: f32,
    /// The query terms it contains, one bit per term.
    pub(super) term_bits: u16,
}

/// A sparse set of rows, ascending, each with its score.
#[derive(Clone, Debug, Default)]
struct Rows {
    /// Which rows are present, one bit each.
    bits: Vec<u64>,
    /// Rank before each 64 rows; only valid where one of these is present.
    before: Vec<u32>,
    scores: Vec<RowScore>,
}

impl Rows {
    /// Resets the set for this many rows.
    fn clear(&mut self, rows: u32) {
        let words = rows.div_ceil(64) as usize;
        self.bits.clear();
        self.bits.resize(words, 0);
        self.before.resize(words, 0);
        self.scores.clear();
    }

    /// Appends a row after all others.
    fn push(&mut self, row: u32, score: RowScore) {
        let place = (row / 64) as usize;
        if let (Some(bits), Some(before)) = (self.bits.get_mut(place), self.before.get_mut(place)) {
            if *bits == 0 {
                *before = u32::try_from(self.scores.len()).unwrap_or(u32::MAX);
            }
            *bits |= 1 << (row % 64);
            self.scores.push(score);
        }
    }

    #[inline]
    fn place(&self, row: u32) -> Option<usize> {
        let (bits, bit) = (*self.bits.get((row / 64) as usize)?, 1_u64 << (row % 64));
        let before = *self.before.get((row / 64) as usize)?;
        (bits & bit != 0).then(|| before as usize + (bits & (bit - 1)).count_ones() as usize)
    }
}

/// The memory of a table.
#[derive(Clone, Debug, Default)]
struct TableMemory {
    /// Rows with a word that adds candidates.
    found: Rows,
    /// Rows admitted for other words; empty while there are none.
    late: Rows,
    /// Rows examined for the best ones, one bit each.
    seen: Vec<u64>,
}

/// Scores per row; most rows have none.
#[derive(Clone, Debug)]
pub(super) struct Table {
    memory: TableMemory,
    rows: u32,
}

impl Table {
    /// Takes an empty table for this many rows.
    pub(super) fn of(rows: u32) -> Self {
        let mut memory = idle().pop().unwrap_or_default();
        memory.found.clear(rows);
        memory.late.clear(0);
        memory.seen.clear();
        memory.seen.resize(rows.div_ceil(64) as usize, 0);
        Self { memory, rows }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the score of a row; zero for a missing row.
    #[inline]
    pub(super) fn get(&self, row: u32) -> RowScore {
        let score = |rows: &Rows| rows.place(row).and_then(|place| rows.scores.get(place)).copied();
        score(&self.memory.found).or_else(|| score(&self.memory.late)).unwrap_or_default()
    }

    /// Returns which of fewer than 64 consecutive rows contain a word that adds candidates, one bit each.
    #[inline]
    pub(super) fn found_bits(&self, first: u32, rows: u32) -> u64 {
        window(&self.memory.found.bits, first) & !(u64::MAX << rows)
    }

    /// Returns the scores of rows [found](Self::found_bits) from `first` on, which is at index `from`; 0 at others.
    #[inline]
    pub(super) fn raw_of<const PLACES: usize>(&self, first: u32, mut found: u64, from: u32) -> [f32; PLACES] {
        let rows = &self.memory.found;
        let mut raw = [0.0; PLACES];
        let place = rows.place(first + found.trailing_zeros()).unwrap_or_default();
        let mut scores = rows.scores.get(place..).unwrap_or_default().iter();
        while found != 0
            && let Some(score) = scores.next()
        {
            if let Some(raw) = raw.get_mut((from + found.trailing_zeros()) as usize) {
                *raw = score.raw;
            }
            found &= found - 1;
        }
        raw
    }

    /// Makes room for these rows, ascending, so that words can be added to them.
    pub(super) fn admit(&mut self, rows: &[u32]) {
        let TableMemory { found, late, .. } = &mut self.memory;
        late.clear(self.rows);
        for row in rows.iter().filter(|row| **row < self.rows && found.place(**row).is_none()) {
            late.push(*row, RowScore::default());
        }
    }

    /// Adds a term's score to a row that has another term or was admitted.
    pub(super) fn add_word(&mut self, row: u32, bit: u16, value: f32) {
        let TableMemory { found, late, .. } = &mut self.memory;
        let score = match (found.place(row), late.place(row)) {
            (Some(place), _) => found.scores.get_mut(place),
            (None, Some(place)) => late.scores.get_mut(place),
            (None, None) => None,
        };
        if let Some(score) = score {
            score.raw += value;
            score.term_bits |= bit;
        }
    }

    /// Marks a row as examined; returns whether it exists and is examined for the first time.
    pub(super) fn is_first_look(&mut self, row: u32) -> bool {
        let Some(seen) = self.memory.seen.get_mut((row / 64) as usize).filter(|_| row < self.rows) else {
            return false;
        };
        let bit = 1 << (row % 64);
        let is_first = *seen & bit == 0;
        *seen |= bit;
        is_first
    }

    /// Moves the rows of a run that begins at `first`, after all earlier ones, into the table, and visits each of them,
    /// ascending, with its score; the run is then empty.
    pub(super) fn take(&mut self, first: u32, run: &mut RowRun, mut show: impl FnMut(u32, f32)) {
        for (word, start) in run.new.iter_mut().zip((0_u32..).step_by(64)) {
            let mut left = std::mem::take(word);
            while left != 0 {
                let place = start + left.trailing_zeros();
                left &= left - 1;
                let score = run.scores.get_mut(place as usize).map(std::mem::take).unwrap_or_default();
                let row = first.saturating_add(place);
                if row < self.rows {
                    self.memory.found.push(row, score);
                    show(row, score.raw);
                }
            }
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let mut idle = idle();
        if idle.len() < MOST_IDLE {
            idle.push(std::mem::take(&mut self.memory));
        }
    }
}

/// Words of a bit mask over a run.
const WORDS: usize = BLOCK_ROWS / 64;

/// The rows of one run of postings during accumulation: few enough to stay in the cache.
#[derive(Debug)]
pub(super) struct RowRun {
    scores: [RowScore; BLOCK_ROWS],
    /// Which rows contain a word, one bit each.
    new: [u64; WORDS],
}

impl RowRun {
    pub(super) fn empty() -> Self {
        Self { scores: [RowScore::default(); BLOCK_ROWS], new: [0; WORDS] }
    }

    /// Adds a term's score to a row, relative to the start of the run.
    #[inline]
    pub(super) fn add_word(&mut self, row: u16, bit: u16, value: f32) {
        let (Some(score), Some(new)) =
            (self.scores.get_mut(usize::from(row)), self.new.get_mut(usize::from(row) / 64))
        else {
            return;
        };
        *new |= 1 << (row % 64);
        score.raw += value;
        score.term_bits |= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in which these rows contain the first word; the run begins at row 3.
    fn table(rows: u32, term_bits: &[u16]) -> Table {
        let (mut table, mut run) = (Table::of(rows), RowRun::empty());
        for row in term_bits {
            run.add_word(*row, 1, 0.5);
        }
        table.take(3, &mut run, |_, _| {});
        table
    }

    #[test]
    fn a_table_that_is_used_again_remembers_nothing() {
        for rows in [300, 40, 300] {
            let mut table = Table::of(rows);
            assert!((0..rows).all(|row| table.get(row) == RowScore::default()));
            table.admit(&(0..rows + 7).collect::<Vec<_>>());
            for row in 0..rows + 7 {
                table.add_word(row, 1, 0.5);
                assert_eq!(table.is_first_look(row), row < rows);
                assert!(!table.is_first_look(row));
            }
            assert!((0..rows + 7).all(|row| (table.get(row).term_bits == 1) == (row < rows)));
        }
    }

    #[test]
    fn words_are_added_to_rows_that_hold_one_or_were_admitted_and_to_no_others() {
        let mut table = table(200, &[0, 61, 130]);
        table.admit(&[2, 3, 64, 70, 199, 200]);
        for row in [2, 3, 4, 64, 133, 200, u32::MAX] {
            table.add_word(row, 2, 1.0);
        }
        let found: Vec<(u32, u16)> = (0..210)
            .map(|row| (row, table.get(row).term_bits))
            .filter(|(_, term_bits)| *term_bits > 0)
            .collect();
        assert_eq!(found, [(2, 2), (3, 3), (64, 3), (133, 3)]);
        assert!((table.get(64).raw - 1.5).abs() < 1e-6 && (table.get(2).raw - 1.0).abs() < 1e-6);
        assert!(!table.is_first_look(200) && !table.is_first_look(u32::MAX));
    }

    #[test]
    fn a_run_shows_each_of_its_rows_once_with_all_its_words_and_none_behind_the_end() {
        let (mut table, mut run) = (Table::of(70), RowRun::empty());
        for (row, bit) in [(65, 1), (0, 1), (65, 2), (67, 1), (1_023, 1)] {
            run.add_word(row, bit, 0.5);
        }
        let mut shown = Vec::new();
        table.take(3, &mut run, |row, score| shown.push((row, score)));
        assert_eq!(shown, [(3, 0.5), (68, 1.0)]);
        assert_eq!((table.get(3).term_bits, table.get(68).term_bits, table.get(69).term_bits), (1, 3, 0));
        table.take(3, &mut run, |row, _| panic!("{row} was taken over before"));
    }
}
