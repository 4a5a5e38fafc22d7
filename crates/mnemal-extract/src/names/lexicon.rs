//! The lists of names and words, as one table: what a word is known to be.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

use mnemal_text::fold;

use crate::names::token::{Shape, tokens};

/// What a word is known to be; a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(u32);

impl Known {
    pub(crate) const NOTHING: Self = Self(0);
    pub(crate) const FIRST: Self = Self(1);
    pub(crate) const SURNAME: Self = Self(1 << 1);
    pub(crate) const PLACE: Self = Self(1 << 2);
    pub(crate) const ORGANIZATION: Self = Self(1 << 3);
    pub(crate) const PRODUCT: Self = Self(1 << 4);
    pub(crate) const WORK: Self = Self(1 << 5);
    pub(crate) const EVENT: Self = Self(1 << 6);
    /// A word of everyday language.
    pub(crate) const ORDINARY: Self = Self(1 << 7);
    /// Never a name.
    pub(crate) const REJECT: Self = Self(1 << 8);
    /// A language or a nationality.
    pub(crate) const NATIONALITY: Self = Self(1 << 9);
    /// Person before place.
    pub(crate) const PERSON_FIRST: Self = Self(1 << 10);
    /// A name only if it is written in capitals: "IT", "WHO".
    pub(crate) const SHOUTED: Self = Self(1 << 11);
    pub(crate) const TITLE: Self = Self(1 << 12);
    pub(crate) const KIN: Self = Self(1 << 13);
    pub(crate) const ANIMAL: Self = Self(1 << 14);
    pub(crate) const PARTICLE: Self = Self(1 << 15);
    pub(crate) const OF_HEAD: Self = Self(1 << 16);
    pub(crate) const ORGANIZATION_HEAD: Self = Self(1 << 17);
    pub(crate) const LOCATION_HEAD: Self = Self(1 << 18);
    pub(crate) const EVENT_HEAD: Self = Self(1 << 19);
    pub(crate) const LOCATION_FIRST: Self = Self(1 << 20);
    pub(crate) const ORGANIZATION_FIRST: Self = Self(1 << 21);
    /// Any of the lists of names.
    pub(crate) const NAMED: Self = Self(0b111_1101);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// A name of several words.
#[derive(Debug)]
pub(crate) struct Phrase {
    pub(crate) rest: Vec<String>,
    pub(crate) known: Known,
    /// A word in it is no word of everyday language, so that it may stand in small letters.
    pub(crate) is_rare: bool,
    /// It ends with "'s": "Trader Joe's".
    pub(crate) keeps_ending: bool,
}

/// Hashes short words in a few cycles; the keys come from lists of this crate, so nobody can choose them to collide.
#[derive(Clone, Copy, Debug, Default)]
struct WordHasher(u64);

type Quick = BuildHasherDefault<WordHasher>;

impl WordHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            self.mix(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// What words are known to be.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    words: HashMap<Cow<'static, str>, Known, Quick>,
    /// By the first word, the longest first.
    phrases: HashMap<String, Vec<Phrase>, Quick>,
}

/// The lists that hold in every language.
const LISTS: [(Known, &str); 8] = [
    (Known::FIRST, include_str!("../../packs/names/first.txt")),
    (Known::FIRST, include_str!("../../packs/names/people.txt")),
    (Known::SURNAME, include_str!("../../packs/names/surnames.txt")),
    (Known::PLACE, include_str!("../../packs/names/places.txt")),
    (Known::ORGANIZATION, include_str!("../../packs/names/organizations.txt")),
    (Known::PRODUCT, include_str!("../../packs/names/products.txt")),
    (Known::WORK, include_str!("../../packs/names/works.txt")),
    (Known::EVENT, include_str!("../../packs/names/events.txt")),
];

const ORDINARY: &str = include_str!("../../packs/en/ordinary.txt");

impl Lexicon {
    /// Returns the table of the built-in lists with the words of the pack, made at first use.
    pub(crate) fn built_in() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| {
            let mut lexicon = Self {
                words: HashMap::with_capacity_and_hasher(90_000, Quick::default()),
                phrases: HashMap::with_capacity_and_hasher(14_000, Quick::default()),
            };
            for word in ORDINARY.lines() {
                lexicon.mark(Cow::Borrowed(word), Known::ORDINARY);
            }
            for (known, list) in LISTS {
                for line in list.lines() {
                    lexicon.add(line, known);
                }
            }
            for phrases in lexicon.phrases.values_mut() {
                phrases.sort_by(|a, b| b.rest.len().cmp(&a.rest.len()).then_with(|| a.rest.cmp(&b.rest)));
            }
            lexicon
        })
    }

    fn mark(&mut self, word: Cow<'static, str>, known: Known) {
        let of_word = self.words.entry(word).or_default();
        *of_word = of_word.with(known);
    }

    fn add(&mut self, line: &'static str, known: Known) {
        if line.bytes().all(|b| b.is_ascii_lowercase()) {
            return self.mark(Cow::Borrowed(line), known);
        }
        let tokens = tokens(line);
        let Some((first, rest)) = tokens.split_first() else { return };
        if rest.is_empty() {
            let is_shouted = first.shape == Shape::Shout && line.len() <= 5;
            let is_new = !self.words.get(first.key()).is_some_and(|known| known.has(Known::NAMED));
            let known = if is_shouted && is_new { known.with(Known::SHOUTED) } else { known };
            let key = if first.is_possessive { format!("{}'s", first.key()) } else { first.key().to_owned() };
            self.mark(Cow::Owned(key), known);
            if !is_shouted && let Some(of_word) = self.words.get_mut(first.key()) {
                *of_word = of_word.without(Known::SHOUTED);
            }
            return;
        }
        let keeps_ending = tokens.last().is_some_and(|last| last.is_possessive);
        let is_rare = tokens.iter().any(|token| !self.is_ordinary(token.key()));
        let rest: Vec<String> = rest.iter().map(|token| token.key().to_owned()).collect();
        let phrases = self.phrases.entry(first.key().to_owned()).or_default();
        if let Some(phrase) = phrases.iter_mut().find(|phrase| phrase.rest == rest) {
            phrase.known = phrase.known.with(known);
        } else {
            phrases.push(Phrase { rest, known, is_rare, keeps_ending });
        }
    }

    /// Returns what a word in small letters without accents is known to be.
    pub(crate) fn of(&self, word: &str) -> Known {
        let known = self.words.get(word).copied().unwrap_or_default();
        // "docker" is no comparative of "dock".
        let is_listed = known.has(Known::NAMED.without(Known::FIRST)) && !word.ends_with('s');
        if known.has(Known::ORDINARY) || is_listed || !self.is_inflected(word) {
            known
        } else {
            known.with(Known::ORDINARY)
        }
    }

    /// Returns the names of several words that begin with `first`, the longest first.
    pub(crate) fn phrases(&self, first: &str) -> &[Phrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }

    fn is_ordinary(&self, word: &str) -> bool {
        self.has_ordinary(word) || self.is_inflected(word)
    }

    fn has_ordinary(&self, word: &str) -> bool {
        self.words.get(word).is_some_and(|known| known.has(Known::ORDINARY))
    }

    /// Says whether a word is a form of an everyday word: plural, past, "-ing", "-ly", "-er", or joined by a hyphen.
    fn is_inflected(&self, word: &str) -> bool {
        if word.len() < 4 || !word.is_ascii() {
            return false;
        }
        if word.contains('-') {
            return word.split('-').all(|part| part.len() < 3 || self.is_ordinary(part));
        }
        if let Some((base, _)) = word.split_once('\'') {
            return self.is_ordinary(base);
        }
        ENDINGS.iter().any(|(ending, instead)| {
            word.strip_suffix(ending).filter(|base| base.len() >= 3).is_some_and(|base| {
                self.has_ordinary(base) && !instead.is_empty() && instead.contains(&"")
                    || instead
                        .iter()
                        .any(|tail| !tail.is_empty() && self.has_ordinary(&format!("{base}{tail}")))
                    || is_doubled(base) && self.has_ordinary(base.get(..base.len() - 1).unwrap_or_default())
            })
        })
    }
}

/// Endings of English words with what stands there in the bare form.
const ENDINGS: [(&str, &[&str]); 10] = [
    ("ies", &["y"]),
    ("es", &["", "e"]),
    ("s", &[""]),
    ("ied", &["y"]),
    ("ed", &["", "e"]),
    ("ing", &["", "e"]),
    ("ly", &["", "le"]),
    ("er", &["", "e"]),
    ("est", &["", "e"]),
    ("ness", &[""]),
];

fn is_doubled(base: &str) -> bool {
    let mut bytes = base.bytes().rev();
    matches!((bytes.next(), bytes.next()), (Some(a), Some(b)) if a == b && !matches!(a, b's' | b'l' | b'e'))
}

/// Brings a word of a pack into the form that the lists are searched by.
pub(crate) fn key(word: &str) -> String {
    fold(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_all_their_forms() {
        let lexicon = Lexicon::built_in();
        for word in ["the", "walked", "stopped", "cities", "making", "quickly", "sign-up", "don't"] {
            assert!(lexicon.of(word).has(Known::ORDINARY), "{word}");
        }
        for word in ["ljubljana", "anna", "grafana", "zelka"] {
            assert!(!lexicon.of(word).has(Known::ORDINARY), "{word}");
        }
        assert!(lexicon.of("ljubljana").has(Known::PLACE));
        assert!(lexicon.of("us").has(Known::SHOUTED) && !lexicon.of("nvidia").has(Known::SHOUTED));
        assert!(lexicon.phrases("new").iter().any(|phrase| phrase.rest == ["york"]));
    }
}
