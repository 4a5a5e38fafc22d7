//! Times as models write them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mnemal_core::Timestamp;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// Reads RFC 3339, a day or a time of a day without a zone (the system's is meant), Unix milliseconds, or a span back from now:
/// `90m`, `24h`, `7d`, `2w`.
pub(crate) fn read(text: &str, now: Timestamp) -> Option<Timestamp> {
    let back = |micros| now.as_micros().checked_sub(micros);
    point(text.trim()).or_else(|| Timestamp::from_micros(back(span(text.trim())?)?).ok())
}

/// Reads the same, a span ahead of now; nothing that is over.
pub(crate) fn ahead(text: &str, now: Timestamp) -> Option<Timestamp> {
    let ahead = |micros| now.as_micros().checked_add(micros);
    let time = point(text.trim()).or_else(|| Timestamp::from_micros(ahead(span(text.trim())?)?).ok());
    time.filter(|time| *time > now)
}

fn point(text: &str) -> Option<Timestamp> {
    if let Ok(millis) = text.parse::<i64>() {
        return Timestamp::from_micros(millis.saturating_mul(1_000)).ok();
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Timestamp::from_micros(time.as_microsecond()).ok();
    }
    let civil = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::system()).ok()?;
    Timestamp::from_micros(civil.timestamp().as_microsecond()).ok()
}

/// Returns a span in microseconds.
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
    fn times_are_read_in_four_forms_and_nothing_else() {
        let now = Timestamp::from_micros(1_795_251_600_000_000).unwrap();
        for (text, expect) in [
            ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00Z"),
            ("2026-11-21T10:00:00+01:00", "2026-11-21T09:00:00Z"),
            ("1795251600000", "2026-11-21T09:00:00Z"),
            ("90m", "2026-11-21T07:30:00Z"),
            ("7d", "2026-11-14T09:00:00Z"),
        ] {
            assert_eq!(read(text, now).unwrap().to_string(), expect, "{text}");
        }
        let day = read("2026-11-21", now).unwrap();
        for (text, hours) in [("2026-11-21T12:30:00", 12.5), ("2026-11-21 18:00", 18.0)] {
            let passed = read(text, now).unwrap().as_micros() - day.as_micros();
            assert!((passed as f64 / 3.6e9 - hours).abs() < 1e-6, "{text}: a time of day is kept");
        }
        assert_eq!(ahead("7d", now).unwrap().to_string(), "2026-11-28T09:00:00Z");
        assert_eq!(ahead("2026-11-22T09:00:00Z", now), read("2026-11-22T09:00:00Z", now));
        assert!(ahead("2026-11-20", now).is_none() && ahead("2026-11-21T09:00:00Z", now).is_none());
        for wrong in
            ["", "yesterday", "-5", "5", "0d", "2026-13-01", "99999999999999999999", "9999999999999w"]
        {
            assert!(read(wrong, now).is_none_or(|time| time.as_micros() < 1_000_000), "{wrong}");
        }
    }
}
