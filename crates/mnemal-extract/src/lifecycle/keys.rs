//! Prefilter: words without which no rule of any language can match.

use std::collections::HashMap;

use crate::feedback::ids::Ids;
use crate::feedback::lexicon::Lexicon;
use crate::feedback::pattern::Patterns;
use crate::feedback::token::NUMBER;
use crate::hash::WordHashBuilder;
use crate::prefilter::Prefilter;
use crate::word::{Word, start};

/// Packs at most. Source: the bits of a set.
const MOST_PACKS: usize = 16;

/// Words by the packs whose patterns need one of them.
#[derive(Debug, Default)]
pub(super) struct Keys {
    packs_of: HashMap<Box<str>, Vec<RequiredWords>, WordHashBuilder>,
    /// The same for a number.
    of_numbers: Vec<RequiredWords>,
    /// The packs with a pattern that needs no word.
    always: u16,
}

/// What the patterns of a pack that need a word need besides.
#[derive(Clone, Copy, Debug)]
struct RequiredWords {
    place: usize,
    besides: Prefilter,
}

/// The packs that may find something in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packs(u16);

impl Packs {
    /// Every pack, as without a look before.
    #[cfg(test)]
    pub(super) const ALL: Self = Self(u16::MAX);

    /// Returns these packs and others.
    pub(super) fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns whether none may.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the pack at a place may.
    pub(super) fn has(self, place: usize) -> bool {
        place >= MOST_PACKS || self.0 >> place & 1 == 1
    }
}

impl Keys {
    /// Notes the words that those patterns of the pack at a place need which have one of these tags.
    pub(super) fn add<T>(
        &mut self,
        place: usize,
        patterns: &Patterns<T>,
        lexicon: &Lexicon,
        has_tag: &dyn Fn(&T) -> bool,
    ) {
        if place >= MOST_PACKS {
            return;
        }
        let Some(lines) = patterns.keys(lexicon, has_tag) else {
            self.always |= 1 << place;
            return;
        };
        let spellings = lexicon.spellings();
        let spelled = |id: u32| spellings.get(&id).map(Vec::as_slice).unwrap_or_default();
        for (of, besides) in &lines {
            // A number has many spellings, so it holds nothing back.
            let besides = besides.as_ref().filter(|ids| !ids.contains(NUMBER));
            let starts = |ids| Ids::iter(ids).flat_map(spelled).map(|word| start(word));
            let besides = besides.map_or(Prefilter::ALL, |ids| starts(ids).collect());
            for id in of.iter() {
                if id == NUMBER {
                    note(&mut self.of_numbers, RequiredWords { place, besides });
                }
                for word in spelled(id) {
                    note(self.packs_of.entry((*word).into()).or_default(), RequiredWords { place, besides });
                }
            }
        }
    }

    /// Returns the packs whose patterns may match in a text with these words.
    ///
    /// Parts of words at apostrophes count too: some languages write words together there.
    pub(super) fn packs(&self, words: &[Word<'_>]) -> Packs {
        let parts =
            |word: &str| word.contains('\'').then(|| word.split('\'').map(start).collect::<Prefilter>());
        let all = words.iter().fold(Prefilter::default(), |all, word| {
            let whole = all.with(Prefilter::of(start(&word.lower)));
            parts(&word.lower).map_or(whole, |parts| whole.with(parts))
        });
        let bits = |needed: &[RequiredWords]| {
            let met = needed.iter().filter(|needed| needed.besides.meets(all));
            met.fold(0, |packs, needed| packs | 1 << needed.place)
        };
        let of = |word: &str| {
            let numbers = if word.starts_with(char::is_numeric) { bits(&self.of_numbers) } else { 0 };
            numbers | self.packs_of.get(word).map_or(0, |needed| bits(needed))
        };
        let found = words.iter().fold(self.always, |packs, word| {
            let parts = if word.lower.contains('\'') {
                word.lower.split('\'').fold(0, |packs, part| packs | of(part))
            } else {
                0
            };
            packs | parts | of(&word.lower)
        });
        Packs(found)
    }
}

/// Notes what a word needs besides, once for each pack.
fn note(all: &mut Vec<RequiredWords>, needed: RequiredWords) {
    match all.iter_mut().find(|known| known.place == needed.place) {
        Some(known) => known.besides = known.besides.with(needed.besides),
        None => all.push(needed),
    }
}
