//! In-memory index: the stored blocks, and the few columns that span blocks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{
    BLOCK_ROWS, Cursor, EventId, IndexBlock, Labels, Marks, ModelId, Posting, Role, Seq, TermHash, Timestamp,
};
use mnemal_text::{Analyzer, term_hash};

use crate::lexical::{LexicalIndex, as_one};
use crate::merge::merge;
use crate::rows::window;
use crate::synonyms::SynonymSet;
use crate::terms::is_message;

/// No row.
pub(crate) const NONE: u32 = u32::MAX;

/// Names that denote a speaker's role, not a person. Source: own choice.
const PARTS: [&str; 10] =
    ["user", "assistant", "human", "agent", "ai", "bot", "system", "tool", "model", "narrator"];

/// A block and the number of its first row.
#[derive(Clone, Debug)]
pub(crate) struct PlacedBlock {
    pub(crate) first: u32,
    pub(crate) block: Arc<IndexBlock>,
    /// The numbers of the block's speakers.
    speakers: Arc<[u32]>,
    /// Postings of concepts that were asked for, by their number.
    concepts: Arc<Mutex<HashMap<u16, Arc<[Posting]>>>>,
}

impl PlacedBlock {
    /// The postings of synonyms as those of one term.
    fn synonyms(&self, set: &SynonymSet) -> Arc<[Posting]> {
        let mut known = self.concepts.lock().unwrap_or_else(PoisonError::into_inner);
        let all = || {
            as_one(
                set.terms
                    .iter()
                    .flat_map(|term| postings(&self.block, *term, guess(&self.block.terms, *term)))
                    .copied()
                    .collect(),
            )
        };
        known.entry(set.concept).or_insert_with(all).clone()
    }
}

/// Session data of the rows; one value per row, `u32::MAX` for none.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Number of terms.
    pub lengths: Vec<u32>,
    /// The previous message in its session.
    pub previous: Vec<u32>,
    /// The next message in its session.
    pub next: Vec<u32>,
    /// Which rows directly follow their previous message in the log, one bit each: for most rows this replaces eight bytes
    /// of `previous` and `next` by an eighth of a byte.
    pub joined: Vec<u64>,
    /// Which rows have no previous message, one bit each: a compact, cache-friendly form of what `previous` says at the
    /// start of a session.
    pub opening: Vec<u64>,
    /// Which rows have no next message, one bit each; the counterpart of `opening` for `next`.
    pub closing: Vec<u64>,
    /// The number of its session.
    pub sessions: Vec<u32>,
    /// Number of terms of each session.
    pub session_lengths: Vec<u64>,
    /// Number of terms of all rows.
    pub total_length: u64,
}

impl Columns {
    /// Returns the previous and the next message of a row in its session; [`u32::MAX`] for none.
    #[inline]
    pub fn adjacent(&self, row: u32) -> (u32, u32) {
        let of = |column: &[u32], ends: &[u64]| {
            if has(ends, row) { NONE } else { column.get(row as usize).copied().unwrap_or(NONE) }
        };
        let before = if has(&self.joined, row) { row - 1 } else { of(&self.previous, &self.opening) };
        let after = match row.checked_add(1).filter(|next| has(&self.joined, *next)) {
            Some(next) => next,
            None => of(&self.next, &self.closing),
        };
        (before, after)
    }

    /// Returns how many of the `reach` messages before and after a row exist, if all of them are consecutive in the log;
    /// `None` otherwise. `reach` is at most 32.
    #[inline]
    pub(crate) fn neighbors(&self, row: u32, reach: u32) -> Option<(u32, u32)> {
        // The bits of the rows before it, up to itself, and of those after it.
        let before = window(&self.joined, row.checked_sub(reach - 1)?) << (64 - reach);
        let before = before.leading_ones().min(reach);
        let behind = window(&self.joined, row.checked_add(1)?).trailing_ones().min(reach);
        let is_whole = (before == reach || has(&self.opening, row - before))
            && (behind == reach || has(&self.closing, row + behind));
        is_whole.then_some((before, behind))
    }

    /// Adds a row that follows `previous` and is the last one so far.
    fn join(&mut self, row: u32, previous: u32) {
        if let Some(next) = self.next.get_mut(previous as usize) {
            *next = row;
            if let Some(bits) = self.closing.get_mut((previous / 64) as usize) {
                *bits &= !(1 << (previous % 64));
            }
        }
        self.previous.push(previous);
        self.next.push(NONE);
        let is_first = previous == NONE;
        let is_joined = !is_first && previous.checked_add(1) == Some(row);
        let columns =
            [(&mut self.joined, is_joined), (&mut self.opening, is_first), (&mut self.closing, true)];
        for (bits, is_set) in columns {
            bits.resize(row as usize / 64 + 1, 0);
            if let Some(bits) = bits.last_mut() {
                *bits |= u64::from(is_set) << (row % 64);
            }
        }
    }
}

/// Whether the bit of a row is set; false beyond the end.
#[inline]
fn has(bits: &[u64], row: u32) -> bool {
    bits.get((row / 64) as usize).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
}

/// All rows of one space, numbered from 0 by `seq`. Cheap to clone: blocks are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryIndex {
    pub(crate) blocks: Vec<PlacedBlock>,
    pub(crate) columns: Columns,
    session_numbers: HashMap<String, u32>,
    last_message: Vec<u32>,
    speaker_numbers: HashMap<String, u32>,
    /// The name terms of each speaker; empty for a speaker known only by role.
    speakers: Vec<Vec<TermHash>>,
    name_terms: HashSet<TermHash>,
    pub(crate) vectors: HashMap<ModelId, u32>,
    rows: u32,
}

impl MemoryIndex {
    /// Position of the newest row.
    pub(crate) fn head(&self) -> Cursor {
        Cursor(self.blocks.last().and_then(|placed| placed.block.seqs.last().copied()))
    }

    /// Appends a block; the caller leaves out rows that are present already.
    pub(crate) fn push(&mut self, block: impl Into<Arc<IndexBlock>>, analyzer: Analyzer) {
        let block = block.into();
        if block.is_empty() {
            return;
        }
        let first = self.rows;
        self.link(&block);
        self.learn_speakers(&block.speakers, analyzer);
        self.count_vectors(&block);
        self.rows = first.saturating_add(u32::try_from(block.len()).unwrap_or(u32::MAX));
        let placed = self.place_block(first, block);
        self.blocks.push(placed);
        self.pack();
    }

    /// Numbers sessions and links each message to the previous one.
    fn link(&mut self, block: &IndexBlock) {
        let numbers: Vec<u32> = block.sessions.names.iter().map(|name| self.session(name)).collect();
        let columns = &mut self.columns;
        for (place, row) in (0..block.len()).zip(self.rows..) {
            let length = block.lengths.get(place).copied().unwrap_or_default();
            let code = usize::from(block.sessions.rows.get(place).copied().unwrap_or_default());
            let session = code.checked_sub(1).and_then(|code| numbers.get(code)).copied().unwrap_or(NONE);
            let mut previous = NONE;
            if let Some(total) = columns.session_lengths.get_mut(session as usize) {
                *total += u64::from(length);
            }
            let is_message = block.roles.get(place).is_some_and(|role| is_message(*role));
            if let Some(last) = self.last_message.get_mut(session as usize).filter(|_| is_message) {
                previous = std::mem::replace(last, row);
            }
            columns.lengths.push(length);
            columns.total_length += u64::from(length);
            columns.sessions.push(session);
            columns.join(row, previous);
        }
    }

    /// The number of a session that has rows.
    pub(crate) fn session_number(&self, name: &str) -> Option<u32> {
        self.session_numbers.get(name).copied()
    }

    fn session(&mut self, name: &str) -> u32 {
        if let Some(number) = self.session_numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.last_message.len()).unwrap_or(NONE);
        self.session_numbers.insert(name.to_owned(), number);
        self.last_message.push(NONE);
        self.columns.session_lengths.push(0);
        number
    }

    fn learn_speakers(&mut self, speakers: &Labels, analyzer: Analyzer) {
        for name in &speakers.names {
            if !self.speaker_numbers.contains_key(name) {
                let is_person = !PARTS.contains(&name.to_lowercase().as_str());
                let terms = if is_person { analyzer.query_terms(name) } else { Vec::new() };
                let terms: Vec<TermHash> = terms.iter().map(|term| TermHash(term_hash(term))).collect();
                self.name_terms.extend(&terms);
                let number = u32::try_from(self.speakers.len()).unwrap_or(NONE);
                self.speakers.push(terms);
                self.speaker_numbers.insert(name.clone(), number);
            }
        }
    }

    /// A block with its speakers registered.
    fn place_block(&self, first: u32, block: Arc<IndexBlock>) -> PlacedBlock {
        let number = |name: &String| self.speaker_numbers.get(name).copied().unwrap_or(NONE);
        let speakers = block.speakers.names.iter().map(number).collect();
        PlacedBlock { first, block, speakers, concepts: Arc::default() }
    }

    /// Merges the newest blocks while the last is as large as the one before it, so that each row is copied only a few
    /// times.
    fn pack(&mut self) {
        while let [.., before, last] = self.blocks.as_slice() {
            if last.block.len() < before.block.len() || last.block.len() + before.block.len() > BLOCK_ROWS {
                return;
            }
            let merged = self.place_block(before.first, Arc::new(merge(&before.block, &last.block)));
            self.blocks.truncate(self.blocks.len() - 2);
            self.blocks.push(merged);
        }
    }

    /// Prefetches the data of these rows, ascending: they are far apart, and the memory reads run in parallel.
    pub(crate) fn fetch(&self, mut rows: &[u32]) {
        let of = |column: &[u32], row: u32| column.get(row as usize).copied().unwrap_or_default();
        let columns = &self.columns;
        let mut met = 0;
        for row in rows {
            met ^= of(&columns.lengths, *row) ^ of(&columns.sessions, *row) ^ of(&columns.previous, *row);
        }
        while let Some((placed, _)) = rows.first().and_then(|row| self.locate(*row)) {
            let PlacedBlock { first, block, .. } = placed;
            let behind = rows.partition_point(|row| ((*row - first) as usize) < block.len());
            for row in rows.get(..behind).unwrap_or_default() {
                let place = (*row - first) as usize;
                let speaker = block.speakers.rows.get(place).copied().unwrap_or_default();
                let is_person = block.roles.get(place).is_some_and(|role| *role == Role::User);
                let marks = block.marks.get(place).copied().unwrap_or_default();
                met ^= u32::from(speaker) ^ u32::from(is_person) ^ u32::from(marks.0);
            }
            rows = rows.get(behind.max(1)..).unwrap_or_default();
        }
        std::hint::black_box(met);
    }

    /// The block of a row, and the row's index in it.
    pub(crate) fn place(&self, row: u32) -> Option<(&IndexBlock, usize)> {
        self.locate(row).map(|(placed, place)| (&*placed.block, place))
    }

    fn locate(&self, row: u32) -> Option<(&PlacedBlock, usize)> {
        let at = self.blocks.partition_point(|placed| placed.first <= row).checked_sub(1)?;
        let placed = self.blocks.get(at)?;
        Some((placed, (row - placed.first) as usize))
    }

    pub(crate) fn event(&self, row: u32) -> Option<EventId> {
        let (block, place) = self.place(row)?;
        block.events.get(place).copied()
    }

    /// The event of a row, and its log position.
    pub(crate) fn event_at(&self, row: u32) -> Option<(EventId, Seq)> {
        let (block, place) = self.place(row)?;
        Some((*block.events.get(place)?, *block.seqs.get(place)?))
    }

    pub(crate) fn occurred_at(&self, row: u32) -> Option<Timestamp> {
        let (block, place) = self.place(row)?;
        block.occurred_at.get(place).copied()
    }

    pub(crate) fn role(&self, row: u32) -> Option<Role> {
        let (block, place) = self.place(row)?;
        block.roles.get(place).copied()
    }

    pub(crate) fn marks(&self, row: u32) -> Marks {
        self.place(row).and_then(|(block, place)| block.marks.get(place).copied()).unwrap_or_default()
    }

    /// Whether one of these terms is in the name of the row's speaker.
    pub(crate) fn is_spoken_by(&self, row: u32, terms: &[TermHash]) -> bool {
        self.speaker(row).iter().any(|term| terms.contains(term))
    }

    /// The name terms of the row's speaker; empty for a speaker known only by role.
    pub(crate) fn speaker(&self, row: u32) -> &[TermHash] {
        let number = self.locate(row).and_then(|(placed, place)| {
            let code = usize::from(*placed.block.speakers.rows.get(place)?);
            placed.speakers.get(code.checked_sub(1)?).copied()
        });
        number.and_then(|number| self.speakers.get(number as usize)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a term is a part of any speaker's name.
    pub(crate) fn is_name(&self, term: TermHash) -> bool {
        self.name_terms.contains(&term)
    }

    fn count_vectors(&mut self, block: &IndexBlock) {
        for column in &block.vectors {
            let found = column.scales.iter().filter(|scale| **scale > 0.0).count();
            *self.vectors.entry(column.model.clone()).or_default() +=
                u32::try_from(found).unwrap_or(u32::MAX);
        }
    }

    /// Number of rows with a vector of the model.
    pub(crate) fn vectors_of(&self, model: &ModelId) -> u32 {
        self.vectors.get(model).copied().unwrap_or_default()
    }
}

impl LexicalIndex for MemoryIndex {
    fn rows(&self) -> u32 {
        self.rows
    }

    fn frequency(&self, term: TermHash) -> u32 {
        let mut found = 0;
        self.visit(term, &mut |_, postings| found += postings.len());
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// Each block is searched once for each concept.
    fn synonyms(&self, set: &SynonymSet) -> Vec<(u32, Arc<[Posting]>)> {
        let runs = self.blocks.iter().map(|placed| (placed.first, placed.synonyms(set)));
        runs.filter(|(_, postings)| !postings.is_empty()).collect()
    }

    fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting])) {
        for some in self.blocks.chunks(TOGETHER) {
            let mut places = [0; TOGETHER];
            for (place, placed) in places.iter_mut().zip(some) {
                *place = guess(&placed.block.terms, term);
            }
            let met =
                places.iter().zip(some).fold(0, |met, (place, placed)| met ^ fetch(&placed.block, *place));
            std::hint::black_box(met);
            let mut found: [&[Posting]; TOGETHER] = [&[]; TOGETHER];
            for ((found, place), placed) in found.iter_mut().zip(places).zip(some) {
                *found = postings(&placed.block, term, place);
            }
            let met = found.iter().filter_map(|found| found.first()).fold(0, |met, first| met ^ first.row());
            std::hint::black_box(met);
            for (found, placed) in found.iter().zip(some).filter(|(found, _)| !found.is_empty()) {
                run(placed.first, found);
            }
        }
    }
}

/// Blocks that are searched together, so that their memory reads run in parallel.
///
/// Source: measured, 1,000 blocks; the outstanding reads of a processor.
const TOGETHER: usize = 16;
/// Terms around the guessed index that are searched first. Source: own choice; sixteen are two or three cache lines.
const AROUND: usize = 8;
/// Terms around the guessed index that are searched next. Source: own choice; the guess for nearly every term of a full
/// block is within 24.
const FARTHER: usize = 24;

/// Guesses the index of a term in a block, in two steps: from its hash alone, and from the term found there.
///
/// Hashes are evenly distributed, so this interpolation touches less memory than a binary search.
fn guess(terms: &[TermHash], term: TermHash) -> usize {
    let place = |distance: u64| usize::try_from((u128::from(distance) * terms.len() as u128) >> u64::BITS);
    let first = place(term.0).unwrap_or_default();
    let Some(there) = terms.get(first) else { return first };
    if there.0 <= term.0 {
        first.saturating_add(place(term.0 - there.0).unwrap_or_default())
    } else {
        first.saturating_sub(place(there.0 - term.0).unwrap_or_default())
    }
}

/// Prefetches the start of a search around this index.
fn fetch(block: &IndexBlock, place: usize) -> u64 {
    let ends = [place.saturating_sub(AROUND), place.saturating_add(AROUND - 1)];
    let met = ends.into_iter().filter_map(|end| block.terms.get(end)).fold(0, |met, term| met ^ term.0);
    met ^ u64::from(block.starts.get(place).copied().unwrap_or_default())
}

/// Returns a term's postings in a block, as [`IndexBlock::postings`] does, from the guess of its index.
fn postings(block: &IndexBlock, term: TermHash, guess: usize) -> &[Posting] {
    let terms = &block.terms;
    let around = |most: usize| {
        let start = guess.saturating_sub(most);
        let near = terms.get(start..terms.len().min(guess.saturating_add(most)))?;
        let (first, last) = near.first().zip(near.last())?;
        (*first <= term && *last >= term).then_some((start, near))
    };
    let Some((start, near)) = around(AROUND).or_else(|| around(FARTHER)) else {
        return block.postings(term);
    };
    let range = near.binary_search(&term).ok().and_then(|place| {
        let bounds = block.starts.get(start + place..=start + place + 1)?;
        let (first, last) = bounds.first().zip(bounds.last())?;
        block.postings.get(*first as usize..*last as usize)
    });
    range.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{block, chat, index};

    #[test]
    fn rows_are_the_same_whatever_the_blocks() {
        let turns = chat();
        let whole = index(&[turns.len()]);
        for cuts in [vec![1; turns.len()], vec![2, 3, 1, 1, turns.len() - 7]] {
            let cut = index(&cuts);
            assert_eq!(cut.columns.previous, whole.columns.previous);
            assert_eq!(cut.columns.next, whole.columns.next);
            assert_eq!(cut.columns.session_lengths, whole.columns.session_lengths);
            assert_eq!(cut.head(), whole.head());
            for row in 0..whole.rows() {
                assert_eq!(cut.event(row), whole.event(row));
            }
        }
    }

    #[test]
    fn single_rows_are_packed_into_few_blocks() {
        let turns = chat();
        let mut index = MemoryIndex::default();
        for seq in 0..600_u64 {
            index.push(block(&turns[..1], seq + 1), Analyzer::default());
        }
        assert_eq!(index.rows(), 600);
        assert!(index.blocks.len() <= 10, "{} blocks", index.blocks.len());
        assert!(index.blocks.iter().all(|placed| placed.block.len() <= BLOCK_ROWS));
    }

    #[test]
    fn neighbours_are_messages_of_the_same_session() {
        let index = index(&[chat().len()]);
        for row in 0..index.rows() {
            let next = index.columns.next[row as usize];
            if next != NONE {
                assert_eq!(index.columns.sessions[row as usize], index.columns.sessions[next as usize]);
                assert_eq!(index.columns.previous[next as usize], row);
            }
        }
    }

    #[test]
    fn what_stands_beside_a_row_is_told_by_bits_as_by_numbers() {
        let turns: Vec<_> = chat().iter().cycle().take(150).cloned().collect();
        let mut index = MemoryIndex::default();
        for (first, part) in [(1, &turns[..70]), (71, &turns[70..])] {
            index.push(block(part, first), Analyzer::default());
        }
        let columns = &index.columns;
        let empty = || Vec::new();
        let without = Columns { joined: empty(), opening: empty(), closing: empty(), ..columns.clone() };
        for row in (0..index.rows() + 2).chain([NONE - 1, NONE]) {
            assert_eq!(columns.adjacent(row), without.adjacent(row), "{row}");
        }
        for (bits, column) in [(&columns.opening, &columns.previous), (&columns.closing, &columns.next)] {
            let ends = |row: u32| column.get(row as usize) == Some(&NONE);
            assert!((0..index.rows() + 70).all(|row| has(bits, row) == ends(row)));
            assert!((0..index.rows()).any(|row| !ends(row)));
        }
        assert!((1..index.rows()).any(|row| has(&columns.joined, row)));
        assert!((1..index.rows()).any(|row| !has(&columns.joined, row)));
    }

    #[test]
    fn a_term_is_found_however_far_from_its_place_it_is_guessed() {
        // Half of the terms are close together, unlike hashes, so that their guesses are poor.
        let spread = (1..=400_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut terms: Vec<TermHash> =
            spread.chain((0..400).map(|number| (1 << 60) + 3 * number)).map(TermHash).collect();
        terms.sort_unstable();
        let postings_of = |row: u16| [Posting::new(row, 1), Posting::new(row + 1, 2)];
        let block = IndexBlock {
            postings: (0..800).flat_map(postings_of).collect(),
            starts: (0..=800).map(|place| 2 * place).collect(),
            terms,
            ..IndexBlock::default()
        };
        let mut farthest = 0;
        for (place, term) in block.terms.iter().enumerate() {
            let guessed = guess(&block.terms, *term);
            farthest = farthest.max(guessed.abs_diff(place));
            for guess in
                [guessed, place.saturating_sub(AROUND + 1), place + AROUND, place + FARTHER, 0, usize::MAX]
            {
                assert_eq!(postings(&block, *term, guess).len(), 2, "{place} {guess}");
                for near in [TermHash(term.0.wrapping_sub(1)), *term, TermHash(term.0.wrapping_add(1))] {
                    assert_eq!(postings(&block, near, guess), block.postings(near), "{place} {guess}");
                }
            }
        }
        assert!(farthest > FARTHER, "{farthest}");
    }
}
