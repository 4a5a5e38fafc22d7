//! Times inside longer expressions are refused; time zones, range ends and shared words.
#![expect(clippy::unwrap_used, reason = "a test stops where its own data are wrong")]

use jiff::{Timestamp as Moment, tz::TimeZone};
use mnemal_core::{Timestamp, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias};

/// Wednesday.
const NOW: &str = "2024-05-15T10:00:00Z";
/// Wednesday in Greenwich, and still Tuesday in New York.
const NIGHT: &str = "2024-05-15T01:00:00Z";

/// The times of a text as `start end`, without what is refused, comes back or is a length.
fn times(language: &str, now: &str, text: &str) -> Vec<String> {
    let zone = Zone::utc();
    let now: Moment = now.parse().unwrap();
    let anchor = Anchor { at: Timestamp::from_micros(now.as_microsecond()).unwrap(), zone: &zone };
    let civil = |seconds: i64| {
        let zoned = Moment::from_second(seconds).unwrap().to_zoned(TimeZone::UTC);
        zoned.strftime("%Y-%m-%dT%H:%M").to_string().replace("T00:00", "")
    };
    let found = DateRules::built_in(language).unwrap().read(text, &anchor, TimeBias::Future);
    let end = |at: Option<mnemal_core::WorldTime>| at.map_or("…".to_owned(), |at| civil(at.as_seconds()));
    found
        .iter()
        .filter_map(mnemal_extract::TimeExpression::when)
        .map(|when| format!("{} {}", end(when.start), end(when.end)))
        .collect()
}

fn check(now: &str, cases: &[(&str, &str, &str)]) {
    let wrong: Vec<String> = (cases.iter())
        .filter(|(language, text, expected)| times(language, now, text).join(", ") != *expected)
        .map(|(language, text, expected)| format!("{text}: {:?}, not {expected}", times(language, now, text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn now_beside_a_day_is_no_part_of_it() {
    let read = times("en", NOW, "The report is due on 12 June now.");
    assert_eq!(read.first().map(String::as_str), Some("2024-06-12 2024-06-13"), "{read:?}");
}

#[test]
fn a_part_of_a_time_that_no_form_reads_is_no_time() {
    let texts = [
        ("en", "The shop is shut except on Friday"),
        ("en", "four days into March"),
        ("en", "a week shy of Christmas"),
        ("en", "the penultimate Friday of June"),
        ("en", "halfway through July"),
        ("en", "Friday 8 sharp"),
        ("en", "no sooner than Tuesday"),
        ("en", "anything but Thursday"),
        ("en", "the middle third of August"),
        ("de", "außer am Freitag"),
        ("de", "am Vorabend des 1. Mai"),
        ("de", "der vorletzte Freitag im Juni"),
        ("de", "nicht später als Freitag"),
        ("fr", "sauf vendredi"),
        ("fr", "la veille du 1er mai"),
        ("fr", "pas avant mardi"),
        ("es", "uno de cada dos lunes"),
        ("es", "la víspera del 1 de mayo"),
        ("es", "el penúltimo viernes de junio"),
        ("pt", "exceto na sexta-feira"),
        ("pt", "a véspera de 1 de maio"),
        ("zh", "除了星期五"),
        ("zh", "不晚于星期五"),
        // "Going on Monday": no time before Monday.
        ("zh", "星期一前往北京"),
    ];
    check(NOW, &texts.map(|(language, text)| (language, text, "")));
}

#[test]
fn words_that_only_stand_beside_a_time_leave_it() {
    check(
        NOW,
        &[
            ("en", "I saw 3 films last week", "2024-05-06 2024-05-13"),
            ("en", "She moved it to Thursday because of rain", "2024-05-16 2024-05-17"),
            ("en", "We drink coffee in building 4 this afternoon", "2024-05-15T12:00 2024-05-15T18:00"),
            ("en", "I was away from 3 to 7 June", "2024-06-03 2024-06-08"),
            ("en", "I can't today, but Friday works", "2024-05-15 2024-05-16, 2024-05-17 2024-05-18"),
            ("de", "Gestern vor dem Essen war ich im Park", "2024-05-14 2024-05-15"),
            ("fr", "Hier après le dîner nous avons joué", "2024-05-14 2024-05-15"),
            ("es", "Ayer antes de comer fui al parque", "2024-05-14 2024-05-15"),
            ("pt", "Nasci em 4 de julho de 1985 em Lisboa", "1985-07-04 1985-07-05"),
            ("zh", "我星期一去北京", "2024-05-20 2024-05-21"),
        ],
    );
}

#[test]
fn an_hour_of_another_zone_is_on_the_day_of_the_speaker() {
    check(
        NIGHT,
        &[
            ("en", "The call is today at 8pm EST", "2024-05-16T01:00 2024-05-16T02:00"),
            ("en", "tomorrow at noon PST we launch", "2024-05-16T20:00 2024-05-16T21:00"),
            ("en", "tomorrow morning at 9 Pacific time", "2024-05-16T16:00 2024-05-16T17:00"),
            ("en", "the show starts Thursday 9pm EDT", "2024-05-17T01:00 2024-05-17T02:00"),
            ("en", "tomorrow at 8am JST", "2024-05-15T23:00 2024-05-16"),
            ("en", "at 9pm EST", "2024-05-15T02:00 2024-05-15T03:00"),
        ],
    );
}

#[test]
fn before_the_end_of_a_time_is_before_it_is_over() {
    check(
        NOW,
        &[
            ("en", "Finish it before the end of next week", "… 2024-05-27"),
            ("en", "I will pay before the end of the year", "… 2025-01-01"),
            ("en", "not later than the end of August", "… 2024-09-01"),
            ("de", "Ich zahle vor Ende des Jahres", "… 2025-01-01"),
            ("de", "noch vor Ende der Woche", "… 2024-05-20"),
            ("fr", "avant la fin du mois", "… 2024-06-01"),
            ("fr", "avant la fin de l'année", "… 2025-01-01"),
            ("es", "antes del final de junio", "… 2024-07-01"),
            ("pt", "antes do fim do ano", "… 2025-01-01"),
            ("zh", "年底之前完成", "… 2025-01-01"),
        ],
    );
}

#[test]
fn late_in_a_time_is_a_part_of_it_and_the_next_days_begin_now() {
    check(
        NOW,
        &[
            ("en", "Sales have dropped since late 2021", "2021-09-01 …"),
            ("en", "We have had this car since the end of 2019", "2020-01-01 …"),
            ("en", "I need a desk for the next 3 business days", "2024-05-16 2024-05-21"),
            ("en", "I am away for the next five days", "2024-05-15 2024-05-20"),
        ],
    );
}
