//! Normalization of texts for comparison, so that differences of spelling do not count.

use crate::fold;

/// Units after a number without a blank. Source: own choice, the units that people write so.
const UNITS: [&str; 26] = [
    "am", "cm", "db", "eur", "fps", "g", "gb", "h", "hz", "kb", "kg", "km", "kw", "l", "lb", "m", "mb", "mg",
    "mhz", "min", "ml", "mm", "ms", "pm", "s", "tb",
];
/// Endings of ordinal numbers in English. Source: own choice.
const ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
/// The first digits of the scripts whose digits are read.
const ZEROS: [char; 4] = ['0', '٠', '۰', '०'];

/// Returns a text folded, with the digits of other scripts as `0` to `9`, numbers without digit grouping and ordinal endings,
/// and one blank for white space.
pub(super) fn plain(text: &str) -> String {
    let text: Vec<char> = fold(&text.replace('№', " ")).chars().map(digit).collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(letter) = text.get(at).copied() {
        let is_digit = |place: usize| text.get(place).is_some_and(char::is_ascii_digit);
        let behind_digit = at > 0 && is_digit(at - 1);
        if letter == ',' && behind_digit && is_digit(at + 1) {
            at += 1;
            continue;
        }
        if behind_digit && ORDINALS.iter().any(|ending| is_word(&text, at, ending)) {
            at += 2;
            continue;
        }
        if !letter.is_whitespace() {
            out.push(letter);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
        at += 1;
    }
    out.trim().to_owned()
}

fn digit(letter: char) -> char {
    let place = |zero: &char| u32::from(letter).checked_sub(u32::from(*zero)).filter(|place| *place < 10);
    let place = ZEROS.iter().find_map(place);
    place.and_then(|place| char::from_digit(place, 10)).unwrap_or(letter)
}

/// Whether exactly this word is at a place.
fn is_word(text: &[char], at: usize, word: &str) -> bool {
    let end = at + word.len();
    text.get(at..end).is_some_and(|found| found.iter().copied().eq(word.chars()))
        && !text.get(end).is_some_and(|letter| letter.is_alphanumeric())
}

/// Whether a plain text has a plain specific, at whole words and whole numbers where it has some.
pub(super) fn carries(text: &str, specific: &str) -> bool {
    text.match_indices(specific).any(|(at, _)| stands_at(text, at, specific))
}

/// Whether a plain specific that a plain text has at a place is no part of a longer word or number there.
pub(super) fn stands_at(text: &str, at: usize, specific: &str) -> bool {
    let begins = specific.chars().next().is_some_and(joins);
    let ends = specific.chars().next_back().filter(|letter| joins(*letter));
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + specific.len()..).unwrap_or_default();
    let goes_on = match ends {
        None => false,
        Some(letter) if letter.is_ascii_digit() => continues_number(after),
        Some(_) => after.starts_with(joins),
    };
    let is_part =
        begins && (before.ends_with(joins) || (starts_with_digit(specific) && is_in_number(before)));
    !is_part && !goes_on
}

/// Returns the places of a plain text where a specific may stand.
pub(super) fn starts(text: &str) -> impl Iterator<Item = usize> {
    let mut within = false;
    text.char_indices().filter_map(move |(at, letter)| {
        let is_part = within && joins(letter);
        within = joins(letter);
        (!is_part).then_some(at)
    })
}

/// Whether a letter joins its neighbors to a word: in scripts without case words have clitics, or no blanks.
fn joins(letter: char) -> bool {
    letter.is_ascii_digit() || letter.is_lowercase()
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// Whether what precedes a digit is the first part of its number: `2.` of `2.15`.
fn is_in_number(before: &str) -> bool {
    let rest = before.strip_suffix(['.', ':']);
    rest.is_some_and(|rest| rest.ends_with(|letter: char| letter.is_ascii_digit()))
}

/// Whether a number goes on behind its first digits; a unit is none of it.
fn continues_number(after: &str) -> bool {
    let word: &str = after.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    match after.strip_prefix(['.', ':']) {
        Some(rest) => starts_with_digit(rest),
        None => !word.is_empty() && !UNITS.contains(&word),
    }
}

/// Returns a number and its unit with a blank between them, where there was none.
pub(super) fn measured(specific: &str) -> Option<String> {
    let letters = specific.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = specific.split_at_checked(letters)?;
    (UNITS.contains(&unit) && starts_with_digit(number)).then(|| format!("{number} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_writing_only_is_one() {
        let rows = [
            ("the 12th  of\nMay", "the 12 of may"),
            ("12,500 and 1,2", "12500 and 12"),
            ("٤٧١١ ۴۷ ०१", "4711 ۴۷"),
            ("5thing 21st", "5thing 21"),
        ];
        for (text, expect) in rows.iter().filter(|(text, _)| !text.contains('۴')) {
            assert_eq!(plain(text), *expect);
        }
        assert_eq!(plain("٤٧١١ ۴۷ ०१"), "4711 47 01");
    }

    #[test]
    fn a_number_is_carried_as_a_whole() {
        let rows = [
            ("room 14", "14", true),
            ("at 14:30", "14", false),
            ("at 14:30", "30", false),
            ("version 2.15.", "2.15", true),
            ("version 12.15", "2.15", false),
            ("in 14. There", "14", true),
            ("15km away", "15", true),
            ("15a", "15", false),
            ("an anna", "ann", false),
        ];
        for (text, specific, expect) in rows {
            assert_eq!(carries(text, specific), expect, "{text}: {specific}");
        }
        assert_eq!(measured("15km").as_deref(), Some("15 km"));
        assert_eq!(measured("4711a"), None);
    }
}
