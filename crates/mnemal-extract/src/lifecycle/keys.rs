//! A quick look at a text for words without which no rule of any language finds anything in it.

use std::collections::HashMap;

use crate::feedback::lexicon::Lexicon;
use crate::feedback::pattern::Patterns;
use crate::hash::Quick;
use crate::word::Word;

/// Packs at most. Source: the bits of a set.
const MOST_PACKS: usize = 16;

/// Words by the packs whose patterns need one of them.
#[derive(Debug, Default)]
pub(super) struct Keys {
    packs_of: HashMap<Box<str>, u16, Quick>,
    /// The packs that need a number.
    of_numbers: u16,
    /// The packs with a pattern that needs no word.
    always: u16,
}

/// The packs that may find something in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packs(u16);

impl Packs {
    /// Every pack, as without a look before.
    #[cfg(test)]
    pub(super) const ALL: Self = Self(u16::MAX);

    /// Says whether none may.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Says whether the pack at a place may.
    pub(super) fn has(self, place: usize) -> bool {
        place >= MOST_PACKS || self.0 >> place & 1 == 1
    }
}

impl Keys {
    /// Notes the words that patterns of the pack at a place need.
    pub(super) fn add<T>(&mut self, place: usize, patterns: &Patterns<T>, lexicon: &Lexicon) {
        let pack = if place < MOST_PACKS { 1 << place } else { 0 };
        let Some(needed) = patterns.keys(lexicon) else {
            self.always |= pack;
            return;
        };
        let (words, has_number) = lexicon.spellings(&needed);
        for word in words {
            *self.packs_of.entry(word.into()).or_default() |= pack;
        }
        self.of_numbers |= if has_number { pack } else { 0 };
    }

    /// Returns the packs whose patterns may match in a text with these words.
    ///
    /// Parts of words at apostrophes count too: some languages write words together there.
    pub(super) fn packs(&self, words: &[Word<'_>]) -> Packs {
        let of = |word: &str| {
            let numbers = if word.starts_with(char::is_numeric) { self.of_numbers } else { 0 };
            numbers | self.packs_of.get(word).copied().unwrap_or_default()
        };
        let all = words.iter().fold(self.always, |packs, word| {
            let parts = if word.lower.contains('\'') {
                word.lower.split('\'').fold(0, |packs, part| packs | of(part))
            } else {
                0
            };
            packs | parts | of(&word.lower)
        });
        Packs(all)
    }
}
