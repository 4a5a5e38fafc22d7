//! Time zones: by name from built-in rules, else by offset; nothing is read from the machine.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use mnemal_core::{Error, Result};

use super::Anchor;

/// Names of zones in which July lies in winter begin so.
const SOUTH: [&str; 14] = [
    "Australia/",
    "Antarctica/",
    "Pacific/Auckland",
    "America/Argentina/",
    "America/Buenos_Aires",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Montevideo",
    "America/Asuncion",
    "America/Lima",
    "America/La_Paz",
    "Africa/Johannesburg",
    "Africa/Windhoek",
    "Africa/Harare",
];

/// Where words were said, and when on the clock of that place.
pub(super) struct LocalMoment {
    pub(super) zone: TimeZone,
    pub(super) now: DateTime,
    pub(super) is_south: bool,
}

impl LocalMoment {
    pub(super) fn of(anchor: &Anchor<'_>) -> Self {
        let name = anchor.zone.name.as_str();
        let zone = bundled(name).unwrap_or_else(|| fixed(anchor.zone.offset_seconds));
        let moment =
            jiff::Timestamp::from_microsecond(anchor.at.as_micros()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let now = zone.to_datetime(moment);
        Self { zone, now, is_south: SOUTH.iter().any(|south| name.starts_with(south)) }
    }

    /// Seconds since the epoch: a time in a gap moves forward, a time that comes twice is the first.
    pub(super) fn seconds(&self, civil: DateTime) -> Option<i64> {
        Some(self.zone.to_ambiguous_timestamp(civil).compatible().ok()?.as_second())
    }
}

fn bundled(name: &str) -> Option<TimeZone> {
    if name.is_empty() { None } else { TimeZoneDatabase::bundled().get(name).ok() }
}

fn fixed(seconds: i32) -> TimeZone {
    Offset::from_seconds(seconds).map_or(TimeZone::UTC, TimeZone::fixed)
}

/// A zone of a pack: a name, or an offset such as `-05:00`.
pub(super) fn parse_zone(name: &str) -> Result<TimeZone> {
    let offset = || {
        let (sign, rest) = match name.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, name.strip_prefix('+')?),
        };
        let (hours, minutes) = rest.split_once(':')?;
        Some(sign * (hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60))
    };
    let zone = offset().map(fixed).or_else(|| bundled(name));
    zone.ok_or_else(|| Error::invalid(format!("a pack: the zone `{name}` is not known")))
}
