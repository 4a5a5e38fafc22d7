//! Phrases that are put together from parts, each with what it means; none may be read wrong, and most are to be read.
#![expect(clippy::unwrap_used, reason = "a test stops where its own data are wrong")]

use jiff::{Timestamp as Moment, tz::TimeZone};
use mnemal_core::{Timestamp, When, WorldTime, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias, TimeExpression};

/// Wednesday.
const NOW: &str = "2024-05-15T10:00:00Z";

/// A line of the table: the language, the words, and what they mean.
///
/// `start end` is a time, `length 60` seconds without a place in time, `recurring` what comes back; several stand with a comma
/// between them, and a phrase without a meaning names no time that anybody could be sure of.
const TABLE: &str = include_str!("composed_dates.tsv");

fn read(language: &str, text: &str) -> String {
    let zone = Zone::utc();
    let now: Moment = NOW.parse().unwrap();
    let anchor = Anchor { at: Timestamp::from_micros(now.as_microsecond()).unwrap(), zone: &zone };
    let found = DateRules::built_in(language).unwrap().read(text, &anchor, TimeBias::Future);
    let shown = found.iter().filter_map(|dated| match dated {
        TimeExpression::When(when) => Some(span(*when)),
        TimeExpression::Length { seconds, .. } => Some(format!("length {seconds}")),
        TimeExpression::Recurring(_) => Some("recurring".to_owned()),
        TimeExpression::Refused(_) => None,
    });
    shown.collect::<Vec<String>>().join(", ")
}

fn span(when: When) -> String {
    let end = |at: Option<WorldTime>| at.map_or_else(|| "…".to_owned(), |at| civil(at.as_seconds()));
    format!("{} {}", end(when.start), end(when.end))
}

/// A day, with what of a time of day is not zero.
fn civil(seconds: i64) -> String {
    let zoned = Moment::from_second(seconds).unwrap().to_zoned(TimeZone::UTC);
    let text = zoned.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let text = text.strip_suffix(":00").unwrap_or(&text);
    text.strip_suffix("T00:00").unwrap_or(text).to_owned()
}

#[test]
fn a_composed_phrase_is_read_right_or_not_at_all() {
    let rows: Vec<[&str; 3]> = (TABLE.lines())
        .map(|line| {
            let mut fields = line.split('\t');
            [(); 3].map(|()| fields.next().unwrap())
        })
        .collect();
    let (mut exact, mut wrong) = (0, Vec::new());
    for [language, text, expected] in &rows {
        let found = read(language, text);
        exact += usize::from(found == *expected);
        if found != *expected && !found.is_empty() {
            wrong.push(format!("{language} {text}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 500 && exact * 100 >= rows.len() * 97, "{exact} of {}", rows.len());
}
