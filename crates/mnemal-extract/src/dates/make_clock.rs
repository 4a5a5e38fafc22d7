//! Constructors for times of day and parts of the day.

use std::rc::Rc;

use super::expr::{Clock, Edge, Expr, Kind, Unit, Value};
use super::make::{Make, expr, hour, kind, number, time};

/// Times of day, parts of the day, and both on a day.
pub(super) const CLOCK_MAKES: &[(&str, Make)] = &[
    ("hour", |of| clock(read(of)?)),
    ("hour_of_24", |of| clock(Clock { is_open: false, ..read(of)? })),
    ("exact_hour", |of| clock(Clock { is_open: false, minute: Some(0), ..read(of)? })),
    ("am", |of| clock(morning(read(of)?)?)),
    ("pm", |of| clock(evening(read(of)?)?)),
    ("noon", |_| clock(Clock { hour: 12, minute: None, second: None, is_open: false })),
    ("midnight", |_| clock(Clock { hour: 0, minute: None, second: None, is_open: false })),
    ("half_past", |of| moved(of, 30)),
    ("half_to", |of| moved(of, -30)),
    ("past", |of| moved(of.get(1..)?, minutes(of.first()?)?)),
    ("to", |of| moved(of.get(1..)?, -minutes(of.first()?)?)),
    // "At ten to four"; of other numbers than these people do not speak so.
    ("at_to", |of| match number(of.first()?)? {
        minutes @ (5 | 10 | 20 | 25) => moved(of.get(1..)?, -i16::try_from(minutes).ok()?),
        _ => None,
    }),
    ("to_noon", |of| {
        let minute = i8::try_from(60 - minutes(of.first()?)?).ok()?;
        clock(Clock { hour: 11, minute: Some(minute), second: None, is_open: false })
    }),
    ("to_midnight", |of| {
        let minute = i8::try_from(60 - minutes(of.first()?)?).ok()?;
        clock(Clock { hour: 23, minute: Some(minute), second: None, is_open: false })
    }),
    ("at_hour", |of| {
        let is_hour = |value: &&&Value| !matches!(value, Value::Loose(_));
        let clock = of.iter().filter(is_hour).find_map(|value| clock_of(value))?;
        let day = of.iter().find(|value| matches!(kind(value), Some(Kind::DayPart | Kind::Day)))?;
        time(Kind::Moment, attached(&expr(day)?, &Expr::Clock(clock))?)
    }),
    ("at_number", |of| {
        let clock = hour(number(of.first()?)?)?;
        let day = Rc::new(Expr::Cycle { unit: Unit::Day, by: 1 });
        time(Kind::Moment, Expr::At { day, clock })
    }),
    ("clock_part", |of| {
        let (clock, part) =
            (of.iter().find_map(|value| clock_of(value))?, of.iter().find_map(|value| part(value))?);
        let is_small = clock.hour <= 12;
        is_small.then_some(())?;
        time(Kind::Clock, Expr::ClockPart { clock, part, day: None })
    }),
    ("in_part", |of| time(Kind::Part, Expr::Part { day: None, part: part(of.first()?)?, edge: None })),
    ("early_part", |of| {
        time(Kind::Part, Expr::Part { day: None, part: part(of.first()?)?, edge: Some(Edge::Begin) })
    }),
    ("late_part", |of| {
        time(Kind::Part, Expr::Part { day: None, part: part(of.first()?)?, edge: Some(Edge::End) })
    }),
    ("this_part", |of| part_of_day(of, 0)),
    ("next_part", |of| part_of_day(of, 1)),
    ("last_part", |of| part_of_day(of, -1)),
    ("part_day", |of| {
        let part = of.iter().find_map(|value| part(value))?;
        let day = of.iter().find_map(|value| expr(value));
        time(Kind::DayPart, Expr::Part { day: Some(day?), part, edge: None })
    }),
    ("at", |of| at(of)),
    ("at_dash", |of| at(of)),
    ("at_iso", |of| at(of)),
    ("zoned", |of| {
        let zone =
            of.iter().find_map(|value| if let Value::Zone(zone) = value { Some(*zone) } else { None })?;
        let of = of.iter().find(|value| kind(value).is_some())?;
        time(kind(of)?, Expr::Zoned { of: expr(of)?, zone })
    }),
    ("loose", |of| clock(read(of)?)),
];

fn at(of: &[&Value]) -> Option<Value> {
    let (day, clock) = match (is_of_clock(of.first()?), is_of_clock(of.get(1)?)) {
        (false, true) => (of.first()?, of.get(1)?),
        (true, false) => (of.get(1)?, of.first()?),
        _ => return None,
    };
    let is_rough = matches!(&*expr(day)?, Expr::Shift { .. }) && matches!(&*expr(clock)?, Expr::Part { .. });
    (!is_rough).then_some(())?;
    let made = attached(&expr(day)?, &*expr(clock)?)?;
    let kind = match &made {
        Expr::Range { .. } | Expr::For { .. } => Kind::Stretch,
        Expr::Open { .. } => Kind::Open,
        Expr::Part { .. } => Kind::DayPart,
        _ => Kind::Moment,
    };
    time(kind, made)
}

/// Puts a time of day onto a day, also where it is a range, open at one end or of another zone.
pub(super) fn attached(day: &Rc<Expr>, clock: &Expr) -> Option<Expr> {
    let inner = |of: &Rc<Expr>| attached(day, of).map(Rc::new);
    Some(match (clock, &**day) {
        (Expr::Clock(clock), Expr::Zoned { of, zone }) => {
            Expr::Zoned { of: Rc::new(attached(of, &Expr::Clock(*clock))?), zone: *zone }
        }
        (Expr::Clock(clock) | Expr::ClockPart { clock, .. }, Expr::Part { day: of, part, .. }) => {
            Expr::ClockPart { clock: *clock, part: *part, day: of.clone() }
        }
        (Expr::Clock(clock), _) => Expr::At { day: Rc::clone(day), clock: *clock },
        (Expr::ClockPart { clock, part, .. }, _) => {
            Expr::ClockPart { clock: *clock, part: *part, day: Some(Rc::clone(day)) }
        }
        (Expr::Part { .. }, Expr::Part { .. }) => return None,
        (Expr::Part { part, edge, day: None }, _) => {
            Expr::Part { day: Some(Rc::clone(day)), part: *part, edge: *edge }
        }
        (Expr::Range { from, to }, _) => Expr::Range { from: inner(from)?, to: inner(to)? },
        (Expr::Open { bound, of }, _) => Expr::Open { bound: *bound, of: inner(of)? },
        (Expr::For { length, from }, _) => Expr::For { length: *length, from: inner(from)? },
        (Expr::Zoned { of, zone }, _) => Expr::Zoned { of: inner(of)?, zone: *zone },
        (Expr::Vague(of), _) => Expr::Vague(inner(of)?),
        _ => return None,
    })
}

fn is_of_clock(value: &Value) -> bool {
    matches!(kind(value), Some(Kind::Clock | Kind::Part | Kind::ClockRange | Kind::ClockOpen))
}

pub(super) fn clock(clock: Clock) -> Option<Value> {
    time(Kind::Clock, Expr::Clock(clock))
}

/// A time of day from a clock, or from an hour and the minutes after it.
pub(super) fn read(of: &[&Value]) -> Option<Clock> {
    let first = clock_of(of.first()?)?;
    match of.get(1) {
        Some(minute) if first.minute.is_none() => {
            let minute = i8::try_from(number(minute)?).ok().filter(|minute| (10..60).contains(minute))?;
            Some(Clock { minute: Some(minute), ..first })
        }
        Some(_) => None,
        None => Some(first),
    }
}

/// A number, loose digits or a clock as a time of day.
pub(super) fn clock_of(value: &Value) -> Option<Clock> {
    match value {
        Value::Number { is_fuzzy: true, .. } => None,
        Value::Number { value, .. } => hour(*value),
        Value::Loose(clock) => Some(*clock),
        Value::Time(Kind::Clock, expr) => match &**expr {
            Expr::Clock(clock) => Some(*clock),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn part(value: &Value) -> Option<usize> {
    if let Value::Part(part) = value { Some(*part) } else { None }
}

pub(super) fn morning(clock: Clock) -> Option<Clock> {
    (clock.is_open || clock.hour == 0).then_some(Clock { hour: clock.hour % 12, is_open: false, ..clock })
}

pub(super) fn evening(clock: Clock) -> Option<Clock> {
    match (clock.is_open, clock.hour) {
        (true, hour) => Some(Clock { hour: hour % 12 + 12, is_open: false, ..clock }),
        (false, 13..=23) => Some(clock),
        _ => None,
    }
}

fn minutes(value: &Value) -> Option<i16> {
    match value {
        Value::Quarters(quarters) => i16::try_from(quarters * 15).ok(),
        Value::Number { is_fuzzy: true, .. } => None,
        _ => i16::try_from(number(value)?).ok().filter(|minutes| (1..60).contains(minutes)),
    }
}

/// Minutes after or before a full hour.
fn moved(of: &[&Value], by: i16) -> Option<Value> {
    let at = clock_of(of.first()?).filter(|clock| clock.minute.is_none_or(|minute| minute == 0))?;
    let minutes = i16::from(at.hour) * 60 + by;
    let (hours, wraps) = if at.is_open { (12, minutes < 60) } else { (24, minutes < 0) };
    let minutes = if wraps { minutes + hours * 60 } else { minutes };
    let hour = i8::try_from(minutes / 60).ok()?;
    let minute = i8::try_from(minutes % 60).ok()?;
    clock(Clock { hour, minute: Some(minute), second: None, is_open: at.is_open })
}

fn part_of_day(of: &[&Value], by: i64) -> Option<Value> {
    let day = Rc::new(Expr::Cycle { unit: Unit::Day, by });
    time(Kind::DayPart, Expr::Part { day: Some(day), part: part(of.first()?)?, edge: None })
}
