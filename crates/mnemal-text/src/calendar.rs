//! Date terms under which an event's day is found.

use crate::{Analyzer, Language};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Returns the terms of a civil day beside those of its written date: the English month, the weekday and the ISO day.
///
/// They are analyzed as an English query is, so "in May", "on Mondays" and "2023-05-08" find the event.
/// `month` counts from 1 to 12 and `day` from 1; a day that does not exist has no terms.
/// The calendar is the proleptic Gregorian one, for years 1 to 9999.
pub fn date_terms(year: i32, month: u8, day: u8) -> Vec<String> {
    if !(1..=9999).contains(&year) || !exists(year, month, day) {
        return Vec::new();
    }
    let Some(month_name) = MONTHS.get(usize::from(month) - 1) else { return Vec::new() };
    let weekday = usize::try_from(days_since_monday(year, month, day).rem_euclid(7)).unwrap_or(0);
    let analyzer = Analyzer::new(Language::English);
    let iso = format!("{year:04}-{month:02}-{day:02}");
    [*month_name, WEEKDAYS.get(weekday).copied().unwrap_or_default(), &iso]
        .into_iter()
        .filter_map(|word| analyzer.terms(word).into_iter().next())
        .map(|term| term.text)
        .collect()
}

fn exists(year: i32, month: u8, day: u8) -> bool {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=length).contains(&day)
}

/// Days since some Monday; the year is counted from March, so that the leap day comes last.
fn days_since_monday(year: i32, month: u8, day: u8) -> i32 {
    let month = i32::from(month);
    let (year, from_march) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let day_of_year = (153 * from_march + 2) / 5 + i32::from(day) - 1;
    365 * year + year / 4 - year / 100 + year / 400 + day_of_year + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_month_weekday_and_iso_form() {
        assert_eq!(date_terms(2023, 5, 8), ["may", "monday", "2023-05-08"]);
        assert_eq!(date_terms(2024, 2, 29), ["februari", "thursday", "2024-02-29"]);
        assert_eq!(date_terms(1970, 1, 1), ["januari", "thursday", "1970-01-01"]);
        assert_eq!(date_terms(2000, 12, 31), ["decemb", "sunday", "2000-12-31"]);
        assert_eq!(date_terms(1900, 3, 1), ["march", "thursday", "1900-03-01"]);
    }

    #[test]
    fn a_question_about_the_day_shares_its_terms() {
        let analyzer = Analyzer::new(Language::English);
        let terms = date_terms(2023, 9, 25);
        for question in ["What happened in September?", "our mondays", "on 2023-09-25"] {
            assert!(analyzer.query_terms(question).iter().any(|term| terms.contains(term)), "{question}");
        }
    }

    #[test]
    fn weekdays_follow_each_other() {
        let mut last = date_terms(2023, 1, 1);
        for (month, length) in (1..).zip([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
            for day in 1..=length {
                let now = date_terms(2023, month, day);
                assert_eq!(now.len(), 3);
                assert!(now == last || now[1] != last[1]);
                last = now;
            }
        }
    }

    #[test]
    fn days_that_do_not_exist_have_no_terms() {
        for (year, month, day) in [
            (2023, 2, 29),
            (2023, 13, 1),
            (2023, 0, 1),
            (2023, 1, 0),
            (2023, 4, 31),
            (0, 1, 1),
            (i32::MAX, 1, 1),
        ] {
            assert!(date_terms(year, month, day).is_empty());
        }
    }
}
