//! Holidays: fixed rules, days relative to Easter, and tables for lunar calendars.

use std::collections::HashMap;
use std::sync::OnceLock;

use jiff::civil::Date;
use mnemal_core::{Error, Result};

use super::interval::plus_days;
use crate::section::{PackFile, Section};

/// Rules and tables, shared by all languages.
const HOLIDAYS: &str = include_str!("../../packs/holidays.toml");

/// The known holidays; a number is a place in the file.
#[derive(Debug)]
pub(super) struct Holidays {
    names: Vec<String>,
    rules: Vec<HolidayRule>,
    tables: Vec<HashMap<i16, Vec<Date>>>,
}

#[derive(Clone, Debug)]
struct HolidayRule {
    base: Base,
    plus: i64,
    /// How many days it lasts.
    days: i64,
    /// Or until a day of another table.
    until: Option<usize>,
}

#[derive(Clone, Debug)]
enum Base {
    Fixed(i8, i8),
    /// The n-th weekday of a month, negative from its end.
    Weekday {
        number: i8,
        weekday: i8,
        month: i8,
    },
    /// The working day nearest to a day.
    NearestWorkday(i8, i8),
    /// A day, or the one before where it falls on a Sunday.
    NotSunday(i8, i8),
    Easter,
    Orthodox,
    Table(usize),
}

impl Holidays {
    /// The holidays that are built in.
    pub(super) fn built_in() -> Option<&'static Self> {
        static BUILT_IN: OnceLock<Option<Holidays>> = OnceLock::new();
        BUILT_IN.get_or_init(|| Self::parse(HOLIDAYS).ok()).as_ref()
    }

    fn parse(text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut read = Self { names: Vec::new(), rules: Vec::new(), tables: Vec::new() };
        let mut tables: Vec<&str> = Vec::new();
        if let Some(section) = root.section("table")? {
            for name in section.keys() {
                tables.push(name);
                read.tables.push(table(section, name)?);
            }
        }
        if let Some(section) = root.section("rule")? {
            for name in section.keys() {
                let text = section.text(name)?.unwrap_or_default();
                let rule = rule(text, &tables).ok_or_else(|| wrong(name))?;
                read.names.push(name.to_owned());
                read.rules.push(rule);
            }
        }
        Ok(read)
    }

    /// Returns the number of a name.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// First days in a year, with the number of days; a solar year can contain none, or two, of a lunar year.
    pub(super) fn days(&self, number: usize, year: i16) -> Vec<(Date, i64)> {
        let Some(rule) = self.rules.get(number) else { return Vec::new() };
        let bases: Vec<Date> = match &rule.base {
            Base::Table(table) => {
                let table = self.tables.get(*table);
                (year.saturating_sub(1)..=year.saturating_add(1))
                    .flat_map(|year| table.and_then(|table| table.get(&year)).cloned().unwrap_or_default())
                    .collect()
            }
            base => base.day(year).into_iter().collect(),
        };
        let moved = bases.into_iter().filter_map(|day| plus_days(day, rule.plus));
        moved
            .filter(|day| day.year() == year)
            .map(|day| (day, self.length(rule, day).unwrap_or(rule.days)))
            .collect()
    }
}

impl Holidays {
    /// Days from a day until the day that ends the holiday.
    fn length(&self, rule: &HolidayRule, day: Date) -> Option<i64> {
        let table = self.tables.get(rule.until?)?;
        let years = [day.year(), day.year().checked_add(1)?];
        let ends = years.iter().filter_map(|year| table.get(year)).flatten().filter(|end| **end > day);
        Some(i64::from(day.until(*ends.min()?).ok()?.get_days()))
    }
}

impl Base {
    fn day(&self, year: i16) -> Option<Date> {
        match *self {
            Self::Fixed(month, day) => Date::new(year, month, day).ok(),
            Self::Weekday { number, weekday, month } => {
                let first = Date::new(year, month, 1).ok()?;
                let weekday = jiff::civil::Weekday::from_monday_zero_offset(weekday).ok()?;
                first.nth_weekday_of_month(number, weekday).ok()
            }
            Self::NearestWorkday(month, day) => {
                let day = Date::new(year, month, day).ok()?;
                plus_days(day, [0, 0, 0, 0, 0, -1, 1].get(place(day)).copied()?)
            }
            Self::NotSunday(month, day) => {
                let day = Date::new(year, month, day).ok()?;
                plus_days(day, if place(day) == 6 { -1 } else { 0 })
            }
            Self::Easter => easter(year),
            Self::Orthodox => orthodox(year),
            Self::Table(_) => None,
        }
    }
}

fn place(day: Date) -> usize {
    usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or(0)
}

fn wrong(name: &str) -> Error {
    Error::invalid(format!("a pack: the holiday `{name}` cannot be read"))
}

/// `12-25`, `mon 3 of 1`, `thu last of 11`, `easter -2`, `table purim +1 for 2`.
fn rule(text: &str, tables: &[&str]) -> Option<HolidayRule> {
    let mut words = text.split_whitespace().peekable();
    let first = words.next()?;
    let base = match first {
        "easter" => Base::Easter,
        "orthodox" => Base::Orthodox,
        "table" => {
            let name = words.next()?;
            Base::Table(tables.iter().position(|known| *known == name)?)
        }
        "workday" => month_day(words.next()?).map(|(month, day)| Base::NearestWorkday(month, day))?,
        "notsunday" => month_day(words.next()?).map(|(month, day)| Base::NotSunday(month, day))?,
        _ if month_day(first).is_some() => month_day(first).map(|(month, day)| Base::Fixed(month, day))?,
        _ => {
            let weekday =
                ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].iter().position(|day| *day == first)?;
            let number = words.next()?;
            let number = if number == "last" { -1 } else { number.parse().ok()? };
            let month = words.nth(1)?.parse().ok()?;
            Base::Weekday { number, weekday: i8::try_from(weekday).ok()?, month }
        }
    };
    let mut rule = HolidayRule { base, plus: 0, days: 1, until: None };
    while let Some(word) = words.next() {
        match word {
            "for" => rule.days = words.next()?.parse().ok()?,
            "until" => {
                let name = words.next()?;
                rule.until = Some(tables.iter().position(|known| *known == name)?);
            }
            plus => rule.plus = plus.parse().ok()?,
        }
    }
    Some(rule)
}

fn month_day(text: &str) -> Option<(i8, i8)> {
    let (month, day) = text.split_once('-')?;
    Some((month.parse().ok()?, day.parse().ok()?))
}

/// Days, separated by white space; a year of the moon may begin twice in one of the sun.
fn table(section: Section<'_>, name: &str) -> Result<HashMap<i16, Vec<Date>>> {
    let mut table: HashMap<i16, Vec<Date>> = HashMap::new();
    for day in section.text(name)?.unwrap_or_default().split_whitespace() {
        let day: Date = day.parse().map_err(|_| wrong(name))?;
        table.entry(day.year()).or_default().push(day);
    }
    Ok(table)
}

/// Easter Sunday of the western churches, after the rule of 1876 ("Anonymous Gregorian algorithm").
fn easter(year: i16) -> Option<Date> {
    let year_number = i32::from(year);
    let (golden, century, rest) = (year_number % 19, year_number / 100, year_number % 100);
    let leap = (century + 8) / 25;
    let moon = (19 * golden + century - century / 4 - (century - leap + 1) / 3 + 15) % 30;
    let sunday = (32 + 2 * (century % 4) + 2 * (rest / 4) - moon - rest % 4) % 7;
    let late = (golden + 11 * moon + 22 * sunday) / 451;
    let day = moon + sunday - 7 * late + 114;
    Date::new(year, i8::try_from(day / 31).ok()?, i8::try_from(day % 31 + 1).ok()?).ok()
}

/// Easter Sunday of the eastern churches, after Meeus, given in the Gregorian calendar.
fn orthodox(year: i16) -> Option<Date> {
    let number = i32::from(year);
    let moon = (19 * (number % 19) + 15) % 30;
    let sunday = (2 * (number % 4) + 4 * (number % 7) - moon + 34) % 7;
    let day = moon + sunday + 114;
    let julian = Date::new(year, i8::try_from(day / 31).ok()?, i8::try_from(day % 31 + 1).ok()?).ok()?;
    plus_days(julian, i64::from(number / 100 - number / 400 - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easter_falls_where_the_churches_say() {
        let day = |year| easter(year).unwrap().to_string();
        assert_eq!(
            [day(2000), day(2024), day(2025), day(2038)],
            ["2000-04-23", "2024-03-31", "2025-04-20", "2038-04-25"]
        );
        assert_eq!(orthodox(2024).unwrap().to_string(), "2024-05-05");
        assert_eq!(orthodox(2025).unwrap().to_string(), "2025-04-20");
    }

    #[test]
    fn every_rule_and_table_that_is_built_in_can_be_read() {
        let read = Holidays::parse(HOLIDAYS).unwrap();
        assert!(read.names.len() > 50);
        assert!((0..read.names.len()).all(|number| !read.days(number, 2024).is_empty()));
    }
}
