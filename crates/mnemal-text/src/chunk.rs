//! Chunking of long documents.

use crate::sentence::sentences;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The longest chunk, in characters.
///
/// Source: own choice (GA-07: chunks instead of cutting a long text off).
pub const CHUNK_CHARACTERS: usize = 3_000;

/// Returns the byte ranges of the chunks of `text`, each of at most `longest` characters (0 is read as 1).
///
/// The ranges follow each other without a gap and end with the text, so no byte is lost; an empty text has none.
/// A chunk ends after a paragraph if one fits, else after a sentence, else between two characters as readers see them; only a
/// single such character that is longer than `longest` is cut.
pub fn chunks(text: &str, longest: usize) -> Vec<Range<usize>> {
    let longest = longest.max(1);
    let mut chunks = Chunks { longest, done: Vec::new(), open: 0..0, characters: 0 };
    for block in paragraphs(text) {
        chunks.push(text, block, |text, paragraph| {
            let ends = sentences(text.get(paragraph.clone()).unwrap_or_default());
            borders(&paragraph, ends.iter().map(|sentence| sentence.end))
        });
    }
    chunks.close();
    chunks.done
}

/// Chunks under construction.
struct Chunks {
    longest: usize,
    done: Vec<Range<usize>>,
    open: Range<usize>,
    characters: usize,
}

impl Chunks {
    /// Adds a block whole if it fits into some chunk, else piece by piece.
    fn push(
        &mut self,
        text: &str,
        block: Range<usize>,
        split: impl Fn(&str, Range<usize>) -> Vec<Range<usize>>,
    ) {
        let length = count(text, &block);
        if length <= self.longest {
            self.place(block, length);
            return;
        }
        self.close();
        for sentence in split(text, block) {
            let length = count(text, &sentence);
            if length <= self.longest {
                self.place(sentence, length);
            } else {
                self.close();
                self.cut(text, &sentence);
            }
        }
        self.close();
    }

    /// Adds a sentence that is too long for one chunk.
    fn cut(&mut self, text: &str, sentence: &Range<usize>) {
        let mut at = sentence.start;
        for grapheme in text.get(sentence.clone()).unwrap_or_default().graphemes(true) {
            let length = grapheme.chars().count();
            if length <= self.longest {
                self.place(at..at + grapheme.len(), length);
                at += grapheme.len();
                continue;
            }
            for character in grapheme.chars() {
                self.place(at..at + character.len_utf8(), 1);
                at += character.len_utf8();
            }
        }
    }

    fn place(&mut self, piece: Range<usize>, length: usize) {
        if self.characters + length > self.longest {
            self.close();
        }
        self.open.end = piece.end;
        self.characters += length;
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(self.open.clone());
        }
        self.open = self.open.end..self.open.end;
        self.characters = 0;
    }
}

fn count(text: &str, range: &Range<usize>) -> usize {
    text.get(range.clone()).unwrap_or_default().chars().count()
}

/// Paragraphs with the blank lines behind them.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut ends = Vec::new();
    let (mut at, mut blank) = (0, false);
    for line in text.split_inclusive('\n') {
        let empty = line.trim().is_empty();
        if blank && !empty {
            ends.push(at);
        }
        blank = empty;
        at += line.len();
    }
    borders(&(0..text.len()), ends.into_iter())
}

/// Cuts a range at ascending places that are relative to its start, each inside it.
fn borders(whole: &Range<usize>, ends: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = whole.start;
    for end in ends.map(|end| whole.start + end).chain([whole.end]) {
        if end > start && end <= whole.end {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, longest: usize, expect: &[&str]) {
        let found: Vec<&str> = chunks(text, longest).into_iter().map(|chunk| &text[chunk]).collect();
        assert_eq!(found, expect);
    }

    // proves: GA-07
    #[test]
    fn documents_are_cut_at_paragraphs_then_sentences_then_characters() {
        check("One two.\n\nThree.\n\nFour.", 18, &["One two.\n\nThree.\n\n", "Four."]);
        check("One two. Three four. Five.", 13, &["One two.", " Three four.", " Five."]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("", 10, &[]);
    }

    proptest! {
        // proves: GA-07
        #[test]
        fn chunks_follow_without_a_gap_and_none_is_too_long(text in "([a-c]{1,9}[.!?]? |\n\n|é\u{301}|👨‍👩‍👧|。){0,60}", longest in 1_usize..40) {
            let mut last = 0;
            for chunk in chunks(&text, longest) {
                prop_assert_eq!(chunk.start, last);
                last = chunk.end;
                let body = text.get(chunk).unwrap();
                prop_assert!(!body.is_empty() && body.chars().count() <= longest);
            }
            prop_assert_eq!(last, text.len());
        }
    }
}
