//! Constructors for ranges: two times, or a time and a bound.

use std::rc::Rc;

use super::expr::{Bound, Cal, Clock, Direction, Expr, Kind, Unit, Value};
use super::make::{Make, dated, expr, kind, length, time};
use super::make_clock::{attached, clock_of, evening, morning, part};

/// No span of hours that is named by two hours is longer. Source: everyday speech; a day with few hours less is named otherwise.
const LONGEST_HOURS: i8 = 18;

/// Ranges, open ranges, lengths from somewhere.
pub(super) const RANGE_MAKES: &[(&str, Make)] = &[
    ("range", |of| {
        let [from, to] = of else { return None };
        ranged(from, to)
    }),
    ("day_range", |of| day_range(of)),
    ("hour_range", |of| match of {
        // "2007 to 2009" are years.
        [Value::Loose(a), Value::Loose(b)] if (19..=20).contains(&a.hour) && (19..=20).contains(&b.hour) => {
            None
        }
        _ => hours(of),
    }),
    ("hour_range_am", |of| clocks(of, morning, morning)),
    ("hour_range_pm", |of| evening_range(of)),
    ("hour_range_part", |of| {
        let (part, clocks) = (of.iter().find_map(|value| part(value))?, of.get(..2)?);
        let [from, to] = clocks else { return None };
        let inside = |clock: Clock| Rc::new(Expr::ClockPart { clock, part, day: None });
        time(Kind::ClockRange, Expr::Range { from: inside(clock_of(from)?), to: inside(clock_of(to)?) })
    }),
    ("day_hours", |of| {
        let day = of.iter().find(|value| matches!(kind(value), Some(Kind::Day | Kind::DayPart)))?;
        let hours: Vec<&Value> = of.iter().filter(|value| !std::ptr::eq(**value, *day)).copied().collect();
        let range = clocks(&hours, Some, Some)?;
        time(Kind::Stretch, attached(&expr(day)?, &*expr(&range)?)?)
    }),
    ("at_for", |of| {
        let [day, at, stay] = of else { return None };
        let from = Rc::new(attached(&expr(day)?, &*expr(at)?)?);
        time(Kind::Stretch, Expr::For { length: length(stay)?, from })
    }),
    ("before", |of| open(of, Bound::Before)),
    ("until", |of| open(of, Bound::Until)),
    ("through", |of| open(of, Bound::Through)),
    ("until_length", |of| {
        let length = of.iter().find_map(|value| length(value))?;
        let of = Rc::new(Expr::Shift { base: Rc::new(Expr::Now), length, way: Direction::On });
        time(Kind::Open, Expr::Open { bound: Bound::Before, of })
    }),
    ("for_next", |of| {
        let [Value::Length(length)] = of else { return None };
        let is_counted = length.unit == Unit::Workday;
        let days = Expr::Count { number: length.days, unit: length.unit, is_fuzzy: length.is_fuzzy };
        let expr = if is_counted { days } else { Expr::Within { length: *length, way: Direction::On } };
        time(if is_counted { Kind::Range } else { Kind::Stretch }, expr)
    }),
    ("by", |of| open(of, Bound::By)),
    ("after_sign", |of| open(of, Bound::After)),
    ("after", |of| open(of, Bound::After)),
    ("since", |of| open(of, Bound::Since)),
    ("ever_since", |of| match open(of, Bound::Since)? {
        Value::Time(kind, expr) => match &*expr {
            Expr::Open { bound, of } => {
                time(kind, Expr::Open { bound: *bound, of: Rc::new(Expr::Begun(Rc::clone(of))) })
            }
            _ => None,
        },
        _ => None,
    }),
    ("between_open", |of| between_open(of)),
    ("more_than_before", |of| shifted_open(of, Direction::Back)),
    ("more_than_after", |of| shifted_open(of, Direction::On)),
    ("after_length", |of| {
        let [Value::Length(length)] = of else { return None };
        let of = Rc::new(Expr::Shift { base: Rc::new(Expr::Now), length: *length, way: Direction::On });
        time(Kind::Open, Expr::Open { bound: Bound::Since, of })
    }),
    ("since_length", |of| {
        let length = of.iter().find_map(|value| length(value))?;
        let of = Rc::new(Expr::Shift { base: Rc::new(Expr::Now), length, way: Direction::Back });
        time(Kind::Open, Expr::Open { bound: Bound::Since, of })
    }),
    ("for_from", |of| {
        let length = of.iter().find_map(|value| length(value))?;
        let value = of.iter().find(|value| kind(value).is_some())?;
        let kind = match kind(value)? {
            Kind::Clock => Kind::ClockRange,
            Kind::Moment => Kind::Stretch,
            Kind::Day | Kind::Period => Kind::Range,
            _ => return None,
        };
        time(kind, Expr::For { length, from: expr(value)? })
    }),
    ("within", |of| match of {
        [Value::Length(length)] => time(Kind::Stretch, Expr::Within { length: *length, way: Direction::On }),
        _ => None,
    }),
    ("within_past", |of| match of {
        [Value::Length(length)] => {
            time(Kind::Stretch, Expr::Within { length: *length, way: Direction::Back })
        }
        _ => None,
    }),
];

fn ranged(from: &Value, to: &Value) -> Option<Value> {
    let (a, b) = (kind(from)?, kind(to)?);
    let kind = match (a, b) {
        (Kind::Day | Kind::Period, Kind::Day | Kind::Period) => Kind::Range,
        (Kind::Clock, Kind::Clock) => Kind::ClockRange,
        (Kind::Day | Kind::Period | Kind::Clock | Kind::Moment, Kind::Moment)
        | (Kind::Moment, Kind::Day | Kind::Period | Kind::Clock | Kind::DayPart)
        | (Kind::DayPart, Kind::DayPart | Kind::Moment) => Kind::Stretch,
        _ => return None,
    };
    let (from, to) = (expr(from)?, expr(to)?);
    if let (from_expr, Expr::Zoned { of, zone }) = (&*from, &*to)
        && !matches!(from_expr, Expr::Zoned { .. })
    {
        let range = Expr::Range { from, to: Rc::clone(of) };
        return time(kind, Expr::Zoned { of: Rc::new(range), zone: *zone });
    }
    let shared = match (&*from, &*to) {
        (Expr::Cal(a), Expr::Cal(b)) => Rc::new(Expr::Cal(shared(*a, *b)?)),
        (Expr::In { .. }, _) | (_, Expr::In { .. }) => from_of_same_outer(&from, &to),
        _ => from,
    };
    time(kind, Expr::Range { from: shared, to })
}

/// "from April to June in 2017": the first shares the year of the second.
fn from_of_same_outer(from: &Rc<Expr>, to: &Rc<Expr>) -> Rc<Expr> {
    match (&**from, &**to) {
        (Expr::Cal(Cal { year: None, .. }) | Expr::OfYear { .. }, Expr::In { outer, .. }) => {
            Rc::new(Expr::In { item: Rc::clone(from), outer: Rc::clone(outer) })
        }
        _ => Rc::clone(from),
    }
}

/// An open part of the first of two days is taken from the second.
fn shared(mut a: Cal, b: Cal) -> Option<Cal> {
    if a.month.is_none() && a.day.is_some() && b.day.is_some() {
        a.month = b.month;
    }
    if let (None, Some(year)) = (a.year, b.year)
        && a.month.is_some()
    {
        let wraps = (a.month, a.day) > (b.month, b.day.map_or(a.day, Some));
        a.year = Some(if wraps { year - 1 } else { year });
    }
    match (a.year, b.year) {
        (Some(a), Some(b)) if a > b => None,
        _ => Some(a),
    }
}

/// "May 3-7": a month, two days, perhaps a year.
fn day_range(of: &[&Value]) -> Option<Value> {
    let is_day = |value: &&&Value| matches!(value, Value::Number { .. } | Value::Ordinal(_));
    let mut days = of.iter().filter(is_day);
    let (first, second) = (days.next()?, days.next()?);
    let rest: Vec<&Value> = of.iter().filter(|value| !is_day(value)).copied().collect();
    let day = |day: &Value| dated(&[&rest[..], &[day]].concat(), None);
    let (from, to) = (day(first)?, day(second)?);
    match (&*expr(&from)?, &*expr(&to)?) {
        (Expr::Cal(a), Expr::Cal(b)) if a.day < b.day => ranged(&from, &to),
        _ => None,
    }
}

fn clocks(
    of: &[&Value],
    first: fn(Clock) -> Option<Clock>,
    second: fn(Clock) -> Option<Clock>,
) -> Option<Value> {
    let [from, to] = of else { return None };
    let clock = |clock| Rc::new(Expr::Clock(clock));
    let (from, to) = (first(clock_of(from)?)?, second(clock_of(to)?)?);
    time(Kind::ClockRange, Expr::Range { from: clock(from), to: clock(to) })
}

/// "3 to 8 am" lies in one half of the day, if that does not run backwards.
fn hours(of: &[&Value]) -> Option<Value> {
    let [from, to] = of else { return None };
    let (first, second) = (clock_of(from)?, clock_of(to)?);
    let is_morning = first.is_open && !second.is_open && second.hour <= 12;
    let early = morning(first).filter(|early| is_morning && early.hour < second.hour);
    let late = evening(first).filter(|_| is_morning && second.hour < 12);
    let from = early.or(late).unwrap_or(first);
    // "15 to noon" would be 21 hours long.
    let hours = (second.hour - from.hour).rem_euclid(24);
    (from.is_open || second.is_open || hours <= LONGEST_HOURS).then_some(())?;
    let clock = |clock| Rc::new(Expr::Clock(clock));
    time(Kind::ClockRange, Expr::Range { from: clock(from), to: clock(second) })
}

/// "After 3 but before 5".
fn between_open(of: &[&Value]) -> Option<Value> {
    let (first, second) = (expr(of.first()?)?, expr(of.get(1)?)?);
    match (&*first, &*second) {
        (
            Expr::Open { bound: Bound::After | Bound::Since, of: from },
            Expr::Open { bound: Bound::Before | Bound::Until, of: to },
        ) => {
            let of_clock = matches!((&**from, &**to), (Expr::Clock(_), Expr::Clock(_)));
            of_clock.then_some(())?;
            time(Kind::ClockRange, Expr::Range { from: Rc::clone(from), to: Rc::clone(to) })
        }
        _ => None,
    }
}

/// "3 to 5 pm": both in the afternoon, unless that would run backwards, as in "9 to 5 pm".
fn evening_range(of: &[&Value]) -> Option<Value> {
    let [from, to] = of else { return None };
    let (from, to) = (clock_of(from)?, evening(clock_of(to)?)?);
    let late = evening(from).unwrap_or(from);
    let is_before = |a: Clock| (a.hour, a.minute.unwrap_or(0)) < (to.hour, to.minute.unwrap_or(0));
    let from = if is_before(late) { late } else { morning(from).unwrap_or(from) };
    let clock = |clock| Rc::new(Expr::Clock(clock));
    time(Kind::ClockRange, Expr::Range { from: clock(from), to: clock(to) })
}

fn open(of: &[&Value], bound: Bound) -> Option<Value> {
    let value = of.first()?;
    if matches!(expr(value).as_deref(), Some(Expr::Now)) {
        return None;
    }
    if let Some(clock) = clock_of(value) {
        return time(Kind::ClockOpen, Expr::Open { bound, of: Rc::new(Expr::Clock(clock)) });
    }
    let kind = match kind(value)? {
        Kind::Clock | Kind::Part => Kind::ClockOpen,
        Kind::Open | Kind::ClockOpen | Kind::ClockRange | Kind::Range | Kind::Stretch => return None,
        _ => Kind::Open,
    };
    time(kind, Expr::Open { bound, of: expr(value)? })
}

fn shifted_open(of: &[&Value], way: Direction) -> Option<Value> {
    let [Value::Length(length), time_value] = of else { return None };
    let of = Rc::new(Expr::Shift { base: expr(time_value)?, length: *length, way });
    time(
        Kind::Open,
        Expr::Open { bound: if way == Direction::Back { Bound::Before } else { Bound::Since }, of },
    )
}
