//! Dates and feedback in Spanish, Portuguese and Chinese.
#![expect(clippy::unwrap_used, reason = "a test stops where its own data are wrong")]

use jiff::{Timestamp as Moment, tz::TimeZone};
use mnemal_core::{Timestamp, Zone};
use mnemal_extract::{Anchor, DateRules, Dated, Lean};

/// Wednesday, 11 March 2026, 18:10 in Madrid.
const NOW: &str = "2026-03-11T17:10:00Z";

fn read(language: &str, text: &str, lean: Lean) -> Vec<String> {
    let zone = Zone { name: "Europe/Madrid".to_owned(), offset_seconds: 3600 };
    let now: Moment = NOW.parse().unwrap();
    let anchor = Anchor { at: Timestamp::from_micros(now.as_microsecond()).unwrap(), zone: &zone };
    let civil = |seconds: i64| {
        let zoned = Moment::from_second(seconds).unwrap().to_zoned(TimeZone::get(&zone.name).unwrap());
        zoned.strftime("%Y-%m-%dT%H:%M").to_string()
    };
    let found = DateRules::built_in(language).unwrap().read(text, &anchor, lean);
    let shown = |dated: &Dated| match dated.when() {
        Some(when) => {
            let [start, end] =
                [when.start, when.end].map(|at| at.map_or("…".to_owned(), |at| civil(at.as_seconds())));
            format!("{start} {end}")
        }
        None => "-".to_owned(),
    };
    found.iter().map(shown).collect()
}

fn check(language: &str, cases: &[(&str, Lean, &str)]) {
    let wrong: Vec<String> = (cases.iter())
        .filter(|(text, lean, expected)| read(language, text, *lean) != [*expected])
        .map(|(text, lean, expected)| format!("{text}: {:?}, not {expected}", read(language, text, *lean)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn spanish_dates_are_resolved() {
    check(
        "es",
        &[
            ("Anteayer se rompió la lavadora.", Lean::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("La boda es el 12 de junio de 2027.", Lean::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("Volvimos hace seis días.", Lean::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("El domingo pasado nevó.", Lean::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("Mañana a las 9:30 hay pleno.", Lean::Future, "2026-03-12T09:30 2026-03-12T09:31"),
            ("La obra va del 3 al 9 de abril.", Lean::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("El mes que viene abrimos.", Lean::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("Cada jueves hay mercado.", Lean::Past, "-"),
            ("En Nochebuena cenamos fuera.", Lean::Future, "2026-12-24T00:00 2026-12-25T00:00"),
        ],
    );
}

#[test]
fn portuguese_dates_are_resolved() {
    check(
        "pt",
        &[
            ("Anteontem avariou a máquina.", Lean::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("O casamento é a 12 de junho de 2027.", Lean::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("Voltámos há seis dias.", Lean::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("No domingo passado nevou.", Lean::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("Amanhã às 9:30 há reunião.", Lean::Future, "2026-03-12T09:30 2026-03-12T09:31"),
            ("A obra vai de 3 a 9 de abril.", Lean::Future, "2026-04-03T00:00 2026-04-10T00:00"),
            ("Toda quinta há feira.", Lean::Past, "-"),
            ("Na Sexta-feira Santa fechamos.", Lean::Future, "2026-04-03T00:00 2026-04-04T00:00"),
        ],
    );
}

#[test]
fn chinese_dates_are_resolved() {
    check(
        "zh",
        &[
            ("前天洗衣机坏了。", Lean::Past, "2026-03-09T00:00 2026-03-10T00:00"),
            ("婚礼在2027年6月12日。", Lean::Future, "2027-06-12T00:00 2027-06-13T00:00"),
            ("六天前我们回来了。", Lean::Past, "2026-03-05T00:00 2026-03-06T00:00"),
            ("上周日下雪了。", Lean::Past, "2026-03-08T00:00 2026-03-09T00:00"),
            ("明天下午三点开会。", Lean::Future, "2026-03-12T15:00 2026-03-12T16:00"),
            ("下个月我们开业。", Lean::Future, "2026-04-01T00:00 2026-05-01T00:00"),
            ("每周四有集市。", Lean::Past, "-"),
            ("国庆节我们去爬山。", Lean::Future, "2026-10-01T00:00 2026-10-02T00:00"),
        ],
    );
}
