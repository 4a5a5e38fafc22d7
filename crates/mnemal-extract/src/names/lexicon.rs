//! Name and word lists as one lookup table.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use mnemal_text::fold;

use crate::hash::WordHashBuilder;
use crate::names::token::{Shape, Token, tokens};
use crate::names::word_flags::WordFlags;

/// A name of several words.
#[derive(Debug)]
pub(crate) struct Phrase {
    pub(crate) rest: Vec<String>,
    pub(crate) known: WordFlags,
    /// It ends with "'s": "Trader Joe's".
    pub(crate) keeps_ending: bool,
}

/// The classes of words.
///
/// The lists hold more than 100,000 lines, of which a text needs few. So the lines are only told apart by the two
/// letters they begin with, and the table of two letters is made when the first word that begins with them is looked up.
#[derive(Debug)]
pub(crate) struct Lexicon {
    /// By `place_of` the word.
    shelves: Vec<LineBucket>,
}

/// The lines that begin with two letters.
#[derive(Debug, Default)]
struct LineBucket {
    /// Pieces of the lists, in the order of the lists.
    pieces: Vec<(WordFlags, &'static str)>,
    table: OnceLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    words: HashMap<Cow<'static, str>, WordFlags, WordHashBuilder>,
    /// By the first word and the second, the longest first.
    phrases: HashMap<String, HashMap<String, Vec<Phrase>, WordHashBuilder>, WordHashBuilder>,
}

/// A list of names or words that the extractor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameList {
    /// Words of everyday English.
    OrdinaryWords,
    /// First names.
    FirstNames,
    /// Well-known people.
    People,
    /// Family names.
    Surnames,
    /// Cities, countries and regions.
    Places,
    /// Companies and institutions.
    Organizations,
    /// Software, tools and things with a brand.
    Products,
    /// Titles of books, films and games.
    Works,
    /// Named events.
    Events,
}

impl NameList {
    fn known(self) -> WordFlags {
        match self {
            Self::OrdinaryWords => WordFlags::ORDINARY,
            Self::FirstNames | Self::People => WordFlags::FIRST,
            Self::Surnames => WordFlags::SURNAME,
            Self::Places => WordFlags::PLACE,
            Self::Organizations => WordFlags::ORGANIZATION,
            Self::Products => WordFlags::PRODUCT,
            Self::Works => WordFlags::WORK,
            Self::Events => WordFlags::EVENT,
        }
    }
}

/// The words of everyday language, and the lists that hold in every language.
const LISTS: [(NameList, &str); 9] = [
    (NameList::OrdinaryWords, include_str!("../../packs/en/ordinary.txt")),
    (NameList::FirstNames, include_str!("../../packs/names/first.txt")),
    (NameList::People, include_str!("../../packs/names/people.txt")),
    (NameList::Surnames, include_str!("../../packs/names/surnames.txt")),
    (NameList::Places, include_str!("../../packs/names/places.txt")),
    (NameList::Organizations, include_str!("../../packs/names/organizations.txt")),
    (NameList::Products, include_str!("../../packs/names/products.txt")),
    (NameList::Works, include_str!("../../packs/names/works.txt")),
    (NameList::Events, include_str!("../../packs/names/events.txt")),
];

/// Returns the lists of names and words, a name a line.
pub fn name_lists() -> [(NameList, &'static str); 9] {
    LISTS
}

impl Lexicon {
    /// Returns the built-in lists, put on their shelves at first use.
    pub(crate) fn built_in() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| {
            let mut lexicon = Self { shelves: Vec::new() };
            lexicon.shelves.resize_with(SHELVES, LineBucket::default);
            for (name_list, lines) in LISTS {
                lexicon.shelve(name_list.known(), lines);
            }
            lexicon
        })
    }

    /// Cuts a list where the first two letters change.
    fn shelve(&mut self, known: WordFlags, list: &'static str) {
        let (mut start, mut end, mut place) = (0, 0, OTHERS);
        for line in list.split_inclusive('\n') {
            let of_line = place_of_line(line);
            if of_line != place {
                self.put(place, known, list.get(start..end));
                (start, place) = (end, of_line);
            }
            end += line.len();
        }
        self.put(place, known, list.get(start..));
    }

    fn put(&mut self, place: usize, known: WordFlags, piece: Option<&'static str>) {
        let piece = piece.filter(|piece| !piece.is_empty());
        if let (Some(lines), Some(piece)) = (self.shelves.get_mut(place), piece) {
            lines.pieces.push((known, piece));
        }
    }

    fn table(&self, word: &str) -> Option<&Table> {
        let LineBucket { pieces, table } = self.shelves.get(place_of(word))?;
        Some(table.get_or_init(|| Table::of(pieces)))
    }

    fn listed(&self, word: &str) -> WordFlags {
        self.table(word).and_then(|table| table.words.get(word)).copied().unwrap_or_default()
    }

    /// Returns the classes of a word in lower case without accents.
    pub(crate) fn of(&self, word: &str) -> WordFlags {
        self.entry(word).without(WordFlags::BEGINS)
    }

    /// Returns the same, and whether names of several words begin with it, so that few words are looked up among these.
    pub(crate) fn entry(&self, word: &str) -> WordFlags {
        let known = self.listed(word);
        // "docker" is no comparative of "dock".
        let is_listed = known.has(WordFlags::NAMED.without(WordFlags::FIRST)) && !word.ends_with('s');
        if known.has(WordFlags::ORDINARY) || is_listed || !self.is_inflected(word) {
            known
        } else {
            known.with(WordFlags::ORDINARY)
        }
    }

    /// Returns the names of several words that begin with these two, the longest first.
    pub(crate) fn phrases(&self, first: &str, second: &str) -> &[Phrase] {
        let begun = self.table(first).and_then(|table| table.phrases.get(first));
        begun.and_then(|begun| begun.get(second)).map_or(&[], Vec::as_slice)
    }

    /// Returns whether one of the words is no word of everyday language, so that their name may be in lower case.
    pub(crate) fn is_rare(&self, first: &str, rest: &[String]) -> bool {
        !self.is_ordinary(first) || rest.iter().any(|word| !self.is_ordinary(word))
    }

    fn is_ordinary(&self, word: &str) -> bool {
        self.has_ordinary(word) || self.is_inflected(word)
    }

    fn has_ordinary(&self, word: &str) -> bool {
        self.listed(word).has(WordFlags::ORDINARY)
    }

    /// Returns whether a word is a form of an everyday word: plural, past, "-ing", "-ly", "-er", or joined by a hyphen.
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

/// One shelf for each pair of letters, and one for the others. Source: 26 letters.
const SHELVES: usize = 26 * 26 + 1;
const OTHERS: usize = SHELVES - 1;

/// Returns the shelf of a word in lower case without accents.
fn place_of(word: &str) -> usize {
    match word.as_bytes() {
        [a @ b'a'..=b'z', b @ b'a'..=b'z', ..] => usize::from(a - b'a') * 26 + usize::from(b - b'a'),
        _ => OTHERS,
    }
}

/// Returns the shelf of the first word of a line.
fn place_of_line(line: &str) -> usize {
    match line.as_bytes() {
        [a, b, ..] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            let (a, b) = (a.to_ascii_lowercase() - b'a', b.to_ascii_lowercase() - b'a');
            usize::from(a) * 26 + usize::from(b)
        }
        _ => tokens(line).first().map_or(OTHERS, |first| place_of(first.key())),
    }
}

impl Table {
    fn of(pieces: &[(WordFlags, &'static str)]) -> Self {
        let mut table = Self::default();
        table.words.reserve(pieces.iter().map(|(_, piece)| piece.lines().count()).sum());
        for (known, piece) in pieces {
            for line in piece.lines() {
                table.add(line, *known);
            }
        }
        for phrases in table.phrases.values_mut().flat_map(HashMap::values_mut) {
            phrases.sort_by(|a, b| b.rest.len().cmp(&a.rest.len()).then_with(|| a.rest.cmp(&b.rest)));
        }
        table
    }

    fn mark(&mut self, word: Cow<'static, str>, known: WordFlags) {
        let of_word = self.words.entry(word).or_default();
        *of_word = of_word.with(known);
    }

    fn add(&mut self, line: &'static str, known: WordFlags) {
        if known == WordFlags::ORDINARY || line.bytes().all(|b| b.is_ascii_lowercase()) {
            return self.mark(Cow::Borrowed(line), known);
        }
        let tokens = tokens(line);
        match tokens.as_slice() {
            [] => {}
            [only] => self.add_word(line, only, known),
            [first, rest @ ..] => self.add_phrase(first, rest, known),
        }
    }

    fn add_word(&mut self, line: &str, word: &Token<'_>, known: WordFlags) {
        let is_shouted = word.shape == Shape::Shout && line.len() <= LONGEST_SHOUTED;
        let is_new = !self.words.get(word.key()).is_some_and(|known| known.has(WordFlags::NAMED));
        let known = if is_shouted && is_new { known.with(WordFlags::SHOUTED) } else { known };
        let key = if word.is_possessive { format!("{}'s", word.key()) } else { word.key().to_owned() };
        self.mark(Cow::Owned(key), known);
        if !is_shouted && let Some(of_word) = self.words.get_mut(word.key()) {
            *of_word = of_word.without(WordFlags::SHOUTED);
        }
    }

    fn add_phrase(&mut self, first: &Token<'_>, rest: &[Token<'_>], known: WordFlags) {
        let keeps_ending = rest.last().is_some_and(|last| last.is_possessive);
        let rest: Vec<String> = rest.iter().map(|token| token.key().to_owned()).collect();
        let second = rest.first().cloned().unwrap_or_default();
        self.mark(Cow::Owned(first.key().to_owned()), WordFlags::BEGINS);
        let phrases = self.phrases.entry(first.key().to_owned()).or_default().entry(second).or_default();
        if let Some(phrase) = phrases.iter_mut().find(|phrase| phrase.rest == rest) {
            phrase.known = phrase.known.with(known);
        } else {
            phrases.push(Phrase { rest, known, keeps_ending });
        }
    }
}

/// A longer name in capitals is one in lower case too, in bytes. Source: own choice; "NVIDIA" is no word, "WHO" is.
const LONGEST_SHOUTED: usize = 5;

/// Endings of English words with what is there in the bare form. Source: the rules of English spelling.
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
            assert!(lexicon.of(word).has(WordFlags::ORDINARY), "{word}");
        }
        for word in ["ljubljana", "anna", "grafana", "zelka"] {
            assert!(!lexicon.of(word).has(WordFlags::ORDINARY), "{word}");
        }
        assert!(lexicon.of("ljubljana").has(WordFlags::PLACE));
        assert!(lexicon.of("us").has(WordFlags::SHOUTED) && !lexicon.of("nvidia").has(WordFlags::SHOUTED));
        assert!(lexicon.phrases("new", "york").iter().any(|phrase| phrase.rest == ["york"]));
        assert!(lexicon.is_rare("new", &["york".into()]) && !lexicon.is_rare("new", &["house".into()]));
    }

    #[test]
    fn every_line_is_on_the_shelf_of_its_first_word() {
        for line in LISTS.into_iter().flat_map(|(_, list)| list.lines()) {
            let tokens = tokens(line);
            let first = tokens.first().map_or("", |first| first.key());
            assert_eq!(place_of_line(line), place_of(first), "{line}");
        }
    }
}
