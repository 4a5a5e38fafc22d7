//! Self-corrections: a value that its speaker takes back in the same breath, or in the next turn.

mod turn;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use mnemal_core::Result;
use mnemal_text::{Language, is_stop_word};

use crate::dates::number;
use crate::section::{PackFile, Section};
use crate::word::{Word, is_sign, words};

pub(crate) use turn::Repair;
pub use turn::RepairedTurn;

/// Words before a marker among which the value stands. Source: own choice; what is farther away is another clause.
const REACH: usize = 8;
/// Words of a value at most. Source: own choice; a longer phrase tells a story.
const LONGEST: usize = 5;
/// Words of a value at most that a marker of one word is enough for. Source: own choice, "in the north".
const LONGEST_BARE: usize = 3;
/// Markers in a row that count as one. Source: own choice, "no, wait, sorry".
const MOST_MARKERS: usize = 3;
/// Bytes of a text in which slips are looked for. Source: as of the texts that are read for claims.
const MOST_BYTES: usize = 40_000;
/// Letters of a word of a number at least. Source: own choice; shorter ones are articles in some languages.
const NUMBER_WORD: usize = 3;

/// How clearly a marker takes something back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// As one word of other senses: "no", "sorry".
    Weak,
    /// As a phrase that mostly does: "I mean", "no wait".
    Clear,
    /// As what says nothing else: "correction", "typo".
    Sure,
}

/// The words of a marker.
type Phrase = Vec<String>;

/// The markers of all languages, by their first words.
#[derive(Debug, Default)]
struct Markers {
    inside: HashMap<String, Vec<(Phrase, Strength)>>,
    /// Before or behind the value of a turn of few words.
    turn: HashMap<String, Vec<(Phrase, Strength)>>,
    slip: HashMap<String, Vec<Phrase>>,
    not: HashMap<String, Vec<Phrase>>,
    links: HashSet<String>,
    /// Words behind a value that begin to tell how it is written.
    spelling: HashSet<String>,
}

static MARKERS: LazyLock<Markers> =
    LazyLock::new(|| Markers::read(include_str!("../packs/repairs.toml")).expect("a test reads the pack"));

impl Markers {
    /// Reads the pack.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    fn read(text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let mut markers = Self::default();
        for language in file.root().keys() {
            let Some(section) = file.root().section(language)? else { continue };
            for (name, strength) in
                [("sure", Strength::Sure), ("clear", Strength::Clear), ("weak", Strength::Weak)]
            {
                for (first, phrase) in phrases(section, name)? {
                    markers.inside.entry(first).or_default().push((phrase, strength));
                }
            }
            for (name, strength) in
                [("explicit", Strength::Sure), ("shown", Strength::Clear), ("turn", Strength::Weak)]
            {
                for (first, phrase) in phrases(section, name)? {
                    markers.turn.entry(first).or_default().push((phrase, strength));
                }
            }
            for (name, all) in [("slip", &mut markers.slip), ("not", &mut markers.not)] {
                for (first, phrase) in phrases(section, name)? {
                    all.entry(first).or_default().push(phrase);
                }
            }
            let links = section.text("links")?.unwrap_or_default();
            markers.links.extend(links.split(' ').map(str::to_owned));
            let spelling = section.text("spelling")?.unwrap_or_default();
            markers.spelling.extend(spelling.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
        }
        Ok(markers)
    }
}

fn phrases(section: Section<'_>, name: &str) -> Result<Vec<(String, Phrase)>> {
    let phrase = |line: &str| -> Phrase { line.split(' ').map(str::to_owned).collect() };
    let lines = section.lines(name)?.into_iter().map(phrase);
    Ok(lines.filter_map(|phrase| Some((phrase.first()?.clone(), phrase))).collect())
}

/// Whether a phrase stands at a word.
fn stands(phrase: &[String], words: &[Word<'_>], at: usize) -> bool {
    let here = words.get(at..at + phrase.len());
    here.is_some_and(|here| here.iter().zip(phrase).all(|(word, part)| word.lower == part.as_str()))
}

/// Returns the words of the longest of some phrases that stands at a word.
fn longest(all: &HashMap<String, Vec<Phrase>>, words: &[Word<'_>], at: usize) -> usize {
    let phrases = words.get(at).and_then(|word| all.get(word.lower.as_ref()));
    let lengths = phrases.into_iter().flatten().filter(|phrase| stands(phrase, words, at)).map(Vec::len);
    lengths.max().unwrap_or_default()
}

/// A text with its words.
#[derive(Debug)]
struct WordList<'t> {
    text: &'t str,
    words: Vec<Word<'t>>,
    language: OnceCell<Language>,
}

impl<'t> WordList<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, words: words(text), language: OnceCell::new() }
    }

    /// What stands between a word and the one before it.
    fn gap(&self, at: usize) -> &'t str {
        let start = at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(0, |word| word.span.end);
        let end = self.words.get(at).map_or(self.text.len(), |word| word.span.start);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Whether a sentence ends before a word; dots of an ellipsis end none.
    fn is_apart(&self, at: usize) -> bool {
        let gap = self.gap(at);
        gap.contains(['\n', '!', '?', '。', '！', '？', ';', '；'])
            || gap.contains('.') && !gap.contains("..")
    }

    /// Whether a sign stands before a word.
    fn is_parted(&self, at: usize) -> bool {
        at >= self.words.len() || self.gap(at).chars().any(|sign| !sign.is_whitespace())
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_ref())
    }

    fn is_number(&self, at: usize) -> bool {
        let word = self.word(at);
        word.starts_with(|first: char| first.is_ascii_digit())
            || (word.chars().count() >= NUMBER_WORD || self.is_of_signs(at))
                && word.chars().all(char::is_alphabetic)
                && number(word).is_some()
    }

    /// Whether a word is written as a name, and is no pronoun.
    fn is_name(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        word.is_capitalised(self.text)
            && word.lower.chars().count() > 1
            && !MARKERS.links.contains(word.lower.as_ref())
            && !is_stop_word(*self.language.get_or_init(|| Language::guess(self.text)), &word.lower)
    }

    fn is_of_signs(&self, at: usize) -> bool {
        self.word(at).chars().all(is_sign) && !self.word(at).is_empty()
    }

    /// Returns the end of a value that starts at a word: the next sign, or so many words.
    fn value_end(&self, at: usize) -> usize {
        (at + 1..=self.words.len()).find(|end| self.is_parted(*end) || *end - at == LONGEST).unwrap_or(at)
    }

    /// Returns the marker at a word, with its end; a few in a row are one: "no, let me see".
    fn marker(&self, at: usize) -> Option<(usize, Strength)> {
        let phrase = |at: usize| {
            let phrases = MARKERS.inside.get(self.word(at))?;
            let here = phrases.iter().filter(|(phrase, _)| stands(phrase, &self.words, at));
            here.map(|(phrase, strength)| (at + phrase.len(), *strength)).max()
        };
        let (mut end, mut strength) = phrase(at)?;
        for _ in 1..MOST_MARKERS {
            let Some((next, other)) = phrase(end).filter(|_| !self.is_apart(end)) else { break };
            (end, strength) = (next, strength.max(other));
        }
        Some((end, strength))
    }

    /// Returns the words that a marker takes back: a value before it, and the marker.
    fn taken_back(&self, marker: usize, end: usize, strength: Strength) -> Option<Range<usize>> {
        let is_whole = end < self.words.len() && !self.is_apart(marker) && !self.is_apart(end);
        let first =
            (marker.saturating_sub(REACH)..marker).rev().take_while(|at| !self.is_apart(at + 1)).last()?;
        let before = first..marker;
        if !is_whole {
            return None;
        }
        let is_between_signs = self.is_parted(marker) && self.is_parted(end);
        let mut behind = (end..end + 2).take_while(|at| *at == end || !self.is_parted(*at));
        if let Some(numbered) = behind.find(|at| self.is_number(*at)) {
            let place = before.clone().rev().find(|at| self.is_number(*at))?;
            // A word between the two, as the one that is counted, follows both: "7th grade no 8th grade".
            let is_alike = place + 1 == marker || self.word(place + 1) == self.word(numbered + 1);
            let starts_alike = numbered == end || self.word(place.wrapping_sub(1)) == self.word(end);
            let start = if numbered > end && starts_alike { place.saturating_sub(1) } else { place };
            return (is_between_signs || strength > Strength::Weak || is_alike).then_some(start..end);
        }
        // Of a single word what follows may be another clause: ", no, London is too dear".
        let is_loose = strength == Strength::Weak || strength == Strength::Sure && end == marker + 1;
        let value_end = self.value_end(end);
        let is_closed = self.is_parted(value_end) && value_end - end <= LONGEST_BARE;
        if is_loose
            && !(is_between_signs && is_closed)
            && !(strength == Strength::Sure && is_between_signs && MARKERS.links.contains(self.word(end)))
        {
            return None;
        }
        if MARKERS.links.contains(self.word(end)) {
            let link = before.clone().rev().find(|at| self.word(*at) == self.word(end));
            return link.filter(|link| marker - link <= LONGEST + 1).map(|link| link..end);
        }
        if self.is_of_signs(end) {
            let length = self.value_end(end) - end;
            return (strength > Strength::Weak && marker - first >= length).then(|| marker - length..end);
        }
        let last = marker.checked_sub(1)?;
        if self.is_name(end) && self.is_name(last) {
            let names =
                before.rev().take_while(|at| self.is_name(*at) && (*at == last || !self.is_parted(at + 1)));
            return names.last().map(|start| start..end);
        }
        (strength == Strength::Sure).then_some(last..end)
    }
}

/// Returns the bytes that the speaker of a text takes back in the same breath, with the words that say so.
fn slips(text: &str) -> Vec<Range<usize>> {
    let said = WordList::of(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < said.words.len() {
        let taken = said.marker(at).and_then(|(end, strength)| said.taken_back(at, end, strength));
        let bytes = taken.as_ref().and_then(|taken| {
            Some(said.words.get(taken.start)?.span.start..said.words.get(taken.end)?.span.start)
        });
        at = taken.map_or(at, |taken| taken.end - 1) + 1;
        found.extend(bytes);
    }
    found
}

/// Returns a text without the values that its speaker takes back in the same breath: "in Ghent, I mean, in Bruges".
///
/// White space of the same length takes their place.
pub(crate) fn without_slips(text: Cow<'_, str>) -> Cow<'_, str> {
    let slips = if text.len() > MOST_BYTES { Vec::new() } else { slips(&text) };
    if slips.is_empty() {
        return text;
    }
    let mut kept = text.into_owned();
    for slip in slips {
        kept.replace_range(slip.clone(), &" ".repeat(slip.len()));
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        without_slips(Cow::Borrowed(text)).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_is_taken_back_in_the_same_breath_is_left_out() {
        let file = include_str!("../packs/repairs.toml");
        assert!(Markers::read(file).unwrap().inside.len() > 50);
        for (text, expect) in [
            ("I live in Ghent, er, I mean, in Bruges.", "I live in Bruges."),
            ("My sister Ann, no sorry, Ella, is here.", "My sister Ella, is here."),
            ("I own a Kawasaki, sorry, a Yamaha.", "I own a Yamaha."),
            ("I weigh 83 kilos sorry 78 kilos now", "I weigh 78 kilos now"),
            ("I am 71 years old, no, let me see, 72.", "I am 72."),
            (
                "Ich lerne seit fünf, falsch, seit sechs Jahren Finnisch.",
                "Ich lerne seit sechs Jahren Finnisch.",
            ),
            ("Meine Bank ist die Nordbank, ich korrigiere, die Südbank.", "Meine Bank ist die Südbank."),
            ("Am Mittwoch, Quatsch, am Donnerstag kommt mein Vater.", "am Donnerstag kommt mein Vater."),
            ("Je chante ténor, qu'est-ce que je dis, baryton.", "Je chante baryton."),
            ("Vivo en Lugo, digo, en Orense.", "Vivo en Orense."),
            ("Moro em Faro, aliás, em Beja", "Moro em Beja"),
            ("我表弟叫子安，不对，叫子平。", "我表弟 叫子平。"),
            ("我打算搬去厦门，我是说泉州。", "我打算搬去 泉州。"),
        ] {
            assert_eq!(kept(text), expect);
        }
    }

    #[test]
    fn what_only_sounds_so_is_kept() {
        for text in [
            "I live in Bern, sorry, I forgot to say.",
            "Ich wohne in Kiel, nein, Hamburg war mir zu laut.",
            "I live in Leeds (no, London is too dear).",
            "I have a cat called Luna, er, Sirius is the neighbour's.",
            "My mother lives in Bonn, er, my father in Trier.",
            "Ich wohne in Essen, Quatsch mach ich da keinen.",
            "I speak Dutch, sorry, English is fine too.",
            "I have a dog, no cat.",
            "I told him no. I told her yes.",
            "I love it, I mean, who doesn't?",
            "No, Ella is my sister.",
            "Ich mag Bern, nein, wirklich.",
            "Não gosto de Lisboa, não sei por quê.",
            "我不对花生过敏。",
            "no no no no no no no no no no no no",
            "",
        ] {
            assert_eq!(kept(text), text);
        }
    }
}
