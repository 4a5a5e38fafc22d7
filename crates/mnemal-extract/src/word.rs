//! Lower-case words of a text with their byte ranges.

use std::borrow::Cow;
use std::ops::Range;

use crate::prefilter::Prefilter;

/// Digits behind a comma that groups a number. Source: the way in which English writes thousands.
const THOUSANDS: usize = 3;

/// A word: letters and digits, with apostrophes and hyphens inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    /// In lower case, with `'` for every apostrophe.
    pub(crate) lower: Cow<'t, str>,
    /// The first eight bytes of `lower`, as a number.
    pub(crate) start: u64,
    /// Bytes of the text.
    pub(crate) span: Range<usize>,
    /// Whether only spaces and opening signs are between the last full stop, comma or other sign and the word.
    pub(crate) starts_clause: bool,
}

impl<'t> Word<'t> {
    #[expect(clippy::fn_params_excessive_bools, reason = "whether nothing but spaces stands before it")]
    pub(crate) fn new(lower: Cow<'t, str>, span: Range<usize>, starts_clause: bool) -> Self {
        Self { start: start(&lower), lower, span, starts_clause }
    }

    /// Returns the mark of the word in a prefilter.
    pub(crate) fn prefilter(&self) -> Prefilter {
        Prefilter::of(self.start)
    }

    /// Returns whether the word has a capital at its start.
    pub(crate) fn is_capitalised(&self, text: &str) -> bool {
        text.get(self.span.clone()).and_then(|word| word.chars().next()).is_some_and(char::is_uppercase)
    }
}

/// Returns the words of `text` in order; a sign of a script without spaces is a word of its own.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::with_capacity(text.len() / 5);
    words.extend(words_of(text));
    words
}

/// Returns the same one by one, for callers that read the first words of a long text.
pub(crate) fn words_of(text: &str) -> WordIter<'_> {
    WordIter { text, at: 0, starts_clause: true }
}

/// The words of a text, one by one.
#[derive(Clone, Debug)]
pub(crate) struct WordIter<'t> {
    text: &'t str,
    /// Bytes that were read.
    at: usize,
    starts_clause: bool,
}

impl<'t> Iterator for WordIter<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let first = loop {
            let first = char_at(self.text, self.at)?;
            if first.is_alphanumeric() {
                break first;
            }
            let is_open = first.is_whitespace() && first != '\n' || matches!(first, '\'' | '’');
            self.starts_clause |= !is_open;
            self.at += first.len_utf8();
        };
        let start = self.at;
        self.at = word_end(self.text, start, first);
        let lower = lower(self.text.get(start..self.at).unwrap_or_default());
        Some(Word::new(lower, start..self.at, std::mem::take(&mut self.starts_clause)))
    }
}

/// Returns the character that begins at a byte.
fn char_at(text: &str, at: usize) -> Option<char> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() { Some(char::from(byte)) } else { text.get(at..)?.chars().next() }
}

/// Returns the end of the word that begins with `first` at a byte.
fn word_end(text: &str, start: usize, first: char) -> usize {
    let mut end = start + first.len_utf8();
    if is_sign(first) {
        return end;
    }
    while let Some(c) = char_at(text, end) {
        if !c.is_ascii_alphanumeric() && (is_sign(c) || !c.is_alphanumeric() && !is_inside(text, end, c)) {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// Returns the first eight bytes of a word, as a number.
pub(crate) fn start(word: &str) -> u64 {
    match word.as_bytes().first_chunk::<8>() {
        Some(start) => u64::from_be_bytes(*start),
        None => word.bytes().fold(0, |start, byte| start << 8 | u64::from(byte)),
    }
}

/// A sign of a script that puts no spaces between words: Han and kana.
pub(crate) fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// An apostrophe or a hyphen belongs to the word if a letter follows, and a comma to a number before three digits: "1,250".
fn is_inside(text: &str, at: usize, mark: char) -> bool {
    match mark {
        '\'' | '’' | '-' => {
            char_at(text, at + mark.len_utf8()).is_some_and(|next| next.is_alphanumeric() && !is_sign(next))
        }
        ',' => {
            let rest = text.get(at + 1..).unwrap_or_default();
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let follows_digit =
                text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()));
            digits == THOUSANDS && follows_digit
        }
        _ => false,
    }
}

fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    if word.is_ascii() {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    Cow::Owned(word.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase).collect())
}

/// Removes spaces, quotation marks, exclamation marks and emoji from the end, so that the final mark of the sentence is last.
pub(crate) fn without_closing_marks(text: &str) -> &str {
    let is_picture = |c: char| c >= '\u{2600}' && !c.is_alphanumeric() && !matches!(c, '？' | '。' | '！');
    text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '”' | '’' | '*' | '_' | '!') || is_picture(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_grouped_digits_is_one_word() {
        let words = |text| words(text).into_iter().map(|word| word.lower.into_owned()).collect::<Vec<_>>();
        assert_eq!(
            words("rent 1,250 a month, 1,000,000 in all"),
            ["rent", "1,250", "a", "month", "1,000,000", "in", "all"]
        );
        assert_eq!(words("3,4 and 12,50, or 1,2345"), ["3", "4", "and", "12", "50", "or", "1", "2345"]);
    }

    #[test]
    fn words_keep_apostrophes_hyphens_and_their_place() {
        let text = "Well, I don’t — re-read “Élan”'s…";
        let found = words(text);
        let lower: Vec<_> = found.iter().map(|word| word.lower.as_ref()).collect();
        assert_eq!(lower, ["well", "i", "don't", "re-read", "élan", "s"]);
        assert!(
            found
                .iter()
                .all(|word| text.is_char_boundary(word.span.start) && text.is_char_boundary(word.span.end))
        );
        let starts: Vec<_> = found.iter().map(|word| word.starts_clause).collect();
        assert_eq!(starts, [true, true, false, true, true, true]);
    }
}
