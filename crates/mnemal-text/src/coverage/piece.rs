//! Candidate specifics: the pieces of a text that may be names, numbers or acronyms.

use unicode_normalization::char::is_combining_mark;

use super::generic;
use super::plain::plain;
use crate::script::Script;
use crate::sentences;

/// Fewest digits of a number that counts as a specific. Source: own choice; single digits are too common.
const DIGITS: usize = 2;
/// Fewest letters of a name. Source: own choice.
const LETTERS: usize = 3;
/// Fewest capitals of an acronym. Source: own choice.
const CAPITALS: usize = 2;
/// Fewest letters of a word of a script without case. Source: own choice; a syllable of Hangul is more than a letter.
const CASELESS: usize = 3;
/// As above for Hangul.
const SYLLABLES: usize = 2;
/// Longest quotation that is one specific, in characters. Source: own choice; a longer one is covered by its words.
const QUOTED: usize = 80;

/// Opening and closing quotation marks.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('`', '`'), ('「', '」'), ('『', '』'), ('《', '》')];
/// Signs that join the parts of an address, a path, a time or an identifier.
const JOINTS: [char; 7] = ['@', '/', '_', '\\', ':', '.', '#'];

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// A number, a quotation, an address, a path, an identifier, a run of katakana: compared exactly.
    Exact,
    /// A word in capitals, or capitalized inside a sentence; it may be inflected.
    Name,
    /// The first word of a sentence, in a script with case.
    Opening,
    /// A word in lower case.
    Small,
    /// A word of a script without case and with blanks.
    Word,
    /// Two neighboring characters, or a single one, of a script without blanks.
    Pair,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// As it is compared.
    pub(super) text: String,
    pub(super) kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Letters with case, digits, and what joins them.
    Cased,
    /// Letters of a script without case and with blanks.
    Caseless,
    /// Characters of a script without blanks.
    Unspaced,
    /// What is between.
    Break,
}

/// Returns the pieces of a text in its order.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let mut opens = true;
        for chunk in sentence.of(text).split_whitespace() {
            let mut is_counted = false;
            for (group, run) in runs(chunk) {
                let counter = |letter: char| is_counted && generic::counts(letter);
                match group {
                    Group::Cased => cased(run, &mut opens, &mut found),
                    Group::Caseless => caseless(run, &mut found),
                    Group::Unspaced => unspaced(run.strip_prefix(counter).unwrap_or(run), &mut found),
                    Group::Break => {}
                }
                is_counted = run.ends_with(char::is_numeric);
                opens &= !run.chars().any(char::is_alphabetic);
            }
        }
    }
    found
}

/// Returns the quotations of a text, as they are compared.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(open) {
            let Some((inside, after)) = behind.split_once(close) else { break };
            if (1..=QUOTED).contains(&inside.trim().chars().count()) {
                found.push(plain(inside));
            }
            rest = after;
        }
    }
    found
}

/// Whether a character is part of a word: marks and joiners are too.
pub(super) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || is_mark(letter)
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}') || is_combining_mark(letter)
}

/// Returns the runs of one group in a chunk without white space.
fn runs(chunk: &str) -> Vec<(Group, &str)> {
    let mut found: Vec<(Group, usize)> = Vec::new();
    let mut ends = Vec::new();
    for (at, letter) in chunk.char_indices() {
        let last = found.last().map(|(group, _)| *group);
        let group = match last {
            Some(last) if is_mark(letter) => last,
            _ => group(letter),
        };
        if last != Some(group) {
            ends.push(at);
            found.push((group, at));
        }
    }
    let ends = ends.into_iter().skip(1).chain([chunk.len()]);
    let cut = |((group, start), end): ((Group, usize), usize)| Some((group, chunk.get(start..end)?));
    found.into_iter().zip(ends).filter_map(cut).collect()
}

fn group(letter: char) -> Group {
    if letter.is_ascii() {
        let separates = matches!(
            letter,
            '"' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ';' | '!' | '?' | '`' | '=' | '|'
        );
        return if separates { Group::Break } else { Group::Cased };
    }
    if letter.is_alphabetic() {
        return match Script::of(letter) {
            Script::Han | Script::Kana | Script::Abugida => Group::Unspaced,
            _ if letter.is_lowercase() || letter.is_uppercase() => Group::Cased,
            _ => Group::Caseless,
        };
    }
    match letter {
        '〇' | '々' => Group::Unspaced,
        '’' => Group::Cased,
        _ if letter.is_numeric() => Group::Cased,
        _ => Group::Break,
    }
}

fn cased(run: &str, opens: &mut bool, found: &mut Vec<Piece>) {
    let start = run.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let word = start.trim_end_matches(|letter: char| !is_of_word(letter));
    let before = run.get(..run.len() - start.len()).unwrap_or_default();
    if word.is_empty() {
        return;
    }
    // The sign before a handle, a tag, a file that begins with a dot.
    if before.ends_with(['@', '#', '.', '/']) && word.chars().any(char::is_alphabetic) {
        let sign = before.get(before.len() - 1..).unwrap_or_default();
        found.push(Piece { text: plain(&format!("{sign}{word}")), kind: PieceKind::Exact });
    } else if is_joined(word) {
        found.push(Piece { text: plain(word), kind: PieceKind::Exact });
    } else {
        let has_digit = word.contains(char::is_numeric);
        for part in word.split(|sign: char| {
            matches!(sign, '-' | '&' | '+' | '*' | '%' | '~' | '$') && !has_digit || sign == ','
        }) {
            let capital = if std::mem::take(opens) { PieceKind::Opening } else { PieceKind::Name };
            part_of(part, capital, found);
        }
    }
}

/// Whether a word is an address, a path, a time, a decimal or an identifier, and not an abbreviation.
fn is_joined(word: &str) -> bool {
    let parts = || word.split(JOINTS);
    let is_letter = |part: &str| part.chars().all(char::is_lowercase) && part.chars().nth(1).is_none();
    word.contains(JOINTS)
        && !parts().all(is_letter)
        && !(word.contains('/') && parts().all(|part| generic::opens(&plain(part))))
        && (word.contains(char::is_alphabetic)
            || word.chars().filter(|sign| sign.is_numeric()).count() >= DIGITS)
}

/// A part of a word; `capital` is what it is where it begins with one.
fn part_of(part: &str, capital: PieceKind, found: &mut Vec<Piece>) {
    let part = part.trim_matches(|letter: char| !is_of_word(letter));
    let part = part.strip_suffix("'s").or_else(|| part.strip_suffix("’s")).unwrap_or(part);
    let count = |is: fn(char) -> bool| part.chars().filter(|letter| is(*letter)).count();
    let is_first_large = part.starts_with(char::is_uppercase);
    let (kind, part) = if count(char::is_numeric) >= DIGITS {
        (PieceKind::Exact, part)
    } else if count(char::is_uppercase) >= CAPITALS {
        // "APIs" is about the API.
        let single = part.strip_suffix('s').filter(|single| single.chars().all(char::is_uppercase));
        (PieceKind::Name, single.unwrap_or(part))
    } else if is_first_large && count(char::is_alphabetic) >= LETTERS {
        (capital, part)
    } else {
        (PieceKind::Small, part)
    };
    if !part.is_empty() {
        found.push(Piece { text: plain(part), kind });
    }
}

fn caseless(run: &str, found: &mut Vec<Piece>) {
    let text = plain(run);
    let is_hangul = text.chars().next().is_some_and(|letter| Script::of(letter) == Script::Hangul);
    if text.chars().nth(if is_hangul { SYLLABLES } else { CASELESS } - 1).is_some() {
        found.push(Piece { text, kind: PieceKind::Word });
    }
}

/// Runs of katakana are words; hiragana joins words; of anything else the neighbors are pairs, but for characters that serve
/// grammar.
fn unspaced(run: &str, found: &mut Vec<Piece>) {
    let text: Vec<char> = plain(run).chars().collect();
    let is_alike =
        |one: &char, other: &char| (sort(*one), is_katakana(*one)) == (sort(*other), is_katakana(*other));
    for part in text.chunk_by(is_alike) {
        match part {
            [first, _, ..] if is_katakana(*first) => {
                found.push(Piece { text: part.iter().collect(), kind: PieceKind::Exact });
            }
            [first, ..] if sort(*first) == Sort::Content => match part {
                [one] => found.push(Piece { text: one.to_string(), kind: PieceKind::Pair }),
                _ => found.extend(
                    part.windows(2).map(|pair| Piece { text: pair.iter().collect(), kind: PieceKind::Pair }),
                ),
            },
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Content,
    Grammar,
}

fn sort(letter: char) -> Sort {
    let is_hiragana = matches!(letter, 'ぁ'..='ゟ');
    if is_hiragana || is_combining_mark(letter) || generic::is_grammar(letter) {
        Sort::Grammar
    } else {
        Sort::Content
    }
}

fn is_katakana(letter: char) -> bool {
    matches!(letter, 'ァ'..='ヺ' | 'ー')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_its_scripts_change() {
        let rows = [
            (
                "Her API_KEY is in ~/.env, I think",
                "Opening:her Exact:api_key Small:is Small:in Exact:.env Small:i Small:think",
            ),
            ("张伟在14:30开始API会议", "Pair:张伟 Exact:14:30 Pair:开始 Name:api Pair:会议"),
            ("アンナは東京に住む", "Exact:アンナ Pair:東京 Pair:住"),
            ("ليلى، 14 مايو", "Word:ليلى Exact:14 Word:مايو"),
            ("हिन्दी में", "Word:हिन्दी Word:में"),
            ("민지는 14시에", "Word:민지는 Exact:14 Word:시에"),
            ("and/or e.g. @ada ada@x.org 1.5", "Small:and/or Small:e.g Exact:@ada Exact:ada@x.org Exact:1.5"),
            ("Anna's APIs", "Opening:anna Name:api"),
        ];
        for (text, expect) in rows {
            let found: Vec<String> =
                pieces(text).iter().map(|piece| format!("{:?}:{}", piece.kind, piece.text)).collect();
            assert_eq!(found.join(" "), expect, "{text}");
        }
    }
}
