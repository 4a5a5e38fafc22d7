//! Calendar day of a deadline or a birthday: resolves relative words such as "tomorrow".

use mnemal_core::{ExtractedFact, Granularity, NewEvent, When, WorldTime, Zone};

/// Seconds in a day.
const DAY: i64 = 86_400;
/// Digits of a year.
const YEAR_DIGITS: usize = 4;

/// Returns the day that a claim names as its value, `2026-10-06`, in the time zone where it was said; `None` where the
/// words are absolute, as in "5 January 1955" and, for a birthday, "3 May".
pub(crate) fn of(fact: &ExtractedFact, said: &NewEvent) -> Option<String> {
    let (time, words) = (fact.time?, fact.object.text.as_str());
    match fact.predicate.as_str() {
        "deadline" => (!has_year(words)).then(|| text(time, &said.zone)).flatten(),
        "birthday" => text(time, &said.zone)
            .filter(|_| time.grain == Granularity::Day && is_relative(time, words, said)),
        _ => None,
    }
}

/// Whether the words name a day relative to the day on which they were said. An upcoming birthday counts as relative,
/// even if the words hold no number.
fn is_relative(time: When, words: &str, said: &NewEvent) -> bool {
    let now = WorldTime::from_seconds(said.occurred_at.as_micros().div_euclid(1_000_000));
    let is_ahead = time.start.is_some_and(|start| start > now);
    !has_year(words) && (is_ahead || !words.contains(|sign: char| sign.is_numeric()))
}

fn has_year(words: &str) -> bool {
    words.split(|sign: char| !sign.is_ascii_digit()).any(|digits| digits.len() == YEAR_DIGITS)
}

/// Returns the last day of a time, or its month, year or hour, at the granularity that is known.
fn text(time: When, zone: &Zone) -> Option<String> {
    let last = |end: WorldTime| WorldTime::from_seconds(end.as_seconds() - DAY).civil(zone);
    let first = time.start.map(|start| start.civil(zone));
    match time.grain {
        Granularity::Second | Granularity::Minute | Granularity::Hour => {
            let at = first.or_else(|| time.end.map(|end| end.civil(zone)))?;
            Some(format!("{} {:02}:{:02}", at.day_text(), at.hour, at.minute))
        }
        Granularity::Month => first.map(|at| format!("{:04}-{:02}", at.year, at.month)),
        Granularity::Year => first.map(|at| format!("{:04}", at.year)),
        _ => match (time.start, time.end) {
            (Some(_), Some(end)) => Some(last(end).day_text()),
            (one, other) => Some(one.or(other)?.civil(zone).day_text()),
        },
    }
}
