//! Times as models write them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use mnemal_core::Timestamp;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// Reads RFC 3339, a plain day (its start in the system's zone), Unix milliseconds, or a span back from now: `90m`, `24h`,
/// `7d`, `2w`.
pub(crate) fn read(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(millis) = text.parse::<i64>() {
        return Timestamp::from_micros(millis.saturating_mul(1_000)).ok();
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Timestamp::from_micros(time.as_microsecond()).ok();
    }
    if let Ok(day) = text.parse::<Date>() {
        let start = day.to_zoned(TimeZone::system()).ok()?;
        return Timestamp::from_micros(start.timestamp().as_microsecond()).ok();
    }
    let unit = text.chars().last()?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 1_440,
        'w' => 10_080,
        _ => return None,
    };
    let count: i64 = text.strip_suffix(unit)?.trim().parse().ok().filter(|count| *count > 0)?;
    let back = count.checked_mul(minutes * MICROS_PER_MINUTE)?;
    Timestamp::from_micros(now.as_micros().checked_sub(back)?).ok()
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
        assert!(read("2026-11-21", now).is_some());
        for wrong in
            ["", "yesterday", "-5", "5", "0d", "2026-13-01", "99999999999999999999", "9999999999999w"]
        {
            assert!(read(wrong, now).is_none_or(|time| time.as_micros() < 1_000_000), "{wrong}");
        }
    }
}
