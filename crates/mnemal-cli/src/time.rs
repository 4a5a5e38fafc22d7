//! Parsing of times on the command line.

use anyhow::Result;
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::TimeZone;
use mnemal::extract::WorldTime;
use mnemal::{Error, Timestamp, Zone};

/// Digits of a year. Source: the years 1970 to 9999.
const YEAR_DIGITS: usize = 4;
/// Digits of Unix milliseconds. Source: own choice; with eleven digits or fewer they are before 1974, and more often seconds.
const MILLIS_DIGITS: std::ops::RangeInclusive<usize> = 12..=15;

/// Parses RFC 3339, a year, a month, a day or a local time of day (in the system's zone), or Unix milliseconds.
///
/// # Errors
/// `Invalid` for anything else, or a time outside 1970 to 9999.
pub(crate) fn read(text: &str) -> Result<Timestamp> {
    let text = text.trim();
    if let Some(millis) = millis(text) {
        return Ok(Timestamp::from_micros(millis.saturating_mul(1_000))?);
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp::from_micros(time.as_microsecond())?);
    }
    let civil = civil(text).and_then(|civil| civil.to_zoned(TimeZone::system()).ok());
    Ok(Timestamp::from_micros(civil.ok_or_else(|| wrong(text))?.timestamp().as_microsecond())?)
}

/// Parses the time of an event with its zone: the written offset, else the system's zone.
///
/// # Errors
/// As [`read`].
pub(crate) fn event_time(text: &str) -> Result<(Timestamp, Zone)> {
    let at = read(text)?;
    let offset = Pieces::parse(text.trim()).ok().and_then(|pieces| pieces.offset());
    let zone = match offset {
        Some(PiecesOffset::Zulu) => Zone::utc(),
        Some(PiecesOffset::Numeric(numeric)) => {
            Zone { name: String::new(), offset_seconds: numeric.offset().seconds() }
        }
        _ => here(at),
    };
    Ok((at, zone))
}

/// Returns the system's zone, with its offset at a moment.
pub(crate) fn here(at: Timestamp) -> Zone {
    let system = TimeZone::system();
    let instant = jiff::Timestamp::from_microsecond(at.as_micros()).ok();
    let offset_seconds = instant.map_or(0, |instant| system.to_offset(instant).seconds());
    match system.iana_name() {
        Some("UTC" | "Etc/UTC" | "Etc/Unknown") | None if offset_seconds == 0 => Zone::utc(),
        name => Zone { name: name.unwrap_or_default().to_owned(), offset_seconds },
    }
}

/// Parses a world time: a year, a month, a day or a time of day without a zone, of any year from 1 on, or what [`read`] accepts.
///
/// # Errors
/// As [`read`].
pub(crate) fn world(text: &str) -> Result<WorldTime> {
    if let Some(start) = civil(text.trim()).and_then(|civil| civil.to_zoned(TimeZone::UTC).ok()) {
        return Ok(WorldTime::from_seconds(start.timestamp().as_second()));
    }
    Ok(WorldTime::from_seconds(read(text)?.as_micros().div_euclid(1_000_000)))
}

/// Parses a number that can only be Unix milliseconds.
fn millis(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && MILLIS_DIGITS.contains(&text.len())).then(|| text.parse().ok()).flatten()
}

/// Parses a year, a month, a day or a time of day without a zone, as its first moment.
fn civil(text: &str) -> Option<DateTime> {
    let is_year = text.len() == YEAR_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_year {
        return Some(Date::new(text.parse().ok()?, 1, 1).ok()?.into());
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let month = || format!("{text}-01").parse::<Date>().ok().map(DateTime::from);
    text.parse::<DateTime>().ok().or_else(|| month().filter(|_| text.len() == "2026-11".len()))
}

fn wrong(text: &str) -> Error {
    Error::invalid(format!(
        "not a time: {text:?}; write 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z or Unix milliseconds"
    ))
}

/// Parses a duration of one unit: `90s`, `30m`, `12h`, `7d`.
///
/// # Errors
/// `Invalid` for anything else.
pub(crate) fn duration_micros(text: &str) -> Result<i64> {
    let wrong = || Error::invalid(format!("not a duration: {text:?}; write 90s, 30m, 12h or 7d"));
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong().into()),
    };
    let number: i64 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
    number.checked_mul(seconds * 1_000_000).filter(|micros| *micros > 0).ok_or_else(|| wrong().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_three_forms() {
        for text in ["2026-11-21T09:00:00Z", "2026-11-21T10:00:00+01:00", "1795251600000"] {
            assert_eq!(read(text).unwrap().to_string(), "2026-11-21T09:00:00Z", "{text}");
        }
        let hours = |text| read(text).unwrap().as_micros() / 3_600_000_000;
        assert_eq!(hours("2026-11-21T18:00") - hours("2026-11-21"), 18, "a time of day is kept");
        for wrong in ["", "yesterday", "-5", "2026-13-01", "99999999999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bare_number_is_a_year_or_milliseconds_and_never_something_else() {
        assert_eq!(read("2030").unwrap(), read("2030-01-01").unwrap());
        assert_eq!(read("2026-11").unwrap(), read("2026-11-01").unwrap());
        assert_eq!(world("1961").unwrap(), world("1961-01-01").unwrap());
        for wrong in ["1893456000", "30", "203", "20301", "20261121", "2026-1", "2026-13"] {
            let told = read(wrong).unwrap_err().to_string();
            assert!(told.contains("2026-11-21"), "{wrong}: {told}");
            assert!(world(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_was_said_with_an_offset_has_the_day_of_its_place() {
        let day = |text: &str| {
            let (at, zone) = event_time(text).unwrap();
            at.civil(&zone).day_text()
        };
        assert_eq!(day("2019-03-01T00:20:00+13:00"), "2019-03-01");
        assert_eq!(day("2026-11-20T17:30:00-08:00"), "2026-11-20");
        assert_eq!(day("2026-11-20T23:30:00Z"), "2026-11-20");
        // In any system zone, a day without a zone is a local day.
        assert_eq!(day("2026-11-20"), "2026-11-20");
        assert_eq!(day("2026-11-20T00:10"), "2026-11-20");
    }

    #[test]
    fn a_day_of_the_world_may_be_before_all_computers() {
        assert_eq!(world("1961-04-12").unwrap().as_seconds(), -275_270_400);
        assert_eq!(world("2026-11-21T09:00:00Z").unwrap().as_seconds(), 1_795_251_600);
        assert_eq!(world("1961-04-12T06:07").unwrap().as_seconds(), -275_270_400 + 22_020);
        assert!(world("some day").is_err());
    }

    #[test]
    fn durations_have_one_unit_and_are_positive() {
        assert_eq!(duration_micros("30m").unwrap(), 1_800_000_000);
        for wrong in ["", "m", "0s", "-1h", "5", "1w", "9999999999999999d"] {
            assert!(duration_micros(wrong).is_err(), "{wrong}");
        }
    }
}
