//! Validity interval of a claim, from its extracted time.

use mnemal_core::{Act, Granularity, Predicate, When, WorldTime};
use mnemal_extract::predicate::{self, Cardinality};

/// Seconds in a day.
const DAY: i64 = 86_400;
/// The predicate of due dates. Source: `predicates.toml` of the extractor.
const DEADLINE: &str = "deadline";

/// Returns the start and the end of a claim's validity.
///
/// A time as long as its unit is a moment ("in March": since then), a longer one an interval ("from 2010 to 2015").
/// Lifelong facts and past events have no end; the time of a birthday or a deadline is its value, and a deadline is valid
/// until its time is over. A past statement with a time of a month or longer was valid within that time, and not before.
pub(crate) fn interval(
    predicate: &Predicate,
    act: Act,
    time: Option<When>,
) -> (Option<WorldTime>, Option<WorldTime>) {
    let Some(time) = time else { return (None, None) };
    let info = predicate::of(predicate.as_str());
    let cardinality = info.map(|info| info.cardinality);
    let is_value = info.is_some_and(|info| info.objects.iter().any(|object| object == "date"));
    let (start, end) = (time.start, time.end);
    let is_moment = start
        .zip(end)
        .is_some_and(|(start, end)| end.as_seconds() - start.as_seconds() <= seconds(time.grain) * 3 / 2);
    match (cardinality, act) {
        (Some(Cardinality::One), _) => (None, None),
        _ if predicate.as_str() == DEADLINE => {
            // "By Friday" names the day on which it falls due.
            (None, end.map(|end| if is_moment { end } else { end.after(Granularity::Day) }))
        }
        _ if is_value => (None, None),
        (Some(Cardinality::Event), _) => (start.or(end), None),
        (_, Act::Past | Act::Earlier) if is_moment && time.grain >= Granularity::Month => (start, end),
        (_, Act::End | Act::Past | Act::Earlier) if is_moment || end.is_none() => (None, start),
        (_, Act::End | Act::Past | Act::Earlier) => (start, end),
        _ if is_moment => (start, None),
        _ => (start, end),
    }
}

/// Returns the approximate length of a unit, in seconds.
pub(crate) fn seconds(grain: Granularity) -> i64 {
    match grain {
        Granularity::Second | Granularity::Minute => 60,
        Granularity::Hour => DAY / 2,
        Granularity::Day => DAY,
        Granularity::Week => 7 * DAY,
        Granularity::Month => 31 * DAY,
        Granularity::Quarter | Granularity::Season => 92 * DAY,
        Granularity::Year => 366 * DAY,
        Granularity::Decade => 3_653 * DAY,
        Granularity::Century => 36_525 * DAY,
    }
}
