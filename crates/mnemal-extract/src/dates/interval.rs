//! Intervals of civil time, and their division into units.

use jiff::civil::{Date, DateTime};
use jiff::{Span, ToSpan as _};
pub(super) use mnemal_core::Granularity;

use super::expr::{Direction, Length, Unit};

/// A span of civil time; `None` at an end that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: Option<DateTime>,
    pub(super) end: Option<DateTime>,
    pub(super) grain: Granularity,
    pub(super) is_vague: bool,
}

impl Interval {
    pub(super) fn new(start: DateTime, end: DateTime, grain: Granularity) -> Option<Self> {
        (start < end).then_some(Self { start: Some(start), end: Some(end), grain, is_vague: false })
    }

    pub(super) fn of_days(start: Date, end: Date, grain: Granularity) -> Option<Self> {
        Self::new(start.into(), end.into(), grain)
    }

    pub(super) fn day(day: Date) -> Option<Self> {
        Self::of_days(day, plus_days(day, 1)?, Granularity::Day)
    }

    /// One unit of a grain from a moment on.
    pub(super) fn one(start: DateTime, grain: Granularity) -> Option<Self> {
        Self::new(start, start.checked_add(grain_span(grain)).ok()?, grain)
    }

    pub(super) fn vague(self) -> Self {
        Self { is_vague: true, ..self }
    }
}

/// The name of a grain in a pack, and the grain of a unit.
pub(super) trait GranularityExt: Sized {
    fn of_name(name: &str) -> Option<Self>;
    fn of(unit: Unit) -> Self;
}

impl GranularityExt for Granularity {
    fn of_name(name: &str) -> Option<Self> {
        Unit::from_name(name).map(Self::of)
    }

    fn of(unit: Unit) -> Self {
        match unit {
            Unit::Second => Self::Second,
            Unit::Minute => Self::Minute,
            Unit::Hour => Self::Hour,
            Unit::Day | Unit::Workday => Self::Day,
            Unit::Week | Unit::Weekend | Unit::Fortnight => Self::Week,
            Unit::Month => Self::Month,
            Unit::Quarter | Unit::Half => Self::Quarter,
            Unit::Season => Self::Season,
            Unit::Year => Self::Year,
            Unit::Decade => Self::Decade,
            Unit::Century => Self::Century,
        }
    }
}

fn grain_span(grain: Granularity) -> Span {
    match grain {
        Granularity::Second => 1.second(),
        Granularity::Minute => 1.minute(),
        Granularity::Hour => 1.hour(),
        Granularity::Day => 1.day(),
        Granularity::Week => 7.days(),
        Granularity::Month => 1.month(),
        Granularity::Quarter | Granularity::Season => 3.months(),
        Granularity::Year => 1.year(),
        Granularity::Decade => 10.years(),
        Granularity::Century => 100.years(),
    }
}

pub(super) fn plus_days(day: Date, days: i64) -> Option<Date> {
    day.checked_add(Span::new().try_days(days).ok()?).ok()
}

pub(super) fn plus_months(day: Date, months: i64) -> Option<Date> {
    day.checked_add(Span::new().try_months(months).ok()?).ok()
}

/// Moves a moment by months, then days, then seconds; a day that a month lacks becomes its last.
pub(super) fn plus(moment: DateTime, length: Length, way: Direction) -> Option<DateTime> {
    let sign = if way == Direction::Back { -1 } else { 1 };
    let day = plus_days(plus_months(moment.date(), sign * length.months)?, sign * length.days)?;
    let moved = day.to_datetime(moment.time());
    moved.checked_add(Span::new().try_seconds(sign * length.seconds).ok()?).ok()
}

pub(super) fn monday(day: Date) -> Option<Date> {
    plus_days(day, -i64::from(day.weekday().to_monday_zero_offset()))
}

/// The first day of the unit that holds a day, for units of a day and more.
pub(super) fn floor(day: Date, unit: Unit) -> Option<Date> {
    let year = day.year();
    match unit {
        Unit::Week | Unit::Weekend | Unit::Fortnight => monday(day),
        Unit::Month => Some(day.first_of_month()),
        Unit::Quarter | Unit::Season => Date::new(year, (day.month() - 1) / 3 * 3 + 1, 1).ok(),
        Unit::Half => Date::new(year, (day.month() - 1) / 6 * 6 + 1, 1).ok(),
        Unit::Year => Date::new(year, 1, 1).ok(),
        Unit::Decade => Date::new(year.div_euclid(10) * 10, 1, 1).ok(),
        Unit::Century => Date::new(year.div_euclid(100) * 100, 1, 1).ok(),
        _ => Some(day),
    }
}

/// A day moved by units.
pub(super) fn step(day: Date, unit: Unit, by: i64) -> Option<Date> {
    match unit {
        Unit::Week | Unit::Weekend => plus_days(day, by.checked_mul(7)?),
        Unit::Fortnight => plus_days(day, by.checked_mul(14)?),
        Unit::Month => plus_months(day, by),
        Unit::Quarter | Unit::Season => plus_months(day, by.checked_mul(3)?),
        Unit::Half => plus_months(day, by.checked_mul(6)?),
        Unit::Year => plus_months(day, by.checked_mul(12)?),
        Unit::Decade => plus_months(day, by.checked_mul(120)?),
        Unit::Century => plus_months(day, by.checked_mul(1200)?),
        _ => plus_days(day, by),
    }
}
