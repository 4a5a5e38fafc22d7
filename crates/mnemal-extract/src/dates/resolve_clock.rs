//! Times of day, parts of the day, and ranges of any kind.

use std::rc::Rc;

use jiff::civil::{Date, DateTime};

use super::TimeBias;
use super::expr::{Cal, Clock, Direction, Edge, EdgeContext, Expr, Length, Unit};
use super::interval::{Granularity, GranularityExt as _, Interval, plus, plus_days};
use super::resolve::{Resolver, seconds_between};

/// The last hour that counts as afternoon on a named day, when its half of the day is not stated.
/// Source: everyday speech; meetings at 1 to 6 are in the afternoon, and from 7 on the hour is ambiguous.
const AFTERNOON_UP_TO: i8 = 6;

impl Resolver<'_> {
    pub(super) fn of_clock(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::Clock(clock) => self.clock(*clock),
            Expr::At { day, clock } => {
                let time = self.resolve(day)?;
                let is_far = matches!(**day, Expr::Shift { .. });
                (time.grain <= Granularity::Day || is_far).then_some(())?;
                let on = on_day(time.start?.date(), fixed(*clock))?;
                Some(if clock.is_open { on.vague() } else { on })
            }
            Expr::ClockPart { clock, part, day } => self.clock_part(*clock, *part, day.as_deref()),
            Expr::Part { day: None, part, edge } => {
                let today = self.part_on(self.today(), *part, *edge)?;
                match self.lean {
                    TimeBias::Future if today.end <= Some(self.now) => {
                        self.part_on(plus_days(self.today(), 1)?, *part, *edge)
                    }
                    TimeBias::Past if today.start > Some(self.now) => {
                        self.part_on(plus_days(self.today(), -1)?, *part, *edge)
                    }
                    _ => Some(today),
                }
            }
            Expr::Part { day: Some(day), part, edge } => {
                let time = self.resolve(day)?;
                (time.grain == Granularity::Day).then_some(())?;
                let found = self.part_on(time.start?.date(), *part, *edge)?;
                let later = Edge::Later;
                match (edge, found.start) {
                    (Some(edge), Some(start))
                        if *edge == later && start < self.now && Some(self.now) < found.end =>
                    {
                        Some(Interval { start: Some(self.now), ..found })
                    }
                    _ => Some(found),
                }
            }
            _ => None,
        }
    }

    /// The nearest time of day by lean; an open one comes twice a day.
    fn clock(&self, clock: Clock) -> Option<Interval> {
        let clocks = halves(clock);
        let day = |by| plus_days(self.today(), by);
        let all = [day(-1)?, day(0)?, day(1)?]
            .into_iter()
            .flat_map(|day| clocks.iter().filter_map(move |at| on_day(day, *at)));
        let vague = |time: Interval| if clock.is_open { time.vague() } else { time };
        let (mut before, mut after) = (None, None);
        for time in all {
            if time.start < Some(self.now) {
                before = Some(time);
            } else {
                after = after.or(Some(time));
            }
        }
        let same_day = on_day(self.today(), fixed(clock));
        match self.lean {
            TimeBias::Past => before,
            TimeBias::Future => after,
            TimeBias::Nearest => same_day,
        }
        .map(vague)
    }

    fn clock_part(&self, clock: Clock, part: usize, day: Option<&Expr>) -> Option<Interval> {
        let (start, end) = self.customs.parts.get(part).copied()?;
        let hour = clock.hour;
        // "Ce soir à six heures" is 18 o'clock.
        let is_open = clock.is_open || start >= 12 * 60 && (5..12).contains(&hour);
        let (hour, next_day) = match (is_open, start >= 12 * 60, end >= 23 * 60) {
            (false, ..) => (hour, false),
            (true, false, _) => (hour % 12, false),
            (true, true, true) if hour < 5 => (hour, true),
            (true, true, true) if hour == 12 => (0, true),
            (true, true, _) => (hour % 12 + 12, false),
        };
        let exact = Clock { hour, is_open: false, ..clock };
        let Some(day) = day else {
            return self.clock(exact);
        };
        let time = self.resolve(day)?;
        (time.grain == Granularity::Day).then_some(())?;
        let date = time.start?.date();
        on_day(if next_day { plus_days(date, 1)? } else { date }, exact)
    }

    /// A part of a certain day.
    pub(super) fn part_on(&self, day: Date, part: usize, edge: Option<Edge>) -> Option<Interval> {
        let (start, end) = self.customs.parts.get(part).copied()?;
        let half = i32::midpoint(start, end);
        let third = (end - start) / 3;
        let (start, end) = match edge {
            None => (start, end),
            Some(Edge::Begin | Edge::Earlier) => (start, half),
            Some(Edge::Mid) => (start + third, end - third),
            Some(Edge::End | Edge::Later) => (half, end),
        };
        let at = |minutes: i32| {
            let day = plus_days(day, i64::from(minutes / 1440))?;
            let minute = minutes % 1440;
            Some(day.at(i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?, 0, 0))
        };
        Some(Interval::new(at(start)?, at(end)?, Granularity::Hour)?.vague())
    }

    pub(super) fn range(&self, from: &Rc<Expr>, to: &Rc<Expr>) -> Option<Interval> {
        let (first, second) = self.both(from, to)?;
        let points = self.customs.is("edges_are_points");
        let start = match &**from {
            Expr::Edge { edge: Edge::End, .. } if points => first.end?,
            Expr::Edge { edge: Edge::Mid, of } if points => middle(self.resolve(of)?)?,
            _ => first.start?,
        };
        let excludes = |flag| self.customs.is(flag);
        let is_day = second.grain >= Granularity::Day;
        let is_moment = matches!(**to, Expr::Now)
            || matches!(**to, Expr::Cycle { unit: Unit::Day, by: 0 }) && excludes("day_ranges_exclude");
        let end = match &**to {
            Expr::Edge { edge: Edge::End, .. } => second.end?,
            Expr::Edge { edge: Edge::Begin, .. } if points => second.start?,
            Expr::Edge { edge: Edge::Mid, of } if points => {
                let whole = Interval { start: second.start, ..self.resolve(of)? };
                middle(self.edge_home(whole, of)?)?
            }
            Expr::Now if excludes("day_ranges_exclude") && first.grain >= Granularity::Day => {
                self.today().into()
            }
            _ if is_moment => second.start?,
            _ if is_day && excludes("day_ranges_exclude") => second.start?,
            _ if !is_day && matches!(**to, Expr::Part { .. }) => second.end?,
            _ if !is_day && !excludes("clock_ranges_include") => second.start?,
            _ if !is_day => Interval::one(second.start?, first.grain.min(second.grain))?.end?,
            _ => second.end?,
        };
        let grain = |time: Interval, expr: &Expr| match expr {
            Expr::Edge { .. } if points && time.grain == Granularity::Day => Granularity::Month,
            _ => time.grain,
        };
        let mut found = Interval::new(start, end, grain(first, from).min(grain(second, to)))?;
        found.is_vague = first.is_vague || second.is_vague;
        Some(found)
    }

    /// Both ends of a range; of a range that comes back the one that is not over, or has begun.
    fn both(&self, from: &Rc<Expr>, to: &Rc<Expr>) -> Option<(Interval, Interval)> {
        if matches!(**to, Expr::Now) {
            let first = Resolver { lean: TimeBias::Past, ..*self }.resolve(from)?;
            let mut second = self.resolve(to)?;
            second.grain = if first.grain >= Granularity::Day { Granularity::Day } else { first.grain };
            return Some((first, second));
        }
        let comes_back = |expr: &Expr| matches!(expr, Expr::Cal(Cal { year: None, month: Some(_), .. }));
        if self.lean == TimeBias::Future && comes_back(from) && comes_back(to) {
            let running = self.last_before(from, plus_days(self.today(), 1)?);
            let second = running.and_then(|running| self.second(running, to));
            if let (Some(running), Some(second)) = (running, second)
                && second.end > Some(self.today().into())
            {
                return Some((running, second));
            }
        }
        let first = self.resolve(from)?;
        Some((first, self.second(first, to)?))
    }

    fn edge_home(&self, whole: Interval, of: &Expr) -> Option<Interval> {
        match whole.start {
            Some(start) => self.resolve(of).and_then(|time| {
                let same_year = time.start?.year() == start.year();
                if same_year { Some(time) } else { self.first_from(of, plus_days(start.date(), -20)?) }
            }),
            None => None,
        }
    }

    /// The end of a range comes after its beginning.
    fn second(&self, first: Interval, to: &Rc<Expr>) -> Option<Interval> {
        let start = first.start?;
        match &**to {
            Expr::Cal(Cal { year: None, .. }) | Expr::Holiday(_) | Expr::Season(_) | Expr::OfYear { .. } => {
                self.first_from(to, start.date())
            }
            Expr::Edge { of, edge } if matches!(**of, Expr::Cal(Cal { year: None, .. })) => {
                self.edge(self.first_from(of, start.date())?, *edge, EdgeContext::Fixed)
            }
            Expr::Clock(clock) => after(start, *clock),
            Expr::ClockPart { day: None, .. } => {
                let time = Resolver { now: start, day: start.date(), lean: TimeBias::Future, ..*self }
                    .resolve(to)?;
                Some(time)
            }
            Expr::At { day, clock } if clock.is_open && !comes_weekly(day) => {
                let day = self.resolve(day)?.start?.date();
                let on = halves(*clock)
                    .into_iter()
                    .filter_map(|at| on_day(day, at))
                    .find(|time| time.start > Some(start));
                on.or_else(|| after(start, *clock))
            }
            Expr::At { day, .. }
            | Expr::ClockPart { day: Some(day), .. }
            | Expr::Part { day: Some(day), .. }
                if comes_weekly(day) =>
            {
                // The weekday after the begin, or that day itself.
                let from = Resolver { day: plus_days(start.date(), -1)?, lean: TimeBias::Future, ..*self };
                let time = from.resolve(to).filter(|time| time.start > Some(start));
                time.or_else(|| Resolver { day: start.date(), lean: TimeBias::Future, ..*self }.resolve(to))
            }
            Expr::At { .. } | Expr::ClockPart { .. } => {
                let time = self.resolve(to)?;
                if time.start > Some(start) {
                    Some(time)
                } else {
                    Interval::one(
                        plus(time.start?, Length::of_quarters(4, Unit::Day)?, Direction::On)?,
                        time.grain,
                    )
                }
            }
            _ => self.resolve(to),
        }
    }

    pub(super) fn for_length(&self, length: Length, from: &Expr) -> Option<Interval> {
        let first = self.resolve(from)?;
        let grain = Granularity::of(length.unit);
        let start = first.start?;
        let mut end = plus(start, length, Direction::On)?;
        if self.customs.is("lengths_include") {
            end = Interval::one(end, grain)?.end?;
        }
        let found = Interval::new(start, end, grain)?;
        Some(if length.is_fuzzy { found.vague() } else { found })
    }
}

/// Returns whether a time is a weekday and nothing more.
fn comes_weekly(expr: &Expr) -> bool {
    matches!(expr, Expr::Cal(Cal { weekday: Some(_), day: None, month: None, .. }))
}

/// The next time of day after a moment.
fn after(moment: DateTime, clock: Clock) -> Option<Interval> {
    let days = [moment.date(), plus_days(moment.date(), 1)?];
    let all =
        days.into_iter().flat_map(|day| halves(clock).into_iter().filter_map(move |at| on_day(day, at)));
    all.into_iter().filter(|time| time.start > Some(moment)).min_by_key(|time| time.start)
}

/// Both times of day that an open one may be.
fn halves(clock: Clock) -> Vec<Clock> {
    let exact = |hour| Clock { hour, is_open: false, ..clock };
    match (clock.is_open, clock.hour) {
        (true, 12) => vec![exact(0), exact(12)],
        (true, hour) => vec![exact(hour), exact(hour + 12)],
        (false, _) => vec![clock],
    }
}

/// The half of the day that is meant when a day is named.
fn fixed(clock: Clock) -> Clock {
    let is_afternoon = clock.is_open && clock.hour <= AFTERNOON_UP_TO;
    Clock { hour: if is_afternoon { clock.hour + 12 } else { clock.hour }, is_open: false, ..clock }
}

fn on_day(day: Date, clock: Clock) -> Option<Interval> {
    let (day, hour) = if clock.hour == 24 { (plus_days(day, 1)?, 0) } else { (day, clock.hour) };
    let grain = match (clock.minute, clock.second) {
        (_, Some(_)) => Granularity::Second,
        (Some(_), None) => Granularity::Minute,
        (None, None) => Granularity::Hour,
    };
    Interval::one(day.at(hour, clock.minute.unwrap_or(0), clock.second.unwrap_or(0), 0), grain)
}

/// The day in the middle of a time; of a month the sixteenth.
fn middle(time: Interval) -> Option<DateTime> {
    let days = match time.grain {
        Granularity::Month => 15,
        _ => seconds_between(time.start?, time.end?) / 86_400 / 2,
    };
    Some(plus_days(time.start?.date(), days)?.into())
}
