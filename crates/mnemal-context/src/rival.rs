//! Which candidates say the same, and which of them wins.

use std::cmp::Reverse;
use std::collections::HashMap;

use mnemal_core::{EventId, RecordRef};

use crate::candidate::Candidate;

/// For each candidate the stronger one that says the same; a winner has none, and every rival named here is a winner.
///
/// The earlier block wins, so that the stable block does not depend on what is recalled; then higher trust; then a note
/// over the event it was made from; then what is of the space that was asked; then the order of the candidates.
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
    by_hash: HashMap<[u8; 16], usize>,
    /// The note that was made from an event.
    notes: HashMap<EventId, usize>,
}

impl<'a> Winners<'a> {
    fn new(candidates: &'a [Candidate], threshold: f32) -> Self {
        Self { candidates, threshold, places: Vec::new(), by_hash: HashMap::new(), notes: HashMap::new() }
    }

    fn of(&self, candidate: &Candidate) -> Option<usize> {
        let of_note = match candidate.fragment.record {
            RecordRef::Event(event) => self.notes.get(&event),
            _ => None,
        };
        of_note.or_else(|| self.by_hash.get(&candidate.hash)).copied().or_else(|| {
            let near = |place: &&usize| {
                let winner = self.candidates.get(**place);
                winner.is_some_and(|winner| candidate.gist.is_near(&winner.gist, self.threshold))
            };
            self.places.iter().find(near).copied()
        })
    }

    fn add(&mut self, place: usize, candidate: &Candidate) {
        self.places.push(place);
        self.by_hash.entry(candidate.hash).or_insert(place);
        if candidate.is_learning() {
            for source in &candidate.fragment.sources {
                self.notes.entry(source.event).or_insert(place);
            }
        }
    }
}
