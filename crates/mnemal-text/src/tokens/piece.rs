//! Pieces of the token count, and the cost of each.

use super::word::{LONGEST_WORD, word_cost};
use crate::script::Script;
use std::ops::Range;

/// The common property of a piece's characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharacterKind {
    /// Latin letters.
    Word,
    /// ASCII digits.
    Digits,
    /// Spaces.
    Spaces,
    /// Line ends.
    Lines,
    /// Tabs.
    Tabs,
    /// ASCII punctuation and symbols.
    Marks,
    /// Letters of a script with a known cost: the first one and each further one, in hundredths.
    Letters(u32, u32),
    /// Anything else, at this cost per byte, in hundredths.
    Bytes(u32),
}

/// A run of characters of one kind.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    pub(super) kind: CharacterKind,
}

/// Source: calibrated on `tests/fixtures/tokens.tsv`, where the larger count of `cl100k` and `o200k` must not exceed the
/// estimate; hundredths of a token.
mod calibrated {
    /// An apostrophe between letters.
    pub(super) const APOSTROPHE: u64 = 20;
    /// The same mark again, among those that are drawn as lines.
    pub(super) const LINE: u64 = 30;
    /// A mark beside the upright rule of a table.
    pub(super) const RULE: u64 = 75;
    /// Another mark behind a mark.
    pub(super) const MARK: u64 = 45;
    /// Each further space, tab or line end of a run.
    pub(super) const BLANK: u64 = 10;
    /// Letters: the first of a run, and each further one.
    pub(super) const CYRILLIC: (u32, u32) = (120, 60);
    pub(super) const GREEK: (u32, u32) = (150, 110);
    pub(super) const ARABIC: (u32, u32) = (120, 90);
    pub(super) const HEBREW: (u32, u32) = (160, 114);
    pub(super) const HAN: (u32, u32) = (150, 145);
    pub(super) const KANA: (u32, u32) = (120, 110);
    pub(super) const HANGUL: (u32, u32) = (180, 170);
    pub(super) const INDIC: (u32, u32) = (230, 220);
    /// Punctuation that every text has: a token each.
    pub(super) const TYPOGRAPHIC: (u32, u32) = (110, 110);
}

/// Returns the pieces of a text, which follow each other without a gap.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let piece = first_piece(text.get(start..)?, start)?;
        start = piece.range.end;
        Some(piece)
    })
}

fn first_piece(rest: &str, start: usize) -> Option<Piece> {
    let mut characters = rest.chars();
    let mut last = characters.next()?;
    let kind = kind_of(last);
    let mut end = last.len_utf8();
    for (count, character) in characters.enumerate() {
        let new_word = kind == CharacterKind::Word
            && (count + 1 >= LONGEST_WORD || last.is_lowercase() && character.is_uppercase());
        if new_word || kind_of(character) != kind {
            break;
        }
        end += character.len_utf8();
        last = character;
    }
    Some(Piece { range: start..start + end, kind })
}

fn kind_of(character: char) -> CharacterKind {
    match character {
        'a'..='z' | 'A'..='Z' => CharacterKind::Word,
        ' ' => CharacterKind::Spaces,
        '0'..='9' => CharacterKind::Digits,
        '\n' | '\r' => CharacterKind::Lines,
        '\t' => CharacterKind::Tabs,
        '\0'..='\u{7f}' => CharacterKind::Marks,
        other => kind_of_rare(other),
    }
}

/// Marks beyond ASCII that are in every vocabulary.
const TYPOGRAPHIC: [char; 26] = [
    '¡', '£', '«', '°', '·', '»', '¿', '–', '—', '‘', '’', '‚', '“', '”', '„', '•', '…', '€', '、', '。',
    '「', '」', '！', '，', '：', '？',
];

fn kind_of_rare(character: char) -> CharacterKind {
    let (first, next) = match (Script::of(character), u32::from(character)) {
        _ if TYPOGRAPHIC.contains(&character) => calibrated::TYPOGRAPHIC,
        (Script::Latin, _) if character.is_alphabetic() => return CharacterKind::Word,
        (Script::Cyrillic, 0x0410..=0x0451) => calibrated::CYRILLIC,
        (Script::Greek, 0x0386..=0x03CE) => calibrated::GREEK,
        (Script::Arabic, 0x0621..=0x064A) => calibrated::ARABIC,
        (Script::Hebrew, 0x05D0..=0x05EA) => calibrated::HEBREW,
        (Script::Han, 0x3005 | 0x4E00..=0x9FFF) => calibrated::HAN,
        (Script::Kana, 0x3041..=0x30FF) => calibrated::KANA,
        (Script::Hangul, 0xAC00..=0xD7A3) => calibrated::HANGUL,
        (_, 0x0900..=0x0E7F) => calibrated::INDIC,
        (_, 0x1F000..=0x1FAFF) => return CharacterKind::Bytes(75), // three of four bytes, as the first two are one token
        _ => return CharacterKind::Bytes(100),                     // no token is shorter than a byte
    };
    CharacterKind::Letters(first, next)
}

/// Returns the cost of a piece of `text`, in hundredths of a token; its neighbors count.
pub(super) fn cost(text: &str, piece: &Piece) -> u64 {
    let body = text.get(piece.range.clone()).unwrap_or_default();
    let n = body.len() as u64;
    match piece.kind {
        CharacterKind::Word => word_cost(body),
        CharacterKind::Digits => n.div_ceil(3) * 100,
        CharacterKind::Spaces => spaces(n, text.get(piece.range.end..).and_then(|rest| rest.chars().next())),
        CharacterKind::Lines | CharacterKind::Tabs => 100 + calibrated::BLANK * (n - 1),
        CharacterKind::Marks => marks(text, piece, body),
        CharacterKind::Letters(first, next) => {
            u64::from(first) + u64::from(next) * (body.chars().count() as u64 - 1)
        }
        CharacterKind::Bytes(each) => n * u64::from(each),
    }
}

/// A word or a mark takes the last space before it into its own token; digits do not.
fn spaces(n: u64, next: Option<char>) -> u64 {
    let run = 100 + calibrated::BLANK * (n - 1);
    match next.map(kind_of) {
        None | Some(CharacterKind::Lines | CharacterKind::Tabs | CharacterKind::Bytes(_)) => run,
        Some(CharacterKind::Digits) if n == 1 => run,
        Some(CharacterKind::Digits) => run + 100,
        Some(_) if n == 1 => 0,
        Some(_) => run,
    }
}

fn marks(text: &str, piece: &Piece, body: &str) -> u64 {
    if body == "'" && is_between_letters(text, &piece.range) {
        return calibrated::APOSTROPHE;
    }
    let again: u64 = body
        .bytes()
        .zip(body.bytes().skip(1))
        .map(|(mark, next)| match (mark, next) {
            (b'|', _) | (_, b'|') => calibrated::RULE,
            (b'-' | b'=' | b'*' | b'_' | b'#' | b'.' | b'/' | b'~' | b'+', _) if mark == next => {
                calibrated::LINE
            }
            _ => calibrated::MARK,
        })
        .sum();
    100 + again
}

fn is_between_letters(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).is_some_and(|before| before.ends_with(char::is_alphabetic));
    before
        && text
            .get(range.end..)
            .is_some_and(|behind| behind.starts_with(|next: char| next.is_ascii_alphabetic()))
}
