//! Beginnings, middles and ends of times.

use jiff::civil::{Date, DateTime};

use super::expr::{Edge, EdgeContext, Unit};
use super::interval::{Granularity, Interval, plus_days, step};
use super::resolve::{Resolver, seconds_between};

impl Resolver<'_> {
    pub(super) fn edge(&self, time: Interval, edge: Edge, named: EdgeContext) -> Option<Interval> {
        let (start, end) = (time.start?, time.end?);
        let day = start.date();
        if time.grain == Granularity::Day {
            return edge_of_day(day, edge);
        }
        let (table, unit, grain) = match time.grain {
            Granularity::Week => (self.customs.week, Unit::Day, Granularity::Day),
            Granularity::Month => (self.customs.month, Unit::Day, Granularity::Day),
            Granularity::Year if named == EdgeContext::FromNow => {
                (self.customs.this_year, Unit::Month, Granularity::Month)
            }
            Granularity::Year => (self.customs.year, Unit::Month, Granularity::Month),
            grain => return third(time, edge, grain),
        };
        let [begin, mid, last] = table;
        let at = |by: i64| step(day, unit, by).map(DateTime::from).map(|moment| moment.min(end));
        let half = || -> Option<DateTime> {
            match time.grain {
                Granularity::Week => at(3),
                Granularity::Month => at(15),
                _ => at(6),
            }
        };
        let today: DateTime = self.today().into();
        let found = match edge {
            Edge::Begin => Interval::new(at(begin.0)?, at(begin.1)?, grain),
            Edge::Mid => Interval::new(at(mid.0)?, at(mid.1)?, grain),
            Edge::End => Interval::new(
                at(last.0)?,
                if last.1 >= 28 || time.grain != Granularity::Month { end.min(at(last.1)?) } else { end },
                grain,
            ),
            Edge::Earlier => Interval::new(start, half()?, grain),
            Edge::Later => {
                Interval::new(half()?.max(today), end, grain).or_else(|| Interval::new(half()?, end, grain))
            }
        };
        found.map(Interval::vague)
    }
}

fn edge_of_day(day: Date, edge: Edge) -> Option<Interval> {
    let at = |hour: i8| day.at(hour, 0, 0, 0);
    let end = plus_days(day, 1)?.into();
    let found = match edge {
        Edge::Begin | Edge::Earlier => Interval::new(at(0), at(12), Granularity::Hour),
        Edge::Mid => Interval::new(at(10), at(14), Granularity::Hour),
        Edge::End | Edge::Later => Interval::new(at(12), end, Granularity::Hour),
    };
    found.map(Interval::vague)
}

/// A third of a time that has no table of its own.
fn third(time: Interval, edge: Edge, grain: Granularity) -> Option<Interval> {
    let (start, end) = (time.start?, time.end?);
    let part = |numerator: i64| {
        let seconds = seconds_between(start, end) / 86_400 * numerator / 3;
        plus_days(start.date(), seconds).map(DateTime::from)
    };
    let finer = if grain >= Granularity::Decade { Granularity::Year } else { Granularity::Day };
    let decade = |by: i64| step(start.date(), Unit::Year, by).map(DateTime::from);
    let (first, second) = match grain {
        Granularity::Decade => (decade(3)?, decade(7)?),
        Granularity::Century => (decade(30)?, decade(70)?),
        _ => (part(1)?, part(2)?),
    };
    let found = match edge {
        Edge::Begin | Edge::Earlier => Interval::new(start, first, finer),
        Edge::Mid => Interval::new(first, second, finer),
        Edge::End | Edge::Later => Interval::new(second, end, finer),
    };
    found.map(Interval::vague)
}
