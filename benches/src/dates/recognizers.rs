//! Cases with any number of dates, each with one or more readings, and the grain in the form of its TIMEX value.

use anyhow::{Context, Result};
use mnemal_core::{Grain, Timestamp, Zone};
use serde_json::Value;

use super::civil::{seconds, time_of_day};
use super::{Case, DateSet, Wanted};

/// What these references mean where words leave it open.
const CUSTOMS: &str = include_str!("recognizers.toml");
/// Where a case gives no moment, any will do: 2020-01-01.
const ANY_MOMENT: &str = "2020-01-01";

/// Turns rows into cases.
///
/// # Errors
/// A row without its fields.
pub fn read(rows: &[Value]) -> Result<DateSet> {
    let cases =
        rows.iter().map(|row| case(row).with_context(|| format!("a case that cannot be read: {row}")));
    Ok(DateSet { cases: cases.collect::<Result<_>>()?, main: "single", customs: CUSTOMS })
}

fn case(row: &Value) -> Option<Case> {
    let moment = row.get("ref").and_then(Value::as_str);
    let (at, _) = seconds(moment.unwrap_or(ANY_MOMENT))?;
    let results = row.get("results")?.as_array()?;
    let dates = results.iter().map(readings).collect::<Option<Vec<_>>>()?;
    Some(Case {
        id: row.get("id")?.as_str()?.to_owned(),
        input: row.get("input")?.as_str()?.to_owned(),
        at: Timestamp::from_micros(at.checked_mul(1_000_000)?).ok()?,
        zone: Zone::utc(),
        group: if moment.is_none() && !results.is_empty() { "without_anchor" } else { group(results) },
        dates,
    })
}

/// Recurring sets, zones, and cases with several readings of a date are counted apart.
fn group(results: &[Value]) -> &'static str {
    let is_kind = |result: &Value, kind: &str| result.get("type").and_then(Value::as_str) == Some(kind);
    let values = |result: &Value| result.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    let has_zone = |result: &Value| values(result).iter().any(|value| value.get("timezone").is_some());
    if results.iter().any(|result| is_kind(result, "datetimeV2.set")) {
        "recurring"
    } else if results.iter().any(|result| is_kind(result, "datetimeV2.timezone") || has_zone(result)) {
        "zones"
    } else if results.iter().any(|result| values(result).len() > 1) {
        "several"
    } else if results.is_empty() {
        "nothing"
    } else {
        "single"
    }
}

fn readings(result: &Value) -> Option<Vec<Wanted>> {
    let kind = result.get("type")?.as_str()?.strip_prefix("datetimeV2.")?;
    let values = result.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    if values.is_empty() {
        return Some(vec![Wanted::Unresolved]);
    }
    Some(values.iter().map(|value| reading(kind, value).unwrap_or(Wanted::Unresolved)).collect())
}

fn reading(kind: &str, value: &Value) -> Option<Wanted> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or(kind);
    let point = text("value");
    // A value that is one point is one, whatever it is called.
    let kind = if point.is_some() { kind.strip_suffix("range").unwrap_or(kind) } else { kind };
    let timex = text("timex").unwrap_or_default();
    let offset = text("utcOffsetMins").and_then(|minutes| minutes.parse::<i64>().ok()).unwrap_or(0) * 60;
    match kind {
        "set" => return Some(Wanted::Recurring),
        "duration" => return point?.parse().ok().map(Wanted::Length),
        _ if point == Some("not resolved") || offset == -600_000 => return Some(Wanted::Unresolved),
        _ => {}
    }
    let grains = grains(timex, kind, value);
    // The last second of a night stands for its end.
    let end_of = |at: i64| if timex.contains("TNI") && at % 60 == 59 { at + 1 } else { at };
    let moment = |text: &str| seconds(text).map(|(at, _)| end_of(at) - offset);
    let of_day = |text: &str| time_of_day(text).map(|at| (end_of(at) - offset).rem_euclid(86_400));
    match kind {
        "time" => Some(Wanted::TimeOfDay { start: of_day(point?), end: None, is_span: false, grains }),
        "timerange" => Some(Wanted::TimeOfDay {
            start: text("start").and_then(of_day),
            end: text("end").and_then(of_day),
            is_span: true,
            grains,
        }),
        "date" | "datetime" => {
            let start = moment(point?)?;
            let length = if kind == "date" { 86_400 } else { length(&grains) };
            let readings = Wanted::Span { start: Some(start), end: Some(start + length), grains };
            Some(readings)
        }
        "daterange" | "datetimerange" => Some(Wanted::Span {
            start: text("start").and_then(moment),
            end: text("end").and_then(moment),
            grains,
        }),
        _ => None,
    }
}

/// Seconds of the coarsest of the clock's grains.
fn length(grains: &[Grain]) -> i64 {
    match grains.iter().max() {
        Some(Grain::Second) => 1,
        Some(Grain::Minute) => 60,
        _ => 3600,
    }
}

/// The grains that a TIMEX value allows; a part of a unit may also count in the next finer one.
fn grains(timex: &str, kind: &str, value: &Value) -> Vec<Grain> {
    let mut grains = match timex.strip_prefix('(') {
        Some(range) => of_duration(range.trim_end_matches(')').rsplit(',').next().unwrap_or_default(), range),
        None => of_value(timex),
    };
    let is_range = kind == "daterange" || kind == "datetimerange";
    if is_range && grains == [Grain::Day] && kind == "daterange" {
        grains.push(Grain::Week);
    }
    let is_closed = value.get("start").is_some() && value.get("end").is_some();
    if value.get("Mod").is_some() || is_range && is_closed && !timex.starts_with('(') {
        let finer = grains.iter().filter_map(|grain| match grain {
            Grain::Year => Some(Grain::Month),
            Grain::Month | Grain::Week => Some(Grain::Day),
            Grain::Day => Some(Grain::Hour),
            _ => None,
        });
        let finer: Vec<Grain> = finer.collect();
        grains.extend(finer);
    }
    grains
}

fn of_value(timex: &str) -> Vec<Grain> {
    if timex == "PRESENT_REF" {
        return vec![Grain::Second];
    }
    if let Some((_, clock)) = timex.split_once('T') {
        return match clock.matches(':').count() {
            0 => vec![Grain::Hour],
            1 => vec![Grain::Minute],
            _ => vec![Grain::Second],
        };
    }
    match timex.split_once('W') {
        Some((_, week)) if week.ends_with("-WE") => vec![Grain::Week, Grain::Day],
        Some((_, week)) if week.contains('-') => vec![Grain::Day],
        Some(_) => vec![Grain::Week],
        None => match timex.matches('-').count() {
            0 => vec![Grain::Year],
            1 => vec![Grain::Month],
            _ => vec![Grain::Day],
        },
    }
}

fn of_duration(duration: &str, range: &str) -> Vec<Grain> {
    let has_seconds = range.split(',').next().is_some_and(|start| start.matches(':').count() == 2);
    match (duration.contains('T'), duration.chars().next_back()) {
        (true, _) if has_seconds => vec![Grain::Second, Grain::Minute, Grain::Hour],
        (true, Some('H')) => vec![Grain::Hour, Grain::Minute],
        (true, Some('M')) => vec![Grain::Minute],
        (true, _) => vec![Grain::Second],
        (false, Some('W' | 'E')) => vec![Grain::Week],
        (false, Some('M')) => vec![Grain::Month, Grain::Quarter],
        (false, Some('Y')) => vec![Grain::Year, Grain::Decade, Grain::Century],
        _ => vec![Grain::Day],
    }
}
