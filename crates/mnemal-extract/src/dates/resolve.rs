//! Resolution of date expressions into intervals of civil time, from a reference moment and place.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::TimeBias;
use super::customs::Customs;
use super::expr::{Bound, Cal, Edge, EdgeContext, Expr, Unit};
use super::holiday::Holidays;
use super::interval::{
    Granularity, GranularityExt as _, Interval, floor, monday, plus_days, plus_months, step,
};

/// The reference of a resolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver<'a> {
    /// The moment of the words, on the clock of their place, or of a zone that they name.
    pub(super) now: DateTime,
    /// The day of the utterance at its place: "today" is that of the speaker, whatever zone the hour is of.
    pub(super) day: Date,
    pub(super) zone: &'a TimeZone,
    pub(super) lean: TimeBias,
    pub(super) customs: &'a Customs,
    pub(super) holidays: &'a Holidays,
    pub(super) zones: &'a [TimeZone],
    pub(super) is_south: bool,
}

impl Resolver<'_> {
    pub(super) fn today(&self) -> Date {
        self.day
    }

    /// Returns the interval that the words name; `None` if they name none.
    pub(super) fn resolve(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::Now | Expr::Soon => Interval::one(whole_second(self.now), Granularity::Second),
            Expr::Cycle { unit, by } => self.cycle(*unit, *by),
            Expr::Cal(Cal { year: Some(_), .. }) => {
                self.occurrences(expr, Date::MIN, Date::MAX).first().copied()
            }
            Expr::OfYear { unit: Unit::Week, number } => {
                super::recurrence::part_of_year(Unit::Week, *number, self.today().year())
            }
            Expr::Cal(_) | Expr::Holiday(_) | Expr::Season(_) | Expr::OfYear { .. } | Expr::Weekend => {
                self.bare(expr)
            }
            Expr::FirstUnits { .. } | Expr::HalfOf { .. } | Expr::NthFrom { .. } => self.part_of(expr),
            Expr::Begun(of) => Resolver { lean: TimeBias::Past, ..*self }.resolve(of),
            Expr::WeekendOf(of) => self.weekend_of(self.resolve(of)?),
            Expr::WeekOf(of) => week_of(self.resolve(of)?),
            Expr::Years { from, count } => {
                let first = Date::new(*from, 1, 1).ok()?;
                let grain = if *count >= 100 { Granularity::Century } else { Granularity::Decade };
                Interval::of_days(first, plus_months(first, i64::from(*count) * 12)?, grain)
            }
            Expr::Shift { base, length, way } => self.shifted(base, *length, *way),
            Expr::DayNear { weekday, shift } => self.day_near(*weekday, shift),
            Expr::Select { which, item } => self.select(*which, item),
            Expr::In { item, outer } => self.inside(item, outer),
            Expr::Nth { number, unit, outer } => self.in_outer(outer, |time| self.nth(*number, *unit, time)),
            Expr::NthItem { number, item, outer } => self.in_outer(outer, |time| {
                let found = self.occurrences(item, time.start?.date(), last_day_after(time.end?));
                let place = usize::try_from(number.abs() - 1).ok()?;
                if *number > 0 { found.get(place).copied() } else { found.iter().rev().nth(place).copied() }
            }),
            Expr::Clock(_) | Expr::At { .. } | Expr::ClockPart { .. } | Expr::Part { .. } => {
                self.of_clock(expr)
            }
            Expr::Edge { of, edge } => {
                let named = if matches!(**of, Expr::Cycle { .. }) {
                    EdgeContext::FromNow
                } else {
                    EdgeContext::Fixed
                };
                self.edge(self.resolve(of)?, *edge, named)
            }
            Expr::Count { number, unit, is_fuzzy } => {
                let time = self.count(*number, *unit)?;
                Some(if *is_fuzzy { time.vague() } else { time })
            }
            Expr::Upcoming { number, unit, is_fuzzy } => {
                let time = if self.customs.is("upcoming_nth") {
                    self.cycle(*unit, *number)?
                } else {
                    self.count(*number, *unit)?
                };
                Some(if *is_fuzzy { time.vague() } else { time })
            }
            Expr::Within { length, way } => self.within(*length, *way),
            Expr::Range { from, to } => self.range(from, to),
            Expr::Open { bound, of } => self.open(*bound, of),
            Expr::For { length, from } => self.for_length(*length, from),
            Expr::Zoned { of, zone } => self.zoned(of, *zone),
            Expr::Closest { number, item, to } => self.closest(*number, item, to),
            Expr::Rest(unit) => {
                let end = step(floor(self.today(), *unit)?, *unit, 1)?;
                Interval::of_days(self.today(), end, Granularity::Day)
            }
            Expr::ToDate(unit) => {
                let start = floor(self.today(), *unit)?;
                let end = if start == self.today() { plus_days(start, 1)? } else { self.today() };
                Interval::of_days(start, end, Granularity::of(*unit))
            }
            Expr::EndOfDay(day) => {
                let day = self.resolve(day)?.start?.date();
                Interval::one(day.at(23, 59, 59, 0), Granularity::Second)
            }
            Expr::Vague(of) => self.resolve(of).map(Interval::vague),
            Expr::Never => None,
        }
    }

    pub(super) fn season(&self, season: u8, year: i16) -> Option<Interval> {
        let turned = if self.is_south { (season + 2) % 4 } else { season };
        let [month, day, end_month, end_day] = *self.customs.seasons.get(usize::from(turned))?;
        let start = Date::new(year, month, day).ok()?;
        let end_year = if (end_month, end_day) <= (month, day) { year.checked_add(1)? } else { year };
        let grain = if self.customs.is("seasons_are_days") { Granularity::Day } else { Granularity::Season };
        Some(Interval::of_days(start, Date::new(end_year, end_month, end_day).ok()?, grain)?.vague())
    }

    /// The weekend of the week that begins on a Monday.
    pub(super) fn weekend(&self, monday: Date) -> Option<Interval> {
        let (from, to) = self.customs.weekend;
        let hour =
            |hours: i64| Some(plus_days(monday, hours / 24)?.at(i8::try_from(hours % 24).ok()?, 0, 0, 0));
        let grain = if from % 24 == 0 && to % 24 == 0 { Granularity::Week } else { Granularity::Hour };
        Interval::new(hour(from)?, hour(to)?, grain)
    }

    /// The weekend beside a day, with the days between.
    pub(super) fn weekend_of(&self, time: Interval) -> Option<Interval> {
        let day = time.start?.date();
        let offset = i64::from(day.weekday().to_monday_zero_offset());
        let week = if offset <= 1 { plus_days(day, -offset - 7)? } else { plus_days(day, -offset)? };
        let weekend = self.weekend(week)?;
        let start = weekend.start?.min(day.into());
        let end = weekend.end?.max(plus_days(day, 1)?.into());
        Interval::new(start, end, weekend.grain)
    }

    fn zoned(&self, of: &Expr, zone: usize) -> Option<Interval> {
        let other = self.zones.get(zone)?;
        let moment = self.zone.to_ambiguous_timestamp(self.now).compatible().ok()?;
        let now = other.to_datetime(moment);
        let day = if names_day(of) { self.day } else { now.date() };
        let there = Resolver { now, day, zone: other, ..*self };
        let time = there.resolve(of)?;
        let here = |civil: DateTime| {
            let moment = other.to_ambiguous_timestamp(civil).compatible().ok()?;
            Some(self.zone.to_datetime(moment))
        };
        let mut found = Interval {
            start: time.start.map(&here).map_or(Some(None), |moment| moment.map(Some))?,
            end: time.end.map(&here).map_or(Some(None), |moment| moment.map(Some))?,
            ..time
        };
        if self.customs.is("zone_is_exact")
            && found.grain == Granularity::Hour
            && !matches!(of, Expr::Part { .. })
        {
            found.grain = Granularity::Minute;
            if let (Expr::Clock(_) | Expr::At { .. }, Some(start)) = (of, found.start) {
                return Interval::one(start, Granularity::Minute);
            }
        }
        Some(found)
    }

    fn open(&self, bound: Bound, of: &Expr) -> Option<Interval> {
        let time = self.resolve(of)?;
        let of = if let Expr::Begun(of) = of { of } else { of };
        let is_point = time.grain < Granularity::Day
            || time.grain == Granularity::Day && self.customs.is("after_day_begins");
        let is_end = matches!(of, Expr::Edge { edge: Edge::End, .. });
        let is_begin = matches!(of, Expr::Edge { edge: Edge::Begin, .. });
        let begins = self.customs.is("through_begins");
        let (start, end) = match bound {
            Bound::Through | Bound::Until if begins || is_begin => (None, time.start),
            // "Until March": March is part of it, as "bis März" says.
            Bound::Through | Bound::Until if time.grain < Granularity::Day && names_clock(of) => {
                (None, time.start)
            }
            Bound::Until if time.grain < Granularity::Day => (None, time.start),
            Bound::Through | Bound::Until => (None, time.end),
            Bound::By if matches!(of, Expr::Edge { .. } | Expr::EndOfDay(_)) => (None, time.end),
            // Before the end of June is all of June.
            Bound::Before if is_end => (None, time.end),
            Bound::Before | Bound::By => (None, time.start),
            Bound::After if !is_point || matches!(of, Expr::Part { .. }) => (time.end, None),
            Bound::Since if is_end && time.grain >= Granularity::Day => (time.end, None),
            Bound::After | Bound::Since => (time.start, None),
        };
        let mut found = Interval { start, end, ..time };
        if bound == Bound::By && self.customs.is("by_from_now") {
            found.start = Some(whole_second(self.now)).filter(|now| Some(*now) < end);
            found.grain = Granularity::Second;
        }
        Some(found)
    }
}

/// Returns whether a time names a day, so that only its hour is of another zone.
fn names_day(expr: &Expr) -> bool {
    match expr {
        Expr::Clock(_) | Expr::ClockPart { day: None, .. } | Expr::Part { day: None, .. } | Expr::Now => {
            false
        }
        Expr::Range { from, to } => names_day(from) || names_day(to),
        Expr::Open { of, .. } | Expr::For { from: of, .. } | Expr::Vague(of) => names_day(of),
        Expr::Shift { length, .. } => !length.unit.is_of_clock(),
        _ => true,
    }
}

/// Returns whether a time is one of a clock: at six at the latest is before six.
fn names_clock(expr: &Expr) -> bool {
    matches!(expr, Expr::Clock(_) | Expr::At { .. } | Expr::ClockPart { .. })
}

pub(super) fn whole_second(moment: DateTime) -> DateTime {
    let time = moment.time();
    Time::new(time.hour(), time.minute(), time.second(), 0)
        .map_or(moment, |time| moment.date().to_datetime(time))
}

pub(super) fn floor_clock(moment: DateTime, unit: Unit) -> DateTime {
    let time = moment.time();
    let (minute, second) = match unit {
        Unit::Hour => (0, 0),
        Unit::Minute => (time.minute(), 0),
        _ => (time.minute(), time.second()),
    };
    Time::new(time.hour(), minute, second, 0).map_or(moment, |time| moment.date().to_datetime(time))
}

pub(super) fn seconds_between(from: DateTime, to: DateTime) -> i64 {
    from.duration_until(to).as_secs()
}

/// The first day that does not belong to a time that ends at a moment.
pub(super) fn last_day_after(end: DateTime) -> Date {
    if end.time() == Time::midnight() { end.date() } else { plus_days(end.date(), 1).unwrap_or(Date::MAX) }
}

/// The first unit that begins on a day or later.
pub(super) fn step_up(day: Date, unit: Unit) -> Option<Date> {
    let floor = floor(day, unit)?;
    if floor == day { Some(day) } else { step(floor, unit, 1) }
}

/// The week that holds the beginning of a time.
pub(super) fn week_of(time: Interval) -> Option<Interval> {
    let start = monday(time.start?.date())?;
    Interval::of_days(start, plus_days(start, 7)?, Granularity::Week)
}
