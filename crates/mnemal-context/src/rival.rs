//! Candidates that say the same, and the one of them that wins.

use std::cmp::Reverse;
use std::iter::successors;

use foldhash::{HashMap, HashMapExt as _};
use mnemal_core::{EventId, RecordRef, Span};

use crate::candidate::{Candidate, Gist};

/// For each candidate the stronger one that says the same; a winner has none, and every rival named here is a winner.
///
/// The earlier block wins, so that the stable block does not depend on what is recalled; then higher trust; then a note
/// over an event of which all words are one of its sources; then what is of the space that was asked; then the order of the
/// candidates. A fact wins over an event of which all words are its only source.
pub(crate) fn rivals(candidates: &[Candidate], threshold: f32) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_cached_key(|place| {
        candidates.get(*place).map(|candidate| {
            let trust = Reverse(candidate.fragment.trust);
            (candidate.block, trust, Reverse(candidate.is_learning()), candidate.is_secondary(), *place)
        })
    });
    let mut rivals = vec![None; candidates.len()];
    let mut winners = Winners::new(candidates, threshold);
    for place in order {
        let Some(candidate) = candidates.get(place) else { continue };
        match winners.of(candidate) {
            Some(winner) => {
                if let Some(rival) = rivals.get_mut(place) {
                    *rival = Some(winner);
                }
            }
            None => winners.add(place, candidate),
        }
    }
    rivals
}

struct Winners<'a> {
    candidates: &'a [Candidate],
    threshold: f32,
    places: Vec<usize>,
    /// By a word pair the last of `pairs` that has it; a near one shares at least one with the first of a winner.
    by_pair: HashMap<u64, usize>,
    /// First word pairs of winners: the number of each in `places`, and the last one before it that has the same pair.
    pairs: Vec<(usize, Option<usize>)>,
    by_hash: HashMap<[u8; 16], usize>,
    /// What was made from an event: the words of it that are a source, and the place of what rests on them.
    derived: HashMap<EventId, Vec<(Span, usize)>>,
}

impl<'a> Winners<'a> {
    fn new(candidates: &'a [Candidate], threshold: f32) -> Self {
        Self {
            candidates,
            threshold,
            places: Vec::with_capacity(candidates.len()),
            by_pair: HashMap::with_capacity(2 * candidates.len()),
            pairs: Vec::with_capacity(2 * candidates.len()),
            by_hash: HashMap::with_capacity(candidates.len()),
            derived: HashMap::new(),
        }
    }

    fn of(&self, candidate: &Candidate) -> Option<usize> {
        let derived = match candidate.fragment.record {
            RecordRef::Event(event) => self.whole_of(event, candidate.fragment.text.as_str()),
            _ => None,
        };
        derived
            .or_else(|| self.by_hash.get(&candidate.written.hash).copied())
            .or_else(|| self.near(&candidate.written.gist))
    }

    /// Returns the first winner that says nearly the same.
    fn near(&self, gist: &Gist) -> Option<usize> {
        let pair = |place: usize| self.pairs.get(place);
        let last = gist.telling(self.threshold).iter().filter_map(|pair| self.by_pair.get(pair));
        let sharing = last.flat_map(|last| successors(pair(*last), |(_, before)| pair((*before)?)));
        let mut numbers: Vec<usize> = sharing.map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_near = |place: &usize| {
            let winner = self.candidates.get(*place);
            winner.is_some_and(|winner| gist.is_near(&winner.written.gist, self.threshold))
        };
        numbers.into_iter().filter_map(|number| self.places.get(number).copied()).find(is_near)
    }

    /// Returns what all words of an event became. What stands outside of its source are signs, not words.
    fn whole_of(&self, event: EventId, text: &str) -> Option<usize> {
        let is_all = |Span { start, end }: Span| {
            let around = [text.get(..start as usize), text.get(end as usize..)];
            around.into_iter().all(|part| part.is_some_and(|part| !part.contains(char::is_alphanumeric)))
        };
        self.derived.get(&event)?.iter().find(|(span, _)| is_all(*span)).map(|(_, place)| *place)
    }

    fn add(&mut self, place: usize, candidate: &Candidate) {
        for pair in candidate.written.gist.telling(self.threshold) {
            let before = self.by_pair.insert(*pair, self.pairs.len());
            self.pairs.push((self.places.len(), before));
        }
        self.places.push(place);
        self.by_hash.entry(candidate.written.hash).or_insert(place);
        let fragment = &candidate.fragment;
        let sources = match (fragment.record, fragment.sources.as_slice()) {
            (RecordRef::Learning(_), sources) | (RecordRef::Fact(_), sources @ [_]) => sources,
            _ => &[],
        };
        for source in sources {
            self.derived.entry(source.event).or_default().push((source.span, place));
        }
    }
}
