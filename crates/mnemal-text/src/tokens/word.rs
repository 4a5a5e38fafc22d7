//! What a Latin word costs.

use std::collections::HashSet;
use std::sync::OnceLock;

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
/// consonants before the cut count as its neighbours.
const SEAM: u64 = TOKEN - calibrated::CROWDED;

/// Returns the cost of a run of at most [`LONGEST_WORD`] Latin letters, in hundredths of a token.
///
/// A common word is one token, and any other costs by its letters; a long one may be cheaper as common words with a seam between
/// them, which keeps two words written together from costing more than one token above their sum.
pub(super) fn word_cost(word: &str) -> u64 {
    if is_common(word) {
        return TOKEN;
    }
    let mut crowd = Crowd::default();
    let letters = word
        .chars()
        .enumerate()
        .map(|(at, letter)| if at == 0 { crowd.first(letter) } else { crowd.next(letter) });
    let by_letters = calibrated::WORD + letters.sum::<u64>();
    if by_letters <= 2 * TOKEN + SEAM { by_letters } else { by_parts(word) }
}

/// How many consonants stand in a row.
#[derive(Default)]
struct Crowd(u32);

impl Crowd {
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
        let vowel = !letter.is_ascii() || b"aeiouyAEIOUY".iter().any(|&vowel| char::from(vowel) == letter);
        self.0 = if vowel { 0 } else { self.0 + 1 };
    }
}

fn accented(letter: char) -> u64 {
    if letter <= 'ÿ' { calibrated::ACCENTED } else { calibrated::RARE }
}

/// The cheapest way to read a word as parts, each common or by its letters.
fn by_parts(word: &str) -> u64 {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    // The cheapest reading of the first n letters; and the cheapest one whose last part is by letters and may go on.
    let mut best = vec![0_u64];
    let mut open = u64::MAX / 2;
    let mut crowd = Crowd::default();
    for &(at, letter) in &letters {
        let end = at + letter.len_utf8();
        let before = best.last().copied().unwrap_or(0) + if at == 0 { 0 } else { SEAM };
        let inside = crowd.next(letter);
        open = (before + calibrated::WORD + Crowd::default().first(letter)).min(open + inside);
        let starts = letters.iter().zip(&best).rev().take(common_words().longest);
        let common = starts.filter(|((start, _), _)| word.get(*start..end).is_some_and(is_common));
        let cheapest = common.map(|((start, _), cost)| cost + TOKEN + if *start == 0 { 0 } else { SEAM });
        best.push(cheapest.fold(open, u64::min));
    }
    best.last().copied().unwrap_or(0)
}

/// English words that are one token in both vocabularies.
struct CommonWords {
    words: HashSet<&'static str>,
    longest: usize,
}

/// Source: own choice of words; a test checks each against both tokenizers.
fn common_words() -> &'static CommonWords {
    static WORDS: OnceLock<CommonWords> = OnceLock::new();
    WORDS.get_or_init(|| {
        let words: HashSet<_> = include_str!("common.txt").split_ascii_whitespace().collect();
        let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
        CommonWords { words, longest }
    })
}

/// Returns whether a word is common, in lower case or with a capital in front.
fn is_common(word: &str) -> bool {
    let common = common_words();
    match word.as_bytes() {
        [first, ..] if word.len() > common.longest || !first.is_ascii() => false,
        [first, rest @ ..] if first.is_ascii_uppercase() && !rest.iter().any(u8::is_ascii_uppercase) => {
            common.words.contains(word.to_ascii_lowercase().as_str())
        }
        _ => common.words.contains(word),
    }
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
    fn words_written_together_cost_their_sum_and_one_seam() {
        assert_eq!(word_cost("something"), 100);
        assert_eq!(word_cost("Something"), 100);
        assert!(word_cost("somethinginformation") <= 300);
        assert!(word_cost("informationx") <= 300);
        assert!(word_cost("xqzvbkwrtpsdf") > 500);
    }
}
