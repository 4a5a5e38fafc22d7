//! BERT's basic tokenizer and greedy `WordPiece` over a vocabulary.
//!
//! Control characters are dropped, Han characters are separate words, letters become lower case without accents, words end at
//! white space and punctuation; each word is then split into the longest pieces of the vocabulary, those after the first with a
//! leading `##`.

mod ranges;

use unicode_normalization::char::decompose_canonical;

use crate::vocabulary::{PieceId, SpellingHash, Vocabulary};

/// Longest word, in characters; a longer one is unknown as a whole.
///
/// Source: `max_input_chars_per_word` of BERT's tokenizer.
const LONGEST_WORD: usize = 100;

/// A piece of a text, or a word without pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceToken {
    Known(PieceId),
    Unknown,
}

/// Passes the pieces of a text to `emit`, in order. Allocates a few buffers per text, none per piece.
pub(crate) fn for_each_piece<V: Vocabulary>(vocabulary: &V, text: &str, emit: &mut dyn FnMut(PieceToken)) {
    let mut words =
        WordCursor { vocabulary, word: String::new(), hashes: Vec::new(), found: Vec::new(), emit };
    for character in text.chars() {
        words.push(character);
    }
    words.end();
}

struct WordCursor<'a, V> {
    vocabulary: &'a V,
    word: String,
    hashes: Vec<(usize, SpellingHash)>,
    found: Vec<PieceId>,
    emit: &'a mut dyn FnMut(PieceToken),
}

impl<V: Vocabulary> WordCursor<'_, V> {
    fn push(&mut self, character: char) {
        if character.is_ascii() {
            return self.push_folded(character.to_ascii_lowercase());
        }
        if is_han(character) {
            self.end();
            decompose_canonical(character, |part| self.push_folded(part));
            return self.end();
        }
        if character == char::REPLACEMENT_CHARACTER {
            return;
        }
        decompose_canonical(character, |part| {
            for folded in part.to_lowercase() {
                self.push_folded(folded);
            }
        });
    }

    /// Takes a character that is lower case and decomposed.
    fn push_folded(&mut self, character: char) {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            self.word.push(character);
        } else if is_dropped(character) {
            // Nothing; a vertical tab is both a control character and white space, and does not end a word.
        } else if character.is_whitespace() {
            self.end();
        } else if is_punctuation(character) {
            self.end();
            self.word.push(character);
            self.end();
        } else {
            self.word.push(character);
        }
    }

    /// Cuts the word so far into pieces.
    fn end(&mut self) {
        if self.word.is_empty() {
            return;
        }
        self.found.clear();
        if self.word.chars().nth(LONGEST_WORD).is_none() && self.split_pieces() {
            for piece in &self.found {
                (self.emit)(PieceToken::Known(*piece));
            }
        } else {
            (self.emit)(PieceToken::Unknown);
        }
        self.word.clear();
    }

    /// Fills `found` from left to right with the longest pieces; false if some part has none.
    fn split_pieces(&mut self) -> bool {
        let mut rest = self.word.as_str();
        let mut state = SpellingHash::opening();
        while !rest.is_empty() {
            let Some((piece, length)) = longest(self.vocabulary, &mut self.hashes, state, rest) else {
                return false;
            };
            self.found.push(piece);
            rest = rest.split_at_checked(length).map_or("", |(_, rest)| rest);
            state = SpellingHash::continuing();
        }
        true
    }
}

/// Finds the longest piece at the start of `rest`, and its length in bytes.
fn longest<V: Vocabulary>(
    vocabulary: &V,
    hashes: &mut Vec<(usize, SpellingHash)>,
    mut state: SpellingHash,
    rest: &str,
) -> Option<(PieceId, usize)> {
    hashes.clear();
    for (at, byte) in rest.bytes().enumerate().take(vocabulary.longest()) {
        state = state.with(byte);
        if rest.is_char_boundary(at + 1) {
            hashes.push((at + 1, state));
        }
    }
    let bytes = rest.as_bytes();
    hashes
        .iter()
        .rev()
        .find_map(|(length, state)| Some((vocabulary.find(*state, bytes.get(..*length)?)?, *length)))
}

/// Counts how much of a text a vocabulary for English can judge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoverageTally {
    n_pieces: usize,
    n_strange: usize,
}

impl CoverageTally {
    /// Counts one piece.
    pub(crate) fn add<V: Vocabulary>(&mut self, token: PieceToken, vocabulary: &V) {
        let is_strange = match token {
            PieceToken::Known(piece) => vocabulary.spelling(piece).is_some_and(is_foreign_letter),
            PieceToken::Unknown => true,
        };
        self.n_pieces += 1;
        self.n_strange += usize::from(is_strange);
    }

    /// Whether more than half of the pieces are unknown or single letters of another script.
    pub(crate) fn is_strange(&self) -> bool {
        2 * self.n_strange > self.n_pieces
    }

    /// Whether there was no piece at all.
    #[cfg(feature = "onnx")]
    pub(crate) fn is_empty(&self) -> bool {
        self.n_pieces == 0
    }
}

/// Whether a piece is one character of a script other than Latin.
fn is_foreign_letter(spelling: &[u8]) -> bool {
    let spelling =
        if spelling.len() > 2 { spelling.strip_prefix(b"##").unwrap_or(spelling) } else { spelling };
    if spelling.first().is_none_or(u8::is_ascii) {
        return false;
    }
    let mut characters = std::str::from_utf8(spelling).unwrap_or_default().chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => character.is_alphabetic() && !is_latin(character),
        _ => false,
    }
}

/// Latin letters beyond ASCII, in the blocks that Unicode gives them.
fn is_latin(character: char) -> bool {
    matches!(character, '\u{AA}' | '\u{BA}' | '\u{C0}'..='\u{2AF}' | '\u{1D00}'..='\u{1D7F}' | '\u{1E00}'..='\u{1EFF}' | '\u{2C60}'..='\u{2C7F}')
}

/// The blocks that BERT's tokenizer calls Chinese; kana and Hangul are not among them.
fn is_han(character: char) -> bool {
    matches!(
        character,
        '\u{4E00}'..='\u{9FFF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B73F}'
            | '\u{2B740}'..='\u{2B81F}'
            | '\u{2B820}'..='\u{2CEAF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}

fn is_dropped(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_control() && !matches!(character, '\t' | '\n' | '\r')
    } else {
        within(ranges::DROPPED, character)
    }
}

fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_punctuation()
    } else {
        within(ranges::PUNCTUATION, character)
    }
}

fn within(ranges: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    let after = ranges.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, last)| code <= *last)
}
