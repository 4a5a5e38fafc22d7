//! Word boundaries of a text.

use crate::script::{Script, is_emoji};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// One word of a text, or one run of a script that is written without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// Whether it is a run whose characters are taken in pairs.
    pub(crate) paired: bool,
}

/// Calls `each` with every piece of `text` between white space, and its offset.
///
/// No word reaches over ASCII white space, so pieces are independent, and plain ones take the fast path.
pub(crate) fn for_each_chunk<'t>(text: &'t str, mut each: impl FnMut(usize, &'t str)) {
    let base = text.as_ptr().addr();
    for chunk in text.split_ascii_whitespace() {
        each(chunk.as_ptr().addr() - base, chunk);
    }
}

/// Appends the words of a chunk that starts at byte `offset`, by UAX 29, and each emoji as one; runs of paired scripts stay in
/// one piece.
pub(crate) fn push_words(offset: usize, chunk: &str, words: &mut Vec<Word>) {
    if chunk.is_ascii() || !chunk.chars().any(is_paired_letter) {
        push_spaced(offset, chunk, words);
        return;
    }
    let mut run = 0..0;
    let mut paired = false;
    for (at, grapheme) in chunk.grapheme_indices(true) {
        let now = grapheme.chars().next().is_some_and(is_paired_letter);
        if now != paired {
            push_run(offset, chunk, Word { range: run, paired }, words);
            run = at..at;
            paired = now;
        }
        run.end = at + grapheme.len();
    }
    push_run(offset, chunk, Word { range: run, paired }, words);
}

fn push_run(offset: usize, chunk: &str, run: Word, words: &mut Vec<Word>) {
    let start = offset + run.range.start;
    if run.range.is_empty() {
        return;
    }
    if run.paired {
        words.push(Word { range: start..offset + run.range.end, paired: true });
    } else {
        push_spaced(start, chunk.get(run.range).unwrap_or_default(), words);
    }
}

fn push_spaced(offset: usize, text: &str, words: &mut Vec<Word>) {
    let word = |(at, word): (usize, &str)| {
        let start = offset + at;
        Word { range: start..start + word.len(), paired: false }
    };
    if text.is_ascii() || !text.chars().any(is_emoji) {
        words.extend(text.unicode_word_indices().map(word));
        return;
    }
    let is_word = |(_, piece): &(usize, &str)| piece.chars().any(|c| c.is_alphanumeric() || is_emoji(c));
    words.extend(text.split_word_bound_indices().filter(is_word).map(word));
}

fn is_paired_letter(character: char) -> bool {
    !character.is_ascii() && Script::of(character).is_paired() && character.is_alphanumeric()
}

/// Returns whether a character inside a UAX 29 word separates two parts that are words themselves.
pub(crate) fn separates_parts(character: char) -> bool {
    matches!(
        character,
        '.' | '_'
            | ':'
            | ','
            | ';'
            | '\u{203F}'
            | '\u{2040}'
            | '\u{FE33}'
            | '\u{FE34}'
            | '\u{FE52}'
            | '\u{FF0C}'
            | '\u{FF0E}'
            | '\u{FF1A}'
            | '\u{FF1B}'
            | '\u{FF3F}'
    )
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may panic")]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let mut words = Vec::new();
        for_each_chunk(text, |offset, chunk| push_words(offset, chunk, &mut words));
        let found: Vec<&str> = words.iter().map(|word| &text[word.range.clone()]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn words_follow_uax_29_and_runs_without_spaces_stay_together() {
        check("e-mail, can't (stop)", &["e", "mail", "can't", "stop"]);
        check("foo_bar v1.2.3 x.io 20.04", &["foo_bar", "v1.2.3", "x.io", "20.04"]);
        check("我在Berlin住了3年。", &["我在", "Berlin", "住了", "3", "年"]);
        check("สวัสดี ครับ", &["สวัสดี", "ครับ"]);
        check("한국어abc", &["한국어", "abc"]);
        check("🦊🦊 den—🦊!", &["🦊", "🦊", "den", "🦊"]);
        check("👨\u{200d}👩\u{200d}👧 می\u{200c}خواهم", &["👨\u{200d}👩\u{200d}👧", "می\u{200c}خواهم"]);
        check("\t \n…—!", &[]);
    }
}
