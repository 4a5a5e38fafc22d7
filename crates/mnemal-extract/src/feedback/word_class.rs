//! Word classes: weekdays, colors, foods. A user who names another word of the same class often corrects the assistant.

use std::collections::HashMap;
use std::sync::OnceLock;

use mnemal_core::Result;

use super::echo::small;
use super::token::Token;
use crate::claims::kinds::{KindList, singulars};
use crate::hash::WordHashBuilder;
use crate::section::Section;
use crate::word::words_of;

/// Words of the assistant's message that are read. Source: own choice; enough for a correction's reference.
const READ_WORDS: usize = 200;

/// Kinds of words.
#[derive(Debug, Default)]
pub(crate) struct WordClasses {
    lists: Vec<&'static KindList>,
    words: HashMap<String, u64, WordHashBuilder>,
    /// The words of all lists with their kinds, made at the first use.
    listed: OnceLock<HashMap<&'static str, u64, WordHashBuilder>>,
}

impl WordClasses {
    /// Reads `kinds`, names of dictionary kinds, and `alike`, lines of words of one kind.
    ///
    /// # Errors
    /// `Invalid` for a value of another type.
    pub(crate) fn read(table: Section<'_>) -> Result<Self> {
        let lists: Vec<&'static KindList> =
            table.lines("kinds")?.into_iter().filter_map(KindList::of).collect();
        let mut words: HashMap<String, u64, WordHashBuilder> = HashMap::default();
        for (place, line) in table.lines("alike")?.into_iter().enumerate() {
            for word in line.split('|') {
                *words.entry(word.to_owned()).or_default() |= bit(lists.len() + place);
            }
        }
        Ok(Self { lists, words, listed: OnceLock::new() })
    }

    /// Returns the kinds of a word, a bit each.
    fn of_word(&self, word: &str) -> u64 {
        let listed = self.listed.get_or_init(|| self.table());
        let mut kinds = self.words.get(word).copied().unwrap_or_default();
        singulars(word, |word| kinds |= listed.get(word).copied().unwrap_or_default());
        kinds
    }

    fn table(&self) -> HashMap<&'static str, u64, WordHashBuilder> {
        let mut table: HashMap<&'static str, u64, WordHashBuilder> = HashMap::default();
        for (place, list) in self.lists.iter().enumerate() {
            for word in list.lines() {
                *table.entry(word).or_default() |= bit(place);
            }
        }
        table
    }

    /// Returns the kinds of the words of a text.
    pub(crate) fn of_text(&self, text: &str) -> u64 {
        words_of(text).take(READ_WORDS).fold(0, |kinds, word| kinds | self.of_word(&word.lower))
    }

    /// Returns whether a word that was not said before is of one of the kinds.
    pub(crate) fn stands_in(&self, kinds: u64, text: &str, tokens: &[Token]) -> bool {
        kinds != 0
            && tokens.iter().filter(|token| !token.is_said).any(|token| {
                let word = small(text.get(token.span.clone()).unwrap_or_default());
                self.of_word(&word) & kinds != 0
            })
    }
}

/// Returns the bit of a place; places beyond the last bit have none.
fn bit(place: usize) -> u64 {
    u32::try_from(place).ok().and_then(|place| 1_u64.checked_shl(place)).unwrap_or_default()
}
