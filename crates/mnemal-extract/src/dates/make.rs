//! Constructors of date expressions from matched values; the packs refer to them by name.

use std::rc::Rc;

use super::expr::{Cal, Clock, Direction, Edge, Expr, Kind, Length, Occurrence, Unit, Value};
use super::make_clock::CLOCK_MAKES;
use super::make_range::RANGE_MAKES;
use super::number::full_year;

/// Makes a value from the arguments of a form; `None` where they do not fit together.
pub(super) type Make = fn(&[&Value]) -> Option<Value>;

/// Returns the constructor of a name in a pack.
pub(super) fn make_of(name: &str) -> Option<Make> {
    let mut all = NUMBER_MAKES.iter().chain(DAY_MAKES).chain(CLOCK_MAKES).chain(RANGE_MAKES);
    all.find(|(known, _)| *known == name).map(|(_, make)| *make)
}

/// Numbers, ordinals, years, lengths.
const NUMBER_MAKES: &[(&str, Make)] = &[
    ("sum", |of| match two(of, number)? {
        (tens, ones) if (20..100).contains(&tens) && tens % 10 == 0 && (1..10).contains(&ones) => {
            word(tens + ones)
        }
        _ => None,
    }),
    ("tens", |of| word(of.first().and_then(|a| number(a))? * 10 + second_or(of, 0)?)),
    ("teens", |of| word(10 + of.first().and_then(|a| number(a))?)),
    ("hundreds", |of| word(of.first().and_then(|a| number(a))? * 100 + second_or(of, 0)?)),
    ("thousands", |of| word(of.first().and_then(|a| number(a))? * 1000 + second_or(of, 0)?)),
    ("ordinal", |of| match (of.first().and_then(|a| number(a))?, of.get(1).and_then(|b| ordinal(b))) {
        (tens, Some(ones)) if (20..100).contains(&tens) && tens % 10 == 0 && (1..10).contains(&ones) => {
            Some(Value::Ordinal(tens + ones))
        }
        (number, None) if (1..1000).contains(&number) => Some(Value::Ordinal(number)),
        _ => None,
    }),
    ("year", |of| {
        let year = number(of.first()?).filter(|year| (1900..2100).contains(year))?;
        Some(Value::Year(i16::try_from(year).ok()?))
    }),
    ("year_short", |of| {
        let year = number(of.first()?).filter(|year| (0..100).contains(year))?;
        Some(Value::Year(near_year(i16::try_from(year).ok()?)))
    }),
    ("year_pair", |of| match two(of, number)? {
        (hundreds @ 11..=20, rest @ 10..=99) => Some(Value::Year(i16::try_from(hundreds * 100 + rest).ok()?)),
        _ => None,
    }),
    ("year_digits", |of| {
        let digits: Option<Vec<i64>> =
            of.iter().map(|digit| number(digit).filter(|digit| *digit < 10)).collect();
        let year = digits?.into_iter().fold(0, |year, digit| year * 10 + digit);
        Some(Value::Year(i16::try_from(year).ok().filter(|year| *year >= 1000)?))
    }),
    ("year_of_era", |of| {
        let Value::Era(before) = of.first()? else { return None };
        let year = i16::try_from(second_or(of, 1)?).ok().filter(|year| (1..200).contains(year))?;
        Some(Value::Year(before + year))
    }),
    ("length", |of| {
        let unit = of.iter().find_map(|value| unit(value))?;
        // "a second" is an ordinal more often than a length.
        (unit != Unit::Second || of.len() > 1).then_some(())?;
        let (quarters, is_fuzzy) = quarters(of)?;
        // "A year and a half" names the unit once before the part of it.
        let one =
            if matches!(of, [first, Value::Quarters(_)] if self::unit(first).is_some()) { 4 } else { 0 };
        let length = Length::of_quarters(quarters + one, unit)?;
        Some(Value::Length(Length { is_fuzzy, ..length }))
    }),
    ("length_sum", |of| match of {
        [Value::Length(a), Value::Length(b)] if a.unit > b.unit => Some(Value::Length(a.plus(*b))),
        _ => None,
    }),
    ("length_about", |of| match of {
        [Value::Length(length)] => Some(Value::Length(Length { is_fuzzy: true, ..*length })),
        _ => None,
    }),
    ("length_limit", |of| match of {
        [Value::Length(length)] => Some(Value::Length(Length { is_fuzzy: true, is_limit: true, ..*length })),
        _ => None,
    }),
    ("same_length", |of| Some(Value::Length(length(of.first()?)?))),
    ("stay", |of| Some(Value::Stay(length(of.first()?)?))),
];

/// Days, months, years, and choices among them.
const DAY_MAKES: &[(&str, Make)] = &[
    ("now", |_| time(Kind::Moment, Expr::Now)),
    ("no_year", |_| time(Kind::Period, Expr::Never)),
    ("vague_units", |_| time(Kind::Period, Expr::Never)),
    ("this_day", |_| cycle(Unit::Day, 0)),
    ("this_year", |_| cycle(Unit::Year, 0)),
    ("date", |of| dated(of, None)),
    ("day_with_weekday", |of| match of {
        // "The third Sunday" is no Sunday the third.
        [Value::Time(_, day), _] if matches!(**day, Expr::Cal(Cal { month: None, .. })) => None,
        _ => dated(of, None),
    }),
    ("date_words", |of| {
        // "One may" is no first of May.
        of.iter().filter_map(|value| number(value)).all(|number| number >= 13).then_some(())?;
        dated(of, None)
    }),
    ("ides", |of| {
        let Value::Month(month) = of.first()? else { return None };
        let day = if matches!(month, 3 | 5 | 7 | 10) { 15 } else { 13 };
        time(Kind::Day, Expr::Cal(Cal { month: Some(*month), day: Some(day), ..Cal::default() }))
    }),
    ("day_of", |of| {
        let day = ordinal(of.first()?).or_else(|| of.first().and_then(|day| number(day)))?;
        let day = i8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
        let item = Rc::new(Expr::Cal(Cal { day: Some(day), ..Cal::default() }));
        let outer = expr(of.get(1)?)?;
        matches!(&*outer, Expr::Cycle { unit: Unit::Month, .. } | Expr::Select { .. }).then_some(())?;
        time(Kind::Day, Expr::In { item, outer })
    }),
    ("date_short_year", |of| {
        let (year, rest) = of.split_last()?;
        let year = number(year).filter(|year| (0..100).contains(year))?;
        dated(rest, Some(near_year(i16::try_from(year).ok()?)))
    }),
    ("year_month_day", |of| numbered(of, [2, 1, 0])),
    ("day_month_year", |of| numbered(of, [0, 1, 2])),
    ("day_month", |of| numbered(of, [0, 1])),
    ("month_day", |of| numbered(of, [1, 0])),
    ("year_month", |of| {
        let year = year_of(of.first()?)?;
        let month = i8::try_from(number(of.get(1)?)?).ok().filter(|month| (1..=12).contains(month))?;
        time(Kind::Period, Expr::Cal(Cal { year: Some(year), month: Some(month), ..Cal::default() }))
    }),
    ("month_number", |of| {
        let month = i8::try_from(number(of.first()?)?).ok().filter(|month| (1..=12).contains(month))?;
        time(Kind::Period, Expr::Cal(Cal { month: Some(month), ..Cal::default() }))
    }),
    ("decade", |of| {
        let from = match of.first()? {
            Value::Year(year) => *year,
            value => i16::try_from(number(value)?)
                .ok()
                .filter(|year| *year < 100 && *year >= 20)
                .map(|year| 1900 + year)?,
        };
        (from % 10 == 0).then_some(())?;
        // The 1800s are a century, the 2000s mostly ten years.
        let count = if from % 100 == 0 && from < 1900 { 100 } else { 10 };
        time(Kind::Period, Expr::Years { from, count })
    }),
    ("century", |of| {
        let number =
            i16::try_from(ordinal(of.first()?).or_else(|| of.first().and_then(|n| number(n)))?).ok()?;
        (1..=30).contains(&number).then_some(())?;
        time(Kind::Period, Expr::Years { from: (number - 1) * 100, count: 100 })
    }),
    ("quarter", |of| of_year(of, Unit::Quarter, 4)),
    ("half_year", |of| of_year(of, Unit::Half, 2)),
    ("week_number", |of| of_year(of, Unit::Week, 53)),
    ("week_of_year", |of| {
        let number = of.iter().find_map(|value| number(value))?;
        let year = |value: &&Value| match value {
            Value::Year(year) => Some(Rc::new(Expr::Cal(Cal { year: Some(*year), ..Cal::default() }))),
            value => expr(value),
        };
        let outer = of.iter().find_map(year)?;
        let item = Rc::new(Expr::OfYear { unit: Unit::Week, number });
        (1..=53).contains(&number).then_some(())?;
        time(Kind::Period, Expr::In { item, outer })
    }),
    ("quarter_of_short_year", |of| {
        let (year, number) = two(of, number)?;
        let year = full_year(i16::try_from(year).ok()?);
        let item = Rc::new(Expr::OfYear { unit: Unit::Quarter, number });
        let outer = Rc::new(Expr::Cal(Cal { year: Some(year), ..Cal::default() }));
        (1..=4).contains(&number).then_some(())?;
        time(Kind::Period, Expr::In { item, outer })
    }),
    ("weekend", |_| time(Kind::Period, Expr::Weekend)),
    ("this_unit", |of| cycle(unit(of.first()?)?, 0)),
    ("next_unit", |of| cycle(unit(of.first()?)?, 1)),
    ("last_unit", |of| cycle(unit(of.first()?)?, -1)),
    ("unit_after_next", |of| cycle(unit(of.first()?)?, 2)),
    ("unit_before_last", |of| cycle(unit(of.first()?)?, -2)),
    ("next_units", |of| count(of, 1)),
    ("last_units", |of| count(of, -1)),
    ("upcoming_units", |of| match count(of, 1)? {
        Value::Time(kind, expr) => match *expr {
            Expr::Count { number, unit, is_fuzzy } => time(kind, Expr::Upcoming { number, unit, is_fuzzy }),
            _ => None,
        },
        _ => None,
    }),
    ("ago", |of| shifted(of, Base::Now, Direction::Back)),
    ("in_length", |of| match of {
        [Value::Length(length)] => {
            let kind = if length.unit.is_of_clock() { Kind::Moment } else { Kind::Day };
            if length.is_limit {
                return time(kind, Expr::Never);
            }
            time(kind, Expr::Shift { base: Rc::new(Expr::Soon), length: *length, way: Direction::On })
        }
        _ => None,
    }),
    ("from_now", |of| shifted(of, Base::Now, Direction::On)),
    ("in_prime_minutes", |of| prime(of, Unit::Minute)),
    ("in_prime_seconds", |of| prime(of, Unit::Second)),
    ("before_by", |of| shifted(of, Base::Named, Direction::Back)),
    ("after_by", |of| shifted(of, Base::Named, Direction::On)),
    ("day_before", |of| next_to(of, Direction::Back)),
    ("day_after", |of| next_to(of, Direction::On)),
    ("part_before", |of| part_next_to(of, Direction::Back)),
    ("part_after", |of| part_next_to(of, Direction::On)),
    ("item_before", |of| item_from(of, -1)),
    ("item_after", |of| item_from(of, 1)),
    ("first_units", |of| units_of(of, 1)),
    ("last_units_of", |of| units_of(of, -1)),
    ("first_half", |of| half_of(of, 1)),
    ("second_half", |of| half_of(of, 2)),
    ("length_to_day", |of| length_to_day(of)),
    ("unit_years_ago", |of| {
        let length = of.iter().find_map(|value| length(value))?;
        let unit = of.iter().find_map(|value| unit(value)).filter(|unit| *unit >= Unit::Month)?;
        (length.unit >= unit && !length.is_limit).then_some(())?;
        let day = Expr::Shift { base: Rc::new(Expr::Cycle { unit, by: 0 }), length, way: Direction::Back };
        time(Kind::Period, Expr::FirstUnits { number: 1, unit, outer: Rc::new(day) })
    }),
    ("day_near", |of| {
        let weekday = of.iter().find_map(|value| weekday(value))?;
        let shift = of.iter().find_map(|value| expr(value))?;
        time(Kind::Day, Expr::DayNear { weekday, shift })
    }),
    ("this", |of| select(of, Occurrence::This)),
    ("next", |of| select(of, Occurrence::Next)),
    ("last", |of| select(of, Occurrence::Last)),
    ("latest", |of| select(of, Occurrence::Latest)),
    ("after_next", |of| select(of, Occurrence::AfterNext)),
    ("before_last", |of| select(of, Occurrence::BeforeLast)),
    ("coming_one", |of| select(of, Occurrence::Coming(1))),
    ("coming", |of| select(of, Occurrence::Coming(of.iter().find_map(|n| number(n))?))),
    ("gone", |of| select(of, Occurrence::Coming(-of.iter().find_map(|n| number(n))?))),
    ("inside", |of| {
        let (item, outer) = (expr(of.first()?)?, expr(of.get(1)?)?);
        if let (Expr::Cal(Cal { weekday: Some(weekday), month: None, day: None, .. }), Expr::Shift { .. }) =
            (&*item, &*outer)
        {
            return time(Kind::Day, Expr::DayNear { weekday: *weekday, shift: outer });
        }
        // A month lies in no month, and a day of the week in no day.
        if let (Expr::Cal(item), Expr::Cal(outer)) = (&*item, &*outer)
            && item.month.is_some()
            && outer.month.is_some()
        {
            return None;
        }
        time(kind(of.first()?)?, Expr::In { item, outer })
    }),
    ("nth_unit", |of| nth(of, 1)),
    ("nth_last_unit", |of| nth(of, -1)),
    ("last_unit_of", |of| {
        let outer = expr(of.get(1)?)?;
        nth_of(-1, unit(of.first()?)?, outer)
    }),
    ("first_unit_of", |of| nth_of(1, unit(of.first()?)?, expr(of.get(1)?)?)),
    ("nth_item", |of| nth_item(of, 1)),
    ("nth_last_item", |of| nth_item(of, -1)),
    ("last_item_of", |of| {
        let (item, outer) = (expr(of.first()?)?, expr(of.get(1)?)?);
        time(kind(of.first()?)?, Expr::NthItem { number: -1, item, outer })
    }),
    ("week_of", |of| time(Kind::Period, Expr::WeekOf(expr(of.first()?)?))),
    ("weekend_of", |of| time(Kind::Period, Expr::WeekendOf(expr(of.first()?)?))),
    ("closest", |of| {
        let number = ordinal(of.first()?)?;
        time(Kind::Day, Expr::Closest { number, item: expr(of.get(1)?)?, to: expr(of.get(2)?)? })
    }),
    ("closest_one", |of| {
        time(Kind::Day, Expr::Closest { number: 1, item: expr(of.first()?)?, to: expr(of.get(1)?)? })
    }),
    ("day_of_week_of", |of| {
        let item = Rc::new(Expr::Cal(Cal { weekday: Some(weekday(of.get(1)?)?), ..Cal::default() }));
        time(Kind::Day, Expr::In { item, outer: expr(of.first()?)? })
    }),
    ("end_month", |_| edge_of_unit(&[&Value::Unit(Unit::Month)], Edge::End)),
    ("begin_month", |_| edge_of_unit(&[&Value::Unit(Unit::Month)], Edge::Begin)),
    ("end_year", |_| edge_of_unit(&[&Value::Unit(Unit::Year)], Edge::End)),
    ("begin_year", |_| edge_of_unit(&[&Value::Unit(Unit::Year)], Edge::Begin)),
    ("begin", |of| edge(of, Edge::Begin)),
    ("mid", |of| edge(of, Edge::Mid)),
    ("end", |of| edge(of, Edge::End)),
    ("late", |of| {
        let late = Expr::Edge { of: expr(of.first()?)?, edge: Edge::End };
        time(kind(of.first()?)?, Expr::Vague(Rc::new(late)))
    }),
    ("earlier", |of| edge(of, Edge::Earlier)),
    ("later", |of| edge(of, Edge::Later)),
    ("begin_unit", |of| edge_of_unit(of, Edge::Begin)),
    ("mid_unit", |of| edge_of_unit(of, Edge::Mid)),
    ("end_unit", |of| edge_of_unit(of, Edge::End)),
    ("end_of_day", |of| {
        let day =
            of.first().map_or_else(|| Some(Rc::new(Expr::Cycle { unit: Unit::Day, by: 0 })), |day| expr(day));
        time(Kind::Moment, Expr::EndOfDay(day?))
    }),
    ("rest", |of| time(Kind::Range, Expr::Rest(unit(of.first()?)?))),
    ("to_date", |of| time(Kind::Range, Expr::ToDate(unit(of.first()?)?))),
    ("about", |of| time(kind(of.first()?)?, Expr::Vague(expr(of.first()?)?))),
    ("about_year", |of| match of {
        // "Around 1030" is rather a time of day.
        [Value::Time(kind, expr)]
            if !matches!(**expr, Expr::Cal(Cal { year: Some(..1900), month: None, .. })) =>
        {
            time(*kind, Expr::Vague(Rc::clone(expr)))
        }
        _ => None,
    }),
    ("part_before_last", |of| {
        let part =
            of.iter().find_map(|value| if let Value::Part(part) = value { Some(*part) } else { None })?;
        let day = Some(Rc::new(Expr::Cycle { unit: Unit::Day, by: -2 }));
        time(Kind::DayPart, Expr::Part { day, part, edge: None })
    }),
    ("weeks_after", |of| {
        let item = Rc::new(Expr::Cal(Cal { weekday: Some(weekday(of.first()?)?), ..Cal::default() }));
        let unit = of.get(1).map_or(Some(Unit::Week), |value| unit(value));
        let unit = unit.filter(|unit| matches!(unit, Unit::Week | Unit::Fortnight))?;
        time(Kind::Day, Expr::Shift { base: item, length: Length::of_quarters(4, unit)?, way: Direction::On })
    }),
    ("ago_day", |of| match of {
        [_, Value::Time(_, day)] if matches!(**day, Expr::Cycle { unit: Unit::Day, .. }) => {
            shifted(of, Base::Named, Direction::Back)
        }
        _ => None,
    }),
    ("of_season", |of| of.first().map(|value| (*value).clone())),
    ("same", |of| of.first().map(|value| (*value).clone())),
    ("recurring", |_| Some(Value::Recurring)),
];

// Reading the arguments.

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is the last word of makers, which may find that nothing fits"
)]
pub(super) fn time(kind: Kind, expr: Expr) -> Option<Value> {
    Some(Value::Time(kind, Rc::new(expr)))
}

pub(super) fn number(value: &Value) -> Option<i64> {
    if let Value::Number { value, .. } = value { Some(*value) } else { None }
}

pub(super) fn ordinal(value: &Value) -> Option<i64> {
    if let Value::Ordinal(value) = value { Some(*value) } else { None }
}

pub(super) fn unit(value: &Value) -> Option<Unit> {
    if let Value::Unit(unit) = value { Some(*unit) } else { None }
}

/// A length, also of a stay.
pub(super) fn length(value: &Value) -> Option<Length> {
    if let Value::Length(length) | Value::Stay(length) = value { Some(*length) } else { None }
}

fn weekday(value: &Value) -> Option<i8> {
    if let Value::Weekday(weekday) | Value::Weekdays(weekday) = value { Some(*weekday) } else { None }
}

pub(super) fn expr(value: &Value) -> Option<Rc<Expr>> {
    if let Value::Time(_, expr) = value { Some(Rc::clone(expr)) } else { None }
}

pub(super) fn kind(value: &Value) -> Option<Kind> {
    if let Value::Time(kind, _) = value { Some(*kind) } else { None }
}

pub(super) fn two<T>(of: &[&Value], read: fn(&Value) -> Option<T>) -> Option<(T, T)> {
    let [a, b] = of else { return None };
    Some((read(a)?, read(b)?))
}

fn second_or(of: &[&Value], default: i64) -> Option<i64> {
    of.get(1).map_or(Some(default), |value| number(value))
}

fn word(value: i64) -> Option<Value> {
    (0..100_000).contains(&value).then_some(Value::Number { value, is_word: true, is_fuzzy: false })
}

/// Numbers and fractions among the arguments, summed, in quarters; one if there are none.
fn quarters(of: &[&Value]) -> Option<(i64, bool)> {
    let mut sum = None;
    let mut vague = false;
    for value in of {
        match value {
            Value::Number { value, is_fuzzy, .. } => {
                sum = Some(sum.unwrap_or(0) + value * 4);
                vague |= *is_fuzzy && *value > 2;
            }
            Value::Quarters(quarters) => sum = Some(sum.unwrap_or(0) + quarters),
            _ => {}
        }
    }
    let sum = sum.unwrap_or(4);
    (sum > 0).then_some((sum, vague))
}

fn cycle(unit: Unit, by: i64) -> Option<Value> {
    let kind = match unit {
        Unit::Second | Unit::Minute | Unit::Hour => Kind::Moment,
        Unit::Day | Unit::Workday => Kind::Day,
        _ => Kind::Period,
    };
    time(kind, Expr::Cycle { unit, by })
}

fn count(of: &[&Value], sign: i64) -> Option<Value> {
    let unit = of.iter().find_map(|value| unit(value))?;
    let (quarters, is_fuzzy) = quarters(of)?;
    (quarters % 4 == 0).then_some(())?;
    let kind = if unit.is_of_clock() { Kind::Stretch } else { Kind::Range };
    time(kind, Expr::Count { number: sign * quarters / 4, unit, is_fuzzy })
}

/// The reference of a duration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Now,
    Named,
}

fn shifted(of: &[&Value], from: Base, way: Direction) -> Option<Value> {
    let length = of.iter().find_map(|value| length(value))?;
    let base = of.iter().find_map(|value| expr(value));
    let base = match (base, from) {
        (None, Base::Named) => return None,
        (None, Base::Now) => Rc::new(Expr::Now),
        (Some(base), _) => base,
    };
    if length.unit == Unit::Weekend && matches!(*base, Expr::Now) {
        let by = if way == Direction::Back { -length.days / 2 } else { length.days / 2 };
        return cycle(Unit::Weekend, by);
    }
    // "Three days before the end of the month" counts from no day, and "over a year ago" to none.
    if length.is_limit || matches!(*base, Expr::Edge { .. }) {
        return time(Kind::Day, Expr::Never);
    }
    // "3 minutes from today" counts from no moment.
    let is_of_day =
        matches!(&*base, Expr::Cycle { .. } | Expr::Cal(_) | Expr::Holiday(_) | Expr::Select { .. });
    (!length.unit.is_of_clock() || !is_of_day).then_some(())?;
    let kind = if length.unit.is_of_clock() { Kind::Moment } else { Kind::Day };
    time(kind, Expr::Shift { base, length, way })
}

/// The day beside another time.
fn next_to(of: &[&Value], way: Direction) -> Option<Value> {
    let beside = of.first()?;
    let length = Length::of_quarters(4, Unit::Day)?;
    let base = expr(beside)?;
    match kind(beside)? {
        Kind::Day => time(Kind::Day, Expr::Shift { base, length, way }),
        _ => time(Kind::Day, Expr::Never),
    }
}

/// A part of the day beside another day.
fn part_next_to(of: &[&Value], way: Direction) -> Option<Value> {
    let part = of.iter().find_map(|value| if let Value::Part(part) = value { Some(*part) } else { None })?;
    let beside = of.iter().find(|value| kind(value).is_some())?;
    match next_to(&[beside], way)? {
        Value::Time(_, day) if !matches!(*day, Expr::Never) => {
            time(Kind::DayPart, Expr::Part { day: Some(day), part, edge: None })
        }
        _ => time(Kind::DayPart, Expr::Never),
    }
}

/// "The second Monday after Easter".
fn item_from(of: &[&Value], sign: i64) -> Option<Value> {
    let number = sign * of.iter().find_map(|value| ordinal(value)).unwrap_or(1);
    let mut times = of.iter().filter(|value| kind(value).is_some());
    let (item, from) = (times.next()?, times.next()?);
    matches!(kind(from)?, Kind::Day | Kind::Period).then_some(())?;
    match &*expr(item)? {
        Expr::Cal(Cal { weekday: Some(_), day: None, month: None, .. }) | Expr::Weekend => {
            time(kind(item)?, Expr::NthFrom { number, item: expr(item)?, from: expr(from)? })
        }
        _ => None,
    }
}

/// "The first three days of June"; where weeks begin in it is not sure.
fn units_of(of: &[&Value], sign: i64) -> Option<Value> {
    let number = of.iter().find_map(|value| number(value))?;
    let unit = of.iter().find_map(|value| unit(value))?;
    let outer = of.iter().find_map(|value| expr(value))?;
    (number > 1 || unit != Unit::Day).then_some(())?;
    match unit {
        Unit::Day | Unit::Month | Unit::Quarter | Unit::Year => {
            time(Kind::Range, Expr::FirstUnits { number: sign * number, unit, outer })
        }
        _ => time(Kind::Range, Expr::Never),
    }
}

fn half_of(of: &[&Value], number: i64) -> Option<Value> {
    let outer = match of.first()? {
        Value::Unit(unit) if *unit >= Unit::Month => Rc::new(Expr::Cycle { unit: *unit, by: 0 }),
        value => expr(value)?,
    };
    time(Kind::Range, Expr::HalfOf { number, outer })
}

/// "A week on Friday", "two weeks tomorrow": whole weeks after a day that is named.
fn length_to_day(of: &[&Value]) -> Option<Value> {
    let length = of.iter().find_map(|value| length(value))?;
    let base = of.iter().find_map(|value| expr(value))?;
    let is_weeks = matches!(length.unit, Unit::Week | Unit::Fortnight) && !length.is_fuzzy;
    is_weeks.then_some(())?;
    match &*base {
        Expr::Cycle { unit: Unit::Day, by: 0 | 1 }
        | Expr::Cal(Cal { weekday: Some(_), day: None, month: None, .. }) => {
            time(Kind::Day, Expr::Shift { base, length, way: Direction::On })
        }
        _ => None,
    }
}

fn prime(of: &[&Value], unit: Unit) -> Option<Value> {
    let length = Length::of_quarters(number(of.first()?)? * 4, unit)?;
    time(Kind::Moment, Expr::Shift { base: Rc::new(Expr::Now), length, way: Direction::On })
}

fn select(of: &[&Value], which: Occurrence) -> Option<Value> {
    if let Some(day) = of.iter().find_map(|value| weekday(value)) {
        let item = Rc::new(Expr::Cal(Cal { weekday: Some(day), ..Cal::default() }));
        return time(Kind::Day, Expr::Select { which, item });
    }
    let value = of.iter().find(|value| kind(value).is_some())?;
    let item = expr(value)?;
    if let Expr::Part { day: Some(day), part, edge } = &*item {
        let day = Some(Rc::new(Expr::Select { which, item: Rc::clone(day) }));
        return time(Kind::DayPart, Expr::Part { day, part: *part, edge: *edge });
    }
    time(kind(value)?, Expr::Select { which, item })
}

fn of_year(of: &[&Value], unit: Unit, most: i64) -> Option<Value> {
    let number = of.iter().find_map(|value| ordinal(value).or_else(|| number(value)))?;
    (1..=most).contains(&number).then_some(())?;
    time(Kind::Period, Expr::OfYear { unit, number })
}

fn nth(of: &[&Value], sign: i64) -> Option<Value> {
    let number = of.iter().find_map(|value| ordinal(value).or_else(|| number(value)))?;
    let unit = of.iter().find_map(|value| unit(value))?;
    nth_of(sign * number, unit, of.iter().find_map(|value| expr(value))?)
}

fn nth_of(number: i64, unit: Unit, outer: Rc<Expr>) -> Option<Value> {
    (number != 0 && number.abs() <= 1000 && unit >= Unit::Day).then_some(())?;
    let kind = if unit == Unit::Day { Kind::Day } else { Kind::Period };
    time(kind, Expr::Nth { number, unit, outer })
}

fn nth_item(of: &[&Value], sign: i64) -> Option<Value> {
    let number = sign * of.iter().find_map(|value| ordinal(value).or_else(|| number(value)))?;
    let mut times = of.iter().filter(|value| kind(value).is_some());
    let (item, outer) = (times.next()?, times.next()?);
    // "4 January 2019" is no fourth January.
    let is_month = matches!(&*expr(item)?, Expr::Cal(Cal { month: Some(_), .. }) | Expr::OfYear { .. });
    (!is_month).then_some(())?;
    time(kind(item)?, Expr::NthItem { number, item: expr(item)?, outer: expr(outer)? })
}

fn edge(of: &[&Value], edge: Edge) -> Option<Value> {
    let value = of.first()?;
    match (kind(value)?, &*expr(value)?) {
        (Kind::DayPart | Kind::Part, Expr::Part { day, part, edge: None }) => {
            time(kind(value)?, Expr::Part { day: day.clone(), part: *part, edge: Some(edge) })
        }
        (Kind::Day, _) => time(Kind::DayPart, Expr::Edge { of: expr(value)?, edge }),
        (Kind::Period | Kind::Range, _) => time(Kind::Period, Expr::Edge { of: expr(value)?, edge }),
        _ => None,
    }
}

fn edge_of_unit(of: &[&Value], edge: Edge) -> Option<Value> {
    let unit = unit(of.first()?).filter(|unit| *unit >= Unit::Week)?;
    time(Kind::Period, Expr::Edge { of: Rc::new(Expr::Cycle { unit, by: 0 }), edge })
}

/// A spoken year of two digits: people speak of years that were more than of those to come.
fn near_year(year: i16) -> i16 {
    match full_year(year) {
        year @ 2050.. => year - 100,
        year => year,
    }
}

fn year_of(value: &Value) -> Option<i16> {
    match value {
        Value::Year(year) => Some(*year),
        value => i16::try_from(number(value)?).ok().filter(|year| (0..100).contains(year)).map(full_year),
    }
}

/// A day from numbers alone; `places` gives the arguments of the day, the month and, if there is one, the year.
fn numbered<const N: usize>(of: &[&Value], places: [usize; N]) -> Option<Value> {
    let small = |place: usize| {
        i8::try_from(of.get(*places.get(place)?).and_then(|value| number(value).or_else(|| ordinal(value)))?)
            .ok()
    };
    let (day, month) = (small(0)?, small(1).filter(|month| (1..=12).contains(month))?);
    let year = match places.get(2) {
        Some(place) => Some(year_of(of.get(*place)?)?),
        None => None,
    };
    (1..=31).contains(&day).then_some(())?;
    if day > longest(month, year) {
        return time(Kind::Day, Expr::Never);
    }
    time(Kind::Day, Expr::Cal(Cal { year, month: Some(month), day: Some(day), weekday: None }))
}

/// Puts month, day, year and weekday together, from wherever they come.
pub(super) fn dated(of: &[&Value], year: Option<i16>) -> Option<Value> {
    let cal = of.iter().try_fold(Cal { year, ..Cal::default() }, |cal, value| joined(cal, value))?;
    match (cal.month, cal.day) {
        (_, Some(day)) if !(1..=31).contains(&day) => None,
        (Some(month), Some(day)) if day > longest(month, cal.year) => time(Kind::Day, Expr::Never),
        (None, None) if cal.weekday.is_none() => time(Kind::Period, Expr::Cal(cal)),
        (None, _) if cal.year.is_some() => None,
        (Some(_), None) if cal.weekday.is_some() => None,
        (Some(_), None) => time(Kind::Period, Expr::Cal(cal)),
        _ => time(Kind::Day, Expr::Cal(cal)),
    }
}

fn joined(cal: Cal, value: &Value) -> Option<Cal> {
    let more = match value {
        Value::Month(month) => Cal { month: Some(*month), ..Cal::default() },
        Value::Weekday(weekday) => Cal { weekday: Some(*weekday), ..Cal::default() },
        Value::Year(year) => Cal { year: Some(*year), ..Cal::default() },
        Value::Number { value, is_fuzzy: false, .. } | Value::Ordinal(value) => {
            Cal { day: Some(i8::try_from(*value).ok()?), ..Cal::default() }
        }
        Value::LooseDay(cal) => *cal,
        Value::Time(_, expr) => match **expr {
            Expr::Cal(cal) => cal,
            Expr::Never => Cal { month: Some(2), day: Some(31), ..Cal::default() },
            _ => return None,
        },
        _ => return None,
    };
    Some(Cal {
        year: one(cal.year, more.year)?,
        month: one(cal.month, more.month)?,
        day: one(cal.day, more.day)?,
        weekday: one(cal.weekday, more.weekday)?,
    })
}

/// The one that is given; `None` if both are.
#[expect(clippy::option_option, reason = "the outer one says whether the parts fit")]
fn one<T>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(_), Some(_)) => None,
        (a, b) => Some(a.or(b)),
    }
}

/// The most days that a month has, in a leap year where the year is not given.
pub(super) fn longest(month: i8, year: Option<i16>) -> i8 {
    jiff::civil::Date::new(year.unwrap_or(2000), month, 1).map_or(31, jiff::civil::Date::days_in_month)
}

/// A time of day from a stated hour.
pub(super) fn hour(value: i64) -> Option<Clock> {
    let hour = i8::try_from(value).ok().filter(|hour| (0..=24).contains(hour))?;
    Some(Clock { hour, minute: None, second: None, is_open: (1..=12).contains(&hour) })
}
