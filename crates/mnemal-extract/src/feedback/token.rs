//! Token ids of one sentence with the signs between them: the input of the patterns.

use std::ops::Range;

/// The number of a word that no pattern names.
pub(crate) const UNKNOWN: u32 = 0;
/// The number of a word that starts with a digit.
pub(crate) const NUMBER: u32 = 1;

/// A word of a sentence; "don't" is two of them over the same bytes.
#[expect(clippy::struct_excessive_bools, reason = "what patterns may ask of a word, each by itself")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its number in the lexicon.
    pub(crate) id: u32,
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    /// A sign that parts clauses precedes it, or the sentence starts with it.
    pub(crate) is_parted: bool,
    /// A clause may start here: after a sign, a joining word, or fillers at the start of a clause.
    pub(crate) is_start: bool,
    /// A clause may end before it.
    pub(crate) is_end: bool,
    /// More than one mark of shouting or asking follows it.
    pub(crate) is_loud: bool,
    /// An ellipsis follows it.
    pub(crate) is_trailing: bool,
    /// It starts with a capital and does not start the sentence.
    pub(crate) is_capital: bool,
    /// It is a word with content that the previous message has too.
    pub(crate) is_said: bool,
    /// It is a number or a name, and the previous message has others of its kind but not this one.
    pub(crate) is_rival: bool,
}

impl Token {
    /// A word of which nothing else is known yet.
    pub(crate) fn new(id: u32, span: Range<usize>) -> Self {
        Self {
            id,
            span,
            is_parted: false,
            is_start: false,
            is_end: false,
            is_loud: false,
            is_trailing: false,
            is_capital: false,
            is_said: false,
            is_rival: false,
        }
    }
}

/// Returns whether the text between two words parts clauses.
pub(crate) fn parts_clauses(between: &str) -> bool {
    if matches!(between, "." | ":" | ",") {
        return false;
    }
    between.contains(" - ") || between.chars().any(|c| !(is_light(c) || c.is_whitespace() && c != '\n'))
}

/// Signs that are inside a clause.
fn is_light(c: char) -> bool {
    matches!(
        c,
        '\'' | '’'
            | '"'
            | '“'
            | '”'
            | '`'
            | '*'
            | '_'
            | '/'
            | '&'
            | '+'
            | '#'
            | '@'
            | '$'
            | '€'
            | '%'
            | '-'
            | '<'
            | '='
    )
}

/// Returns whether a script is written without spaces, so that each of its characters is a word of its own.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

/// Returns the parts of a word: its characters where the script has no spaces, else the word itself.
pub(crate) fn parts(word: &str) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, c) in word.char_indices() {
        let end = at + c.len_utf8();
        match parts.last_mut() {
            Some(part) if is_open && !stands_alone(c) => part.end = end,
            _ => parts.push(at..end),
        }
        is_open = !stands_alone(c);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_part_clauses_and_quotation_marks_do_not() {
        for between in [", ", "; ", " - ", " — ", "...", "\n", "! ", ": ", " 🙂 "] {
            assert!(parts_clauses(between), "{between}");
        }
        for between in [" ", " \"", "’ ", "/", "."] {
            assert!(!parts_clauses(between), "{between}");
        }
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_words() {
        assert_eq!(parts("请用git好"), [0..3, 3..6, 6..9, 9..12]);
        assert_eq!(parts("word").len(), 1);
        assert!(parts("").is_empty());
    }
}
