//! What a search finds of each row, in memory that the next search uses again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemal_core::BLOCK_ROWS;

/// Most tables that wait for the next search. Source: own choice; two readers at once make none anew.
const MOST_IDLE: usize = 2;

/// What a table is made of: all of zeros, and empty.
type Memory = (Vec<RowScore>, Vec<u32>);

/// Tables of searches that have ended, all of zeros.
///
/// A megabyte for each 130,000 rows: fresh memory would cost a search as much as its words.
static IDLE: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<Memory>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was found of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RowScore {
    /// BM25.
    pub(super) raw: f32,
    /// Which of the query's terms it holds, one bit a term.
    pub(super) held: u16,
    /// It was looked at for the best.
    is_seen: bool,
}

/// One value a row, and which of them are not zero.
#[derive(Clone, Debug)]
pub(super) struct Table {
    scores: Vec<RowScore>,
    /// Rows that are not zero, each once: first those that hold a word, ascending, then others that were looked at.
    met: Vec<u32>,
    rows: u32,
}

impl Table {
    /// Takes a table of zeros, for so many rows.
    pub(super) fn of(rows: u32) -> Self {
        let (mut scores, met) = idle().pop().unwrap_or_default();
        if scores.len() < rows as usize {
            scores = vec![RowScore::default(); rows as usize];
        }
        Self { scores, met, rows }
    }

    /// Returns for how many rows it is.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns what was found of a row; nothing of a row that is not there.
    pub(super) fn get(&self, row: u32) -> RowScore {
        self.scores.get(row as usize).copied().unwrap_or_default()
    }

    /// Returns the rows from `first` on, as far as one run of postings reaches.
    pub(super) fn run(&mut self, first: u32) -> Run<'_> {
        let start = first.min(self.rows) as usize;
        let end = (start + BLOCK_ROWS).min(self.rows as usize);
        Run {
            scores: self.scores.get_mut(start..end).unwrap_or_default(),
            met: &mut self.met,
            first,
            new: [0; WORDS],
        }
    }

    /// Adds what one term is worth to a row.
    pub(super) fn add_word(&mut self, row: u32, bit: u16, value: f32) {
        let Some(score) = self.scores.get_mut(row as usize).filter(|_| row < self.rows) else { return };
        if score.held == 0 {
            self.met.push(row);
        }
        score.raw += value;
        score.held |= bit;
    }

    /// Marks a row as looked at; says whether it is there and was not looked at before.
    pub(super) fn is_first_look(&mut self, row: u32) -> bool {
        let Some(score) = self.scores.get_mut(row as usize).filter(|_| row < self.rows) else { return false };
        if score.held == 0 && !score.is_seen {
            self.met.push(row);
        }
        !std::mem::replace(&mut score.is_seen, true)
    }
}

/// Words of a mask of the rows of a run.
const WORDS: usize = BLOCK_ROWS / 64;

/// The rows of one run of postings, while terms are added to them.
#[derive(Debug)]
pub(super) struct Run<'a> {
    scores: &'a mut [RowScore],
    met: &'a mut Vec<u32>,
    first: u32,
    /// Which rows were zero before, one bit each.
    new: [u64; WORDS],
}

impl Run<'_> {
    /// Adds what one term is worth to a row, counted from the first of the run.
    ///
    /// Which rows are met for the first time cannot be foreseen: they are noted without asking, and sorted out at the end.
    #[inline]
    pub(super) fn add_word(&mut self, row: u16, bit: u16, value: f32) {
        let (Some(score), Some(new)) =
            (self.scores.get_mut(usize::from(row)), self.new.get_mut(usize::from(row) / 64))
        else {
            return;
        };
        *new |= u64::from(score.held == 0) << (row % 64);
        score.raw += value;
        score.held |= bit;
    }
}

impl Run<'_> {
    /// Ends the run and shows each of its rows that holds a word, ascending, with its score.
    pub(super) fn end(self, mut show: impl FnMut(u32, f32)) {
        for (word, start) in self.new.into_iter().zip((0_u32..).step_by(64)) {
            let mut left = word;
            while left != 0 {
                let place = start + left.trailing_zeros();
                left &= left - 1;
                self.met.push(self.first + place);
                show(self.first + place, self.scores.get(place as usize).map_or(0.0, |score| score.raw));
            }
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let (mut scores, mut met) = (std::mem::take(&mut self.scores), std::mem::take(&mut self.met));
        for row in met.drain(..) {
            if let Some(score) = scores.get_mut(row as usize) {
                *score = RowScore::default();
            }
        }
        let mut idle = idle();
        if idle.len() < MOST_IDLE {
            idle.push((scores, met));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_used_again_remembers_nothing() {
        for rows in [300, 40, 300] {
            let mut table = Table::of(rows);
            assert!(table.met.is_empty());
            assert!((0..rows).all(|row| table.get(row) == RowScore::default()));
            for row in 0..rows + 7 {
                table.add_word(row, 1, 0.5);
                table.is_first_look(row);
            }
            assert_eq!(table.met.len(), rows as usize);
            assert!((0..rows).all(|row| table.get(row).held == 1 && table.get(row).is_seen));
        }
    }

    #[test]
    fn a_row_is_met_once_and_words_come_before_what_is_only_looked_at() {
        let mut table = Table::of(9);
        table.add_word(4, 1, 1.0);
        table.add_word(4, 2, 1.0);
        assert!(table.is_first_look(4) && !table.is_first_look(4));
        assert!(table.is_first_look(5) && !table.is_first_look(5));
        assert!(!table.is_first_look(9) && !table.is_first_look(u32::MAX));
        assert_eq!(table.met, [4, 5]);
        assert_eq!(table.get(4).held, 3);
    }

    #[test]
    fn a_run_shows_each_of_its_rows_once_with_all_its_words_and_none_behind_the_end() {
        let mut table = Table::of(70);
        let mut run = table.run(3);
        for (row, bit) in [(65, 1), (0, 1), (65, 2), (67, 1), (1_023, 1)] {
            run.add_word(row, bit, 0.5);
        }
        let mut shown = Vec::new();
        run.end(|row, score| shown.push((row, score)));
        assert_eq!(shown, [(3, 0.5), (68, 1.0)]);
        assert_eq!((table.met.as_slice(), table.get(68).held), ([3, 68].as_slice(), 3));
        table.run(70).end(|row, _| panic!("{row} is not there"));
    }
}
