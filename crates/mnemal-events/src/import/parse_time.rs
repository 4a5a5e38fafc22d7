//! Parser for the timestamps of foreign files.

use std::borrow::Cow;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::{Offset, TimeZone};
use mnemal_core::{Error, Result, Timestamp, Zone};
use serde_json::Value;

/// Numbers from here on are milliseconds. Source: 10^11 s is the year 5138, 10^11 ms is 1973.
const MILLISECONDS: f64 = 1e11;
/// Numbers from here on are microseconds. Source: 10^14 ms is the year 5138, 10^14 µs is 1973.
const MICROSECONDS: f64 = 1e14;

/// Parses times; those without a zone are in the zone of the import.
#[derive(Debug)]
pub(super) struct TimeParser {
    zone: Zone,
    named: Option<TimeZone>,
}

impl TimeParser {
    pub(super) fn new(zone: &Zone) -> Self {
        Self { zone: zone.clone(), named: TimeZone::get(&zone.name).ok() }
    }

    /// Reads a field: nothing, a number since 1970, or ISO 8601 text.
    pub(super) fn read(&self, value: Option<&Value>) -> Result<Option<(Timestamp, Zone)>, String> {
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => number.as_f64().map(|number| self.number(number)).transpose(),
            Some(Value::String(text)) => self.text(text).map(Some),
            Some(_) => Err("a time is neither text nor a number".to_owned()),
        }
    }

    fn number(&self, number: f64) -> Result<(Timestamp, Zone), String> {
        let scale = match number.abs() {
            small if small < MILLISECONDS => 1e6,
            middle if middle < MICROSECONDS => 1e3,
            _ => 1.0,
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, and the range is checked next"
        )]
        let at = in_range((number * scale).round() as i64)?;
        Ok((at, self.zone_at(at)))
    }

    fn text(&self, text: &str) -> Result<(Timestamp, Zone), String> {
        let text = joined(text.trim());
        let pieces = Pieces::parse(text.as_ref()).map_err(|_| "a time that cannot be read".to_owned())?;
        let civil = pieces.date().to_datetime(pieces.time().unwrap_or_else(Time::midnight));
        let offset = match pieces.offset() {
            Some(PiecesOffset::Zulu) => {
                let at = in_range(micros(civil))?;
                return Ok((at, self.zone_at(at)));
            }
            Some(PiecesOffset::Numeric(numeric)) => {
                let seconds = numeric.offset().seconds();
                let at = in_range(micros(civil).saturating_sub(i64::from(seconds) * 1_000_000))?;
                return Ok((at, Zone { name: String::new(), offset_seconds: seconds }));
            }
            None => match pieces.time_zone_annotation() {
                Some(named) => {
                    let zone =
                        named.to_time_zone().map_err(|_| "a time in a zone that is not known".to_owned())?;
                    let offset = zone.to_zoned(civil).map(|zoned| zoned.offset().seconds());
                    let offset = offset.map_err(|_| "a time outside 1970 to 9999".to_owned())?;
                    let at = in_range(micros(civil).saturating_sub(i64::from(offset) * 1_000_000))?;
                    let name = zone.iana_name().unwrap_or_default().to_owned();
                    return Ok((at, Zone { name, offset_seconds: offset }));
                }
                None => self.offset_of(civil),
            },
            Some(_) => self.offset_of(civil),
        };
        let at = in_range(micros(civil).saturating_sub(i64::from(offset) * 1_000_000))?;
        Ok((at, Zone { name: self.zone.name.clone(), offset_seconds: offset }))
    }

    /// Returns the offset of a local time; for an ambiguous one the first.
    fn offset_of(&self, civil: DateTime) -> i32 {
        let zoned = self.named.as_ref().and_then(|zone| zone.to_zoned(civil).ok());
        zoned.map_or(self.zone.offset_seconds, |zoned| zoned.offset().seconds())
    }

    /// Returns the import's zone with the offset in force at a moment.
    pub(super) fn zone_at(&self, at: Timestamp) -> Zone {
        let instant = jiff::Timestamp::from_microsecond(at.as_micros()).ok();
        let offset = self.named.as_ref().zip(instant).map(|(zone, instant)| zone.to_offset(instant));
        let offset_seconds = offset.map_or(self.zone.offset_seconds, Offset::seconds);
        Zone { name: self.zone.name.clone(), offset_seconds }
    }
}

/// Returns a time whose zone stands apart, `2026-07-01 12:00:00 +02:00` or `… UTC`, as one word and its zone.
fn joined(text: &str) -> Cow<'_, str> {
    let Some((time, zone)) = text.rsplit_once(' ').filter(|(time, _)| time.contains(':')) else {
        return Cow::Borrowed(text);
    };
    match zone {
        "UTC" | "GMT" | "Z" => Cow::Owned(format!("{time}Z")),
        _ if zone.starts_with(['+', '-']) => Cow::Owned(format!("{time}{zone}")),
        _ => Cow::Borrowed(text),
    }
}

/// Reads a time of our own export, as [`Timestamp`] prints it.
pub(crate) fn own(text: &str) -> Result<Timestamp> {
    let civil = text.strip_suffix('Z').and_then(|civil| DateTime::from_str(civil).ok());
    let civil = civil.ok_or_else(|| Error::invalid("not a time of the form 2026-11-21T10:00:00Z"))?;
    Timestamp::from_micros(micros(civil))
}

fn micros(civil: DateTime) -> i64 {
    let epoch = Date::constant(1970, 1, 1).to_datetime(Time::midnight());
    i64::try_from(civil.duration_since(epoch).as_micros()).unwrap_or(i64::MAX)
}

fn in_range(micros: i64) -> Result<Timestamp, String> {
    Timestamp::from_micros(micros).map_err(|_| "a time outside 1970 to 9999".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(zone: &Zone, value: &str) -> Result<Option<(Timestamp, Zone)>, String> {
        TimeParser::new(zone).read(Some(&serde_json::from_str(value).unwrap()))
    }

    #[test]
    fn times_are_read_in_every_usual_form() {
        let utc = Zone::utc();
        for (value, expect) in [
            ("\"2026-01-12T19:00:00\"", "2026-01-12T19:00:00Z"),
            ("\"2026-01-12 19:00\"", "2026-01-12T19:00:00Z"),
            ("\"2026-01-12\"", "2026-01-12T00:00:00Z"),
            ("\"2026-01-12T19:00:00.25Z\"", "2026-01-12T19:00:00.250000Z"),
            ("\"2026-01-12T19:00:00+02:00\"", "2026-01-12T17:00:00Z"),
            ("\"2026-07-01T12:00:00[Asia/Tokyo]\"", "2026-07-01T03:00:00Z"),
            ("\"2026-07-01 12:00[Europe/Lisbon]\"", "2026-07-01T11:00:00Z"),
            ("\"2026-07-01T12:00:00+09:00[Asia/Tokyo]\"", "2026-07-01T03:00:00Z"),
            ("1772442031", "2026-03-02T09:00:31Z"),
            ("1772442031.5", "2026-03-02T09:00:31.500000Z"),
            ("1772442031000", "2026-03-02T09:00:31Z"),
            ("1772442031000000", "2026-03-02T09:00:31Z"),
        ] {
            assert_eq!(read(&utc, value).unwrap().unwrap().0.to_string(), expect, "{value}");
        }
        assert_eq!(read(&utc, "null"), Ok(None));
    }

    #[test]
    fn absurd_times_are_refused() {
        for value in
            ["\"yesterday\"", "\"1969-12-31T23:59:59Z\"", "\"2026-02-30\"", "-5", "1e300", "[]", "\"\""]
        {
            assert!(read(&Zone::utc(), value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_in_the_zone_of_the_import() {
        let east = Zone { name: String::new(), offset_seconds: 3_600 };
        let (at, zone) = read(&east, "\"2026-01-12T19:00:00\"").unwrap().unwrap();
        assert_eq!((at.to_string().as_str(), zone.offset_seconds), ("2026-01-12T18:00:00Z", 3_600));
        let (at, zone) = read(&east, "\"2026-01-12T19:00:00Z\"").unwrap().unwrap();
        assert_eq!((at.to_string().as_str(), zone.offset_seconds), ("2026-01-12T19:00:00Z", 3_600));
    }

    proptest! {
        #[test]
        fn what_a_timestamp_prints_is_read_back(micros in 0_i64..=Timestamp::MAX.as_micros()) {
            let at = Timestamp::from_micros(micros).unwrap();
            prop_assert_eq!(own(&at.to_string()).unwrap(), at);
        }
    }

    #[test]
    fn the_ends_of_time_are_read_back() {
        for at in [Timestamp::EPOCH, Timestamp::MAX] {
            assert_eq!(own(&at.to_string()).unwrap(), at);
        }
    }
}
