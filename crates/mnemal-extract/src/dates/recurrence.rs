//! Recurring times: all their days between two days.

use jiff::civil::Date;

use super::expr::{Cal, EdgeContext, Expr, Unit};
use super::interval::{Granularity, Interval, monday, plus_days, plus_months};
use super::resolve::{Resolver, week_of};

/// How far around a day times are looked for, in days, one after the other.
const REACHES: [i64; 4] = [15, 70, 800, 15_000];

impl Resolver<'_> {
    /// All times that an item names whose start lies from `from` to before `to`, in order.
    pub(super) fn occurrences(&self, item: &Expr, from: Date, to: Date) -> Vec<Interval> {
        let mut found = self.unsorted(item, from, to);
        found.retain(|time| time.start.is_some_and(|start| start.date() >= from && start.date() < to));
        found.sort_by_key(|time| time.start);
        found
    }

    fn unsorted(&self, item: &Expr, from: Date, to: Date) -> Vec<Interval> {
        let years = from.year().saturating_sub(1)..=to.year().saturating_add(1);
        match item {
            Expr::Cal(cal) => days_of(*cal, from, to),
            Expr::Holiday(holiday) => years
                .flat_map(|year| self.holidays.days(*holiday, year))
                .filter_map(|(day, days)| Interval::of_days(day, plus_days(day, days)?, Granularity::Day))
                .collect(),
            Expr::Season(season) => years.filter_map(|year| self.season(*season, year)).collect(),
            Expr::OfYear { unit, number } => {
                years.filter_map(|year| part_of_year(*unit, *number, year)).collect()
            }
            Expr::Weekend => {
                let mut found = Vec::new();
                let mut week = monday(from).and_then(|day| plus_days(day, -7));
                while let Some(day) = week.filter(|day| *day < to) {
                    found.extend(self.weekend(day));
                    week = plus_days(day, 7);
                }
                found
            }
            Expr::WeekOf(of) => self.around(of, from, to).into_iter().filter_map(week_of).collect(),
            Expr::WeekendOf(of) => {
                self.around(of, from, to).into_iter().filter_map(|time| self.weekend_of(time)).collect()
            }
            Expr::Edge { of, edge } => self
                .around(of, from, to)
                .into_iter()
                .filter_map(|time| self.edge(time, *edge, EdgeContext::Fixed))
                .collect(),
            Expr::Part { day: Some(day), part, edge } => (self.around(day, from, to).into_iter())
                .filter_map(|time| self.part_on(time.start?.date(), *part, *edge))
                .collect(),
            other => self.resolve(other).into_iter().collect(),
        }
    }

    fn around(&self, item: &Expr, from: Date, to: Date) -> Vec<Interval> {
        match (plus_days(from, -400), plus_days(to, 10)) {
            (Some(from), Some(to)) => self.occurrences(item, from, to),
            _ => Vec::new(),
        }
    }

    /// The first time that starts on a day or later.
    pub(super) fn first_from(&self, item: &Expr, from: Date) -> Option<Interval> {
        REACHES
            .iter()
            .find_map(|reach| self.occurrences(item, from, plus_days(from, *reach)?).first().copied())
    }

    /// The last time that starts before a day.
    pub(super) fn last_before(&self, item: &Expr, before: Date) -> Option<Interval> {
        REACHES
            .iter()
            .find_map(|reach| self.occurrences(item, plus_days(before, -reach)?, before).last().copied())
    }
}

fn days_of(cal: Cal, from: Date, to: Date) -> Vec<Interval> {
    let fits =
        |day: &Date| cal.weekday.is_none_or(|weekday| day.weekday().to_monday_zero_offset() == weekday);
    match cal {
        // "Monday, 12 September 2024" is no day where the twelfth is a Thursday.
        Cal { year: Some(year), month, day, .. } => of_year(year, month, day)
            .into_iter()
            .filter(|time| day.is_none() || time.start.is_some_and(|start| fits(&start.date())))
            .collect(),
        Cal { month: Some(month), day, .. } => (from.year().saturating_sub(1)..=to.year())
            .filter_map(|year| of_year(year, Some(month), day))
            .filter(|time| day.is_none() || time.start.is_some_and(|start| fits(&start.date())))
            .collect(),
        Cal { day: Some(number), .. } => {
            let mut found = Vec::new();
            let mut month = Some(from.first_of_month());
            while let Some(first) = month.filter(|first| *first < to) {
                let day = Date::new(first.year(), first.month(), number).ok().filter(fits);
                found.extend(day.and_then(Interval::day));
                month = plus_months(first, 1);
            }
            found
        }
        Cal { weekday: Some(weekday), .. } => {
            let mut found = Vec::new();
            let mut day = monday(from).and_then(|day| plus_days(day, weekday.into()));
            while let Some(at) = day.filter(|day| *day < to) {
                found.extend(Interval::day(at));
                day = plus_days(at, 7);
            }
            found
        }
        _ => Vec::new(),
    }
}

fn of_year(year: i16, month: Option<i8>, day: Option<i8>) -> Option<Interval> {
    match (month, day) {
        (Some(month), Some(day)) => Interval::day(Date::new(year, month, day).ok()?),
        (Some(month), None) => {
            let first = Date::new(year, month, 1).ok()?;
            Interval::of_days(first, plus_months(first, 1)?, Granularity::Month)
        }
        _ => {
            let first = Date::new(year, 1, 1).ok()?;
            Interval::of_days(first, plus_months(first, 12)?, Granularity::Year)
        }
    }
}

/// The n-th quarter, half or ISO week of a year.
pub(super) fn part_of_year(unit: Unit, number: i64, year: i16) -> Option<Interval> {
    let first = Date::new(year, 1, 1).ok()?;
    match unit {
        Unit::Week => {
            let start = plus_days(monday(Date::new(year, 1, 4).ok()?)?, (number - 1) * 7)?;
            let thursday = plus_days(start, 3)?;
            (thursday.year() == year).then_some(())?;
            Interval::of_days(start, plus_days(start, 7)?, Granularity::Week)
        }
        Unit::Half => Interval::of_days(
            plus_months(first, (number - 1) * 6)?,
            plus_months(first, number * 6)?,
            Granularity::Quarter,
        ),
        _ => Interval::of_days(
            plus_months(first, (number - 1) * 3)?,
            plus_months(first, number * 3)?,
            Granularity::Quarter,
        ),
    }
}
