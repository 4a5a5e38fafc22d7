//! Token cost of a Latin word.

use std::sync::LazyLock;

/// The longest run of letters that is one word, in characters; a longer one is counted in several.
///
/// Source: own choice, above the longest words of the fixture, so that the search for parts of a word stays cheap.
pub(super) const LONGEST_WORD: usize = 64;

/// Source: calibrated on `tests/fixtures/tokens.tsv`, as the costs of pieces are; hundredths of a token.
mod calibrated {
    /// Any word, before its letters.
    pub(super) const WORD: u64 = 75;
    /// A small letter without an accent.
    pub(super) const SMALL: u64 = 21;
    /// A capital behind the first letter.
    pub(super) const CAPITAL: u64 = 55;
    /// A letter with an accent of Western Europe.
    pub(super) const ACCENTED: u64 = 85;
    /// A letter with another accent.
    pub(super) const RARE: u64 = 125;
    /// What the third and each further consonant in a row costs in addition.
    pub(super) const CROWDED: u64 = 50;
}

/// What a common word costs.
const TOKEN: u64 = 100;

/// What a cut between two parts of a word costs: a token, less what the second letter behind it may cost too much because
/// consonants before the cut count as its neighbors.
const SEAM: u64 = TOKEN - calibrated::CROWDED;

/// Returns the cost of a run of at most [`LONGEST_WORD`] Latin letters, in hundredths of a token.
///
/// A common word is one token, and any other costs by its letters; a long one may be cheaper as common words with a seam between
/// them, which keeps two words written together from costing more than one token above their sum.
pub(super) fn word_cost(word: &str) -> u64 {
    if is_common(word) {
        return TOKEN;
    }
    let mut crowd = ConsonantRun::default();
    let letters = word
        .chars()
        .enumerate()
        .map(|(at, letter)| if at == 0 { crowd.first(letter) } else { crowd.next(letter) });
    let by_letters = calibrated::WORD + letters.sum::<u64>();
    if by_letters <= 2 * TOKEN + SEAM { by_letters } else { by_parts(word) }
}

/// How many consonants stand in a row.
#[derive(Default)]
struct ConsonantRun(u32);

impl ConsonantRun {
    /// The cost of a letter that begins a word or a part of one.
    fn first(&mut self, letter: char) -> u64 {
        self.count(letter);
        if letter.is_ascii() { calibrated::SMALL } else { accented(letter) }
    }

    /// The cost of a letter inside a word.
    fn next(&mut self, letter: char) -> u64 {
        self.count(letter);
        let own = match letter {
            'A'..='Z' => calibrated::CAPITAL,
            _ if letter.is_ascii() => calibrated::SMALL,
            _ => accented(letter),
        };
        if self.0 > 2 { own + calibrated::CROWDED } else { own }
    }

    fn count(&mut self, letter: char) {
        let vowel =
            !letter.is_ascii() || matches!(letter.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        self.0 = if vowel { 0 } else { self.0 + 1 };
    }
}

fn accented(letter: char) -> u64 {
    if letter <= 'ÿ' { calibrated::ACCENTED } else { calibrated::RARE }
}

/// The cheapest way to read a word as parts, each common or by its letters.
fn by_parts(word: &str) -> u64 {
    // The cheapest reading up to here; and the cheapest one whose last part is by letters and may go on.
    let mut best = 0;
    let mut open = u64::MAX / 2;
    let mut crowd = ConsonantRun::default();
    let mut parts = Parts::default();
    for (at, letter) in word.char_indices() {
        let before = best + if at == 0 { 0 } else { SEAM };
        let inside = crowd.next(letter);
        open = (before + calibrated::WORD + ConsonantRun::default().first(letter)).min(open + inside);
        parts.next(letter, before);
        best = parts.cheapest().map_or(open, |common| open.min(common + TOKEN));
    }
    best
}

/// The parts of a word that end at one letter and may begin a common word, with the cost of what precedes each.
#[derive(Default)]
struct Parts(Vec<(Key, u64)>);

impl Parts {
    /// Goes on to the next letter, where a part begins behind letters of this cost.
    fn next(&mut self, letter: char, before: u64) {
        let common = &*COMMON;
        self.0.retain_mut(|(key, _)| {
            *key = key.with(letter);
            common.may_begin_with(*key)
        });
        let new = Key::default().with_first(letter);
        if common.may_begin_with(new) {
            self.0.push((new, before));
        }
    }

    fn cheapest(&self) -> Option<u64> {
        let common = self.0.iter().filter(|(key, _)| COMMON.has(*key));
        common.map(|(_, before)| *before).min()
    }
}

/// The longest common word, in letters. Source: the list; a key has room for 16.
const LONGEST_COMMON: usize = 14;

/// The letters of a word, one byte each, or nothing of a word that cannot be common; so a word is compared at once.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key(u128);

impl Key {
    /// No word; letters that follow change nothing.
    const NONE: Self = Self(u128::MAX);

    fn with_first(self, letter: char) -> Self {
        self.with(letter.to_ascii_lowercase())
    }

    fn with(self, letter: char) -> Self {
        let has_room = self.0 >> (8 * (LONGEST_COMMON - 1)) == 0;
        if letter.is_ascii_lowercase() && has_room {
            Self(self.0 << 8 | u128::from(u32::from(letter)))
        } else {
            Self::NONE
        }
    }

    /// The key of a word in lower case or with a capital in front.
    fn of(word: &str) -> Self {
        let letters = word.as_bytes();
        let Some((first, rest)) = letters.split_first().filter(|_| letters.len() <= LONGEST_COMMON) else {
            return Self::NONE;
        };
        if !first.is_ascii_alphabetic() || !rest.iter().all(u8::is_ascii_lowercase) {
            return Self::NONE;
        }
        let first = u128::from(first.to_ascii_lowercase());
        Self(rest.iter().fold(first, |key, letter| key << 8 | u128::from(*letter)))
    }

    /// Where the search for a key starts, in a table of 2^`bits` places.
    fn place(self, bits: u32) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "both halves are mixed")]
        let halves = self.0 as u64 ^ ((self.0 >> 64) as u64).rotate_left(29);
        let mixed = halves.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed >> (u64::BITS - bits)).unwrap_or_default()
    }
}

/// English words that are one token in both vocabularies.
struct CommonWords {
    /// Places of the keys, and 0 for none, each at its hash or behind it.
    places: Vec<u16>,
    keys: Vec<Key>,
    /// One bit for each beginning of a word, at its hash: what has none begins no word.
    beginnings: Vec<u64>,
}

/// A table that is less than half full: most words that are not in it are told by one look.
const TABLE_BITS: u32 = 13;

/// A table of bits of which some 15 % are set, in 8 KiB.
const BEGINNING_BITS: u32 = 16;

/// Source: own choice of words; a test checks each against both tokenizers.
static COMMON: LazyLock<CommonWords> = LazyLock::new(|| {
    let list = include_str!("common.txt").split_ascii_whitespace();
    let mut words = CommonWords {
        places: vec![0; 1 << TABLE_BITS],
        keys: list.clone().map(Key::of).collect(),
        beginnings: vec![0; 1 << (BEGINNING_BITS - 6)],
    };
    for (place, key) in (1..).zip(&words.keys) {
        let mut at = key.place(TABLE_BITS);
        while words.places.get(at).is_some_and(|taken| *taken > 0) {
            at = (at + 1) % words.places.len();
        }
        if let Some(free) = words.places.get_mut(at) {
            *free = place;
        }
    }
    for word in list {
        let mut beginning = Key::default();
        for letter in word.chars() {
            beginning = beginning.with(letter);
            let place = beginning.place(BEGINNING_BITS);
            if let Some(bits) = words.beginnings.get_mut(place / 64) {
                *bits |= 1 << (place % 64);
            }
        }
    }
    words
});

impl CommonWords {
    fn may_begin_with(&self, key: Key) -> bool {
        let place = key.place(BEGINNING_BITS);
        key != Key::NONE && self.beginnings.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    fn has(&self, key: Key) -> bool {
        let mut at = key.place(TABLE_BITS);
        while let Some(place) = self.places.get(at).and_then(|place| usize::from(*place).checked_sub(1)) {
            if self.keys.get(place) == Some(&key) {
                return true;
            }
            at = (at + 1) % self.places.len();
        }
        false
    }
}

/// Returns whether a word is common, in lower case or with a capital in front.
fn is_common(word: &str) -> bool {
    COMMON.has(Key::of(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_word_is_one_token() {
        for word in include_str!("common.txt").split_ascii_whitespace() {
            let spaced = format!(" {word}");
            assert_eq!(bpe_openai::cl100k_base().count(spaced.as_str()), 1, "{word}");
            assert_eq!(bpe_openai::o200k_base().count(spaced.as_str()), 1, "{word}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_without_doubles() {
        let words: Vec<&str> = include_str!("common.txt").split_ascii_whitespace().collect();
        assert!(words.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn common_is_what_the_list_holds_and_nothing_else() {
        let words: Vec<&str> = include_str!("common.txt").split_ascii_whitespace().collect();
        assert!(words.len() < 1 << (TABLE_BITS - 1));
        assert_eq!(words.iter().map(|word| word.len()).max(), Some(LONGEST_COMMON));
        for word in words {
            let (first, rest) = word.split_at(1);
            assert!(is_common(word) && is_common(&format!("{}{rest}", first.to_ascii_uppercase())), "{word}");
            assert!(!is_common(&format!("{word}q")) && !is_common(&format!("é{word}")), "{word}");
            assert!(
                rest.is_empty() || !is_common(&format!("{first}{}", rest.to_ascii_uppercase())),
                "{word}"
            );
        }
        for word in ["", "é", "xq", "aq", "acknowledgementsandmore", "thé"] {
            assert!(!is_common(word), "{word}");
        }
    }

    #[test]
    fn words_written_together_cost_their_sum_and_one_seam() {
        assert_eq!(word_cost("something"), 100);
        assert_eq!(word_cost("Something"), 100);
        assert!(word_cost("somethinginformation") <= 300);
        assert!(word_cost("informationx") <= 300);
        assert!(word_cost("xqzvbkwrtpsdf") > 500);
    }
}
