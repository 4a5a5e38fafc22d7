//! What a search finds of each row, in memory that the next search uses again.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most tables that wait for the next search. Source: own choice; two readers at once make none anew.
const MOST_IDLE: usize = 2;

/// What a table is made of: all of zeros, and empty.
type Memory = (Vec<RowScore>, Vec<u32>);

/// Tables of searches that have ended, all of zeros.
///
/// A megabyte for each 80,000 rows: fresh memory would cost a search as much as its words.
static IDLE: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<Memory>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was found of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RowScore {
    /// BM25.
    pub(super) raw: f32,
    /// BM25 with the neighbours' share.
    pub(super) smooth: f32,
    /// Which of the query's terms it holds, one bit a term.
    pub(super) held: u16,
}

/// One value a row, and which of them are not zero.
#[derive(Clone, Debug)]
pub(super) struct Table {
    scores: Vec<RowScore>,
    /// Rows that are not zero, each once: first those that hold a word, then neighbours.
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

    /// Returns what was found of a row; nothing of a row that is not there.
    pub(super) fn get(&self, row: u32) -> RowScore {
        self.scores.get(row as usize).copied().unwrap_or_default()
    }

    /// Adds what one term is worth to a row.
    #[inline]
    pub(super) fn add_word(&mut self, row: u32, bit: u16, value: f32) {
        let Some(score) = self.scores.get_mut(row as usize).filter(|_| row < self.rows) else { return };
        if score.held == 0 {
            self.met.push(row);
        }
        score.raw += value;
        score.held |= bit;
    }

    /// Adds to the smoothed score of a row, once all words are in.
    #[inline]
    pub(super) fn lend(&mut self, row: u32, value: f32) {
        let Some(score) = self.scores.get_mut(row as usize).filter(|_| row < self.rows) else { return };
        if score.held == 0 && score.smooth == 0.0 {
            self.met.push(row);
        }
        score.smooth += value;
    }

    /// Returns the number of rows that are not zero.
    pub(super) fn met_len(&self) -> usize {
        self.met.len()
    }

    /// Returns the row at a place among those that are not zero.
    pub(super) fn met_at(&self, place: usize) -> Option<(u32, RowScore)> {
        self.met.get(place).map(|row| (*row, self.get(*row)))
    }

    /// Returns the rows that are not zero.
    pub(super) fn met(&self) -> impl Iterator<Item = (u32, RowScore)> + '_ {
        self.met.iter().map(|row| (*row, self.get(*row)))
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
            assert_eq!(table.met_len(), 0);
            assert!((0..rows).all(|row| table.get(row) == RowScore::default()));
            for row in 0..rows + 7 {
                table.add_word(row, 1, 0.5);
                table.lend(row, 0.25);
                table.lend(row / 2, 0.25);
            }
            assert_eq!(table.met_len(), rows as usize);
            assert!(table.met().all(|(_, score)| score.held == 1 && score.smooth > 0.0));
        }
    }

    #[test]
    fn a_row_is_met_once_and_words_come_before_neighbours() {
        let mut table = Table::of(9);
        table.add_word(4, 1, 1.0);
        table.add_word(4, 2, 1.0);
        table.lend(4, 2.0);
        table.lend(5, 0.6);
        table.lend(5, 0.6);
        table.lend(u32::MAX, 0.6);
        let met: Vec<u32> = table.met().map(|(row, _)| row).collect();
        assert_eq!(met, [4, 5]);
        assert_eq!(table.get(4).held, 3);
    }
}
