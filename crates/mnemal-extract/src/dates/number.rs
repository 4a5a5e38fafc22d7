//! Numerals: numbers, ordinals, years, dates and times of day that are written in digits.

use std::rc::Rc;

use super::chart::Run;
use super::customs::Order;
use super::expr::{Cal, Clock, Expr, Kind, Value};
use super::make_clock::{clock_of, evening, morning};
use super::pack::Pack;

/// Every value that digits at a place can have, with the place after it.
pub(super) fn numerals(run: Run<'_>, place: usize, pack: &Pack) -> Vec<(usize, Value)> {
    if !run.is_digits(place) {
        return Vec::new();
    }
    let mut found = Vec::new();
    plain(run, place, pack, &mut found);
    dates(run, place, pack, &mut found);
    clocks(run, place, pack, &mut found);
    halves(run, place, pack, &mut found);
    found
}

/// Digits as a number, if there are no more than `longest` of them.
fn digits(run: Run<'_>, place: usize, longest: usize) -> Option<i16> {
    let word = run.word(place);
    (run.is_digits(place) && word.len() <= longest).then(|| word.parse().ok()).flatten()
}

fn plain(run: Run<'_>, place: usize, pack: &Pack, found: &mut Vec<(usize, Value)>) {
    let Some(value) = digits(run, place, 4) else {
        if let Some(cal) = run_together(run.word(place)) {
            found.push((place + 1, time(Kind::Day, Expr::Cal(cal))));
        }
        return;
    };
    found.push((place + 1, Value::Number { value: value.into(), is_word: false, is_fuzzy: false }));
    if run.word(place).len() == 4 && (1000..=2999).contains(&value) {
        found.push((place + 1, Value::Year(value)));
    }
    if run.touches(place + 1) && pack.suffixes.iter().any(|suffix| suffix == run.word(place + 1)) {
        found.push((place + 2, Value::Ordinal(value.into())));
    }
    if let Some(under) = joined(run, place, "/").and_then(|at| digits(run, at, 1)) {
        let quarters = i64::from(value) * 4 / i64::from(under.max(1));
        if matches!(under, 2 | 4) && value < under {
            found.push((place + 3, Value::Quarters(quarters)));
        }
    }
    if let Some(at) = joined(run, place, ".") {
        let part = match run.word(at) {
            "25" => Some(1),
            "5" | "50" => Some(2),
            "75" => Some(3),
            _ => None,
        };
        found.extend(part.map(|part| (at + 1, Value::Quarters(i64::from(value) * 4 + part))));
    }
}

/// Returns the place behind a sign that touches the numbers before and after it.
fn joined(run: Run<'_>, place: usize, sign: &str) -> Option<usize> {
    let joins = run.word(place + 1) == sign && run.touches(place + 1) && run.touches(place + 2);
    joins.then_some(place + 2)
}

/// 20240305 is a day.
fn run_together(word: &str) -> Option<Cal> {
    let (year, rest) = (word.get(..4)?, word.get(4..)?);
    if rest.len() != 4 || !(year.starts_with("19") || year.starts_with("20")) {
        return None;
    }
    day_of(year.parse().ok(), rest.get(..2)?.parse().ok()?, rest.get(2..)?.parse().ok()?)
}

fn day_of(year: Option<i16>, month: i16, day: i16) -> Option<Cal> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day);
    fits.then_some(Cal { year, month: Some(month), day: Some(day), weekday: None })
}

/// A year of two digits lies in 1970 to 2069.
pub(super) fn full_year(year: i16) -> i16 {
    match year {
        0..=69 => 2000 + year,
        70..=99 => 1900 + year,
        _ => year,
    }
}

fn time(kind: Kind, expr: Expr) -> Value {
    Value::Time(kind, Rc::new(expr))
}

fn dates(run: Run<'_>, place: usize, pack: &Pack, found: &mut Vec<(usize, Value)>) {
    for sign in ["-", "/", "."] {
        let Some(second) = joined(run, place, sign) else { continue };
        match joined(run, second, sign).filter(|third| run.is_digits(*third)) {
            Some(third) => {
                let Some(cal) = three(run, [place, second, third], pack.customs.order) else { continue };
                found.push((third + 1, time(Kind::Day, cal.map_or(Expr::Never, Expr::Cal))));
            }
            None => two(run, [place, second], sign, pack.customs.order, found),
        }
    }
    // "2016 10 16": only with a year of four digits in front.
    let is_spaced =
        run.word(place).len() == 4 && run.word(place + 1).len() == 2 && run.word(place + 2).len() == 2;
    if is_spaced && run.is_digits(place + 1) && run.is_digits(place + 2) {
        let cal = digits(run, place, 4)
            .filter(|year| (1900..2100).contains(year))
            .and_then(|year| day_of(Some(year), digits(run, place + 1, 2)?, digits(run, place + 2, 2)?));
        found.extend(cal.map(|cal| (place + 3, time(Kind::Day, Expr::Cal(cal)))));
    }
}

/// Three numbers: `None` for no date at all, `Some(None)` for a date that cannot be.
#[expect(clippy::option_option, reason = "what looks like a date may be none that a calendar has")]
fn three(run: Run<'_>, places: [usize; 3], order: Order) -> Option<Option<Cal>> {
    let [first, second, third] = places;
    let (a, b, c) = (digits(run, first, 4)?, digits(run, second, 2)?, digits(run, third, 4)?);
    match (run.word(first).len(), run.word(third).len()) {
        (4, 1 | 2) if a >= 1000 => Some(day_of(Some(a), b, c)),
        (1 | 2, 2 | 4) => {
            let year =
                if run.word(third).len() == 4 { Some(c).filter(|year| *year >= 1000)? } else { full_year(c) };
            let (month, day) = month_and_day(a, b, order)?;
            Some(day_of(Some(year), month, day))
        }
        _ => None,
    }
}

/// Which of two numbers is the month; one above 12 decides, then the custom of the language.
fn month_and_day(a: i16, b: i16, order: Order) -> Option<(i16, i16)> {
    match (a > 12, b > 12, order) {
        (true, true, _) => None,
        (true, false, _) | (false, false, Order::DayFirst) => Some((b, a)),
        (false, true, _) | (false, false, Order::MonthFirst) => Some((a, b)),
        (false, false, Order::Unknown) => (a == b).then_some((a, b)),
    }
}

fn two(run: Run<'_>, places: [usize; 2], sign: &str, order: Order, found: &mut Vec<(usize, Value)>) {
    let [first, second] = places;
    let (Some(a), Some(b)) = (digits(run, first, 4), digits(run, second, 4)) else { return };
    let lengths = (run.word(first).len(), run.word(second).len());
    let month = |year: i16, month: i16| {
        let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        Some(Expr::Cal(Cal { year: Some(year), month: Some(month), ..Cal::default() }))
    };
    let period = match lengths {
        (4, 2) if sign != "." && (1000..3000).contains(&a) => month(a, b),
        (1 | 2, 4) if (1000..3000).contains(&b) => month(b, a),
        _ => None,
    };
    found.extend(period.map(|expr| (second + 1, time(Kind::Period, expr))));
    if lengths.0 > 2 || lengths.1 > 2 || (a, b) == (24, 7) {
        return;
    }
    let Some(cal) = month_and_day(a, b, order).and_then(|(month, day)| day_of(None, month, day)) else {
        return;
    };
    match sign {
        "/" => found.push((second + 1, time(Kind::Day, Expr::Cal(cal)))),
        "." => found.push((second + 1, Value::LooseDay(cal))),
        _ => {}
    }
}

fn clocks(run: Run<'_>, place: usize, pack: &Pack, found: &mut Vec<(usize, Value)>) {
    let word = run.word(place);
    if let (3 | 4, Some(value)) = (word.len(), digits(run, place, 4)) {
        found.extend(clock(value / 100, Some(value % 100), None).map(|at| (place + 1, Value::Loose(at))));
    }
    let Some(hour) = digits(run, place, 2) else { return };
    let minute_at = |sign| joined(run, place, sign).filter(|at| run.word(*at).len() == 2);
    if let Some(at) = minute_at(":") {
        let minute = digits(run, at, 2);
        found.extend(exact(run, place, minute, None).map(|value| (at + 1, value)));
        let second = joined(run, at, ":").filter(|at| run.word(*at).len() == 2);
        if let Some(at) = second {
            found.extend(exact(run, place, minute, digits(run, at, 2)).map(|value| (at + 1, value)));
        }
    }
    if let Some(at) = minute_at(".") {
        found.extend(clock(hour, digits(run, at, 2), None).map(|clock| (at + 1, Value::Loose(clock))));
    }
    if run.word(place + 1) == "h" && run.touches(place + 1) {
        let minute =
            digits(run, place + 2, 2).filter(|_| run.touches(place + 2) && run.word(place + 2).len() == 2);
        let end = if minute.is_some() { place + 3 } else { place + 2 };
        let bare = (!pack.customs.is("bare_hours")).then_some(0);
        let clock = clock(hour, minute.or(bare), None).map(|clock| Clock { is_open: false, ..clock });
        found.extend(clock.map(|clock| (end, time(Kind::Clock, Expr::Clock(clock)))));
    }
}

/// "9a", "9:30p": a letter that touches the time of day.
fn halves(run: Run<'_>, place: usize, pack: &Pack, found: &mut Vec<(usize, Value)>) {
    let [am, pm] = &pack.halves;
    let mut more = Vec::new();
    for (end, value) in found.iter() {
        let letter = run.word(*end);
        if !run.touches(*end) || letter.is_empty() {
            continue;
        }
        if matches!(value, Value::Loose(_)) && run.word(place).len() > 2 {
            continue;
        }
        let Some(clock) = clock_of(value) else { continue };
        let made = match (am.iter().any(|word| word == letter), pm.iter().any(|word| word == letter)) {
            (true, _) => morning(clock),
            (_, true) => evening(clock),
            _ => None,
        };
        let stop = run.word(end + 1) == "." && run.touches(end + 1) && run.word(end + 2).is_empty();
        more.extend(made.map(|clock| (end + 1 + usize::from(stop), time(Kind::Clock, Expr::Clock(clock)))));
    }
    found.extend(more);
}

fn exact(run: Run<'_>, place: usize, minute: Option<i16>, second: Option<i16>) -> Option<Value> {
    let clock = clock(digits(run, place, 2)?, minute, second)?;
    Some(time(Kind::Clock, Expr::Clock(clock)))
}

/// Checks a time of day; up to 12 o'clock it may be in either half of the day.
fn clock(hour: i16, minute: Option<i16>, second: Option<i16>) -> Option<Clock> {
    let minute = minute.map(i8::try_from).transpose().ok()?;
    let second = second.map(i8::try_from).transpose().ok()?;
    let hour = i8::try_from(hour).ok()?;
    let fits = (0..=24).contains(&hour)
        && minute.is_none_or(|minute| (0..60).contains(&minute))
        && second.is_none_or(|second| (0..60).contains(&second));
    fits.then_some(Clock { hour, minute, second, is_open: (1..=12).contains(&hour) })
}
