//! Cases with one value and a grain; holidays are counted apart.

use anyhow::{Context, Result};
use mnemal_core::{Grain, Timestamp, Zone};
use serde_json::Value;

use super::civil::{day_of, days, seconds};
use super::{Case, DateSet, Wanted};

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
        _ if kind == "datetimeOpenInterval" => Wanted::OneEnd(value, grain),
        Some(end) => Wanted::Span { start: Some(value), end: Some(moment(end)?), grains: vec![grain] },
        None => Wanted::Span {
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

fn grain(name: &str) -> Option<Grain> {
    Some(match name {
        "second" => Grain::Second,
        "minute" => Grain::Minute,
        "hour" => Grain::Hour,
        "day" => Grain::Day,
        "week" => Grain::Week,
        "month" => Grain::Month,
        "quarter" => Grain::Quarter,
        "year" => Grain::Year,
        _ => return None,
    })
}

/// The end of a unit that begins at a civil moment.
fn after(start: i64, grain: Grain) -> i64 {
    let months = match grain {
        Grain::Second => return start + 1,
        Grain::Minute => return start + 60,
        Grain::Hour => return start + 3600,
        Grain::Day => return start + 86_400,
        Grain::Week => return start + 7 * 86_400,
        Grain::Month => 1,
        Grain::Quarter => 3,
        _ => 12,
    };
    let (year, month, day) = day_of(start);
    let month = month - 1 + months;
    days(year + month / 12, month % 12 + 1, day) * 86_400
}
