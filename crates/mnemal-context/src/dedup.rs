//! Deduplication of candidates: groups near-duplicates and picks the winner of each.

use std::cmp::Reverse;
use std::iter::successors;

use foldhash::{HashMap, HashMapExt as _};
use mnemal_core::{EventId, RecordRef, Span};

use crate::candidate::{Candidate, TextFeatures};

/// For each candidate its winner, the stronger near-duplicate; a winner has none, and every rival listed here is a winner.
///
/// The earlier block wins, so that the stable block does not depend on recall; then higher trust; then a note over an event
/// that is its source in full; then the requested space; then the order of the candidates. A fact wins over an event whose
/// words are its only source.
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

/// Marks the learnings that stand for a recalled turn of the same words: they answer in its place.
pub(crate) fn mark_answers(candidates: &mut [Candidate], rivals: &[Option<usize>]) {
    for (place, winner) in rivals.iter().enumerate() {
        let is_hit = candidates.get(place).is_some_and(|lost| lost.answers() && !lost.is_learning());
        let winner = winner.filter(|_| is_hit).and_then(|winner| candidates.get_mut(winner));
        if let Some(winner) = winner.filter(|winner| winner.is_learning() && winner.stands_for.is_none()) {
            winner.stands_for = Some(place);
        }
    }
}

struct Winners<'a> {
    candidates: &'a [Candidate],
    threshold: f32,
    places: Vec<usize>,
    /// Index into `pairs` of the last entry for each word pair; near-duplicates share at least one leading pair.
    by_pair: HashMap<u64, usize>,
    /// Leading word pairs of winners: the winner's index in `places`, and the previous entry with the same pair.
    pairs: Vec<(usize, Option<usize>)>,
    by_hash: HashMap<[u8; 16], usize>,
    /// Records derived from an event: the source span in it, and the record's index.
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
            .or_else(|| self.by_hash.get(&candidate.rendered_line.hash).copied())
            .or_else(|| self.near(&candidate.rendered_line.features))
    }

    /// Returns the first winner that is a near-duplicate.
    fn near(&self, features: &TextFeatures) -> Option<usize> {
        let pair = |place: usize| self.pairs.get(place);
        let last = features.telling(self.threshold).iter().filter_map(|pair| self.by_pair.get(pair));
        let sharing = last.flat_map(|last| successors(pair(*last), |(_, before)| pair((*before)?)));
        let mut numbers: Vec<usize> = sharing.map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_near = |place: &usize| {
            let winner = self.candidates.get(*place);
            winner.is_some_and(|winner| features.is_near(&winner.rendered_line.features, self.threshold))
        };
        numbers.into_iter().filter_map(|number| self.places.get(number).copied()).find(is_near)
    }

    /// Returns the record that covers all words of an event. Only punctuation may lie outside of its source span.
    fn whole_of(&self, event: EventId, text: &str) -> Option<usize> {
        let is_all = |Span { start, end }: Span| {
            let around = [text.get(..start as usize), text.get(end as usize..)];
            around.into_iter().all(|part| part.is_some_and(|part| !part.contains(char::is_alphanumeric)))
        };
        self.derived.get(&event)?.iter().find(|(span, _)| is_all(*span)).map(|(_, place)| *place)
    }

    fn add(&mut self, place: usize, candidate: &Candidate) {
        for pair in candidate.rendered_line.features.telling(self.threshold) {
            let before = self.by_pair.insert(*pair, self.pairs.len());
            self.pairs.push((self.places.len(), before));
        }
        self.places.push(place);
        self.by_hash.entry(candidate.rendered_line.hash).or_insert(place);
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
