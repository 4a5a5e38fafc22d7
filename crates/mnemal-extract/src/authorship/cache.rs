//! Cache of the authorship gate's results for the latest turns, because several layers read each turn.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::named_id;

use super::{Author, RuleSegmenter, Segment, Segmenter, TurnText, is_inline};

/// Least number of cached turns. Source: own choice; layers read pages of up to 1,000 events one after the other.
const TURNS: usize = 4_096;

/// A part of a turn by another author.
#[derive(Clone, Debug)]
pub(super) struct ForeignPart {
    pub(super) range: Range<usize>,
    /// Whether it is quoted inside a sentence.
    pub(super) is_inline: bool,
}

impl ForeignPart {
    /// Returns the part that a segment is, unless it is the speaker's own.
    pub(super) fn of(segment: &Segment) -> Option<Self> {
        let range = segment.span.start as usize..segment.span.end as usize;
        (segment.author != Author::Speaker).then(|| Self { range, is_inline: is_inline(segment) })
    }
}

/// Parts of turns by a hash of the turn, in two generations: no words of a turn are held.
#[derive(Debug, Default)]
struct GateCache {
    young: HashMap<u128, Arc<[ForeignPart]>>,
    old: HashMap<u128, Arc<[ForeignPart]>>,
}

impl GateCache {
    fn get(&self, turn: u128) -> Option<Arc<[ForeignPart]>> {
        self.young.get(&turn).or_else(|| self.old.get(&turn)).map(Arc::clone)
    }

    fn put(&mut self, turn: u128, parts: Arc<[ForeignPart]>) {
        if self.young.len() >= TURNS {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(turn, parts);
    }
}

static CACHE: Mutex<Option<GateCache>> = Mutex::new(None);

/// Returns the parts of a turn by other authors, by rule.
pub(super) fn foreign_parts(text: &str, names: &[&str]) -> Arc<[ForeignPart]> {
    let parts: Vec<&str> = names.iter().copied().chain([text]).collect();
    let turn = named_id("turn", &parts);
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cache().as_ref().and_then(|cache| cache.get(turn)) {
        return known;
    }
    let segments = RuleSegmenter.segments(&TurnText { text, names });
    let found: Arc<[ForeignPart]> = segments.iter().filter_map(ForeignPart::of).collect();
    cache().get_or_insert_default().put(turn, Arc::clone(&found));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_once_and_old_ones_make_room() {
        let text = "Translate this: I live in Ghent.";
        let first = foreign_parts(text, &["Ann"]);
        assert!(!first.is_empty() && Arc::ptr_eq(&first, &foreign_parts(text, &["Ann"])));
        assert!(!Arc::ptr_eq(&first, &foreign_parts(text, &["Bea"])), "another speaker is another turn");
        let mut cache = GateCache::default();
        let none: Arc<[ForeignPart]> = Arc::new([]);
        (0..=2 * TURNS as u128).for_each(|turn| cache.put(turn, Arc::clone(&none)));
        assert!(cache.get(0).is_none() && cache.get(TURNS as u128).is_some());
        assert!(cache.young.len() + cache.old.len() <= 2 * TURNS);
    }
}
