//! Timestamps, and civil dates by arithmetic: no calendar library, no time zone database, no clock.

use std::fmt;

use crate::{Error, Result};

/// 9999-12-31T23:59:59.999999Z in microseconds. Source: four-digit years of RFC 3339.
const LAST: i64 = 253_402_300_799_999_999;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Microseconds since the Unix epoch, UTC; 1970-01-01 to 9999-12-31, checked at construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);
    /// The last storable moment.
    pub const MAX: Self = Self(LAST);

    /// Checks the range.
    ///
    /// # Errors
    /// `Invalid` before 1970 or after 9999.
    pub fn from_micros(micros: i64) -> Result<Self> {
        if (0..=LAST).contains(&micros) {
            Ok(Self(micros))
        } else {
            Err(Error::invalid(format!("a time must lie between 1970 and 9999, this is {micros} µs")))
        }
    }

    /// Returns microseconds since the epoch.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the later of two distinct moments: this one, or one microsecond after `other`.
    #[must_use]
    pub fn or_after(self, other: Self) -> Self {
        Self(self.0.max(other.0.saturating_add(1)).min(LAST))
    }

    /// Adds microseconds, clamped to the range.
    #[must_use]
    pub fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros).clamp(0, LAST))
    }

    /// Returns the civil date and time at an offset from UTC.
    pub fn civil(self, zone: &Zone) -> Civil {
        Civil::at_seconds(self.0.div_euclid(SECOND) + i64::from(zone.offset_seconds))
    }
}

/// RFC 3339 in UTC with `Z`; fractions of a second only if there are any.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = self.civil(&Zone::utc());
        write!(out, "{}T{:02}:{:02}:{:02}", civil.day_text(), civil.hour, civil.minute, civil.second)?;
        match self.0.rem_euclid(SECOND) {
            0 => out.write_str("Z"),
            micros => write!(out, ".{micros:06}Z"),
        }
    }
}

/// A time zone of an event: its name, and the offset in force at the event's time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Zone {
    /// IANA name, or empty when only the offset is known.
    pub name: String,
    /// Seconds east of UTC, −24 h to +24 h.
    pub offset_seconds: i32,
}

impl Zone {
    /// Returns UTC.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), offset_seconds: 0 }
    }
}

/// A civil date and time in some zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Year, 1969 to 10,000 at the edges of the range with an offset.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 59.
    pub second: u8,
    /// Day of the week, 0 for Monday to 6 for Sunday.
    pub weekday: u8,
}

impl Civil {
    /// Splits seconds since the epoch. The date comes from Howard Hinnant's `civil_from_days`, which is exact for all years.
    pub(crate) fn at_seconds(seconds: i64) -> Self {
        let days = seconds.div_euclid(DAY);
        let of_day = seconds.rem_euclid(DAY);
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let small = |number: i64| u8::try_from(number).unwrap_or_default();
        Self {
            year: i32::try_from(year).unwrap_or_default(),
            month: small(month),
            day: small(day),
            hour: small(of_day / 3_600),
            minute: small(of_day / 60 % 60),
            second: small(of_day % 60),
            weekday: small((days + 3).rem_euclid(7)),
        }
    }

    /// Returns `YYYY-MM-DD`.
    pub fn day_text(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A bi-temporal point: what held at `world`, as known at `belief`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsOf {
    /// World time.
    pub world: Timestamp,
    /// Belief time.
    pub belief: Timestamp,
}

impl AsOf {
    /// Returns one moment for both world and belief time.
    pub fn at(moment: Timestamp) -> Self {
        Self { world: moment, belief: moment }
    }

    /// Returns what holds now, with all knowledge: a clock that was set back hides nothing.
    pub fn present(now: Timestamp) -> Self {
        Self { world: now, belief: Timestamp::MAX }
    }

    /// Whether all knowledge counts.
    pub fn is_present(&self) -> bool {
        self.belief == Timestamp::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_days_are_right_at_leaps_and_edges() {
        let rows = [
            (0, "1970-01-01", 3),
            (951_782_400, "2000-02-29", 1),
            (1_709_164_800, "2024-02-29", 3),
            (1_795_219_200, "2026-11-21", 5),
            (4_107_542_400, "2100-03-01", 0),
            (253_402_300_799, "9999-12-31", 4),
        ];
        for (seconds, day, weekday) in rows {
            let civil = Timestamp::from_micros(seconds * SECOND).unwrap().civil(&Zone::utc());
            assert_eq!((civil.day_text().as_str(), civil.weekday), (day, weekday));
        }
    }

    #[test]
    fn an_offset_moves_the_day() {
        let late = Timestamp::from_micros(1_795_303_800 * SECOND).unwrap();
        let east = Zone { name: String::new(), offset_seconds: 3_600 };
        assert_eq!(late.to_string(), "2026-11-21T23:30:00Z");
        assert_eq!(late.civil(&east).day_text(), "2026-11-22");
    }

    // proves: PB-10
    #[test]
    fn the_range_is_closed() {
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01T00:00:00Z");
        assert!(Timestamp::MAX.to_string().starts_with("9999-12-31T23:59:59"));
        assert_eq!(Timestamp::from_micros(i64::MIN).unwrap_err().kind(), crate::ErrorKind::Invalid);
        assert!(Timestamp::from_micros(-1).is_err());
        assert!(Timestamp::from_micros(LAST + 1).is_err());
        assert_eq!(Timestamp::MAX.or_after(Timestamp::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::EPOCH.or_after(Timestamp::EPOCH).as_micros(), 1);
    }
}
