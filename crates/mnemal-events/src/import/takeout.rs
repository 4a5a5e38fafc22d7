//! Importer for the Gemini app's activity page, `MyActivity.html`, the default form of a Google Takeout export.
//!
//! Shape: the page as Takeout writes it in 2025 and 2026, read by `google_takeout_parser` and others: an `outer-cell` for each
//! entry, with a `header-cell` and `content-cell`s, of which the first says what was done, when, and what came of it.

use jiff::civil::Date;
use mnemal_core::{Timestamp, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias};
use serde_json::{Value, json};

use super::gemini::plain;
use super::json::Object;

/// Start of an entry.
pub(super) const MARK: &[u8] = b"<div class=\"outer-cell";
/// Start of each cell of an entry but the first.
const CELL: &str = "<div class=\"content-cell";
/// Link prefix of a conversation.
const CONVERSATION: &str = "https://gemini.google.com/app/";
/// Longest line with a time. Source: own choice; a day, an hour and a zone in any language.
const LONGEST_TIME: usize = 80;
/// Languages whose dates are parsed.
const LANGUAGES: [&str; 8] = ["en", "de", "fr", "es", "pt", "zh", "ja", "ko"];

/// Whether a text begins like an activity page: its styles are those of Material Design Lite.
pub(super) fn is_page(start: &str) -> bool {
    let is_html = ["<html", "<!doctype html"]
        .iter()
        .any(|mark| start.get(..mark.len()).is_some_and(|own| own.eq_ignore_ascii_case(mark)));
    is_html && start.contains("mdl-typography")
}

/// Whether an entry is complete: another cell follows the activity.
pub(super) fn is_whole(html: &str) -> bool {
    html.matches(CELL).count() > 1
}

/// Returns an entry of a page in the form of the JSON activity; `None` if there is none.
pub(super) fn entry(html: &str) -> Option<Object> {
    let mut cells = html.split(CELL);
    let header = cells.next()?.split_once("header-cell")?.1;
    let content = inside(cells.next()?);
    let lines: Vec<&str> = lines(content).collect();
    let when = lines.iter().position(|line| moment(&plain(line)).is_some());
    let (said, rest) = lines.split_at(when.unwrap_or(lines.len()));
    let (time, answer) = rest.split_first().map_or(("", &[][..]), |(time, answer)| (*time, answer));
    let title: Vec<String> = said.iter().map(|line| plain(line)).filter(|line| !line.is_empty()).collect();
    let mut entry = json!({"header": plain(inside(header)), "title": title.join("\n"), "time": moment(&plain(time)),
        "safeHtmlItem": [{"html": answer.join("<br>")}]});
    let address = said.iter().find_map(|line| line.split_once(CONVERSATION)?.1.split('"').next());
    if let (Some(entry), Some(name)) = (entry.as_object_mut(), address) {
        entry.insert("titleUrl".to_owned(), Value::from(format!("{CONVERSATION}{name}")));
    }
    entry.as_object().cloned()
}

/// Returns the text after the tag in which a text begins.
fn inside(text: &str) -> &str {
    text.split_once('>').map_or("", |(_, rest)| rest)
}

fn lines(html: &str) -> impl Iterator<Item = &str> {
    html.split("<br").enumerate().map(|(place, line)| if place == 0 { line } else { inside(line) })
}

/// Parses a line such as `Mar 5, 2025, 10:12:33 AM CET`: a day and a time, with its zone if it is an offset.
fn moment(line: &str) -> Option<String> {
    if line.len() > LONGEST_TIME {
        return None;
    }
    let line = line.replace(['\u{202f}', '\u{a0}'], " ");
    let words = || line.split([' ', ',']).filter(|word| !word.is_empty());
    let (hour, rest) = words().find_map(clock)?;
    let half = |mark: &str| words().any(|word| word.replace('.', "").eq_ignore_ascii_case(mark));
    let hour = match hour {
        12 if half("am") => 0,
        hour if half("pm") && hour < 12 => hour + 12,
        hour => hour,
    };
    // What follows the hour is its zone, which the day is not moved by.
    let day = day(line
        .split_once(&format!(":{rest}"))?
        .0
        .trim_end_matches(|letter: char| letter.is_ascii_digit()))?;
    let zone = words().next_back().map(offset).unwrap_or_default();
    Some(format!("{day}T{hour:02}:{rest}{zone}"))
}

/// Returns the hour, and the minutes and seconds, of `10:12:33`.
fn clock(word: &str) -> Option<(u8, &str)> {
    let (hour, rest) = word.split_once(':')?;
    let is_rest = rest.len() == 5
        && rest.bytes().enumerate().all(|(place, byte)| match place {
            2 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    let hour = hour.parse().ok().filter(|hour| *hour < 24)?;
    is_rest.then_some((hour, rest))
}

/// Parses the day of a line in one of the languages of the packs.
fn day(line: &str) -> Option<Date> {
    let zone = Zone::utc();
    let anchor = Anchor { at: Timestamp::EPOCH, zone: &zone };
    let of = |language: &&str| {
        let dates = DateRules::built_in(language)?.read(line, &anchor, TimeBias::Nearest);
        dates.into_iter().find_map(|date| {
            let when = date.when()?;
            let (start, end) = (when.start?.as_seconds(), when.end?.as_seconds());
            // A month or a year is no day.
            let is_day = end - start <= 24 * 60 * 60 && start > 0;
            let start = jiff::Timestamp::from_second(start).ok().filter(|_| is_day)?;
            Some(start.to_zoned(jiff::tz::TimeZone::UTC).date())
        })
    };
    // With points between them the day precedes the month in every language.
    let has_points = line.split(' ').any(|word| word.matches('.').count() == 2);
    if has_points { of(&"de") } else { LANGUAGES.iter().find_map(of) }
}

/// Returns the offset of a zone word: `UTC`, `GMT+1`; empty for an ambiguous name.
fn offset(word: &str) -> String {
    let Some(rest) = ["UTC", "GMT"].iter().find_map(|name| word.strip_prefix(name)) else {
        return String::new();
    };
    let hours = rest.strip_prefix(['+', '-']).map(|hours| hours.split_once(':').unwrap_or((hours, "00")));
    match hours {
        None => "Z".to_owned(),
        Some((hours, minutes)) => format!("{}{hours:0>2}:{minutes}", rest.get(..1).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_when_is_read_in_several_languages() {
        for (line, at) in [
            ("Mar 5, 2025, 1:12:33\u{202f}PM UTC", "2025-03-05T13:12:33Z"),
            ("Mar 5, 2025, 12:12:33 AM CET", "2025-03-05T00:12:33"),
            ("05.03.2025, 10:12:33 MEZ", "2025-03-05T10:12:33"),
            ("5 mars 2025, 10:12:33 GMT+1", "2025-03-05T10:12:33+01:00"),
        ] {
            assert_eq!(moment(line).as_deref(), Some(at), "{line}");
        }
        for line in ["Prompted at 10:12:33", "Mar 5, 2025", "in March 2025 at 10:12:33", ""] {
            assert_eq!(moment(line), None, "{line}");
        }
    }
}
