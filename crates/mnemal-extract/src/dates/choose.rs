//! Choice among recurring times: the nearest, the next, the n-th inside another.

use jiff::civil::{Date, DateTime};

use super::TimeBias;
use super::expr::{Cal, EdgeContext, Expr, Occurrence, Unit};
use super::interval::{
    Granularity, GranularityExt as _, Interval, floor, monday, plus_days, plus_months, step,
};
use super::resolve::{Resolver, last_day_after, seconds_between, step_up};

impl Resolver<'_> {
    /// The time of a recurring one that lies nearest on the side that the lean asks for.
    pub(super) fn bare(&self, item: &Expr) -> Option<Interval> {
        // A weekday alone never means today; a speaker would say "today".
        let is_weekday = matches!(item, Expr::Cal(Cal { weekday: Some(_), day: None, .. }));
        if let Expr::Cal(Cal { weekday: Some(_), day: Some(_), month: None, .. }) = item {
            // "Tuesday the 4th" is of this month where the weekday fits.
            let first = self.today().first_of_month();
            let this_month = self.occurrences(item, first, plus_months(first, 1)?).first().copied();
            if this_month.is_some() {
                return this_month;
            }
        }
        if let Expr::Cal(Cal { weekday: Some(_), month: Some(_), .. }) = item {
            return self.weekday_and_date(item);
        }
        let tomorrow = plus_days(self.today(), 1)?;
        let before = self.last_before(item, if is_weekday { self.today() } else { tomorrow });
        let after = self.first_from(item, if is_weekday { tomorrow } else { self.today() });
        let holds_now = before.filter(|time| time.end.is_some_and(|end| end > self.today().into()));
        match self.lean {
            TimeBias::Past => before.or(after),
            TimeBias::Future => holds_now.or(after).or(before),
            TimeBias::Nearest => holds_now.or_else(|| self.nearer(before, after)),
        }
    }

    /// "Friday, 18 July": of the next two years the one in which the weekday fits, or of the last; else unknown.
    pub(super) fn weekday_and_date(&self, item: &Expr) -> Option<Interval> {
        let today = self.today();
        let before = self.occurrences(item, plus_months(today, -12)?, today).last().copied();
        let after = self.occurrences(item, today, plus_months(today, 24)?).first().copied();
        match self.lean {
            TimeBias::Future => after.or(before),
            TimeBias::Past => before.or(after),
            TimeBias::Nearest => self.nearer(before, after),
        }
    }

    pub(super) fn nearer(&self, before: Option<Interval>, after: Option<Interval>) -> Option<Interval> {
        let (Some(a), Some(b)) = (before, after) else { return before.or(after) };
        let distance =
            |moment: Option<DateTime>| moment.map(|moment| seconds_between(self.now, moment).abs());
        Some(if distance(a.end) <= distance(b.start) { a } else { b })
    }

    pub(super) fn select(&self, which: Occurrence, item: &Expr) -> Option<Interval> {
        let tomorrow = plus_days(self.today(), 1)?;
        if let Expr::Cal(Cal { weekday: Some(weekday), day: None, .. }) = item {
            return self.weekday(which, *weekday, item);
        }
        let dropped;
        let is_dated = matches!(item, Expr::Cal(Cal { weekday: Some(_), month: Some(_), .. }));
        let item = match item {
            Expr::Cal(cal @ Cal { weekday: Some(_), month: Some(_), .. }) => {
                dropped = Expr::Cal(Cal { weekday: None, ..*cal });
                &dropped
            }
            item => item,
        };
        match which {
            Occurrence::This => {
                let year = Date::new(self.today().year(), 1, 1).ok()?;
                let found = match item {
                    Expr::Cal(Cal { month: None, .. }) => return self.bare(item),
                    Expr::Weekend => return self.cycle(Unit::Weekend, 0),
                    item => self.occurrences(item, year, plus_months(year, 12)?).first().copied(),
                };
                let is_over = found.is_none_or(|time| time.end <= Some(self.today().into()));
                let is_day = matches!(item, Expr::Holiday(_));
                if is_over && is_day && self.lean == TimeBias::Future {
                    self.first_from(item, self.today())
                } else {
                    found
                }
            }
            Occurrence::Next if matches!(item, Expr::Weekend) => self.cycle(Unit::Weekend, 1),
            Occurrence::Next if is_dated => self.first_from(item, self.today()),
            Occurrence::Next => self.first_from(item, tomorrow),
            Occurrence::Last if matches!(item, Expr::Weekend) => self.cycle(Unit::Weekend, -1),
            Occurrence::Last | Occurrence::Latest => {
                let mut before = self.today();
                loop {
                    let time = self.last_before(item, before)?;
                    if time.end <= Some(self.today().into()) {
                        return Some(time);
                    }
                    before = time.start?.date();
                }
            }
            Occurrence::Coming(number) => self.nth_from_now(item, number),
            Occurrence::AfterNext => self.nth_from_now(item, 2),
            Occurrence::BeforeLast => self.nth_from_now(item, -2),
        }
    }

    pub(super) fn nth_from_now(&self, item: &Expr, number: i64) -> Option<Interval> {
        let mut found = None;
        let mut day = if number > 0 { plus_days(self.today(), 1)? } else { self.today() };
        for _ in 0..number.abs().min(200) {
            let time = if number > 0 { self.first_from(item, day)? } else { self.last_before(item, day)? };
            let start = time.start?.date();
            day = if number > 0 { plus_days(start, 1)? } else { start };
            found = Some(time);
        }
        found
    }

    pub(super) fn weekday(&self, which: Occurrence, weekday: i8, item: &Expr) -> Option<Interval> {
        let of_week = |by: i64| Interval::day(plus_days(monday(self.today())?, i64::from(weekday) + 7 * by)?);
        match which {
            Occurrence::This if self.customs.is("this_weekday_coming") && self.lean != TimeBias::Past => {
                self.bare(item)
            }
            Occurrence::This => of_week(0),
            Occurrence::Next => of_week(1),
            Occurrence::Last if self.customs.is("last_weekday_of_week") => of_week(-1),
            Occurrence::Last | Occurrence::Latest => self.last_before(item, self.today()),
            Occurrence::Coming(number) => self.nth_from_now(item, number),
            Occurrence::AfterNext => self.nth_from_now(item, 2),
            Occurrence::BeforeLast => self.nth_from_now(item, -2),
        }
    }

    /// Resolves something inside another time; where the other comes back, in the one that fits the lean.
    pub(super) fn in_outer(
        &self,
        outer: &Expr,
        inner: impl Fn(Interval) -> Option<Interval>,
    ) -> Option<Interval> {
        let first = self.resolve(outer)?;
        let found = inner(first);
        let today: DateTime = self.today().into();
        let is_item =
            matches!(outer, Expr::Cal(Cal { year: None, .. }) | Expr::OfYear { .. } | Expr::Season(_));
        let fits = match (self.lean, found) {
            (_, None) => false,
            (TimeBias::Future, Some(time)) => time.end > Some(today),
            (TimeBias::Past, Some(time)) => time.start < Some(self.now),
            (TimeBias::Nearest, _) => true,
        };
        if fits || !is_item {
            return found;
        }
        let other = match self.lean {
            TimeBias::Past => self.last_before(outer, first.start?.date()),
            _ => self.first_from(outer, plus_days(first.start?.date(), 1)?),
        };
        other.and_then(inner).or(found)
    }

    pub(super) fn inside(&self, item: &Expr, outer: &Expr) -> Option<Interval> {
        if let Expr::Shift { length, .. } = outer
            && length.unit >= Unit::Year
        {
            // "In spring two years ago" is of that year.
            let year = floor(self.resolve(outer)?.start?.date(), Unit::Year)?;
            return self.occurrences(item, year, plus_months(year, 12)?).first().copied();
        }
        if let Expr::Shift { .. } = outer {
            return self.first_from(item, self.resolve(outer)?.start?.date());
        }
        if let (Expr::Edge { of, edge }, _) = (item, outer) {
            return self.edge(self.inside(of, outer)?, *edge, EdgeContext::Fixed);
        }
        self.in_outer(outer, |time| {
            let start = time.start?.date();
            if let Expr::OfYear { unit: Unit::Week, number } = item {
                return super::recurrence::part_of_year(Unit::Week, *number, start.year());
            }
            self.occurrences(item, start, last_day_after(time.end?)).first().copied()
        })
    }

    /// The first or last units of a time, a half of it, or what comes back behind it.
    pub(super) fn part_of(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::FirstUnits { number, unit, outer } => {
                self.in_outer(outer, |time| first_units(*number, *unit, time))
            }
            Expr::HalfOf { number, outer } => self.in_outer(outer, |time| half_of(*number, time)),
            Expr::NthFrom { number, item, from } => {
                let time = self.resolve(from)?;
                let place = usize::try_from(number.abs() - 1).ok()?;
                if *number > 0 {
                    let day = last_day_after(time.end?);
                    self.occurrences(item, day, plus_days(day, 400)?).get(place).copied()
                } else {
                    let day = time.start?.date();
                    self.occurrences(item, plus_days(day, -400)?, day).iter().rev().nth(place).copied()
                }
            }
            _ => None,
        }
    }

    pub(super) fn nth(&self, number: i64, unit: Unit, time: Interval) -> Option<Interval> {
        let (start, end) = (time.start?.date(), last_day_after(time.end?));
        if unit == Unit::Workday {
            return nth_workday(number, start, end);
        }
        let first = match unit {
            Unit::Week | Unit::Weekend if self.customs.is("weeks_full") => step_up(start, Unit::Week)?,
            // The week of a time is the one whose Thursday lies in it.
            Unit::Week | Unit::Weekend => step_up(plus_days(start, -3)?, Unit::Week)?,
            unit => step_up(start, unit)?,
        };
        let after = match unit {
            Unit::Week if self.customs.is("weeks_full") => step_up(plus_days(end, -6)?, Unit::Week)?,
            Unit::Week => step_up(plus_days(end, -3)?, Unit::Week)?,
            Unit::Weekend => step_up(plus_days(end, -5)?, Unit::Week)?,
            unit => step_up(end, unit)?,
        };
        let begins = if number > 0 { step(first, unit, number - 1)? } else { step(after, unit, number)? };
        (begins >= first && begins < after).then_some(())?;
        match unit {
            Unit::Weekend => self.weekend(begins),
            unit => Interval::of_days(begins, step(begins, unit, 1)?, Granularity::of(unit)),
        }
    }

    pub(super) fn closest(&self, number: i64, item: &Expr, to: &Expr) -> Option<Interval> {
        let middle = self.resolve(to)?.start?;
        let day = middle.date();
        let mut near = self.occurrences(item, plus_days(day, -1200)?, plus_days(day, 1200)?);
        near.sort_by_key(|time| time.start.map(|start| seconds_between(middle, start).abs()));
        near.get(usize::try_from(number - 1).ok()?).copied()
    }
}

/// The n-th day from Monday to Friday of those from `start` to before `end`, negative from the last.
fn nth_workday(number: i64, start: Date, end: Date) -> Option<Interval> {
    let place = usize::try_from(number.abs() - 1).ok()?;
    let step = if number > 0 { 1 } else { -1 };
    let first = if number > 0 { start } else { plus_days(end, -1)? };
    let is_inside = |day: &Date| *day >= start && *day < end;
    std::iter::successors(Some(first), |day| plus_days(*day, step))
        .take_while(is_inside)
        .filter(|day| day.weekday().to_monday_zero_offset() < 5)
        .nth(place)
        .and_then(Interval::day)
}

/// Units from the begin of a time on, or back from its end; none that it does not hold.
fn first_units(number: i64, unit: Unit, time: Interval) -> Option<Interval> {
    let (start, end) = (time.start?.date(), last_day_after(time.end?));
    let (from, to) = if number > 0 {
        let from = floor(start, unit)?;
        (from, step(from, unit, number)?)
    } else {
        (step(end, unit, number)?, end)
    };
    let is_one = number == 1;
    (is_one || from >= start && to <= end).then_some(())?;
    Interval::of_days(from, to, Granularity::of(unit))
}

fn half_of(number: i64, time: Interval) -> Option<Interval> {
    let (start, end) = (time.start?.date(), last_day_after(time.end?));
    let (middle, grain) = match time.grain {
        Granularity::Month => (plus_days(start, 15)?, Granularity::Day),
        Granularity::Year => (plus_months(start, 6)?, Granularity::Quarter),
        Granularity::Decade => (plus_months(start, 60)?, Granularity::Year),
        Granularity::Century => (plus_months(start, 600)?, Granularity::Decade),
        _ => return None,
    };
    let (from, to) = if number == 1 { (start, middle) } else { (middle, end) };
    Interval::of_days(from, to, grain)
}
