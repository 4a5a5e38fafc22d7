//! German and French: dates are read in the customs of the language.

#[cfg(test)]
mod tests {
    use mnemal_core::{Timestamp, WorldTime, Zone};
    use mnemal_extract::{Anchor, DateRules, TimeBias, TimeExpression};

    /// Monday, 9 March 2026, noon.
    const NOON: i64 = 1_773_057_600;

    fn read(language: &str, text: &str) -> Vec<TimeExpression> {
        let zone = Zone::utc();
        let at = Timestamp::from_micros(NOON * 1_000_000).unwrap();
        DateRules::built_in(language).unwrap().read(text, &Anchor { at, zone: &zone }, TimeBias::Future)
    }

    fn civil(seconds: Option<i64>) -> String {
        seconds.map_or_else(String::new, |seconds| {
            let at = jiff::Timestamp::from_second(seconds).unwrap();
            at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
        })
    }

    /// A sentence with the first moment it names and the first behind it; empty where there is none.
    type Case = (&'static str, &'static str, &'static str);

    const GERMAN: [Case; 9] = [
        ("Der Zug fährt übermorgen um 7:20 Uhr.", "2026-03-11T07:20:00", "2026-03-11T07:21:00"),
        ("Vor vier Wochen kam der Brief.", "2026-02-09T00:00:00", "2026-02-16T00:00:00"),
        ("Die Ausstellung läuft vom 3. bis 9. April.", "2026-04-03T00:00:00", "2026-04-10T00:00:00"),
        ("Am Ostermontag bleibt alles zu.", "2026-04-06T00:00:00", "2026-04-07T00:00:00"),
        ("Um halb neun klingelt es.", "2026-03-09T20:30:00", "2026-03-09T20:31:00"),
        ("Im zweiten Quartal 2027 wird gebaut.", "2027-04-01T00:00:00", "2027-07-01T00:00:00"),
        ("Am 5.6.2026 ist Schluss.", "2026-06-05T00:00:00", "2026-06-06T00:00:00"),
        ("Seit zwei Jahren spiele ich Cello.", "2024-01-01T00:00:00", ""),
        ("Nächsten Mittwoch habe ich frei.", "2026-03-18T00:00:00", "2026-03-19T00:00:00"),
    ];
    const FRENCH: [Case; 9] = [
        ("Le train part après-demain à 7h20.", "2026-03-11T07:20:00", "2026-03-11T07:21:00"),
        ("Il y a quatre semaines, la lettre est arrivée.", "2026-02-09T00:00:00", "2026-02-16T00:00:00"),
        ("L'exposition dure du 3 au 9 avril.", "2026-04-03T00:00:00", "2026-04-10T00:00:00"),
        ("Le lundi de Pâques, tout est fermé.", "2026-04-06T00:00:00", "2026-04-07T00:00:00"),
        ("Au deuxième trimestre 2027, on construit.", "2027-04-01T00:00:00", "2027-07-01T00:00:00"),
        ("Le 5/6/2026, c'est fini.", "2026-06-05T00:00:00", "2026-06-06T00:00:00"),
        ("Depuis deux ans, je joue du violoncelle.", "2024-01-01T00:00:00", ""),
        ("Mercredi prochain, je suis libre.", "2026-03-18T00:00:00", "2026-03-19T00:00:00"),
        ("La réunion est à 20h30.", "2026-03-09T20:30:00", "2026-03-09T20:31:00"),
    ];

    #[test]
    fn dates_are_found_with_start_and_end() {
        let cases = GERMAN.map(|case| ("de", case)).into_iter().chain(FRENCH.map(|case| ("fr", case)));
        for (language, (text, start, end)) in cases {
            let found: Vec<_> = read(language, text).iter().filter_map(TimeExpression::when).collect();
            let [when] = found.as_slice() else { panic!("{text}: {found:?}") };
            assert_eq!(civil(when.start.map(WorldTime::as_seconds)), start, "{text}");
            assert_eq!(civil(when.end.map(WorldTime::as_seconds)), end, "{text}");
        }
    }

    #[test]
    fn what_recurs_and_what_greets_names_no_moment() {
        let german = ["Jeden Freitag gehe ich tanzen.", "Dreimal pro Woche laufe ich.", "Guten Morgen!"]
            .map(|text| ("de", text));
        let french = ["Tous les vendredis, je danse.", "Trois fois par semaine, je cours.", "Bonne nuit !"]
            .map(|text| ("fr", text));
        for (language, text) in german.into_iter().chain(french) {
            assert!(read(language, text).iter().all(|dated| dated.when().is_none()), "{text}");
        }
    }
}
