//! Times as people write them.

use anyhow::Result;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mnemal::{Error, Timestamp, WorldTime};

/// Reads RFC 3339, a day or a time of a day without a zone (the system's is meant), or Unix milliseconds.
///
/// # Errors
/// `Invalid` for anything else, or a time outside 1970 to 9999.
pub(crate) fn read(text: &str) -> Result<Timestamp> {
    if let Ok(millis) = text.parse::<i64>() {
        return Ok(Timestamp::from_micros(millis.saturating_mul(1_000))?);
    }
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp::from_micros(time.as_microsecond())?);
    }
    let civil = text.parse::<DateTime>().ok().and_then(|civil| civil.to_zoned(TimeZone::system()).ok());
    let civil = civil.ok_or_else(|| {
        Error::invalid(format!(
            "not a time: {text:?}; write 2026-11-21, 2026-11-21T09:00:00Z or Unix milliseconds"
        ))
    })?;
    Ok(Timestamp::from_micros(civil.timestamp().as_microsecond())?)
}

/// Reads a moment of world time: a day or a time of a day, of any year from 1 on and without a zone, or what [`read`] reads.
///
/// # Errors
/// As [`read`].
pub(crate) fn world(text: &str) -> Result<WorldTime> {
    if let Some(start) = text.parse::<DateTime>().ok().and_then(|civil| civil.to_zoned(TimeZone::UTC).ok()) {
        return Ok(WorldTime::from_seconds(start.timestamp().as_second()));
    }
    Ok(WorldTime::from_seconds(read(text)?.as_micros().div_euclid(1_000_000)))
}

/// Reads a duration of one unit: `90s`, `30m`, `12h`, `7d`.
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
