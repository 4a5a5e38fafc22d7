//! Per-thread cache of stems: a few thousand words are most of what people write, and stemming one costs more than all the rest
//! of its analysis.

use crate::Language;
use std::cell::RefCell;

/// Longest cached word, in bytes. Source: own choice; nine of ten English words in running text are shorter.
const LONGEST: usize = 15;

/// Cache slots, two to this power; a word replaces the previous one in its slot.
///
/// Source: own choice; 35 bytes each, so some 140 KiB for a thread that analyzes.
const BITS: u32 = 12;

thread_local! {
    static KNOWN: RefCell<Vec<Option<CachedStem>>> = const { RefCell::new(Vec::new()) };
}

/// A short ASCII text without an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortText {
    bytes: [u8; LONGEST],
    len: u8,
}

impl ShortText {
    /// Returns nothing for a text that is long or not ASCII.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        bytes.get_mut(..text.len()).filter(|_| text.is_ascii())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes, len: u8::try_from(text.len()).ok()? })
    }

    fn text(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn place(&self) -> usize {
        let mut all = [0; LONGEST + 1];
        all.iter_mut().zip(self.bytes).for_each(|(to, from)| *to = from);
        let number = u128::from_le_bytes(all);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are mixed")]
        let halves = number as u64 ^ ((number >> 64) as u64).rotate_left(29);
        let mixed = halves.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed >> (u64::BITS - BITS)).unwrap_or_default()
    }
}

/// A word with its stem.
#[derive(Debug, Clone, Copy)]
struct CachedStem {
    language: Language,
    word: ShortText,
    stem: ShortText,
}

/// The cache of this thread.
pub(crate) struct KnownStems;

impl KnownStems {
    /// Appends the cached stem of a word; returns whether there was one.
    pub(crate) fn append(language: Language, word: ShortText, term: &mut String) -> bool {
        KNOWN.with(|known| {
            let Ok(known) = known.try_borrow() else { return false };
            let found = known.get(word.place()).and_then(Option::as_ref);
            let found = found.filter(|known| known.word == word && known.language == language);
            found.inspect(|known| term.push_str(known.stem.text())).is_some()
        })
    }

    /// Caches the stem of a word.
    pub(crate) fn keep(language: Language, word: ShortText, stem: &str) {
        let Some(stem) = ShortText::of(stem) else { return };
        KNOWN.with(|known| {
            let Ok(mut known) = known.try_borrow_mut() else { return };
            if known.is_empty() {
                known.resize(1 << BITS, None);
            }
            if let Some(place) = known.get_mut(word.place()) {
                *place = Some(CachedStem { language, word, stem });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(language: Language, word: &str) -> Option<String> {
        let mut term = String::new();
        KnownStems::append(language, ShortText::of(word)?, &mut term).then_some(term)
    }

    #[test]
    fn a_stem_is_known_for_its_word_and_language_only() {
        assert_eq!(lookup(Language::English, "houses"), None);
        KnownStems::keep(Language::English, ShortText::of("houses").unwrap(), "hous");
        assert_eq!(lookup(Language::English, "houses").as_deref(), Some("hous"));
        assert_eq!(lookup(Language::German, "houses"), None);
        assert_eq!(lookup(Language::English, "house"), None);
    }

    #[test]
    fn words_that_share_a_place_are_not_mixed_up() {
        let words: Vec<String> = (0..20_000).map(|n| format!("w{n:x}")).collect();
        for word in &words {
            KnownStems::keep(Language::English, ShortText::of(word).unwrap(), word);
            assert_eq!(lookup(Language::English, word).as_deref(), Some(word.as_str()));
        }
        assert!(words.iter().all(|word| lookup(Language::English, word).is_none_or(|stem| stem == *word)));
    }

    #[test]
    fn long_and_foreign_words_are_left_alone() {
        assert!(ShortText::of("straße").is_none() && ShortText::of("incomprehensible").is_none());
        assert_eq!(ShortText::of("comprehensible!").unwrap().text(), "comprehensible!");
    }
}
