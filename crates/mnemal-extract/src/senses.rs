//! Senses: words of one meaning in wishes and constraints, in several languages.
//!
//! "Smileys are fine again" lifts "no emojis", and "nuts are allowed again" lifts "no walnuts"; neither shares a word with it.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use mnemal_core::Result;
use mnemal_text::fold;

use crate::feedback::token::stands_alone;
use crate::section::PackFile;
use crate::word::words;

/// The packs of all languages.
const PACKS: [&str; 6] = [
    include_str!("../packs/en/senses.toml"),
    include_str!("../packs/de/senses.toml"),
    include_str!("../packs/fr/senses.toml"),
    include_str!("../packs/es/senses.toml"),
    include_str!("../packs/pt/senses.toml"),
    include_str!("../packs/zh/senses.toml"),
];
/// Fewest letters of a word that may begin another. Source: own choice; no pack has shorter ones.
const SHORTEST: usize = 3;
/// Letters behind them up to which a beginning is looked for. Source: own choice; no pack has longer ones.
const LONGEST: usize = 24;

/// A sense of a word. `is_kind` where the word names a kind of the thing: walnuts are nuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sense {
    number: u16,
    is_kind: bool,
}

/// All words with their senses.
#[derive(Debug, Default)]
struct Senses {
    /// Numbers of the names of senses.
    names: HashMap<String, u16>,
    /// Whole words.
    of_word: HashMap<String, Vec<Sense>>,
    /// Beginnings of words.
    of_start: HashMap<String, Vec<Sense>>,
    /// Words of a script without spaces, which occur anywhere.
    signs: Vec<(String, Sense)>,
}

static SENSES: LazyLock<Senses> = LazyLock::new(|| {
    let mut senses = Senses::default();
    for pack in PACKS {
        senses.add(pack).expect("the packs are read by a test");
    }
    senses
});

impl Senses {
    /// Adds the words of a pack.
    ///
    /// # Errors
    /// `Invalid` with the first mistake.
    fn add(&mut self, pack: &str) -> Result<()> {
        let file = PackFile::parse(pack)?;
        for (table, is_kind) in [("sense", false), ("kinds", true)] {
            let Some(section) = file.root().section(table)? else { continue };
            for name in section.keys() {
                let next = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
                let number = *self.names.entry(name.to_owned()).or_insert(next);
                let words = section.text(name)?.unwrap_or_default();
                words.split(' ').for_each(|word| self.add_word(word, Sense { number, is_kind }));
            }
        }
        Ok(())
    }

    fn add_word(&mut self, word: &str, sense: Sense) {
        if word.chars().all(stands_alone) {
            self.signs.push((word.to_owned(), sense));
        } else if let Some(start) = word.strip_suffix('*') {
            self.of_start.entry(fold(start)).or_default().push(sense);
        } else {
            self.of_word.entry(fold(word)).or_default().push(sense);
        }
    }

    fn of(&self, text: &str) -> BTreeSet<Sense> {
        let mut found = BTreeSet::new();
        for word in words(text) {
            // Of "l'escalier" the part behind the article counts.
            let word = fold(word.lower.rsplit_once('\'').map_or(&word.lower, |(_, behind)| behind));
            found.extend(self.of_word.get(&word).into_iter().flatten());
            for (end, _) in word.char_indices().skip(SHORTEST).take(LONGEST) {
                found
                    .extend(word.get(..end).and_then(|start| self.of_start.get(start)).into_iter().flatten());
            }
            found.extend(self.of_start.get(&word).into_iter().flatten());
        }
        if text.chars().any(stands_alone) {
            found.extend(
                self.signs.iter().filter(|(sign, _)| text.contains(sign.as_str())).map(|(_, sense)| sense),
            );
        }
        found
    }
}

/// The senses of a text or a word, for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordSenses {
    own: BTreeSet<u16>,
    all: BTreeSet<u16>,
}

impl WordSenses {
    /// Returns the senses of the words of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let found = SENSES.of(text);
        let own = found.iter().filter(|sense| !sense.is_kind).map(|sense| sense.number).collect();
        Self { own, all: found.iter().map(|sense| sense.number).collect() }
    }

    /// Whether no word has a sense.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether these words name what a statement with the other words is about: the same thing, or one of which it names a kind.
    #[must_use]
    pub fn mean(&self, said: &Self) -> bool {
        !self.own.is_disjoint(&said.all)
    }

    /// Whether words of both name the same thing, or kinds of it.
    #[must_use]
    pub(crate) fn share(&self, other: &Self) -> bool {
        !self.all.is_disjoint(&other.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(ended: &str, said: &str) -> bool {
        WordSenses::of(ended).mean(&WordSenses::of(said))
    }

    #[test]
    fn every_pack_can_be_read_and_names_what_english_names() {
        let names = |pack: &str| {
            let file = PackFile::parse(pack).unwrap();
            ["sense", "kinds"].map(|table| {
                let mut names: Vec<String> =
                    file.root().section(table).unwrap().unwrap().keys().map(str::to_owned).collect();
                names.sort();
                names
            })
        };
        let mut senses = Senses::default();
        for pack in PACKS {
            senses.add(pack).unwrap();
            assert_eq!(names(pack), names(PACKS[0]));
        }
        let lengths = SHORTEST..SHORTEST + LONGEST;
        let lost: Vec<_> =
            senses.of_start.keys().filter(|start| !lengths.contains(&start.chars().count())).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }

    #[test]
    fn words_of_one_meaning_meet_across_languages_and_a_kind_is_meant_by_its_thing() {
        for (ended, said) in [
            ("smileys", "Bitte keine Emojis."),
            ("nuts", "I'm allergic to walnuts."),
            ("Nüsse", "No soy amigo de las almendras"),
            ("提问", "End every answer with a question."),
            ("the water reminders", "每次聊天都提醒我多喝水。"),
            ("columnas", "No uses tablas"),
        ] {
            assert!(mean(ended, said), "{ended} {said}");
        }
        for (ended, said) in [("walnuts", "No nuts."), ("tables", "no emojis"), ("Rennes", "run"), ("", "")] {
            assert!(!mean(ended, said), "{ended} {said}");
        }
    }
}
