//! Cases with one value and a grain; holidays are counted apart.

use anyhow::{Context, Result};
use mnemal_core::{Granularity, Timestamp, Zone};
use serde_json::Value;

use super::civil::{day_of, days, seconds};
use super::{Case, DateReading, DateSet};

/// What these references mean where words leave it open.
const CUSTOMS: &str = include_str!("duckling.toml");

/// Turns rows into cases.
///
/// # Errors
/// A row without its fields.
pub fn read(rows: &[Value]) -> Result<DateSet> {
    let cases =
        rows.iter().map(|row| case(row).with_context(|| format!("a case that cannot be read: {row}")));
    Ok(DateSet { cases: cases.collect::<Result<_>>()?, main: "dates", customs: CUSTOMS })
}

fn case(row: &Value) -> Option<Case> {
    let text = |key: &str| row.get(key)?.as_str();
    let (at, offset) = seconds(text("ref")?)?;
    // A value without an offset is a time on the clock of the reference's place.
    let moment = |text: &str| {
        let (at, own) = seconds(text)?;
        let has_offset = own != 0 || text.ends_with("+00:00") || text.ends_with('Z');
        Some(if has_offset { at } else { at - offset })
    };
    let (kind, grain) = (text("kind")?, grain(text("grain")?)?);
    let value = moment(text("value")?)?;
    let wanted = match text("end") {
        _ if kind == "datetimeOpenInterval" => DateReading::OneEnd(value, grain),
        Some(end) => DateReading::Span { start: Some(value), end: Some(moment(end)?), grains: vec![grain] },
        None => DateReading::Span {
            start: Some(value),
            end: Some(after(value + offset, grain) - offset),
            grains: vec![grain],
        },
    };
    let name = String::new();
    Some(Case {
        id: text("id")?.to_owned(),
        input: text("input")?.to_owned(),
        at: Timestamp::from_micros(at.checked_mul(1_000_000)?).ok()?,
        zone: Zone { name, offset_seconds: i32::try_from(offset).ok()? },
        group: if kind.contains("Holiday") { "holidays" } else { "dates" },
        dates: vec![vec![wanted]],
    })
}

fn grain(name: &str) -> Option<Granularity> {
    Some(match name {
        "second" => Granularity::Second,
        "minute" => Granularity::Minute,
        "hour" => Granularity::Hour,
        "day" => Granularity::Day,
        "week" => Granularity::Week,
        "month" => Granularity::Month,
        "quarter" => Granularity::Quarter,
        "year" => Granularity::Year,
        _ => return None,
    })
}

/// The end of a unit that begins at a civil moment.
fn after(start: i64, grain: Granularity) -> i64 {
    let months = match grain {
        Granularity::Second => return start + 1,
        Granularity::Minute => return start + 60,
        Granularity::Hour => return start + 3600,
        Granularity::Day => return start + 86_400,
        Granularity::Week => return start + 7 * 86_400,
        Granularity::Month => 1,
        Granularity::Quarter => 3,
        _ => 12,
    };
    let (year, month, day) = day_of(start);
    let month = month - 1 + months;
    days(year + month / 12, month % 12 + 1, day) * 86_400
}
