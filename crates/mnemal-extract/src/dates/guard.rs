//! Rejection of date readings inside a longer expression whose neighboring words change the meaning.

use mnemal_core::Result;

use super::PackLine;
use super::expr::{Expr, Kind, Value};
use super::pack::{Meaning, Pack};
use crate::section::Section;

/// Neighboring words that change a date, by their position.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// In front of a time: "before", "every".
    before: Vec<String>,
    /// Behind a time: "onwards", "o'clock".
    after: Vec<String>,
    /// Behind a time, where an hour follows them: "around 7".
    hour: Vec<String>,
    /// After a current unit: "the week after".
    after_unit: Vec<String>,
    /// In front of a length: "within".
    length_before: Vec<String>,
    /// Behind a length: "ago".
    length_after: Vec<String>,
    /// Between two times, which they make one: "to".
    between: Vec<String>,
    /// First words of a time in front of which a number belongs to it: "of".
    after_number: Vec<String>,
    /// In front of the first of two times, with the word between them: "between" and "and".
    both: [Vec<String>; 2],
    /// Words that may be between such a word and the time: "the".
    skip: Vec<String>,
}

impl Guards {
    /// Reads the section of a pack, without words that are left out.
    pub(super) fn parse(section: Option<Section<'_>>, without: &[PackLine]) -> Result<Self> {
        let Some(section) = section else { return Ok(Self::default()) };
        let lines = |name: &str| -> Result<Vec<String>> {
            let words = section.lines(name)?.into_iter();
            let stays = |word: &&str| without.iter().all(|out| out.text != *word);
            Ok(words.filter(stays).map(str::to_owned).collect())
        };
        Ok(Self {
            before: lines("before")?,
            after: lines("after")?,
            hour: lines("hour")?,
            after_unit: lines("after_unit")?,
            length_before: lines("length_before")?,
            length_after: lines("length_after")?,
            between: lines("between")?,
            after_number: lines("after_number")?,
            both: [lines("both_before")?, lines("both_between")?],
            skip: lines("skip")?,
        })
    }

    /// The words before, without an article.
    fn front<'t>(&self, before: &'t str) -> &'t str {
        self.skip.iter().find_map(|skip| without_last(before, skip)).unwrap_or(before)
    }
}

/// A text, cut where a reading begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'t> {
    pub(super) before: &'t str,
    pub(super) own: &'t str,
    pub(super) after: &'t str,
}

impl Pack {
    /// Returns whether a neighbor changes a reading.
    pub(super) fn is_changed(&self, value: &Value, beside: Surroundings<'_>) -> bool {
        let (before, after) = (before_words(beside.before), after_words(beside.after));
        match value {
            Value::Length(_) => self.is_length_changed(&before, &after),
            Value::Time(kind, expr) => {
                self.has_guard(*kind, &before, beside.own, &after)
                    || is_now(expr) && self.guards.after_unit.iter().any(|word| starts_with(&after, word))
                    || self.is_cut_off(*kind, &before, beside, &after)
            }
            _ => false,
        }
    }

    fn is_length_changed(&self, before: &str, after: &str) -> bool {
        let guards = &self.guards;
        let front = guards.front(before);
        guards.length_before.iter().any(|word| ends_with(front, word))
            || guards.length_after.iter().any(|word| starts_with(after, word))
            || self.means(last_word(front), |of| matches!(of, Meaning::Number(_)))
    }

    /// Returns whether a word that changes times precedes or follows it.
    fn has_guard(&self, kind: Kind, before: &str, own: &str, after: &str) -> bool {
        let guards = &self.guards;
        let front = guards.front(before);
        // "End | of April": the last word of a guard may have been read with the time.
        let joined = format!("{before} {}", first_word(&own.to_lowercase()));
        let may_join = matches!(kind, Kind::Day | Kind::Period | Kind::Open);
        guards.after.iter().any(|word| starts_with(after, word))
            || guards.before.iter().any(|word| {
                ends_with(before, word)
                    || ends_with(front, word)
                    || may_join && word.contains(' ') && ends_with(&joined, word)
            })
    }

    /// Returns whether a number, an hour, a year or a zone beside a time belongs to it.
    fn is_cut_off(&self, kind: Kind, before: &str, beside: Surroundings<'_>, after: &str) -> bool {
        let (front, own) = (self.guards.front(before), beside.own.to_lowercase());
        let is_day = matches!(kind, Kind::Day | Kind::DayPart);
        is_year(after)
            || beside.before.trim_end().ends_with(['<', '>', '=', '≤', '≥'])
            || own.starts_with(char::is_alphabetic) && touches_digits(beside.before)
            || self.lacks_number(&own, front, after)
            || is_day && (self.lacks_hour(front, after) || has_clock_beside(beside))
            || kind == Kind::Day && self.is_numeral(after)
            || is_of_clock(kind) && (is_zone(beside.after) || self.is_zone_word(first_word(after)))
    }

    /// Returns whether two readings with these words between them are parts of one unread expression.
    pub(super) fn is_torn(&self, first: &Value, second: &Value, beside: Surroundings<'_>) -> bool {
        let guards = &self.guards;
        // "The report is due on 12 June now": the word says that it is new, and nothing of the day.
        let is_now = |value: &Value| matches!(value, Value::Time(_, time) if matches!(**time, Expr::Now));
        if is_now(first) || is_now(second) {
            return false;
        }
        let gap = beside.after.trim().to_lowercase();
        let before = before_words(beside.before);
        let is_pair = guards.both[0].iter().any(|word| ends_with(guards.front(&before), word))
            && guards.both[1].contains(&gap);
        let is_joined = gap.is_empty() || is_pair || guards.between.contains(&gap);
        match (first, second) {
            (Value::Length(_), Value::Time(kind, _)) if gap.is_empty() => {
                matches!(kind, Kind::Open | Kind::ClockOpen)
            }
            (Value::Length(_), Value::Length(_)) => is_joined,
            (Value::Length(_), _) | (_, Value::Length(_)) => false,
            // "Next month at six": the day is unknown, and both are reported.
            (Value::Time(Kind::Period, _), Value::Time(second, _)) if is_of_day(*second) => false,
            (Value::Time(first, _), Value::Time(Kind::Period, _)) if is_of_day(*first) => is_pair,
            (Value::Time(first, _), Value::Time(second, _)) if gap == "," => {
                is_of_day(*first) != is_of_day(*second)
            }
            _ => is_joined,
        }
    }

    /// "4 | of July", "January | twenty", "12 to | 16 September", "1/4 | hour": a number next to a part that takes numbers.
    fn lacks_number(&self, own: &str, before: &str, after: &str) -> bool {
        let guards = &self.guards;
        let joins =
            |word: &str| matches!(word, "-" | "–") || guards.after_number.iter().any(|known| known == word);
        let (first, last) = (first_word(own), last_word(own));
        let ahead = last_word(before.trim_end_matches('-'));
        let behind = first_word(after);
        let is_month = |word: &str| self.means(word, |of| matches!(of, Meaning::Month(_)));
        let is_numbered = own.contains(|sign: char| sign.is_ascii_digit());
        let is_led = |word: &str| {
            self.is_numeral(word)
                || is_month(word) && !is_numbered
                || guards.after_number.iter().any(|known| known == word)
        };
        self.is_numeral(ahead) && is_led(first)
            || joins(ahead) && self.is_numeral(second_last_word(before))
            || self.is_numeral(behind) && (self.means_number(last) || is_month(last))
            || joins(behind) && self.is_numeral(second_word(after))
            || last.ends_with(|sign: char| sign.is_ascii_digit())
                && self.means(behind, |of| matches!(of, Meaning::Unit(_) | Meaning::Units(_)))
    }

    /// "At five | tomorrow", "tonight | around 7", "today | before 4pm".
    fn lacks_hour(&self, before: &str, after: &str) -> bool {
        let leads = |word: &str| self.guards.hour.iter().any(|known| known == word);
        let ahead = before.trim_end_matches('-');
        let is_ahead = self.is_numeral(last_word(ahead)) && leads(second_last_word(&ahead.replace('-', " ")));
        is_ahead || leads(first_word(after)) && self.is_numeral(second_word(after))
    }

    fn is_zone_word(&self, word: &str) -> bool {
        self.means(word, |of| matches!(of, Meaning::Zone(_)))
    }

    /// Returns whether a word is a number that a day or an hour can have, or an ordinal.
    fn is_numeral(&self, word: &str) -> bool {
        let digits = word.len() - word.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        let rest = word.get(digits..).unwrap_or_default();
        if digits > 0 {
            let is_short = rest.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '.' | 'º' | 'ª'));
            return digits <= 2
                && is_short
                && word.get(..digits).is_some_and(|number| number.parse().is_ok_and(|n: i8| n <= 31));
        }
        self.means(word, |of| {
            matches!(of, Meaning::Ordinal(_)) || matches!(of, Meaning::Number(number) if number <= 100)
        })
    }

    fn means_number(&self, word: &str) -> bool {
        self.means(word, |of| matches!(of, Meaning::Ordinal(_) | Meaning::Number(_)))
    }

    fn means(&self, word: &str, is_it: impl Fn(Meaning) -> bool) -> bool {
        let entries = self.word(word).map_or(&[][..], |word| word.entries.as_slice());
        entries.iter().any(|entry| entry.rest.is_empty() && is_it(entry.meaning))
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn second_word(text: &str) -> &str {
    text.split_whitespace().nth(1).unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or_default()
}

fn second_last_word(text: &str) -> &str {
    text.split_whitespace().rev().nth(1).unwrap_or_default()
}

/// "8.30pm | today": a time of day that was not read together with its day.
fn has_clock_beside(beside: Surroundings<'_>) -> bool {
    let is_clock = |word: &str| {
        let word = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let parts = word.split_once([':', '.']).map(|(hour, minute)| (hour, minute, hour.parse::<i8>()));
        parts.is_some_and(|(hour, minute, number)| {
            let is_short =
                hour.len() <= 2 && minute.len() == 2 && minute.bytes().all(|sign| sign.is_ascii_digit());
            is_short && number.is_ok_and(|hour| (0..=24).contains(&hour))
        })
    };
    is_clock(last_word(beside.before)) || is_clock(first_word(beside.after))
}

/// "05- | Aug": digits and a sign touch the reading.
fn touches_digits(before: &str) -> bool {
    let mut before = before.chars().rev();
    matches!(before.next(), Some('-' | '/')) && before.next().is_some_and(|sign| sign.is_ascii_digit())
}

/// Returns whether a time is a current unit: "the week".
fn is_now(expr: &Expr) -> bool {
    matches!(expr, Expr::Cycle { by: 0, .. })
}

fn is_of_clock(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Moment)
}

/// Returns whether a time lies in an unnamed day.
fn is_of_day(kind: Kind) -> bool {
    matches!(kind, Kind::Clock | Kind::ClockRange | Kind::ClockOpen | Kind::Part)
}

/// The words before, in lower case, back to the last sign.
fn before_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-'));
    let from = text.rfind(is_sign).and_then(|at| Some(at + text.get(at..)?.chars().next()?.len_utf8()));
    let words = text.get(from.unwrap_or(0)..).unwrap_or_default();
    let start = words.char_indices().rev().nth(LONGEST - 1).map_or(0, |(at, _)| at);
    words.get(start..).unwrap_or_default().trim_end().to_lowercase()
}

/// The words after, in lower case, up to the next sign.
fn after_words(text: &str) -> String {
    let is_sign = |sign: char| !(sign.is_alphanumeric() || matches!(sign, ' ' | '\'' | '’' | '-' | '.'));
    let words = text.split(is_sign).next().unwrap_or_default();
    words.chars().take(LONGEST).collect::<String>().trim_start().to_lowercase()
}

/// No words of a pack are longer than this, in letters.
const LONGEST: usize = 32;

fn ends_with(text: &str, word: &str) -> bool {
    let rest = text.strip_suffix(word);
    rest.is_some_and(|rest| {
        word.chars().next().is_some_and(is_alone) || !rest.ends_with(char::is_alphanumeric)
    })
}

fn starts_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| {
        word.chars().last().is_some_and(is_alone) || !rest.starts_with(char::is_alphanumeric)
    })
}

/// Returns whether a sign is a word without spaces around it.
fn is_alone(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn without_last<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    if ends_with(text, word) { text.strip_suffix(word).map(str::trim_end) } else { None }
}

/// "2018": a year that was not read together with the preceding words.
fn is_year(after: &str) -> bool {
    let word = after.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    word.len() == 4 && word.parse().is_ok_and(|year: i16| (1900..2100).contains(&year))
}

/// "AKST": capital letters that end in T after a time of day.
fn is_zone(after: &str) -> bool {
    let word = after.trim_start().split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default();
    (2..=5).contains(&word.len()) && word.ends_with('T') && word.chars().all(|sign| sign.is_ascii_uppercase())
}
