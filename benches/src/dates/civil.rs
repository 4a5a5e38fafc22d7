//! Seconds since the epoch from the dates and times of data sets.

/// Reads `2013-02-12`, `2013-02-12T04:30:00` or with a space, and an offset such as `-02:00`; the offset is returned.
#[must_use]
pub fn seconds(text: &str) -> Option<(i64, i64)> {
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, date) = (parts.next()??, parts.next()??, parts.next()??);
    let at = time.find(['+', '-', 'Z']).unwrap_or(time.len());
    let (clock, offset) = time.split_at_checked(at)?;
    let offset = match offset.chars().next() {
        Some('-') => -time_of_day(offset.get(1..)?)?,
        Some('+') => time_of_day(offset.get(1..)?)?,
        _ => 0,
    };
    let clock = if clock.is_empty() { 0 } else { time_of_day(clock)? };
    Some((days(year, month, date) * 86_400 + clock - offset, offset))
}

/// Reads `04:30:00`, also with fractions of a second, which do not count.
#[must_use]
pub fn time_of_day(text: &str) -> Option<i64> {
    let whole = text.split('.').next()?;
    whole
        .split(':')
        .zip([3600, 60, 1])
        .try_fold(0, |sum, (part, unit)| Some(sum + part.parse::<i64>().ok()? * unit))
}

/// Days since 1970-01-01 in the Gregorian calendar.
#[must_use]
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The day of a moment as year, month and day.
#[must_use]
pub fn day_of(seconds: i64) -> (i64, i64, i64) {
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_turn_into_each_other() {
        assert_eq!(seconds("1970-01-02"), Some((86_400, 0)));
        assert_eq!(seconds("2013-02-12T04:30:00-02:00"), Some((1_360_650_600, -7200)));
        assert_eq!(seconds("2018-02-30 nothing"), None);
        for day in [-719_468, -1, 0, 59, 60, 11_016, 19_782] {
            let (year, month, date) = day_of(day * 86_400);
            assert_eq!(days(year, month, date), day);
        }
    }
}
