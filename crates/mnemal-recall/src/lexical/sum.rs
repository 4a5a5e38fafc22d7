//! Term-at-a-time accumulation of scores over all rows, and selection of the best.

use mnemal_core::Posting;
use mnemal_text::{B, K1, idf};

use crate::memory::{Columns, NONE};
use crate::rows::RowSet;
use crate::top_k::{ScoredRow, TopK};

use super::table::{RowRun, Table};
use super::{FAR, NEAR, TermPostings, smoothed};

/// Upper bound of a smoothed score relative to its highest part, with a margin for rounding.
const MOST_LENT: f32 = (1.0 + 2.0 * NEAR + 2.0 * FAR) * 1.001;

/// Messages on either side of a row that affect the smoothed scores of the row and of its neighbors.
const REACH: u32 = 4;
/// A row with those messages.
const WINDOW: usize = 2 * REACH as usize + 1;
/// Their indexes.
const PLACES: [u32; WINDOW] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// BM25 normalization, with everything that is the same for all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norm {
    slope: f32,
    base: f32,
}

impl Norm {
    pub(super) fn of(columns: &Columns, rows: u32) -> Self {
        let average = columns.total_length as f32 / rows.max(1) as f32;
        Self { slope: K1 * B / average.max(f32::MIN_POSITIVE), base: K1 * (1.0 - B) }
    }

    #[inline]
    pub(super) fn score(self, weight: f32, count: u16, length: u32) -> f32 {
        let count = f32::from(count);
        weight * count / (count + self.base + self.slope * length as f32)
    }
}

/// Accumulated word scores.
#[derive(Debug)]
pub(super) struct WordScores {
    pub(super) table: Table,
    /// The best rows of the filter by unsmoothed score.
    own: TopK,
    /// Rows whose unsmoothed score could reach the best ones, as far as was known when they were visited.
    strong: Vec<ScoredRow>,
    candidates: usize,
}

impl WordScores {
    /// Starts empty.
    pub(super) fn of(rows: u32, candidates: usize) -> Self {
        Self { table: Table::of(rows), own: TopK::new(candidates), strong: Vec::new(), candidates }
    }
}

/// Adds up BM25 over the terms, one run of the index at a time, so that the scores of a run stay in the cache.
pub(super) fn add_up(
    terms: &[TermPostings<'_>],
    columns: &Columns,
    mut words: WordScores,
    filter: &RowSet,
) -> WordScores {
    let rows = words.table.rows();
    let norm = Norm::of(columns, rows);
    let weights: Vec<f32> = terms.iter().map(|term| term.share * idf(rows, term.frequency)).collect();
    let mut left: Vec<&[(u32, &[Posting])]> = terms.iter().map(|term| term.runs.as_slice()).collect();
    let mut run = RowRun::empty();
    while let Some(first) = left.iter().filter_map(|runs| runs.first().map(|(first, _)| *first)).min() {
        let lengths = columns.lengths.get(first as usize..).unwrap_or_default();
        for ((term, weight), runs) in terms.iter().zip(&weights).zip(&mut left) {
            let Some(((_, postings), behind)) = runs.split_first().filter(|((of, _), _)| *of == first) else {
                continue;
            };
            *runs = behind;
            for posting in *postings {
                let Some(length) = lengths.get(usize::from(posting.row())) else { continue };
                run.add_word(posting.row(), 1 << term.bit, norm.score(*weight, posting.count(), *length));
            }
        }
        let least = least(&words.own);
        let WordScores { table, own, strong, .. } = &mut words;
        table.take(first, &mut run, |row, score| {
            if score >= least {
                strong.push(ScoredRow { score, row });
                if filter.has(row) {
                    own.offer(score, row);
                }
            }
        });
    }
    words
}

/// The score that a row needs so that a neighbor can be among the best: a smoothed score is at most [`MOST_LENT`] times the
/// highest of the five scores in it, and at least the row's own.
fn least(best: &TopK) -> f32 {
    best.last().map_or(0.0, |last| last.score / MOST_LENT)
}

/// Returns the best rows of the filter by smoothed score, best first. Rows around the best unsmoothed scores are processed
/// first, which raises the threshold for the others early.
pub(super) fn best(words: WordScores, columns: &Columns, filter: &RowSet) -> (Table, Vec<ScoredRow>) {
    let WordScores { mut table, own, strong, candidates } = words;
    let mut best = TopK::new(candidates);
    for first in own.into_sorted() {
        offer_around(first, &mut table, columns, filter, &mut best);
    }
    for strong in strong {
        if strong.score >= least(&best) {
            offer_around(strong, &mut table, columns, filter, &mut best);
        }
    }
    (table, best.into_sorted())
}

/// Offers a row and the two messages on either side of it, all of which its score affects.
fn offer_around(strong: ScoredRow, table: &mut Table, columns: &Columns, filter: &RowSet, best: &mut TopK) {
    let row = strong.row;
    let (rows, scores) = if let Some((before, behind)) = columns.neighbors(row, REACH) {
        let found = table.found_bits(row - before, before + behind + 1);
        // Its neighbors add nothing to it, and it adds less to them than it has.
        if found.is_power_of_two() && best.last().is_some_and(|last| strong.score < last.score) {
            return;
        }
        let rows = PLACES.map(|place| {
            let is_there = place + before >= REACH && place <= REACH + behind;
            if is_there { row + place - REACH } else { NONE }
        });
        (rows, table.raw_of(row - before, found, REACH - before))
    } else {
        let rows = far_around(row, columns);
        (rows, rows.map(|row| table.get(row).raw))
    };
    for (rows, scores) in rows.windows(5).zip(scores.windows(5)) {
        let (&[_, _, row, _, _], &[second, before, own, after, fourth]) = (rows, scores) else { continue };
        let score = smoothed(own, [before, after], [second, fourth]);
        let is_good = best.last().is_none_or(|last| score >= last.score);
        if is_good && filter.has(row) && table.is_first_look(row) {
            best.offer(score, row);
        }
    }
}

/// A row and the messages on either side of it that affect its neighbors' scores, in session order; [`NONE`] for missing
/// ones.
fn far_around(row: u32, columns: &Columns) -> [u32; WINDOW] {
    let mut rows = [NONE; WINDOW];
    let (before, behind) = rows.split_at_mut(REACH as usize);
    let mut next = row;
    for place in behind {
        *place = next;
        next = if next == NONE { NONE } else { columns.adjacent(next).1 };
    }
    let mut last = row;
    for place in before.iter_mut().rev() {
        last = if last == NONE { NONE } else { columns.adjacent(last).0 };
        *place = last;
    }
    rows
}
