//! Validity times of claims, in every supported language.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mnemal_core::{
        Body, ChannelId, Event, EventId, EventKind, ExtractedFact, Extractor as _, Gazetteer, Level,
        NewEvent, Origin, Seq, SessionId, Timestamp, Trust, Utterance, When, WorldTime, Zone,
    };
    use mnemal_extract::RuleExtractor;

    fn event(text: &str) -> Event {
        // Thursday, 1 October 2026, nine in the morning.
        let at = Timestamp::from_micros(1_790_845_200_000_000).unwrap();
        let said = NewEvent {
            kind: EventKind::UserMessage,
            content: text.to_owned(),
            session: SessionId::new("s").unwrap(),
            channel: ChannelId::new("test").unwrap(),
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: at,
            zone: Zone::utc(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: BTreeMap::new(),
        };
        Event {
            id: EventId(1),
            seq: Seq(1),
            recorded_at: at,
            role: said.kind.role(),
            trust: Trust::User,
            level: Level::User,
            quarantined: None,
            echo: Vec::new(),
            body: Body::Present(Box::new(said)),
        }
    }

    fn day(at: Option<WorldTime>) -> String {
        at.map_or_else(String::new, |at| at.civil(&Zone::utc()).day_text())
    }

    fn line(fact: &ExtractedFact) -> String {
        let time = |when: When| format!(" {}..{}", day(when.start), day(when.end));
        let time = fact.time.map(time).unwrap_or_default();
        format!("{} {} {}{time}", fact.predicate.as_str(), fact.act.as_str(), fact.object.text)
    }

    fn claims(text: &str) -> Vec<String> {
        let (event, known) = (event(text), Gazetteer::default());
        let said = Utterance { event: &event, before: &[], known: &known };
        RuleExtractor::new().extract(&said).facts.iter().map(line).collect()
    }

    fn check(cases: &[(&str, &str)]) {
        let wrong: Vec<String> = cases
            .iter()
            .filter(|(text, expected)| !claims(text).iter().any(|line| line == expected))
            .map(|(text, expected)| format!("{text}\n  expected {expected}\n  found {:?}", claims(text)))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn an_end_is_read_from_the_words_for_it() {
        check(&[
            ("I quit my job at Alba in August.", "works_at end Alba 2026-08-01..2026-09-01"),
            ("I stopped working at Alba in July.", "works_at end Alba 2026-07-01..2026-08-01"),
            ("I was fired from Alba in June.", "works_at end Alba 2026-06-01..2026-07-01"),
            ("Alba let me go in July.", "works_at end Alba 2026-07-01..2026-08-01"),
            ("I moved out of Porto in July.", "lives_in end Porto 2026-07-01..2026-08-01"),
            ("Ich bin seit August nicht mehr bei Alba.", "works_at end Alba 2026-08-01.."),
            ("Seit Juli 2026 arbeite ich nicht mehr bei Alba.", "works_at end Alba 2026-07-01.."),
            ("Ich habe im Juli bei Alba aufgehört.", "works_at end Alba 2026-07-01..2026-08-01"),
            ("Ich bin im Juli aus Porto weggezogen.", "lives_in end Porto 2026-07-01..2026-08-01"),
            ("J'ai démissionné de chez Alba en juillet.", "works_at end Alba 2026-07-01..2026-08-01"),
            ("Je ne travaille plus chez Alba depuis juillet.", "works_at end Alba 2026-07-01.."),
            ("J'ai déménagé de Lyon en juillet.", "lives_in end Lyon 2026-07-01..2026-08-01"),
            ("Ya no trabajo en Alba desde julio.", "works_at end Alba 2026-07-01.."),
            ("Saí da Alba em julho.", "works_at end Alba 2026-07-01..2026-08-01"),
            ("Já não moro em Lisboa.", "lives_in end Lisboa"),
        ]);
    }

    #[test]
    fn a_past_tense_tells_of_the_past_and_another_time_of_life_of_nothing_now() {
        check(&[
            ("I lived in Oslo for three years.", "lives_in past Oslo"),
            ("I used to work at Alba.", "works_at past Alba"),
            ("Früher habe ich in Bonn gewohnt.", "lives_in past Bonn"),
            ("I used to live in Lyon as a child.", "lives_in earlier Lyon"),
            ("I worked at Alba as a student.", "works_at earlier Alba"),
            ("Früher habe ich schon einmal in Lyon gewohnt.", "lives_in earlier Lyon"),
            ("Ich habe als Kind in Bonn gewohnt.", "lives_in earlier Bonn"),
            ("Schon als Student habe ich bei Alba gearbeitet.", "works_at earlier Alba"),
            ("J'ai déjà habité à Lyon quand j'étais petite.", "lives_in earlier Lyon"),
            ("Antes ya vivía en Lima.", "lives_in earlier Lima"),
            ("I have lived in Oslo since 2018.", "lives_in assert Oslo 2018-01-01.."),
            ("I have worked at Alba since 2022.", "works_at assert Alba 2022-01-01.."),
            ("I've been at Alba since 2022.", "works_at assert Alba 2022-01-01.."),
        ]);
        assert!(claims("In March 2022 I went back to Alba.").is_empty());
    }

    #[test]
    fn until_means_the_same_in_every_language() {
        check(&[
            ("I live in Porto until March 2027.", "lives_in assert Porto ..2027-04-01"),
            ("Ich wohne bis März 2027 in Porto.", "lives_in assert Porto ..2027-04-01"),
            ("J'habite à Lyon jusqu'en mars 2027.", "lives_in assert Lyon ..2027-04-01"),
            ("Vivo en Lima hasta marzo de 2027.", "lives_in assert Lima ..2027-04-01"),
            ("Moro em Lisboa até março de 2027.", "lives_in assert Lisboa ..2027-04-01"),
            ("我住在上海，直到2027年3月为止。", "lives_in assert 上海 ..2027-04-01"),
            ("I work at Delta until the end of January 2027.", "works_at assert Delta ..2027-02-01"),
            ("I lived in Oslo until the end of 2021.", "lives_in past Oslo ..2022-01-01"),
            ("I lived in Oslo till the end of 2021.", "lives_in past Oslo ..2022-01-01"),
            ("I lived in Oslo until late 2021.", "lives_in past Oslo ..2022-01-01"),
            ("I lived in Oslo until 2021.", "lives_in past Oslo ..2022-01-01"),
            ("Viví en Lima hasta finales de 2021.", "lives_in past Lima ..2022-01-01"),
            ("Morei em Lisboa até o fim de 2021.", "lives_in past Lisboa ..2022-01-01"),
            ("I have lived in Oslo since the end of 2021.", "lives_in assert Oslo 2022-01-01.."),
            ("I live in Porto for another two years.", "lives_in assert Porto ..2028-10-01"),
            ("Ich wohne noch zwei Jahre in Porto.", "lives_in assert Porto ..2028-01-01"),
            ("J'habite encore deux ans à Lyon.", "lives_in assert Lyon ..2028-01-01"),
        ]);
    }

    #[test]
    fn a_stay_has_the_times_before_its_comma_and_behind_it() {
        check(&[
            ("De 2010 à 2013, j'ai habité à Lyon.", "lives_in past Lyon 2010-01-01..2014-01-01"),
            ("From March to May 2020 I lived in Bergen.", "lives_in past Bergen 2020-03-01..2020-06-01"),
            ("From March to May 2020, I lived in Bergen.", "lives_in past Bergen 2020-03-01..2020-06-01"),
            ("I lived in Bergen from March to May 2020.", "lives_in past Bergen 2020-03-01..2020-06-01"),
            ("I moved to Oslo in '98.", "lives_in assert Oslo 1998-01-01..1999-01-01"),
            ("J'habite à Lyon depuis le mois dernier.", "lives_in assert Lyon 2026-09-01.."),
        ]);
    }

    #[test]
    fn a_time_of_something_else_is_none_of_a_kinship_a_deadline_or_a_habit() {
        check(&[(
            "Mi hija Antía está resfriada, vuelve al cole a finales de enero.",
            "relative assert Antía",
        )]);
        let of = |text: &str, predicate: &str| claims(text).iter().any(|line| line.starts_with(predicate));
        assert!(!of("My sister is pregnant, the baby is due at the end of July.", "deadline"));
        assert!(of("The report is due at the end of July.", "deadline"));
        assert!(!of("We have a tasting on 9 April at six.", "habit"));
        assert!(of("I start the shift at six.", "habit"));
    }
}
