//! Readings that are part of something longer: what stands beside them changes what they mean, and nothing has read it.

use mnemal_core::Result;

use super::Wording;
use super::expr::{Cal, Expr, Kind, Value};
use super::pack::Pack;
use crate::section::Section;

/// Words beside a date that change it, by what they stand beside.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// In front of a time: "before", "every".
    before: Vec<String>,
    /// Behind a time: "onwards", "o'clock".
    after: Vec<String>,
    /// In front of a length: "within".
    length_before: Vec<String>,
    /// Behind a length: "ago".
    length_after: Vec<String>,
    /// Between two times, which they make one: "to".
    between: Vec<String>,
    /// What may stand between such a word and the time: "the".
    skip: Vec<String>,
}

impl Guards {
    /// Reads the section of a pack, without words that are left out.
    pub(super) fn parse(section: Option<Section<'_>>, without: &[Wording]) -> Result<Self> {
        let Some(section) = section else { return Ok(Self::default()) };
        let lines = |name: &str| -> Result<Vec<String>> {
            let words = section.lines(name)?.into_iter();
            let stays = |word: &&str| without.iter().all(|out| out.text != *word);
            Ok(words.filter(stays).map(str::to_owned).collect())
        };
        Ok(Self {
            before: lines("before")?,
            after: lines("after")?,
            length_before: lines("length_before")?,
            length_after: lines("length_after")?,
            between: lines("between")?,
            skip: lines("skip")?,
        })
    }
}

/// A text, cut where a reading begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'t> {
    pub(super) before: &'t str,
    pub(super) after: &'t str,
}

impl Pack {
    /// Says whether what stands beside a reading changes it.
    pub(super) fn is_changed(&self, value: &Value, beside: Beside<'_>) -> bool {
        let guards = &self.guards;
        let (before, after) = (before_words(beside.before), after_words(beside.after));
        let front = guards.skip.iter().find_map(|skip| without_last(&before, skip)).unwrap_or(&before);
        match value {
            Value::Length(_) => {
                guards.length_before.iter().any(|word| ends_with(front, word))
                    || guards.length_after.iter().any(|word| starts_with(&after, word))
            }
            Value::Time(kind, expr) => {
                guards.before.iter().any(|word| ends_with(&before, word) || ends_with(front, word))
                    || guards.after.iter().any(|word| starts_with(&after, word))
                    || is_year(&after)
                    || is_month(expr) && self.has_number_beside(front, &after)
                    || is_of_clock(*kind) && is_zone(beside.after)
            }
            _ => false,
        }
    }

    /// Says whether two readings with these words between them are parts of one that nothing has read.
    pub(super) fn is_torn(&self, first: &Value, second: &Value, gap: &str) -> bool {
        let gap = gap.trim().to_lowercase();
        let is_joined = gap.is_empty() || self.guards.between.iter().any(|word| *word == gap);
        match (first, second) {
            (Value::Length(_), Value::Time(kind, _)) if gap.is_empty() => {
                matches!(kind, Kind::Open | Kind::ClockOpen)
            }
            (Value::Length(_), Value::Length(_)) => is_joined,
            (Value::Length(_), _) | (_, Value::Length(_)) => false,
            // "Next month at six": nobody knows the day, and both are said.
            (Value::Time(Kind::Period, _), Value::Time(second, _)) if is_of_day(*second) => false,
            (Value::Time(first, _), Value::Time(Kind::Period, _)) if is_of_day(*first) && gap != "of" => false,
            (Value::Time(first, _), Value::Time(second, _)) if gap == "," => is_of_day(*first) != is_of_day(*second),
            _ => is_joined,
        }
    }

    /// "4 of July", "the twelfth July", "January twenty".
    fn has_number_beside(&self, before: &str, after: &str) -> bool {
        let is_small = |word: &str| match word.trim_end_matches(|sign: char| sign.is_alphabetic()) {
            "" => self.number(word).is_some_and(|number| number <= 31),
            digits => digits.parse::<i64>().is_ok_and(|number| (1..=31).contains(&number)),
        };
        let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let first = after.split(char::is_whitespace).next().unwrap_or_default();
        is_small(last) || is_small(first)
    }
}

fn is_month(expr: &Expr) -> bool {
    matches!(expr, Expr::Cal(Cal { year: None, month: Some(_), day: None, weekday: None }))
}

fn is_of_clock(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Moment)
}

/// Says whether a time lies in a day that nobody named.
fn is_of_day(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Part)
}

/// The words before, in small letters, back to the last sign.
fn before_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-'));
    let from = text.rfind(is_sign).and_then(|at| Some(at + text.get(at..)?.chars().next()?.len_utf8()));
    let words = text.get(from.unwrap_or(0)..).unwrap_or_default();
    let start = words.char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    words.get(start..).unwrap_or_default().trim_end().to_lowercase()
}

/// The words after, in small letters, up to the next sign.
fn after_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-' | '.'));
    let words = text.split(is_sign).next().unwrap_or_default();
    words.chars().take(LONGEST).collect::<String>().trim_start().to_lowercase()
}

/// No words of a pack are longer than this, in letters.
const LONGEST: usize = 32;

fn ends_with(text: &str, word: &str) -> bool {
    let rest = text.strip_suffix(word);
    rest.is_some_and(|rest| word.chars().next().is_some_and(is_alone) || !rest.ends_with(char::is_alphanumeric))
}

fn starts_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| word.chars().last().is_some_and(is_alone) || !rest.starts_with(char::is_alphanumeric))
}

/// Says whether a sign is a word without spaces around it.
fn is_alone(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn without_last<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    if ends_with(text, word) { text.strip_suffix(word).map(str::trim_end) } else { None }
}

/// "2018": a year that nothing has read with what stands before it.
fn is_year(after: &str) -> bool {
    let word = after.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    word.len() == 4 && word.parse().is_ok_and(|year: i16| (1900..2100).contains(&year))
}

/// "AKST": capital letters that end in T behind a time of day.
fn is_zone(after: &str) -> bool {
    let word = after.trim_start().split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    (2..=5).contains(&word.len()) && word.ends_with('T') && word.chars().all(|sign| sign.is_ascii_uppercase())
}
