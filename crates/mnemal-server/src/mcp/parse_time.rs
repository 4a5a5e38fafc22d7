//! Parsing of times in arguments.

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::{Offset, TimeZone};
use mnemal_core::{Timestamp, Zone};

const MICROS_PER_MINUTE: i64 = 60_000_000;
/// Digits of a year. Source: the years 1970 to 9999.
const YEAR_DIGITS: usize = 4;
/// Digits of Unix milliseconds. Source: own choice; with eleven digits or fewer they are before 1974, and more often seconds.
const MILLIS_DIGITS: std::ops::RangeInclusive<usize> = 12..=15;

/// Parses RFC 3339, a year, a month, a day or a time of day in the given zone, Unix milliseconds, or a duration before now:
/// `90m`, `24h`, `7d`, `2w`.
pub(crate) fn read(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let back = |micros| now.as_micros().checked_sub(micros);
    point(text.trim(), zone).or_else(|| Timestamp::from_micros(back(span(text.trim())?)?).ok())
}

/// As [`read`], with a duration from now; rejects past times.
pub(crate) fn ahead(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let ahead = |micros| now.as_micros().checked_add(micros);
    let time = point(text.trim(), zone).or_else(|| Timestamp::from_micros(ahead(span(text.trim())?)?).ok());
    time.filter(|time| *time > now)
}

#[cfg(feature = "http")]
/// Parses the name of a zone, `Europe/Berlin`, or its offset, `+02:00`.
pub(crate) fn zone(text: &str) -> Option<TimeZone> {
    let of_offset = || {
        let moment = format!("2026-01-01T00:00:00{text}");
        let signed = text.starts_with(['+', '-']).then(|| Pieces::parse(&moment).ok())??;
        match signed.offset()? {
            PiecesOffset::Numeric(numeric) => Some(TimeZone::fixed(numeric.offset())),
            _ => None,
        }
    };
    if text.eq_ignore_ascii_case("z") {
        Some(TimeZone::UTC)
    } else {
        TimeZone::get(text).ok().or_else(of_offset)
    }
}

/// Returns the zone of an event: the written offset of its time, else the given one.
pub(crate) fn event_zone(text: Option<&str>, at: Timestamp, zone: &TimeZone) -> Zone {
    let written = text.and_then(|text| Pieces::parse(text.trim()).ok()?.offset());
    if let Some(PiecesOffset::Numeric(numeric)) = written {
        return of_offset(numeric.offset());
    }
    let instant = jiff::Timestamp::from_microsecond(at.as_micros()).ok();
    let offset_seconds = instant.map_or(0, |instant| zone.to_offset(instant).seconds());
    match zone.iana_name() {
        Some("UTC") => Zone::utc(),
        name => Zone { name: name.unwrap_or_default().to_owned(), offset_seconds },
    }
}

fn of_offset(offset: Offset) -> Zone {
    Zone { name: String::new(), offset_seconds: offset.seconds() }
}

fn point(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && MILLIS_DIGITS.contains(&text.len()) {
        return Timestamp::from_micros(text.parse::<i64>().ok()?.saturating_mul(1_000)).ok();
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Timestamp::from_micros(time.as_microsecond()).ok();
    }
    let zoned = civil(text)?.to_zoned(zone.clone()).ok()?;
    Timestamp::from_micros(zoned.timestamp().as_microsecond()).ok()
}

/// Parses a year, a month, a day or a time of day without a zone, as its first moment.
fn civil(text: &str) -> Option<DateTime> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let year = (text.len() == YEAR_DIGITS).then(|| text.parse().ok())??;
        return Some(Date::new(year, 1, 1).ok()?.into());
    }
    let month = || format!("{text}-01").parse::<Date>().ok().map(DateTime::from);
    text.parse::<DateTime>().ok().or_else(|| month().filter(|_| text.len() == "2026-11".len()))
}

/// Returns a duration in microseconds.
fn span(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 1_440,
        'w' => 10_080,
        _ => return None,
    };
    let count: i64 = text.strip_suffix(unit)?.trim().parse().ok().filter(|count| *count > 0)?;
    count.checked_mul(minutes * MICROS_PER_MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_five_forms_and_nothing_else() {
        let now = Timestamp::from_micros(1_795_251_600_000_000).unwrap();
        let utc = TimeZone::UTC;
        for (text, expect) in [
            ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00Z"),
            ("2026-11-21T10:00:00+01:00", "2026-11-21T09:00:00Z"),
            ("1795251600000", "2026-11-21T09:00:00Z"),
            ("2030", "2030-01-01T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("90m", "2026-11-21T07:30:00Z"),
            ("7d", "2026-11-14T09:00:00Z"),
        ] {
            assert_eq!(read(text, now, &utc).unwrap().to_string(), expect, "{text}");
        }
        let day = read("2026-11-21", now, &utc).unwrap();
        for (text, hours) in [("2026-11-21T12:30:00", 12.5), ("2026-11-21 18:00", 18.0)] {
            let passed = read(text, now, &utc).unwrap().as_micros() - day.as_micros();
            assert!((passed as f64 / 3.6e9 - hours).abs() < 1e-6, "{text}: a time of day is kept");
        }
        assert_eq!(ahead("7d", now, &utc).unwrap().to_string(), "2026-11-28T09:00:00Z");
        assert_eq!(ahead("2026-11-22T09:00:00Z", now, &utc), read("2026-11-22T09:00:00Z", now, &utc));
        assert!(
            ahead("2026-11-20", now, &utc).is_none() && ahead("2026-11-21T09:00:00Z", now, &utc).is_none()
        );
        for wrong in [
            "",
            "yesterday",
            "-5",
            "5",
            "0d",
            "2026-13-01",
            "99999999999999999999",
            "9999999999999w",
            "1893456000",
        ] {
            assert!(read(wrong, now, &utc).is_none(), "{wrong}");
        }
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_day_is_one_of_the_zone_that_is_given() {
        let now = Timestamp::from_micros(1_795_251_600_000_000).unwrap();
        for (name, expect) in [
            ("UTC", "2026-11-21T00:00:00Z"),
            ("Europe/Berlin", "2026-11-20T23:00:00Z"),
            ("-08:00", "2026-11-21T08:00:00Z"),
        ] {
            let zone = zone(name).unwrap();
            assert_eq!(read("2026-11-21", now, &zone).unwrap().to_string(), expect, "{name}");
        }
        assert!(zone("Berlin time").is_none() && zone("").is_none());
        let said = event_zone(Some("2019-03-01T00:20:00+13:00"), now, &TimeZone::UTC);
        assert_eq!(said.offset_seconds, 13 * 3_600);
        assert_eq!(event_zone(None, now, &zone("Europe/Berlin").unwrap()).offset_seconds, 3_600);
    }
}
