//! Dates: the gold set, invariants for any text, days at midnight and at clock changes.

#[cfg(test)]
mod tests {
    use mnemal_core::{Granularity, Timestamp, When, WorldTime, Zone};
    use mnemal_extract::{Anchor, DateRules, TimeBias, TimeExpression, dates};
    use proptest::prelude::*;

    /// A line of the gold set: `text`, `anchor`, `zone`, `lean`, `words`, `expect`, `start`, `end`, `grain`, `seconds`.
    struct Row<'a>(&'a str);

    impl<'a> Row<'a> {
        /// The value of a key, without its quotes; no value of the set holds a quote.
        fn get(&self, key: &str) -> Option<&'a str> {
            let (_, rest) = self.0.split_once(&format!("\"{key}\": "))?;
            match rest.strip_prefix('"') {
                Some(text) => text.split('"').next(),
                None => rest.split([',', '}']).next().filter(|value| *value != "null"),
            }
        }

        fn seconds(&self, key: &str) -> Option<i64> {
            Some(self.get(key)?.parse::<jiff::Timestamp>().unwrap().as_second())
        }

        fn zone(&self) -> Zone {
            let name = self.get("zone").unwrap();
            let sign = if name.starts_with('-') { -1 } else { 1 };
            match name.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':')) {
                Some((hours, minutes)) => {
                    let seconds = hours.parse::<i32>().unwrap() * 3600 + minutes.parse::<i32>().unwrap() * 60;
                    Zone { name: String::new(), offset_seconds: sign * seconds }
                }
                None => Zone { name: name.to_owned(), offset_seconds: 0 },
            }
        }

        fn found(&self) -> Vec<TimeExpression> {
            let at = Timestamp::from_micros(self.seconds("anchor").unwrap() * 1_000_000).unwrap();
            let lean = if self.get("lean") == Some("past") { TimeBias::Past } else { TimeBias::Future };
            dates(self.get("text").unwrap(), &Anchor { at, zone: &self.zone() }, lean)
        }

        fn is_met(&self, found: &[TimeExpression]) -> bool {
            let text = self.get("text").unwrap();
            let words = |dated: &TimeExpression| dated.span().of(text).unwrap();
            match (self.get("expect").unwrap(), found) {
                ("none", found) => found.is_empty(),
                ("refused", [TimeExpression::Refused(_)]) => true,
                ("recurring", [dated @ TimeExpression::Recurring(_)]) => {
                    self.get("words").unwrap().contains(words(dated))
                }
                ("length", [TimeExpression::Length { seconds, .. }]) => {
                    Some(*seconds) == self.get("seconds").map(|seconds| seconds.parse().unwrap())
                }
                ("when", [dated @ TimeExpression::When(when)]) => {
                    let ends = (when.start.map(WorldTime::as_seconds), when.end.map(WorldTime::as_seconds));
                    let grain = format!("{:?}", when.grain).to_lowercase();
                    let gold = self.get("words").unwrap();
                    ends == (self.seconds("start"), self.seconds("end"))
                        && Some(grain.as_str()) == self.get("grain")
                        && (gold.contains(words(dated)) || words(dated).contains(gold))
                }
                _ => false,
            }
        }
    }

    #[test]
    fn every_case_of_the_gold_set_is_resolved_as_thought_out_by_hand() {
        let lines: Vec<&str> = include_str!("../gold/g3.jsonl").lines().collect();
        let missed: Vec<&&str> = lines.iter().filter(|line| !Row(line).is_met(&Row(line).found())).collect();
        assert!(missed.is_empty(), "{} of {}:\n{missed:#?}", missed.len(), lines.len());
        assert!(lines.len() >= 300);
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::from_micros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond()).unwrap()
    }

    fn zone(name: &str) -> Zone {
        Zone { name: name.to_owned(), offset_seconds: 0 }
    }

    fn only(text: &str, moment: &str, place: &str, lean: TimeBias) -> When {
        let found = dates(text, &Anchor { at: at(moment), zone: &zone(place) }, lean);
        let [TimeExpression::When(when)] = found[..] else { panic!("{text}: {found:?}") };
        when
    }

    fn span(when: When) -> (String, String) {
        let text = |time: Option<WorldTime>| time.unwrap().timestamp().unwrap().to_string();
        (text(when.start), text(when.end))
    }

    /// `yesterday` at a moment in a place: its first second and the first after it, in UTC.
    fn yesterday(moment: &str, place: &str) -> (String, String) {
        span(only("I met Ana yesterday.", moment, place, TimeBias::Past))
    }

    fn both(start: &str, end: &str) -> (String, String) {
        (start.to_owned(), end.to_owned())
    }

    // proves: DF-35
    #[test]
    fn yesterday_is_the_day_before_in_the_place_of_the_speaker_on_both_sides_of_midnight() {
        // 22:30 UTC: still the 15th in New York and London's summer, the 16th in Tokyo.
        let late = "2024-05-15T22:30:00Z";
        assert_eq!(yesterday(late, "America/New_York"), both("2024-05-14T04:00:00Z", "2024-05-15T04:00:00Z"));
        assert_eq!(yesterday(late, "Europe/London"), both("2024-05-13T23:00:00Z", "2024-05-14T23:00:00Z"));
        assert_eq!(yesterday(late, "Asia/Tokyo"), both("2024-05-14T15:00:00Z", "2024-05-15T15:00:00Z"));
        // One minute before and after midnight in London.
        assert_eq!(
            yesterday("2024-05-15T22:59:00Z", "Europe/London"),
            both("2024-05-13T23:00:00Z", "2024-05-14T23:00:00Z")
        );
        assert_eq!(
            yesterday("2024-05-15T23:01:00Z", "Europe/London"),
            both("2024-05-14T23:00:00Z", "2024-05-15T23:00:00Z")
        );
    }

    // proves: DF-35
    #[test]
    fn yesterday_has_23_or_25_hours_where_clocks_were_changed() {
        // Berlin: on 31 March 2024 the day is an hour shorter, on 27 October an hour longer.
        let spring = yesterday("2024-04-01T10:00:00Z", "Europe/Berlin");
        assert_eq!(spring, both("2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"));
        let autumn = yesterday("2024-10-28T10:00:00Z", "Europe/Berlin");
        assert_eq!(autumn, both("2024-10-26T22:00:00Z", "2024-10-27T23:00:00Z"));
        // New York: 10 March and 3 November 2024.
        let spring = yesterday("2024-03-11T16:00:00Z", "America/New_York");
        assert_eq!(spring, both("2024-03-10T05:00:00Z", "2024-03-11T04:00:00Z"));
        let autumn = yesterday("2024-11-04T16:00:00Z", "America/New_York");
        assert_eq!(autumn, both("2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"));
        // Where clocks are never changed.
        assert_eq!(
            yesterday("2024-04-01T10:00:00Z", "Asia/Tokyo"),
            both("2024-03-30T15:00:00Z", "2024-03-31T15:00:00Z")
        );
    }

    #[test]
    fn a_time_in_a_gap_moves_forward_and_one_that_comes_twice_is_the_first() {
        let gap = only(
            "It rang at 2:30 am on March 31, 2024.",
            "2024-06-01T10:00:00Z",
            "Europe/Berlin",
            TimeBias::Past,
        );
        assert_eq!(span(gap).0, "2024-03-31T01:30:00Z");
        let twice = only(
            "It rang at 2:30 am on October 27, 2024.",
            "2025-06-01T10:00:00Z",
            "Europe/Berlin",
            TimeBias::Past,
        );
        assert_eq!(span(twice).0, "2024-10-27T00:30:00Z");
    }

    // The part of AD-27 (time grounding at extraction) that reads text; the graph orders undated values.
    #[test]
    fn words_count_from_the_moment_they_were_said_and_what_is_no_day_sets_no_time() {
        let early = only("We moved three weeks ago.", "2023-03-31T12:00:00Z", "UTC", TimeBias::Past);
        let late = only("We moved three weeks ago.", "2024-03-31T12:00:00Z", "UTC", TimeBias::Past);
        assert_eq!((span(early).0, early.grain), ("2023-03-10T00:00:00Z".to_owned(), Granularity::Day));
        assert_eq!((span(late).0, late.grain), ("2024-03-10T00:00:00Z".to_owned(), Granularity::Day));
        let anchor = Anchor { at: at("2024-03-31T12:00:00Z"), zone: &Zone::utc() };
        assert!(matches!(
            dates("It was due on 30 February.", &anchor, TimeBias::Past)[..],
            [TimeExpression::Refused(_)]
        ));
        assert!(dates("It was due some other time.", &anchor, TimeBias::Past).is_empty());
    }

    // The query-date grammar (AD-19); recall calls it with the time and zone of the request.
    #[test]
    fn a_question_names_its_window() {
        let moment = "2024-05-15T12:00:00Z";
        let window = |text| span(only(text, moment, "UTC", TimeBias::Past));
        assert_eq!(
            window("What did I do last summer?"),
            both("2023-06-01T00:00:00Z", "2023-09-01T00:00:00Z")
        );
        assert_eq!(window("Whom did I meet in March?"), both("2024-03-01T00:00:00Z", "2024-04-01T00:00:00Z"));
        assert_eq!(window("What happened in Q1?"), both("2024-01-01T00:00:00Z", "2024-04-01T00:00:00Z"));
        assert_eq!(
            window("What did Ana say two days ago?"),
            both("2024-05-13T00:00:00Z", "2024-05-14T00:00:00Z")
        );
        assert_eq!(
            window("What did I eat between May 3 and May 7?"),
            both("2024-05-03T00:00:00Z", "2024-05-08T00:00:00Z")
        );
        let anchor = Anchor { at: at(moment), zone: &Zone::utc() };
        assert!(dates("What does Ana like?", &anchor, TimeBias::Past).is_empty());
    }

    #[test]
    fn ordinary_words_are_no_dates() {
        let anchor = Anchor { at: at("2024-05-15T12:00:00Z"), zone: &Zone::utc() };
        for text in [
            "You may march on, if you may.",
            "The sun sat low over the hill.",
            "Give me a second, that is my second cup.",
            "Version 1.2.3 and 10.0.0.1 are out.",
            "We are open 24/7.",
            "It costs $12 or 5.50 dollars.",
            "First, take a spring from the box; the first one broke.",
            "There were 10 people and 3 dogs at 5 tables.",
            "The code is ABC-12345-A1B2.",
            "Call 555-0199 for a quote.",
            "It fell and they will fall again.",
            "That was the third time, the 2nd place.",
        ] {
            assert_eq!(dates(text, &anchor, TimeBias::Past), [], "{text}");
        }
    }

    #[test]
    fn a_pack_may_be_given_as_a_text() {
        let pack = "[number]\n3 = ['drei']\n[unit]\nday = ['Tagen']\n[forms]\nlength = ['<n> <unit>']\nago = ['vor <length>']\n";
        let rules = DateRules::parse(pack).unwrap();
        let anchor = Anchor { at: at("2024-05-15T12:00:00Z"), zone: &Zone::utc() };
        let found = rules.read("Das war vor drei Tagen.", &anchor, TimeBias::Past);
        assert_eq!(span(found[0].when().unwrap()).0, "2024-05-12T00:00:00Z");
        for broken in
            ["[forms]\nnothing = ['x']", "[forms]\nago = ['<lenth>']", "[unit]\nblink = ['x']", "[month"]
        {
            assert!(DateRules::parse(broken).is_err(), "{broken}");
        }
    }

    fn texts() -> impl Strategy<Value = String> {
        let words = prop::sample::select(vec![
            "may",
            "May 3",
            "3",
            "31",
            "2023-",
            "5pm",
            "12:30",
            "last ",
            "next ",
            "friday",
            "weeks",
            " ago",
            "in ",
            "two ",
            "-",
            "/",
            ".",
            ",",
            "(",
            ")",
            "'",
            "s",
            "the ",
            "first ",
            "of ",
            "every ",
            "week",
            "from ",
            "to ",
            "between ",
            "and ",
            "Christmas",
            "ramadan 9999",
            "year 2999",
            "century",
            "999",
            "9999 years ago",
            "in 99999 centuries",
            "quarter",
            "Q",
            "h",
            "am",
            "EST",
            "for ",
            "days",
            "before ",
            "new year's eve",
            "’",
            "年",
            "３",
            "é",
            "\u{300}",
            "decade",
            "past ",
            "half ",
            "February 30",
            "0",
            "00:00",
            "24:00",
            "1000",
            "week 53 of 1000",
            "e",
            "12",
        ])
        .prop_map(str::to_owned);
        let piece = prop_oneof![3 => words, 1 => any::<String>(), 1 => "[ -~\n]{0,20}"];
        (prop::collection::vec(piece, 0..14), prop::sample::select(vec!["", " "]))
            .prop_map(|(all, gap)| all.join(gap))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn dates_of_any_text_stand_in_order_on_boundaries_and_end_after_they_begin(
            text in texts(),
            micros in 0..253_402_300_799_999_999_i64,
            place in prop::sample::select(vec!["", "UTC", "Europe/Berlin", "Australia/Lord_Howe", "Nowhere/At_All"]),
            lean in prop::sample::select(vec![TimeBias::Past, TimeBias::Future, TimeBias::Nearest]),
        ) {
            let zone = Zone { name: place.to_owned(), offset_seconds: -16_200 };
            let anchor = Anchor { at: Timestamp::from_micros(micros).unwrap(), zone: &zone };
            let found = dates(&text, &anchor, lean);
            let mut last = 0;
            for dated in &found {
                let span = dated.span();
                prop_assert!(span.start >= last && span.end > span.start && span.of(&text).is_some());
                last = span.end;
                if let TimeExpression::When(when) = dated {
                    prop_assert!(when.start.is_some() || when.end.is_some());
                    prop_assert!(when.start.zip(when.end).is_none_or(|(start, end)| start < end));
                }
            }
            prop_assert_eq!(found, dates(&text, &anchor, lean));
        }
    }
}
