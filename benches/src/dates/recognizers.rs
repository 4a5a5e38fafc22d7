//! Cases with any number of dates, each with one or more readings, and the grain in the form of its TIMEX value.

use anyhow::{Context, Result};
use mnemal_core::{Granularity, Timestamp, Zone};
use serde_json::Value;

use super::civil::{seconds, time_of_day};
use super::{Case, DateReading, DateSet};

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
    let results = match row.get("results")? {
        Value::Null => &Vec::new(),
        results => results.as_array()?,
    };
    let dates = results.iter().map(readings).collect();
    Some(Case {
        id: row.get("id")?.as_str()?.to_owned(),
        input: row.get("input")?.as_str()?.to_owned(),
        at: Timestamp::from_micros(at.checked_mul(1_000_000)?).ok()?,
        zone: Zone::utc(),
        group: match group(results) {
            "untyped" => "untyped",
            group if moment.is_none() && group != "nothing" => "without_anchor",
            group => group,
        },
        dates,
    })
}

/// Recurring sets, zones, cases with several readings of a date, and those of which the reference does not say what a date is
/// are counted apart.
fn group(results: &[Value]) -> &'static str {
    let is_kind = |result: &Value, kind: &str| result.get("type").and_then(Value::as_str) == Some(kind);
    let values = |result: &Value| result.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    let has_zone = |result: &Value| values(result).iter().any(|value| value.get("timezone").is_some());
    if results.iter().any(|result| result.get("type").is_none_or(Value::is_null)) {
        "untyped"
    } else if results.iter().any(|result| is_kind(result, "datetimeV2.set")) {
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

/// What the reference says of a date: a date without a value is one that cannot be resolved, whatever its type.
fn readings(result: &Value) -> Vec<DateReading> {
    let kind = result.get("type").and_then(Value::as_str);
    let kind = kind.map(|kind| kind.strip_prefix("datetimeV2.").unwrap_or(kind));
    let values = result.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    if values.is_empty() {
        return vec![DateReading::Unresolved];
    }
    values.iter().map(|value| reading(kind, value).unwrap_or(DateReading::Unresolved)).collect()
}

/// The type that a value without one has by its form.
fn type_of(value: &Value) -> Option<&'static str> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let of_length = text("timex").is_some_and(|timex| timex.starts_with('P') && timex != "PRESENT_REF");
    let (written, is_range) = match text("value") {
        Some(point) => (point, false),
        None => (text("start").or(text("end"))?, true),
    };
    match (written.contains('-'), written.contains(':')) {
        (false, false) if of_length && !is_range => Some("duration"),
        (true, true) => Some(if is_range { "datetimerange" } else { "datetime" }),
        (true, false) => Some(if is_range { "daterange" } else { "date" }),
        (false, true) => Some(if is_range { "timerange" } else { "time" }),
        (false, false) => None,
    }
}

fn reading(kind: Option<&str>, value: &Value) -> Option<DateReading> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let kind = text("type").or(kind).or_else(|| type_of(value))?;
    let point = text("value");
    // A value that is one point is one, whatever it is called.
    let kind = if point.is_some() { kind.strip_suffix("range").unwrap_or(kind) } else { kind };
    let timex = text("timex").unwrap_or_default();
    let offset = text("utcOffsetMins").and_then(|minutes| minutes.parse::<i64>().ok()).unwrap_or(0) * 60;
    match kind {
        "set" => return Some(DateReading::Recurring),
        "duration" => return point?.parse().ok().map(DateReading::Length),
        _ if point == Some("not resolved") || offset == -600_000 => return Some(DateReading::Unresolved),
        _ => {}
    }
    let grains = grains(timex, kind, value);
    // The last second of a night stands for its end.
    let end_of = |at: i64| if timex.contains("TNI") && at % 60 == 59 { at + 1 } else { at };
    let moment = |text: &str| seconds(text).map(|(at, _)| end_of(at) - offset);
    let of_day = |text: &str| time_of_day(text).map(|at| (end_of(at) - offset).rem_euclid(86_400));
    match kind {
        "time" => Some(DateReading::TimeOfDay { start: of_day(point?), end: None, is_span: false, grains }),
        "timerange" => Some(DateReading::TimeOfDay {
            start: text("start").and_then(of_day),
            end: text("end").and_then(of_day),
            is_span: true,
            grains,
        }),
        "date" | "datetime" => {
            let start = moment(point?)?;
            let length = if kind == "date" { 86_400 } else { length(&grains) };
            let readings = DateReading::Span { start: Some(start), end: Some(start + length), grains };
            Some(readings)
        }
        "daterange" | "datetimerange" => Some(DateReading::Span {
            start: text("start").and_then(moment),
            end: text("end").and_then(moment),
            grains,
        }),
        _ => None,
    }
}

/// Seconds of the coarsest of the clock's grains.
fn length(grains: &[Granularity]) -> i64 {
    match grains.iter().max() {
        Some(Granularity::Second) => 1,
        Some(Granularity::Minute) => 60,
        _ => 3600,
    }
}

/// The grains that a TIMEX value allows; a part of a unit may also count in the next finer one.
fn grains(timex: &str, kind: &str, value: &Value) -> Vec<Granularity> {
    let mut grains = match timex.strip_prefix('(') {
        Some(range) => of_duration(range.trim_end_matches(')').rsplit(',').next().unwrap_or_default(), range),
        None => of_value(timex),
    };
    let is_range = kind == "daterange" || kind == "datetimerange";
    if is_range && grains == [Granularity::Day] && kind == "daterange" {
        grains.push(Granularity::Week);
    }
    let is_closed = value.get("start").is_some() && value.get("end").is_some();
    if value.get("Mod").is_some() || is_range && is_closed && !timex.starts_with('(') {
        let finer = grains.iter().filter_map(|grain| match grain {
            Granularity::Year => Some(Granularity::Month),
            Granularity::Month | Granularity::Week => Some(Granularity::Day),
            Granularity::Day => Some(Granularity::Hour),
            _ => None,
        });
        let finer: Vec<Granularity> = finer.collect();
        grains.extend(finer);
    }
    grains
}

fn of_value(timex: &str) -> Vec<Granularity> {
    if timex == "PRESENT_REF" {
        return vec![Granularity::Second];
    }
    if let Some((_, clock)) = timex.split_once('T') {
        return match clock.matches(':').count() {
            0 => vec![Granularity::Hour],
            1 => vec![Granularity::Minute],
            _ => vec![Granularity::Second],
        };
    }
    match timex.split_once('W') {
        Some((_, week)) if week.ends_with("-WE") => vec![Granularity::Week, Granularity::Day],
        Some((_, week)) if week.contains('-') => vec![Granularity::Day],
        Some(_) => vec![Granularity::Week],
        None => match timex.matches('-').count() {
            0 => vec![Granularity::Year],
            1 => vec![Granularity::Month],
            _ => vec![Granularity::Day],
        },
    }
}

fn of_duration(duration: &str, range: &str) -> Vec<Granularity> {
    let has_seconds = range.split(',').next().is_some_and(|start| start.matches(':').count() == 2);
    match (duration.contains('T'), duration.chars().next_back()) {
        (true, _) if has_seconds => vec![Granularity::Second, Granularity::Minute, Granularity::Hour],
        (true, Some('H')) => vec![Granularity::Hour, Granularity::Minute],
        (true, Some('M')) => vec![Granularity::Minute],
        (true, _) => vec![Granularity::Second],
        (false, Some('W' | 'E')) => vec![Granularity::Week],
        (false, Some('M')) => vec![Granularity::Month, Granularity::Quarter],
        (false, Some('Y')) => vec![Granularity::Year, Granularity::Decade, Granularity::Century],
        _ => vec![Granularity::Day],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case_of(results: &Value) -> Case {
        let row = json!({"id": "one", "input": "tomorrow", "ref": "2020-01-01T00:00:00", "results": results});
        read(&[row]).unwrap().cases.remove(0)
    }

    #[test]
    fn a_date_without_a_type_is_what_its_values_are_and_counts_apart() {
        let typed =
            |kind: Value, values: Value| json!([{"text": "tomorrow", "type": kind, "values": values}]);
        let date = json!([{"timex": "2020-01-02", "type": "date", "value": "2020-01-02"}]);
        let known = case_of(&typed(json!("datetimeV2.date"), date.clone()));
        let told = case_of(&typed(Value::Null, date));
        let formed = case_of(&typed(Value::Null, json!([{"timex": "2020-01-02", "value": "2020-01-02"}])));
        assert_eq!((known.group, told.group, formed.group), ("single", "untyped", "untyped"));
        let dates = [&known, &told, &formed].map(|case| format!("{:?}", case.dates));
        assert_eq!(dates[0], dates[1]);
        assert_eq!(dates[0], dates[2]);
        for values in [Value::Null, json!([]), json!([{"timex": ""}])] {
            let nothing = case_of(&typed(Value::Null, values)).dates;
            assert!(matches!(nothing[0][..], [DateReading::Unresolved]), "{nothing:?}");
        }
        let none = case_of(&Value::Null);
        assert_eq!((none.group, none.dates.len()), ("nothing", 0));
    }

    #[test]
    fn a_value_without_a_type_has_one_by_its_form() {
        let forms = [
            (json!({"value": "2020-01-02"}), Some("date")),
            (json!({"value": "2020-01-02 08:00:00"}), Some("datetime")),
            (json!({"value": "08:00:00"}), Some("time")),
            (json!({"start": "2020-01-02", "end": "2020-01-05"}), Some("daterange")),
            (json!({"end": "2020-01-02 08:00:00"}), Some("datetimerange")),
            (json!({"start": "08:00:00"}), Some("timerange")),
            (json!({"timex": "PT30M", "value": "1800"}), Some("duration")),
            (json!({"value": "not resolved"}), None),
            (json!({"timex": "P1D"}), None),
        ];
        for (value, kind) in forms {
            assert_eq!(type_of(&value), kind, "{value}");
        }
    }
}
