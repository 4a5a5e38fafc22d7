//! Merge coverage: whether a text still carries every specific (name, number, date) of its sources.

mod date;
mod form;
mod generic;
mod piece;
mod plain;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::Language;
use date::Date;
pub(crate) use generic::{counts, is_everyday, is_grammar, opens};
use piece::{Piece, PieceKind};
use plain::{carries, plain, stands_at, starts};

/// Most texts of a space that hold a rare word, in a script without case. Source: own choice (AD-44: merge coverage).
const RARE: u32 = 2;
/// Longest word in a space's word list, in characters. Source: own choice; a longer one is a mistake in the list.
const LONGEST: usize = 64;
/// Fewest characters of a known name. Source: own choice; one character is part of too many words.
const NAME: usize = 2;

/// A space's word statistics, which distinguish the specifics of a text from ordinary language.
///
/// The default is empty: then every word of a script without case is rare and a specific, so that no more is lost than with
/// statistics, and more merges are refused.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Number of texts by word or character pair, in scripts without case.
    texts: HashMap<String, u32>,
    names: HashSet<String>,
    /// Their lengths in bytes.
    lengths: BTreeSet<usize>,
    common: BTreeSet<String>,
    specific: BTreeSet<String>,
}

/// A specific: it must not be lost in a merge.
#[derive(Debug)]
struct Specific {
    /// In compared and reported form.
    text: String,
    kind: PieceKind,
}

/// A text prepared for the search of specifics.
struct PreparedText {
    plain: String,
    words: HashSet<String>,
    letters: HashSet<char>,
    dates: Vec<Date>,
    language: Language,
}

impl Vocabulary {
    /// Counts the words of the texts of a space.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut vocabulary = Self::default();
        for text in texts {
            let keys: HashSet<String> = piece::pieces(text).iter().filter_map(key).collect();
            for key in keys {
                *vocabulary.texts.entry(key).or_default() += 1;
            }
        }
        vocabulary
    }

    /// Protects names, in every script and in every case.
    #[must_use]
    pub fn with_names<'t>(mut self, names: impl IntoIterator<Item = &'t str>) -> Self {
        for name in names.into_iter().map(plain).filter(|name| name.chars().nth(NAME - 1).is_some()) {
            self.lengths.insert(name.len());
            self.names.insert(name);
        }
        self
    }

    /// Marks words as ordinary language everywhere. A list with a blank word or one of more than 64 characters is malformed and
    /// ignored.
    #[must_use]
    pub fn with_common(mut self, words: &[String]) -> Self {
        self.common.extend(listed(words));
        self
    }

    /// Marks words as specifics, which takes precedence. A malformed list is ignored, as for
    /// [`with_common`](Self::with_common).
    #[must_use]
    pub fn with_specific(mut self, words: &[String]) -> Self {
        self.specific.extend(listed(words));
        self
    }

    /// Returns the specifics of a text, in order, folded, without duplicates: numbers of two digits and more, acronyms, names,
    /// quotations, addresses, paths and identifiers, runs of katakana, names known to the space, and in scripts without case
    /// the words, or character pairs, that at most two texts of the space have.
    ///
    /// A capitalized word at the beginning of a sentence is a name unless it is a generic word, so a common word can be
    /// mistaken for one; then a merge without it is refused, and nothing is lost.
    pub fn specifics(&self, text: &str) -> Vec<String> {
        self.read(text).into_iter().map(|one| one.text).collect()
    }

    /// Returns the specifics of the sources that a text lacks; empty if it may replace all of them.
    ///
    /// A word that another source writes in lower case is ordinary language and may be missing. A name may be inflected, and a
    /// date may be written differently.
    pub fn uncovered(&self, text: &str, sources: &[&str]) -> Vec<String> {
        let read = PreparedText::new(text);
        let mut missing = Vec::new();
        for (place, source) in sources.iter().enumerate() {
            let others = sources.iter().enumerate().filter(|(other, _)| *other != place);
            let others: Vec<&str> = others.map(|(_, other)| *other).collect();
            for one in self.missing(&read, source, &others) {
                if !missing.contains(&one) {
                    missing.push(one);
                }
            }
        }
        missing
    }

    /// Returns the numbers and dates of a text that no source has.
    pub fn made_up(&self, text: &str, sources: &[&str]) -> Vec<String> {
        let known = PreparedText::new(&sources.join("\n"));
        let missing = self.missing(&known, text, &[]);
        missing.into_iter().filter(|one| one.contains(char::is_numeric)).collect()
    }

    fn missing(&self, text: &PreparedText, source: &str, others: &[&str]) -> Vec<String> {
        let said = plain(source);
        if carries(&text.plain, &said) {
            return Vec::new();
        }
        let dates = date::dates(&said);
        let language = Language::guess(source);
        let is_lost = |one: &Specific| {
            !text.has(one, &dates, language)
                && (self.specific.contains(&one.text) || !others.iter().any(|other| is_ordinary(other, one)))
        };
        self.read(source).into_iter().filter(is_lost).map(|one| one.text).collect()
    }

    fn read(&self, text: &str) -> Vec<Specific> {
        let quoted = piece::quoted(text).into_iter().map(|text| Specific { text, kind: PieceKind::Exact });
        let mut found: Vec<Specific> = quoted.collect();
        let said = plain(text);
        let named = self.named(&said).into_iter();
        found.extend(named.map(|name| Specific { text: name.to_owned(), kind: PieceKind::Name }));
        found.extend(piece::pieces(text).into_iter().filter_map(|piece| self.specific(piece)));
        let mut seen = BTreeSet::new();
        found.retain(|one| {
            let is_listed = self.specific.contains(&one.text) || !self.common.contains(&one.text);
            !one.text.is_empty() && is_listed && seen.insert(one.text.clone())
        });
        found
    }

    /// Returns the known names in a plain text. Costs one lookup per word and name length, however many names there are.
    fn named(&self, said: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for at in starts(said) {
            let parts = self.lengths.iter().filter_map(|length| said.get(at..at + length));
            let names = parts.filter_map(|part| self.names.get(part));
            found.extend(names.map(String::as_str).filter(|name| stands_at(said, at, name)));
        }
        found
    }

    fn specific(&self, piece: Piece) -> Option<Specific> {
        let is_rare =
            || key(&piece).is_some_and(|key| self.texts.get(&key).is_none_or(|texts| *texts <= RARE));
        let is_specific = match piece.kind {
            PieceKind::Exact | PieceKind::Name => true,
            PieceKind::Opening => !opens(&piece.text),
            PieceKind::Word => !generic::is_particle(&piece.text) && is_rare(),
            PieceKind::Pair => !is_everyday(&piece.text) && is_rare(),
            PieceKind::Small => false,
        };
        let kind = if piece.kind == PieceKind::Opening { PieceKind::Name } else { piece.kind };
        (is_specific || self.specific.contains(&piece.text)).then_some(Specific { text: piece.text, kind })
    }
}

impl PreparedText {
    fn new(text: &str) -> Self {
        let plain = plain(text);
        let words = plain.split(|letter: char| !piece::is_of_word(letter)).filter(|word| !word.is_empty());
        Self {
            words: words.map(str::to_owned).collect(),
            letters: plain.chars().collect(),
            dates: date::dates(&plain),
            language: Language::guess(text),
            plain,
        }
    }

    /// Whether the text has a specific of a source with these dates.
    fn has(&self, one: &Specific, dates: &[Date], language: Language) -> bool {
        let is_of = |date: &&Date| date.words.contains(&one.text);
        let is_same_day = || dates.iter().filter(is_of).any(|date| self.dates.iter().any(|day| date.is(day)));
        let same = |text: &str| {
            let of = |language| self.words.iter().any(|word| form::is_same(text, word, language));
            of(language) || (self.language != language && of(self.language))
        };
        carries(&self.plain, &one.text)
            || match one.kind {
                PieceKind::Pair => one.text.chars().all(|letter| self.letters.contains(&letter)),
                PieceKind::Exact => {
                    plain::measured(&one.text).is_some_and(|other| carries(&self.plain, &other))
                }
                _ => one.text.split(' ').all(same),
            }
            || is_same_day()
    }
}

/// Returns the specifics of a text without word statistics, as [`Vocabulary::specifics`].
pub fn specifics(text: &str) -> Vec<String> {
    Vocabulary::default().specifics(text)
}

/// Returns the specifics of the sources that a text lacks, as [`Vocabulary::uncovered`] without word statistics.
pub fn uncovered(text: &str, sources: &[&str]) -> Vec<String> {
    Vocabulary::default().uncovered(text, sources)
}

/// Returns the key under which a piece is counted; nothing for one whose frequency is irrelevant.
fn key(piece: &Piece) -> Option<String> {
    match piece.kind {
        PieceKind::Pair => Some(piece.text.clone()),
        PieceKind::Word => Some(form::base(&piece.text)),
        _ => None,
    }
}

/// Whether a text writes a word in lower case.
fn is_ordinary(text: &str, one: &Specific) -> bool {
    one.kind == PieceKind::Name
        && text
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| word.chars().next().is_some_and(char::is_lowercase) && plain(word) == one.text)
}

/// Whether a space's word list is valid: it has no blank word, and none of more than 64 characters.
pub fn is_word_list(words: &[String]) -> bool {
    words.iter().all(|word| !word.trim().is_empty() && word.chars().count() <= LONGEST)
}

fn listed(words: &[String]) -> Vec<String> {
    if is_word_list(words) { words.iter().map(|word| plain(word.trim())).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests;
