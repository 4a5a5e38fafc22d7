//! Which candidates say the same, and which of them wins.

use std::cmp::Reverse;
use std::collections::HashMap;

use mnemal_core::{EventId, RecordRef, Span};

use crate::candidate::{Candidate, Gist};

/// For each candidate the stronger one that says the same; a winner has none, and every rival named here is a winner.
///
/// The earlier block wins, so that the stable block does not depend on what is recalled; then higher trust; then a note
/// over the event it was made from; then what is of the space that was asked; then the order of the candidates. A fact wins
/// over an event of which all words are its only source.
pub(crate) fn rivals(candidates: &[Candidate], threshold: f32) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|place| {
        candidates.get(*place).map(|candidate| {
            let trust = Reverse(candidate.fragment.trust);
            (candidate.block(), trust, Reverse(candidate.is_learning()), candidate.is_secondary(), *place)
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
    /// Numbers in `places` of those whose first word pairs have this one; a near one shares at least one of them.
    by_pair: HashMap<u64, Vec<usize>>,
    by_hash: HashMap<[u8; 16], usize>,
    /// The note that was made from an event.
    notes: HashMap<EventId, usize>,
    /// The fact that has this one source.
    facts: HashMap<EventId, (Span, usize)>,
}

impl<'a> Winners<'a> {
    fn new(candidates: &'a [Candidate], threshold: f32) -> Self {
        Self {
            candidates,
            threshold,
            places: Vec::new(),
            by_pair: HashMap::new(),
            by_hash: HashMap::new(),
            notes: HashMap::new(),
            facts: HashMap::new(),
        }
    }

    fn of(&self, candidate: &Candidate) -> Option<usize> {
        let derived = match candidate.fragment.record {
            RecordRef::Event(event) => self.notes.get(&event).or_else(|| self.fact_of(event, candidate)),
            _ => None,
        };
        derived
            .or_else(|| self.by_hash.get(&candidate.written.hash))
            .copied()
            .or_else(|| self.near(&candidate.written.gist))
    }

    /// Returns the first winner that says nearly the same.
    fn near(&self, gist: &Gist) -> Option<usize> {
        let sharing = gist.telling(self.threshold).iter().filter_map(|pair| self.by_pair.get(pair));
        let mut numbers: Vec<usize> = sharing.flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_near = |place: &usize| {
            let winner = self.candidates.get(*place);
            winner.is_some_and(|winner| gist.is_near(&winner.written.gist, self.threshold))
        };
        numbers.into_iter().filter_map(|number| self.places.get(number).copied()).find(is_near)
    }

    /// Returns the fact that all words of an event became. What stands outside of its source are signs, not words.
    fn fact_of(&self, event: EventId, candidate: &Candidate) -> Option<&usize> {
        let (Span { start, end }, place) = self.facts.get(&event)?;
        let text = candidate.fragment.text.as_str();
        let around = [text.get(..*start as usize)?, text.get(*end as usize..)?];
        (!around.into_iter().any(|part| part.contains(char::is_alphanumeric))).then_some(place)
    }

    fn add(&mut self, place: usize, candidate: &Candidate) {
        for pair in candidate.written.gist.telling(self.threshold) {
            self.by_pair.entry(*pair).or_default().push(self.places.len());
        }
        self.places.push(place);
        self.by_hash.entry(candidate.written.hash).or_insert(place);
        if let (RecordRef::Fact(_), [source]) =
            (candidate.fragment.record, candidate.fragment.sources.as_slice())
        {
            self.facts.entry(source.event).or_insert((source.span, place));
        }
        if candidate.is_learning() {
            for source in &candidate.fragment.sources {
                self.notes.entry(source.event).or_insert(place);
            }
        }
    }
}
