//! Units before and after now, and durations from a moment.

use jiff::civil::{Date, DateTime};

use super::TimeBias;
use super::expr::{Cal, Direction, Expr, Length, Unit};
use super::interval::{Granularity, GranularityExt as _, Interval, floor, monday, plus, plus_days, step};
use super::resolve::{Resolver, floor_clock, whole_second};

impl Resolver<'_> {
    pub(super) fn cycle(&self, unit: Unit, by: i64) -> Option<Interval> {
        if unit.is_of_clock() {
            let grain = Granularity::of(unit);
            if self.customs.is("counts_rolling") && by.abs() == 1 {
                let length = Length::of_quarters(4, unit)?;
                return self.until(length, Direction::of(by), grain);
            }
            let start = plus(
                floor_clock(self.now, unit),
                Length::of_quarters(4 * by.abs(), unit)?,
                Direction::of(by),
            )?;
            return Interval::one(start, grain);
        }
        match unit {
            Unit::Weekend => self.weekend(plus_days(monday(self.today())?, by * 7)?),
            Unit::Season => self.season_by(by),
            _ => {
                let start = step(floor(self.today(), unit)?, unit, by)?;
                let end = if unit == Unit::Workday { plus_days(start, 1)? } else { step(start, unit, 1)? };
                Interval::of_days(start, end, Granularity::of(unit))
            }
        }
    }

    pub(super) fn season_by(&self, by: i64) -> Option<Interval> {
        let year = self.today().year();
        let mut all: Vec<Interval> = (year.saturating_sub(30)..=year.saturating_add(30))
            .flat_map(|year| (0..4).filter_map(move |season| self.season(season, year)))
            .collect();
        all.sort_by_key(|time| time.start);
        let now = all.iter().rposition(|time| time.start <= Some(self.now))?;
        all.get(now.checked_add_signed(isize::try_from(by).ok()?)?).copied()
    }

    pub(super) fn count(&self, number: i64, unit: Unit) -> Option<Interval> {
        let (way, many) = (Direction::of(number), number.abs());
        let grain = Granularity::of(unit);
        let length = Length::of_quarters(many.checked_mul(4)?, unit)?;
        if unit == Unit::Workday {
            return self.workdays(many, way);
        }
        let is_rolling = self.customs.is("counts_rolling")
            && !matches!(unit, Unit::Quarter | Unit::Decade | Unit::Century);
        if unit.is_of_clock() {
            if is_rolling {
                return self.until(length, way, grain);
            }
            let floor = floor_clock(self.now, unit);
            let start = if way == Direction::Back {
                plus(floor, length, Direction::Back)?
            } else {
                plus(floor, Length::of_quarters(4, unit)?, Direction::On)?
            };
            return Interval::new(start, plus(start, length, Direction::On)?, grain);
        }
        if is_rolling || unit == Unit::Day {
            return self.rolling(length, way, grain);
        }
        let floor = floor(self.today(), unit)?;
        let start = if way == Direction::Back { step(floor, unit, -many)? } else { step(floor, unit, 1)? };
        Interval::of_days(start, step(start, unit, many)?, grain)
    }

    /// Whole days without today.
    pub(super) fn rolling(&self, length: Length, way: Direction, grain: Granularity) -> Option<Interval> {
        let today: DateTime = self.today().into();
        if way == Direction::Back {
            return Interval::new(plus(today, length, Direction::Back)?, today, grain);
        }
        let tomorrow: DateTime = plus_days(self.today(), 1)?.into();
        Interval::new(tomorrow, plus(tomorrow, length, Direction::On)?, grain)
    }

    pub(super) fn workdays(&self, many: i64, way: Direction) -> Option<Interval> {
        let by = if way == Direction::Back { -1 } else { 1 };
        let mut day = self.today();
        let mut first = None;
        for _ in 0..many.min(1000) {
            day = plus_days(day, by)?;
            while day.weekday().to_monday_zero_offset() > 4 {
                day = plus_days(day, by)?;
            }
            first = first.or(Some(day));
        }
        let (start, last) = if way == Direction::Back { (day, first?) } else { (first?, day) };
        Interval::of_days(start, plus_days(last, 1)?, Granularity::Day)
    }

    pub(super) fn until(&self, length: Length, way: Direction, grain: Granularity) -> Option<Interval> {
        let now = whole_second(self.now);
        let other = plus(now, length, way)?;
        if way == Direction::Back {
            Interval::new(other, now, grain)
        } else {
            Interval::new(now, other, grain)
        }
    }

    pub(super) fn within(&self, length: Length, way: Direction) -> Option<Interval> {
        let grain = Granularity::of(length.unit);
        if length.unit.is_of_clock() {
            return self.until(length, way, grain);
        }
        let today: DateTime = self.today().into();
        let other = plus(today, length, way)?;
        if way == Direction::Back {
            Interval::new(other, today, grain)
        } else {
            Interval::new(today, other, grain)
        }
    }

    pub(super) fn shifted(&self, base: &Expr, length: Length, way: Direction) -> Option<Interval> {
        let unit = length.unit;
        let vague = |time: Interval| if length.is_fuzzy { time.vague() } else { time };
        if matches!(base, Expr::Soon) && self.lean == TimeBias::Past {
            return None;
        }
        if matches!(base, Expr::Now | Expr::Soon) {
            if unit == Unit::Workday {
                return workdays_from(self.today(), length.days, way).and_then(Interval::day).map(vague);
            }
            let grain = self.customs.offset(unit);
            let moment = plus(whole_second(self.now), length, way)?;
            let start = match grain {
                Granularity::Second | Granularity::Minute => moment,
                Granularity::Hour => floor_clock(moment, Unit::Hour),
                Granularity::Week => monday(moment.date())?.into(),
                Granularity::Month => moment.date().first_of_month().into(),
                Granularity::Year => floor(moment.date(), Unit::Year)?.into(),
                _ => moment.date().into(),
            };
            let is_rough = grain >= Granularity::Week || length.unit >= Unit::Month && length.is_fuzzy;
            return Interval::one(start, grain).map(|time| if is_rough { time.vague() } else { vague(time) });
        }
        let base = self.resolve(base)?;
        if unit == Unit::Workday {
            return workdays_from(base.start?.date(), length.days, way).and_then(Interval::day).map(vague);
        }
        let grain = match base.grain.min(Granularity::of(unit)) {
            Granularity::Week if base.grain > Granularity::Week => Granularity::Day,
            Granularity::Hour if base.grain > Granularity::Hour => Granularity::Minute,
            grain => grain,
        };
        Interval::one(plus(base.start?, length, way)?, grain).map(vague)
    }

    pub(super) fn day_near(&self, weekday: i8, shift: &Expr) -> Option<Interval> {
        let Expr::Shift { length, .. } = shift else { return None };
        let day = self.resolve(shift)?.start?.date();
        if length.unit >= Unit::Month {
            let item = Expr::Cal(Cal { weekday: Some(weekday), ..Cal::default() });
            return self.first_from(&item, day);
        }
        Interval::day(plus_days(monday(day)?, weekday.into())?)
    }
}

/// A day moved by days from Monday to Friday.
fn workdays_from(from: Date, count: i64, way: Direction) -> Option<Date> {
    let step = if way == Direction::Back { -1 } else { 1 };
    let place = usize::try_from(count.min(1000) - 1).ok()?;
    std::iter::successors(plus_days(from, step), |day| plus_days(*day, step))
        .filter(|day| day.weekday().to_monday_zero_offset() < 5)
        .nth(place)
}
