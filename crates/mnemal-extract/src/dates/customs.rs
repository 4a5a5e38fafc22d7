//! Defaults of a language community, or of the caller, for ambiguous times: afternoon hours, ends of ranges, the first days of
//! a month.

use mnemal_core::{Error, Result};

use super::expr::Unit;
use super::interval::{Granularity, GranularityExt as _};
use crate::section::Section;

/// Which of two numbers with a slash is the month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// Unknown; only a number above 12 decides.
    #[default]
    Unknown,
    MonthFirst,
    DayFirst,
}

/// Choices of a pack; see the `customs` of a pack for the meaning of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Customs {
    pub(super) order: Order,
    /// First and last minute of each part of the day, the last excluded; it may lie after midnight.
    pub(super) parts: Vec<(i32, i32)>,
    flags: Vec<String>,
    offsets: Vec<(Unit, Granularity)>,
    /// Beginning, middle and end of a year in months, of a month in days, of a week in days.
    pub(super) year: [(i64, i64); 3],
    pub(super) this_year: [(i64, i64); 3],
    pub(super) month: [(i64, i64); 3],
    pub(super) week: [(i64, i64); 3],
    /// Hours from Monday on, first and last.
    pub(super) weekend: (i64, i64),
    /// First day and first day after, as month and day, from spring on.
    pub(super) seasons: [[i8; 4]; 4],
}

/// Customs that are on or off.
const FLAGS: [&str; 15] = [
    "bare_hours",
    "seasons_are_days",
    "this_weekday_coming",
    "last_weekday_of_week",
    "day_ranges_exclude",
    "clock_ranges_include",
    "lengths_include",
    "weeks_full",
    "counts_rolling",
    "upcoming_nth",
    "after_day_begins",
    "by_from_now",
    "edges_are_points",
    "zone_is_exact",
    "through_begins",
];

impl Customs {
    pub(super) fn parse(section: Option<Section<'_>>, parts: &[String]) -> Result<Self> {
        let mut customs = Self { parts: vec![(0, 0); parts.len()], ..Self::default() };
        if let Some(section) = section {
            customs.change(section, parts)?;
        }
        Ok(customs)
    }

    /// Applies the keys of a section, and leaves the rest.
    pub(super) fn change(&mut self, section: Section<'_>, parts: &[String]) -> Result<()> {
        match section.text("numeric_order")? {
            None => {}
            Some("month first") => self.order = Order::MonthFirst,
            Some("day first") => self.order = Order::DayFirst,
            Some("unknown") => self.order = Order::Unknown,
            Some(_) => return Err(wrong("numeric_order")),
        }
        if let Some(hours) = section.section("parts")? {
            for name in hours.keys() {
                let at = parts.iter().position(|part| part == name).ok_or_else(|| wrong(name))?;
                let span = hours.text(name)?.and_then(minutes).ok_or_else(|| wrong(name))?;
                if let Some(part) = self.parts.get_mut(at) {
                    *part = span;
                }
            }
        }
        for (name, place) in [
            ("year", &mut self.year),
            ("this_year", &mut self.this_year),
            ("month", &mut self.month),
            ("week", &mut self.week),
        ] {
            if let Some(text) = section.text(name)? {
                *place = thirds(text).ok_or_else(|| wrong(name))?;
            }
        }
        if let Some(text) = section.text("weekend")? {
            self.weekend = span(text).ok_or_else(|| wrong("weekend"))?;
        }
        if let Some(lines) = section.section("seasons")? {
            for (name, place) in ["spring", "summer", "autumn", "winter"].iter().zip(&mut self.seasons) {
                if let Some(text) = lines.text(name)? {
                    *place = season(text).ok_or_else(|| wrong(name))?;
                }
            }
        }
        if let Some(grains) = section.section("offsets")? {
            for name in grains.keys() {
                let grain = grains.text(name)?.and_then(Granularity::of_name);
                let (unit, grain) = Unit::from_name(name).zip(grain).ok_or_else(|| wrong(name))?;
                self.offsets.retain(|(known, _)| *known != unit);
                self.offsets.push((unit, grain));
            }
        }
        for flag in FLAGS {
            if section.flag(flag)? && !self.is(flag) {
                self.flags.push(flag.to_owned());
            }
        }
        for flag in section.lines("without")? {
            self.flags.retain(|known| known != flag);
        }
        Ok(())
    }

    /// Returns whether a custom is on.
    pub(super) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// The grain of "three weeks ago", by the unit.
    pub(super) fn offset(&self, unit: Unit) -> Granularity {
        let known = self.offsets.iter().find(|(known, _)| *known == unit);
        known.map_or_else(|| Granularity::of(unit).min(Granularity::Day), |(_, grain)| *grain)
    }
}

fn wrong(name: &str) -> Error {
    Error::invalid(format!("a pack: the custom `{name}` cannot be read"))
}

/// "6-12" or "18:30-26": hours from midnight on.
fn minutes(text: &str) -> Option<(i32, i32)> {
    let (from, to) = text.split_once('-')?;
    let minute = |text: &str| {
        let (hour, minute) = text.split_once(':').unwrap_or((text, "0"));
        Some(hour.trim().parse::<i32>().ok()? * 60 + minute.parse::<i32>().ok()?)
    };
    let (from, to) = (minute(from)?, minute(to)?);
    (0 <= from && from < to && to <= 36 * 60).then_some((from, to))
}

fn span(text: &str) -> Option<(i64, i64)> {
    let (from, to) = text.split_once('-')?;
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (0 <= from && from < to && to <= 1000).then_some((from, to))
}

fn thirds(text: &str) -> Option<[(i64, i64); 3]> {
    let mut spans = text.split_whitespace().map(span);
    Some([spans.next()??, spans.next()??, spans.next()??])
}

/// "3-1 6-1": from the first of March to before the first of June.
fn season(text: &str) -> Option<[i8; 4]> {
    let mut numbers = text.split([' ', '-']).map(str::parse::<i8>);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?, next()?])
}
