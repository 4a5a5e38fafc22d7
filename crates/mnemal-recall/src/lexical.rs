//! Lexical arm: BM25, smoothed over adjacent messages, with the score of the whole session.

mod sum;
mod table;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use mnemal_core::{Posting, TermHash};
use mnemal_text::{bm25, idf};

use crate::memory::{Columns, NONE};
use crate::rows::RowSet;
use crate::spelling::other_spelling;
use crate::synonyms::SynonymSet;
use crate::top_k::ScoredRow;

use self::sum::{Norm, WordScores, add_up, best};
use self::table::{RowScore, Table};

/// Most terms of a query that are used: the rarest among those that occur, and the first of equally rare ones.
///
/// Source: hindsight, `bm25_term_selection.py`.
pub const MOST_TERMS: usize = 16;
/// Score share of the adjacent messages. Source: own measurement on `LoCoMo`; .695 R@10 against .616 without.
const NEAR: f32 = 0.30;
/// Score share of the messages two away. Source: own measurement on `LoCoMo`, as [`NEAR`].
const FAR: f32 = 0.15;
/// A word in more than one row out of this many adds no candidates where a rarer one is found.
///
/// Source: own choice; the names of two speakers are in half of the rows each.
const COMMON_PART: u32 = 8;
/// A word in fewer rows is never common.
///
/// Source: measured, `LoCoMo` pooled (2,649 turns): from 1,000 on R@10 drops from .791 to .789; scoring 4,000 rows costs 20
/// µs.
const COMMON_FROM: u32 = 4_000;

/// Postings of terms. Rows are numbered from 0 in log order.
///
/// Guarantees that an implementation must give: `visit` passes each row at most once, ascending over all runs and within
/// each; of two runs that begin at different rows, of whatever terms, one ends before the other begins; every count is at
/// least 1; `frequency` is the number of rows passed.
pub trait LexicalIndex: Debug + Send + Sync {
    /// Returns the number of rows, including rows without terms.
    fn rows(&self) -> u32;

    /// Returns the number of rows with a term.
    fn frequency(&self, term: TermHash) -> u32;

    /// Visits the postings of a term in runs; a posting's row is relative to the first argument.
    fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting]));

    /// Returns the postings of synonyms as those of one term, in runs as [`visit`](Self::visit) has them.
    fn synonyms(&self, set: &SynonymSet) -> Vec<(u32, Arc<[Posting]>)> {
        let mut runs: BTreeMap<u32, Vec<Posting>> = BTreeMap::new();
        for term in &*set.terms {
            self.visit(*term, &mut |first, postings| runs.entry(first).or_default().extend(postings));
        }
        runs.into_iter().map(|(first, postings)| (first, as_one(postings))).collect()
    }
}

/// Makes the postings of several terms in one block those of one term.
pub(crate) fn as_one(mut postings: Vec<Posting>) -> Arc<[Posting]> {
    postings.sort_unstable_by_key(|posting| posting.row());
    postings.dedup_by(|next, one| {
        let is_same = next.row() == one.row();
        if is_same {
            *one = Posting::new(one.row(), one.count().saturating_add(next.count()));
        }
        is_same
    });
    postings.into()
}

/// Share of a word's weight that its synonyms have in the score of a row.
///
/// Source: `bench life` over nine lives, and `bench recall` on the development half of `LoCoMo`: R@10 .725 without, .808 at .3,
/// .819 at .5, .820 at .8 (lives); .820, –, .828 at .4, .820 at .8 (`LoCoMo`) (ADR 19).
const SYNONYM: f32 = 0.5;
/// Share of a word's weight that counts as covered where a row holds a synonym only. Source: `bench life`; .8 finds as much and
/// offers more for a question that nothing answers (ADR 19).
const COVERED: f32 = 0.6;
/// A set of synonyms in more than one row out of this many, and in more than [`FEW_ROWS`], says too little. Source: own choice;
/// it bounds what an expansion costs.
const SYNONYM_PART: u32 = 32;
/// A set of synonyms in fewer rows is used in any case. Source: own choice.
const FEW_ROWS: u32 = 1_000;

/// An analyzed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermQuery {
    /// Its words as terms, distinct, in order of appearance.
    pub words: Vec<TermHash>,
    /// The synonyms of some of them.
    pub synonyms: Vec<SynonymSet>,
}

impl From<Vec<TermHash>> for TermQuery {
    /// A query without synonyms.
    fn from(words: Vec<TermHash>) -> Self {
        Self { words, synonyms: Vec::new() }
    }
}

/// Lexical scores of all rows for a query.
#[derive(Clone, Debug)]
pub struct LexicalScores {
    /// Scores per row.
    rows: Table,
    /// BM25 of each conversation as one text.
    sessions: Vec<f32>,
    /// The terms in use, one bit of a row for each.
    terms: Vec<TermHash>,
    /// Weight of each term, except for parts of speakers' names, which weigh 0.
    weights: Vec<f32>,
    /// Document frequency of each term.
    frequencies: Vec<u32>,
    /// The bit of each word that has synonyms, with the bit of these.
    expanded: Vec<(u16, u16)>,
    best: Vec<ScoredRow>,
    /// Common terms, which added no candidates and are not in the scores yet.
    common: Vec<CommonTerm>,
}

/// A term that is scored on request only.
#[derive(Clone, Copy, Debug)]
struct CommonTerm {
    hash: TermHash,
    bit: u16,
    weight: f32,
}

impl LexicalScores {
    /// Returns the best rows of the filter by smoothed score, best first, without the common words.
    pub fn best(&self) -> impl Iterator<Item = u32> + '_ {
        self.best.iter().map(|ranked| ranked.row)
    }

    /// Adds the common words to the scores of these rows, ascending, and of their neighbors; other rows stay without them.
    /// Takes effect once: a second call adds nothing.
    pub fn complete(&mut self, index: &dyn LexicalIndex, columns: &Columns, rows: &[u32]) {
        let mut wanted: Vec<u32> = Vec::new();
        if !self.common.is_empty() {
            wanted.extend(rows.iter().flat_map(|row| neighbors(*row, columns)).filter(|row| *row != NONE));
            wanted.sort_unstable();
            wanted.dedup();
            self.rows.admit(&wanted);
        }
        let norm = Norm::of(columns, index.rows());
        for term in std::mem::take(&mut self.common) {
            let mut left = wanted.as_slice();
            visit(index, term.hash, &mut |first, postings| {
                let behind = left.partition_point(|row| *row < first);
                left = left.get(behind..).unwrap_or_default();
                let Some(last) = postings.last() else { return };
                for row in left.iter().take_while(|row| **row - first <= u32::from(last.row())) {
                    let place =
                        postings.binary_search_by_key(&(*row - first), |posting| u32::from(posting.row()));
                    let posting = place.ok().and_then(|place| postings.get(place));
                    if let Some((posting, length)) = posting.zip(columns.lengths.get(*row as usize)) {
                        self.rows.add_word(
                            *row,
                            1 << term.bit,
                            norm.score(term.weight, posting.count(), *length),
                        );
                    }
                }
            });
        }
    }

    /// Returns the BM25 score of a row.
    pub fn raw(&self, row: u32) -> f32 {
        self.rows.get(row).raw
    }

    /// Returns the BM25 score of a row, smoothed with its neighbors.
    pub fn smooth(&self, row: u32, columns: &Columns) -> f32 {
        self.neighbors(row, columns).smooth()
    }

    /// Looks up a row and the two messages on either side of it.
    pub(crate) fn neighbors(&self, row: u32, columns: &Columns) -> NeighborScores {
        NeighborScores(neighbors(row, columns).map(|near| self.rows.get(near)))
    }

    /// Returns the BM25 score of the row's session.
    pub fn session(&self, row: u32, columns: &Columns) -> f32 {
        let session = columns.sessions.get(row as usize).copied().unwrap_or(NONE);
        self.sessions.get(session as usize).copied().unwrap_or_default()
    }

    /// Returns the share of the query's weight in the row and the two messages on either side of it, 0 to 1.
    pub fn coverage(&self, row: u32, columns: &Columns) -> f32 {
        self.share(self.neighbors(row, columns).held_around(), u16::MAX)
    }

    /// Returns the selected ones of the terms in use, one bit each.
    pub(crate) fn bits(&self, is_meant: impl Fn(TermHash) -> bool) -> u16 {
        let meant = self.terms.iter().enumerate().filter(|(_, term)| is_meant(**term));
        meant.fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    /// Returns the document frequency of a term, if it is in use.
    pub(crate) fn frequency(&self, term: TermHash) -> Option<u32> {
        let place = self.terms.iter().position(|used| *used == term)?;
        self.frequencies.get(place).copied()
    }

    /// Returns the used terms that the row contains, one bit each.
    pub(crate) fn term_bits(&self, row: u32) -> u16 {
        self.rows.get(row).term_bits
    }

    /// Returns the used terms that the row and the two messages on either side of it contain, one bit each.
    pub(crate) fn held_around(&self, row: u32, columns: &Columns) -> u16 {
        self.neighbors(row, columns).held_around()
    }

    /// Returns the weight share of terms within others, 0 to 1; 0 if those have no weight. A word of which only a synonym is
    /// there counts in part.
    pub(crate) fn share(&self, bits: u16, of: u16) -> f32 {
        let by_synonym = self.named_by_synonym(bits) & !bits;
        let total = self.weight(of);
        let held = self.weight(bits & of) + COVERED * self.weight(by_synonym & of);
        if total > 0.0 { (held / total).min(1.0) } else { 0.0 }
    }

    /// Returns the weight share of the terms of which neither they nor a synonym are there, within others, 0 to 1.
    pub(crate) fn lacking(&self, bits: u16, of: u16) -> f32 {
        let total = self.weight(of);
        let lacking = of & !bits & !self.named_by_synonym(bits);
        if total > 0.0 { (self.weight(lacking) / total).min(1.0) } else { 0.0 }
    }

    /// Returns the words of which a synonym is there, one bit each.
    fn named_by_synonym(&self, bits: u16) -> u16 {
        let there = self.expanded.iter().filter(|(_, synonyms)| bits >> synonyms & 1 == 1);
        there.fold(0, |words, (word, _)| words | 1 << word)
    }

    fn weight(&self, bits: u16) -> f32 {
        let meant = self.weights.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        meant.map(|(_, weight)| weight).sum()
    }
}

/// A row and the two messages on either side of it, nearest first; [`NONE`] for missing ones.
#[inline]
fn neighbors(row: u32, columns: &Columns) -> [u32; 5] {
    let (before, after) = columns.adjacent(row);
    let beyond = |near: u32| if near == NONE { (NONE, NONE) } else { columns.adjacent(near) };
    [row, before, after, beyond(before).0, beyond(after).1]
}

/// Scores of a row and of the two messages on either side of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighborScores([RowScore; 5]);

impl NeighborScores {
    /// The BM25 score of the row, smoothed with its neighbors.
    pub(crate) fn smooth(self) -> f32 {
        let [own, before, after, second, fourth] = self.0.map(|near| near.raw);
        smoothed(own, [before, after], [second, fourth])
    }

    /// The used terms that the row contains, one bit each.
    pub(crate) fn term_bits(self) -> u16 {
        let [own, ..] = self.0;
        own.term_bits
    }

    /// The used terms that the row and its neighbors contain, one bit each.
    pub(crate) fn held_around(self) -> u16 {
        self.0.into_iter().fold(0, |term_bits, near| term_bits | near.term_bits)
    }
}

/// A score plus the shares of the messages one and two away.
#[inline]
fn smoothed(own: f32, near: [f32; 2], far: [f32; 2]) -> f32 {
    let [before, after] = near;
    let [second, fourth] = far;
    own + NEAR * (before + after) + FAR * (second + fourth)
}

/// Scores all rows and keeps the best `candidates` that pass the filter.
///
/// `is_name` marks terms that are parts of speakers' names or have no content; they count for ranking and not for coverage.
/// Neighbors contribute their score whether or not they pass the filter.
pub fn score(
    index: &dyn LexicalIndex,
    columns: &Columns,
    query: &TermQuery,
    is_name: &dyn Fn(TermHash) -> bool,
    (filter, candidates): (&RowSet, usize),
) -> LexicalScores {
    let rows = index.rows();
    let terms = rarest(index, query);
    let weight =
        |term: &TermPostings<'_>| idf(rows, term.frequency) * f32::from(u8::from(!is_name(term.hash)));
    let mut weights: Vec<f32> = terms.iter().map(weight).collect();
    if weights.iter().all(|weight| *weight <= 0.0) {
        weights = terms.iter().map(|term| idf(rows, term.frequency)).collect();
    }
    let used = terms.iter().map(|term| term.hash).collect();
    let frequencies = terms.iter().map(|term| term.frequency).collect();
    let expansions = expansions(index, query, &terms);
    let expanded = expansions.iter().map(|expansion| (expansion.word, expansion.bit)).collect();
    let (common, mut rare) = parted(terms, rows);
    rare.extend(expansions.iter().map(Expansion::postings));
    let (found, best) =
        best(add_up(&rare, columns, WordScores::of(rows, candidates), filter), columns, filter);
    let common = common.iter().map(|term| {
        let TermPostings { hash, bit, frequency, .. } = *term;
        CommonTerm { hash, bit, weight: idf(rows, frequency) }
    });
    let (sessions, common) = (sessions(&rare, columns), common.collect());
    LexicalScores { rows: found, sessions, terms: used, weights, frequencies, expanded, best, common }
}

/// Separates common words from those that add candidates; if all are common, they add them.
fn parted(terms: Vec<TermPostings<'_>>, rows: u32) -> (Vec<TermPostings<'_>>, Vec<TermPostings<'_>>) {
    let least = COMMON_FROM.max(rows / COMMON_PART);
    let (common, rare): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| term.frequency > least);
    if rare.iter().all(|term| term.frequency == 0) { (rare, common) } else { (common, rare) }
}

/// A query term with its postings, looked up once.
#[derive(Debug)]
struct TermPostings<'a> {
    hash: TermHash,
    /// Its index in the query.
    place: usize,
    /// Its index among the terms in use.
    bit: u16,
    frequency: u32,
    /// Share of its weight that counts.
    share: f32,
    runs: Vec<(u32, &'a [Posting])>,
}

/// The synonyms of one word, as one term.
#[derive(Debug)]
struct Expansion {
    /// The bit of the word.
    word: u16,
    bit: u16,
    frequency: u32,
    runs: Vec<(u32, Arc<[Posting]>)>,
}

impl Expansion {
    fn postings(&self) -> TermPostings<'_> {
        TermPostings {
            hash: TermHash(0),
            place: usize::MAX,
            bit: self.bit,
            frequency: self.frequency,
            share: SYNONYM,
            runs: self.runs.iter().map(|(first, postings)| (*first, &**postings)).collect(),
        }
    }
}

/// The synonyms of the terms in use, as long as there are bits for them.
fn expansions(index: &dyn LexicalIndex, query: &TermQuery, terms: &[TermPostings<'_>]) -> Vec<Expansion> {
    let most = FEW_ROWS.max(index.rows() / SYNONYM_PART);
    let free = (0..).skip(terms.len()).take(MOST_TERMS.saturating_sub(terms.len()));
    let found = query.synonyms.iter().filter_map(|set| {
        let word = terms.iter().find(|term| term.hash == set.word)?.bit;
        let runs = index.synonyms(set);
        let rows: usize = runs.iter().map(|(_, postings)| postings.len()).sum();
        let frequency = u32::try_from(rows).unwrap_or(u32::MAX);
        (1..=most).contains(&frequency).then_some(Expansion { word, bit: 0, frequency, runs })
    });
    found.zip(free).map(|(expansion, bit)| Expansion { bit, ..expansion }).collect()
}

/// Visits the postings of a term, or of its other spelling if it occurs nowhere.
fn visit<'a>(index: &'a dyn LexicalIndex, term: TermHash, f: &mut dyn FnMut(u32, &'a [Posting])) {
    let mut is_found = false;
    index.visit(term, &mut |first, postings| {
        is_found |= !postings.is_empty();
        f(first, postings);
    });
    if let Some(other) = other_spelling(term).filter(|_| !is_found) {
        index.visit(other, f);
    }
}

/// The terms in use, in query order; a word that occurs nowhere stands for its other spelling.
fn rarest<'a>(index: &'a dyn LexicalIndex, query: &TermQuery) -> Vec<TermPostings<'a>> {
    let found = |(place, hash): (usize, &TermHash)| {
        let mut runs = Vec::new();
        visit(index, *hash, &mut |first, postings| runs.push((first, postings)));
        let rows: usize = runs.iter().map(|(_, postings)| postings.len()).sum();
        let frequency = u32::try_from(rows).unwrap_or(u32::MAX);
        TermPostings { hash: *hash, place, bit: 0, frequency, share: 1.0, runs }
    };
    let mut terms: Vec<TermPostings<'a>> = query.words.iter().enumerate().map(found).collect();
    // A term that occurs nowhere finds nothing: it must not displace one that does.
    terms.sort_by_key(|term| (term.frequency == 0, term.frequency, term.place));
    terms.truncate(MOST_TERMS);
    terms.sort_by_key(|term| term.place);
    for (bit, term) in (0..).zip(&mut terms) {
        term.bit = bit;
    }
    terms
}

/// BM25 of each session as one text. Common words are in nearly every session and do not distinguish them.
fn sessions(terms: &[TermPostings<'_>], columns: &Columns) -> Vec<f32> {
    let number = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let all = columns.session_lengths.len();
    let average = columns.total_length as f32 / all.max(1) as f32;
    let (mut scores, mut counts) = (vec![0.0_f32; all], vec![0_u32; all]);
    let mut met: Vec<u32> = Vec::new();
    for term in terms {
        for (first, postings) in &term.runs {
            for posting in *postings {
                let row = first.saturating_add(u32::from(posting.row()));
                let session = columns.sessions.get(row as usize).copied().unwrap_or(NONE);
                let Some(count) = counts.get_mut(session as usize) else { continue };
                if *count == 0 {
                    met.push(session);
                }
                *count = count.saturating_add(u32::from(posting.count()));
            }
        }
        let weight = idf(number(all), number(met.len()));
        for session in met.drain(..) {
            let place = session as usize;
            let (Some(score), Some(count), Some(length)) =
                (scores.get_mut(place), counts.get_mut(place), columns.session_lengths.get(place))
            else {
                continue;
            };
            let length = u32::try_from(*length).unwrap_or(u32::MAX);
            *score += term.share * bm25(weight, std::mem::take(count), length, average);
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{block, chat, index, query, turn};
    use crate::memory::MemoryIndex;
    use mnemal_text::Analyzer;

    fn scores(words: &str) -> (LexicalScores, MemoryIndex) {
        let index = index(&[chat().len()]);
        let filter = RowSet::all(index.rows());
        let found = score(&index, &index.columns, &query(words), &|term| index.is_name(term), (&filter, 100));
        (found, index)
    }

    #[test]
    fn a_neighbour_of_a_match_is_a_candidate_and_ranks_behind_it() {
        let (found, index) = scores("telescope");
        let best: Vec<u32> = found.best().collect();
        let first = best[0];
        assert!(found.raw(first) > 0.0);
        let next = index.columns.next[first as usize];
        assert!(best.contains(&next));
        assert!(found.raw(next) == 0.0 && found.smooth(next, &index.columns) > 0.0);
        assert!((found.smooth(next, &index.columns) - NEAR * found.raw(first)).abs() < 1e-6);
    }

    #[test]
    fn coverage_counts_neighbours_and_not_names() {
        let (found, index) = scores("Ada telescope unknownword");
        let first = found.best().next().unwrap();
        let coverage = found.coverage(first, &index.columns);
        assert!(coverage > 0.0 && coverage < 0.5, "{coverage}");
        let (names, index) = scores("Ada");
        let first = names.best().next().unwrap();
        assert!(
            (names.coverage(first, &index.columns) - 1.0).abs() < 1e-6,
            "a query of names is covered by names"
        );
    }

    #[test]
    fn no_term_finds_nothing_and_a_filter_lets_only_its_rows_through() {
        assert_eq!(scores("").0.best().count(), 0);
        assert_eq!(scores("unknownword").0.best().count(), 0);
        let index = index(&[chat().len()]);
        let filter = RowSet::of(index.rows(), |row| row % 2 == 0);
        let found = score(&index, &index.columns, &query("telescope garden"), &|_| false, (&filter, 100));
        assert!(found.best().count() > 0);
        assert!(found.best().all(|row| row % 2 == 0));
    }

    #[test]
    fn the_best_are_those_of_a_full_sort_of_all_smoothed_scores() {
        let turns: Vec<_> = chat().iter().cycle().take(chat().len() * 9).cloned().collect();
        let mut index = MemoryIndex::default();
        for (first, part) in [(1, &turns[..50]), (51, &turns[50..57]), (58, &turns[57..])] {
            index.push(block(part, first), Analyzer::default());
        }
        for words in ["telescope", "Ada garden weekend", "soup Friday dinners rings", "the"] {
            for (filter, limit) in
                [(RowSet::all(index.rows()), 7), (RowSet::of(index.rows(), |row| row % 3 == 0), 30)]
            {
                let found = score(&index, &index.columns, &query(words), &|_| false, (&filter, limit));
                let mut all: Vec<ScoredRow> = (0..index.rows())
                    .filter(|row| filter.has(*row))
                    .map(|row| ScoredRow { score: found.smooth(row, &index.columns), row })
                    .filter(|ranked| ranked.score > 0.0)
                    .collect();
                all.sort_by(|a, b| b.cmp(a));
                all.truncate(limit);
                assert_eq!(found.best, all, "{words}");
            }
        }
    }

    /// The chat repeated, so that each speaker has more rows than any uncommon word.
    fn long_index() -> MemoryIndex {
        let turns: Vec<_> = chat().iter().cycle().take(1_000).cloned().collect();
        let mut index = MemoryIndex::default();
        for first in (1..14_001).step_by(1_000) {
            index.push(block(&turns, first), Analyzer::default());
        }
        index
    }

    #[test]
    fn common_words_bring_no_candidates_and_score_those_that_others_bring() {
        let index = long_index();
        let columns = &index.columns;
        let filter = RowSet::all(index.rows());
        let mut found = score(&index, columns, &query("Ada telescope"), &|_| false, (&filter, 100));
        let (terms, filter) = (rarest(&index, &query("Ada telescope")), RowSet::all(index.rows()));
        let whole = add_up(&terms, columns, WordScores::of(index.rows(), 1), &filter).table;
        let mut rows: Vec<u32> = found.best().collect();
        rows.sort_unstable();
        let is_exact = |found: &LexicalScores, row: u32| {
            let (one, all) = (found.rows.get(row), whole.get(row));
            (one.raw - all.raw).abs() < 1e-5 && one.term_bits == all.term_bits
        };
        assert_eq!(found.common.len(), 1);
        let mut near = rows.iter().flat_map(|row| neighbors(*row, columns));
        assert!(!near.all(|row| is_exact(&found, row)), "the name is not counted yet");
        found.complete(&index, columns, &rows);
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().flat_map(|row| neighbors(*row, columns)).all(|row| is_exact(&found, row)));
        let telescope = query("telescope").words;
        let holds = |row: u32| {
            let (block, place) = index.place(row).unwrap();
            block.postings(telescope[0]).iter().any(|posting| usize::from(posting.row()) == place)
        };
        assert!(
            rows.iter()
                .all(|row| neighbors(*row, columns).into_iter().any(|near| near != NONE && holds(near)))
        );
    }

    #[test]
    fn where_all_words_are_common_they_bring_candidates() {
        let index = long_index();
        let filter = RowSet::all(index.rows());
        let found = score(&index, &index.columns, &query("Ada"), &|_| false, (&filter, 100));
        assert_eq!(found.best().count(), 100);
        assert!(found.best().all(|row| found.raw(row) > 0.0));
        assert!(found.common.is_empty());
    }

    /// The scores for "work", of which "job" is a synonym, over turns of a conversation each.
    fn expanded(turns: &[&str]) -> (LexicalScores, MemoryIndex, SynonymSet) {
        let turns: Vec<_> =
            turns.iter().zip(0..).map(|(text, n)| turn(&format!("s{n}"), "user", text)).collect();
        let mut index = MemoryIndex::default();
        for (some, first) in turns.chunks(500).zip((1..).step_by(500)) {
            index.push(block(some, first), Analyzer::default());
        }
        let words = query("work").words;
        let set = SynonymSet { word: words[0], concept: 7, terms: query("work job").words.into() };
        let asked = TermQuery { words, synonyms: vec![set.clone()] };
        let filter = RowSet::all(index.rows());
        let found = score(&index, &index.columns, &asked, &|_| false, (&filter, 100));
        (found, index, set)
    }

    #[test]
    fn a_synonym_finds_a_turn_and_counts_less_than_the_word() {
        let (found, index, _) = expanded(&["I got the job.", "I like my work.", "It rains a lot."]);
        assert_eq!(found.best().collect::<Vec<_>>(), [1, 0]);
        let covered = [0, 1, 2].map(|row| found.coverage(row, &index.columns));
        assert_eq!(covered.map(|share| share.abs().to_bits()), [COVERED, 1.0, 0.0].map(f32::to_bits));
        let lacking = [0, 1, 2].map(|row| found.lacking(found.term_bits(row), u16::MAX));
        assert_eq!(lacking.map(|share| share.abs().to_bits()), [0.0, 0.0, 1.0_f32].map(f32::to_bits));
    }

    #[test]
    fn synonyms_in_too_many_turns_find_nothing() {
        let mut turns = vec!["I got the job."; FEW_ROWS as usize];
        let (found, ..) = expanded(&turns);
        assert!(found.raw(0) > 0.0);
        turns.push("A job again.");
        let (found, ..) = expanded(&turns);
        assert!(found.best().next().is_none() && found.raw(0) == 0.0);
    }

    /// An index that keeps nothing of a concept.
    #[derive(Debug)]
    struct Forgetful(MemoryIndex);

    impl LexicalIndex for Forgetful {
        fn rows(&self) -> u32 {
            self.0.rows()
        }

        fn frequency(&self, term: TermHash) -> u32 {
            self.0.frequency(term)
        }

        fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting])) {
            self.0.visit(term, run);
        }
    }

    #[test]
    fn what_a_block_keeps_of_a_concept_is_what_a_search_finds() {
        let turns = ["A job, a job and work.", "It rains.", "Work!"].repeat(400);
        let (_, mut index, set) = expanded(&turns);
        let check = |index: &MemoryIndex| {
            let kept = index.synonyms(&set);
            assert_eq!(kept, Forgetful(index.clone()).synonyms(&set));
            kept.iter().map(|(_, postings)| postings.len()).sum::<usize>()
        };
        assert_eq!(check(&index), 800);
        index.push(block(&[turn("new", "user", "A new job.")], 1_201), Analyzer::default());
        assert_eq!(check(&index), 801, "a block that grows is searched again");
    }

    #[test]
    fn at_most_sixteen_terms_are_used_and_the_rarest_stay() {
        let index = index(&[chat().len()]);
        let many: Vec<String> = (0..40).map(|n| format!("word{n}")).collect();
        let used = rarest(&index, &query(&format!("{} the I telescope", many.join(" "))));
        assert_eq!(used.len(), MOST_TERMS);
        assert!(used.iter().filter(|term| term.frequency == 0).count() < MOST_TERMS, "what occurs is used");
        assert_eq!(used.last().map(|term| term.hash), query("telescope").words.first().copied());
    }
}
