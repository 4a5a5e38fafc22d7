//! Calendar nodes: days, their weeks, and the months of weeks; by name, without a clock.

use mnemal_core::{Civil, NodePath, Timestamp, Zone};

/// Microseconds in a day.
const DAY: i64 = 86_400_000_000;
/// Monday is 0, Thursday 3; a week belongs to the year and the month of its Thursday. Source: ISO 8601.
const THURSDAY: i64 = 3;

/// Returns the day of a moment in its zone.
pub(crate) fn day(at: Timestamp, zone: &Zone) -> NodePath {
    NodePath::Day(at.civil(zone).day_text())
}

/// Returns the week of a day, or the month of a week; `None` for other nodes, and for invalid names.
pub(crate) fn above(path: &NodePath) -> Option<NodePath> {
    match path {
        NodePath::Day(day) => {
            let mut parts = day.splitn(3, '-').map(|part| part.parse::<i64>().ok());
            let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
            let thursday = thursday(noon(year, month, day)?);
            let civil = thursday.civil(&Zone::utc());
            let first = noon(i64::from(civil.year), 1, 1)?;
            let week = (thursday.as_micros() - first.as_micros()) / (7 * DAY) + 1;
            Some(NodePath::Week(format!("{:04}-W{week:02}", civil.year)))
        }
        NodePath::Week(week) => {
            let (year, number) = week.split_once("-W")?;
            let first = thursday(noon(year.parse().ok()?, 1, 4)?);
            let weeks = number.parse::<i64>().ok()?.checked_sub(1)?;
            let Civil { year, month, .. } =
                first.plus_micros(weeks.checked_mul(7 * DAY)?).civil(&Zone::utc());
            Some(NodePath::Month(format!("{year:04}-{month:02}")))
        }
        _ => None,
    }
}

/// The Thursday of the week of a day.
fn thursday(noon: Timestamp) -> Timestamp {
    noon.plus_micros((THURSDAY - i64::from(noon.civil(&Zone::utc()).weekday)) * DAY)
}

/// Noon of a civil day, UTC. The count of days is Howard Hinnant's `days_from_civil`, which is exact for all years.
fn noon(year: i64, month: i64, day: i64) -> Option<Timestamp> {
    if !(1969..=10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Timestamp::from_micros(days * DAY + DAY / 2).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_belong_to_the_year_and_month_of_their_thursday() {
        for (day, week, month) in [
            ("2026-11-22", "2026-W47", "2026-11"),
            ("2027-01-01", "2026-W53", "2026-12"),
            ("2024-12-30", "2025-W01", "2025-01"),
            ("2023-05-08", "2023-W19", "2023-05"),
            ("2024-02-29", "2024-W09", "2024-02"),
            ("2024-03-31", "2024-W13", "2024-03"),
        ] {
            let found = above(&NodePath::Day(day.to_owned())).unwrap();
            assert_eq!(found, NodePath::Week(week.to_owned()), "{day}");
            assert_eq!(above(&found), Some(NodePath::Month(month.to_owned())), "{day}");
        }
        for wrong in ["", "x", "2026-13-01", "2026-11", "99999999999-01-01"] {
            assert_eq!(above(&NodePath::Day(wrong.to_owned())), None);
            assert_eq!(above(&NodePath::Week(wrong.to_owned())), None);
        }
    }
}
