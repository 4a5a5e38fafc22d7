//! Classes of the words that were looked up last: most words of a text are among few that return all the time.
//!
//! Only words of the built-in lists are kept; others may be private, and must not outlive what was erased.

use std::cell::RefCell;
use std::hash::Hasher as _;

use crate::hash::WordHasher;
use crate::names::lexicon::Lexicon;
use crate::names::pack::Words;
use crate::names::word_flags::WordFlags;

/// Slots for words, a power of two: 64 KiB a thread. Source: own choice; nine words in ten of a chat are found again.
const SLOTS: usize = 2_048;
/// Bytes of the longest word that is remembered. Source: own choice, so that a slot has 32 bytes.
const LONGEST: usize = 23;

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordEntry {
    /// Its classes by the lists, and whether names of several words begin with it.
    pub(crate) listed: WordFlags,
    /// Its classes by the lists and by the language.
    pub(crate) classes: WordFlags,
}

impl WordEntry {
    /// Returns what is known of a word in lower case without accents.
    pub(crate) fn of(word: &str) -> Self {
        if word.len() > LONGEST || word.is_empty() {
            return Self::look_up(word);
        }
        let mut hasher = WordHasher::default();
        hasher.write(word.as_bytes());
        let place = usize::try_from(hasher.finish()).unwrap_or_default() % SLOTS;
        RECENT.with_borrow_mut(|slots| {
            slots.resize(SLOTS, Slot::default());
            let Some(slot) = slots.get_mut(place) else { return Self::look_up(word) };
            if slot.word() == word.as_bytes() {
                return slot.entry;
            }
            let entry = Self::look_up(word);
            if entry.is_listed() {
                slot.put(word.as_bytes(), entry);
            }
            entry
        })
    }

    /// Whether a list has the word.
    fn is_listed(self) -> bool {
        self.listed != WordFlags::NOTHING || self.classes != WordFlags::NOTHING
    }

    fn look_up(word: &str) -> Self {
        let listed = Lexicon::built_in().entry(word);
        Self { listed, classes: listed.without(WordFlags::BEGINS).with(Words::english().of(word)) }
    }
}

thread_local! {
    static RECENT: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// One word with what is known of it; an empty one holds no word.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    len: u8,
    bytes: [u8; LONGEST],
    entry: WordEntry,
}

impl Slot {
    fn word(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    fn put(&mut self, word: &[u8], entry: WordEntry) {
        let Some(bytes) = self.bytes.get_mut(..word.len()) else { return };
        bytes.copy_from_slice(word);
        (self.len, self.entry) = (u8::try_from(word.len()).unwrap_or_default(), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_as_the_lists_know_it_however_often_it_is_asked_for() {
        let words = ["the", "anna", "walked", "new", "zelka", "", "donaudampfschifffahrtsgesellschaft"];
        for word in words.into_iter().chain(words) {
            let (entry, expect) = (WordEntry::of(word), WordEntry::look_up(word));
            assert_eq!((entry.listed, entry.classes), (expect.listed, expect.classes), "{word}");
        }
        assert!(WordEntry::of("new").listed.has(WordFlags::BEGINS));
        let is_kept =
            |word: &str| RECENT.with_borrow(|slots| slots.iter().any(|slot| slot.word() == word.as_bytes()));
        assert!(is_kept("anna") && !is_kept("zelka"), "a word of no list is not kept");
        assert!(size_of::<Slot>() <= 32);
    }
}
