//! Name search: hits, non-hits, and invariants for every text.

#[cfg(test)]
mod tests {
    use mnemal_core::{EntityKind, Gazetteer};
    use mnemal_extract::mentions;
    use proptest::prelude::*;

    fn found(text: &str, known: &Gazetteer) -> String {
        let names = mentions(text, known);
        names
            .iter()
            .map(|name| format!("{}:{}", name.name, name.kind.as_str()))
            .collect::<Vec<_>>()
            .join(" | ")
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(found(text, &Gazetteer::default()), expected, "{text}");
    }

    fn known(names: &[(&str, EntityKind)]) -> Gazetteer {
        let mut known = Gazetteer::default();
        for (name, kind) in names {
            known.add(name, *kind);
        }
        known
    }

    // proves: NB-27 (people, places, organisations by lists, capitals and the words beside them)
    #[test]
    fn names_have_the_kind_that_the_words_beside_them_say() {
        check("My sister Anna moved to Lyon last May.", "Anna:person | Lyon:location");
        check("I work at Tandrel and my boss is Petra.", "Tandrel:organization | Petra:person");
        check("Our dog Pepper is fine, and Zorbo is a beagle.", "Pepper:animal | Zorbo:animal");
        check("We use Postgres, docker and Grafana.", "Postgres:product | docker:product | Grafana:product");
        check("I finished reading \"The Copper Lanterns\" yesterday.", "The Copper Lanterns:work");
        check("She studies at Quillon University.", "Quillon University:organization");
        check("We ran the Tessin Marathon.", "Tessin Marathon:event");
        check("Dr. Okonjo said hi to Uncle Ferdi.", "Okonjo:person | Ferdi:person");
        check("I'm from Ostrowiec, she lives in Brindleford.", "Ostrowiec:location | Brindleford:location");
        check("Trader Joe's is near St. Louis.", "Trader Joe's:organization | St. Louis:location");
    }

    // proves: NB-27 (names that stand in no list, by shape and place)
    #[test]
    fn names_of_no_list_have_the_kind_of_their_surroundings() {
        check("The house in Brodmere is on a hill.", "Brodmere:location");
        check("I borrowed it from the Tellbury library.", "Tellbury library:organization");
        check("Her kids go to St Wulfric's now.", "St Wulfric's:organization");
        check("Our gardener Vostrel is ill.", "Vostrel:person");
        check("I asked a colleague called Drennick.", "Drennick:person");
        check("Dinner with the Okvists went well.", "Okvists:person");
        check("She is a Brodmerer at heart.", "");
        check("The job runs on Europe/Vienna time.", "");
    }

    #[test]
    fn bodies_with_small_heads_and_shops_are_organizations() {
        check("I borrowed it from the Tellmoor brass band.", "Tellmoor brass band:organization");
        check("We had lunch at Hobbick's and went home.", "Hobbick's:organization");
        check("Send it to Hollin & Wade please.", "Hollin & Wade:organization");
        check("We adopted two heifers, Moll and Tansy, last week.", "Moll:animal | Tansy:animal");
        check("Our terrier barks so we named him Brusk.", "Brusk:animal");
        check("My exam is in May and not in June.", "");
    }

    #[test]
    fn lower_case_names_need_a_list_and_a_cue() {
        check("i live in berlin with my wife anna", "berlin:location | anna:person");
        check("i will mark the paper and may go", "");
        check("can you express it in a swift way", "");
    }

    #[test]
    fn what_only_looks_like_a_name_is_left_alone() {
        for text in [
            "On Monday in March I speak German and English.",
            "Yesterday Was Great!",
            "OK LOL THANKS SO MUCH FOR THIS",
            "Happy Easter! Merry Christmas!",
            "Please click Save and then Cancel.",
            "The CEO and the CTO had a day off.",
            "```\nlet Anna = Berlin;\n```",
            "2031-05-01 10:00:00 ERROR [main] Paris failed: code=7",
            "Deployed. Fixed. Works. Perfect, thanks.",
            "Will you come? May I ask? Mark my words.",
        ] {
            check(text, "");
        }
    }

    // proves: NB-27 (identifiers, money and quantities)
    #[test]
    fn identifiers_and_quantities_are_found_in_every_script() {
        check("见 https://a.example/x 和 5公里", "https://a.example/x:identifier | 5公里:quantity");
        check("почта ana@mail.example, 300 руб", "ana@mail.example:identifier | 300 руб:quantity");
        check("v1.2.3 of PROJ-142 cost $1,200", "v1.2.3:identifier | PROJ-142:identifier | $1,200:quantity");
    }

    // proves: RB-74
    #[test]
    fn known_names_are_whole_words_in_any_case_and_short_ones_only_as_written() {
        let known = known(&[
            ("Zorbel", EntityKind::Organization),
            ("Ana Silva", EntityKind::Person),
            ("Jo", EntityKind::Person),
            ("Will", EntityKind::Person),
            ("St. Ondry", EntityKind::Location),
            ("ana silva bakery", EntityKind::Organization),
        ]);
        assert_eq!(found("zorbel, not zorbels or ezorbel", &known), "zorbel:organization");
        assert_eq!(
            found("ANA SILVA BAKERY and ana silva’s", &known),
            "ANA SILVA BAKERY:organization | ana silva:person"
        );
        assert_eq!(found("Jo said jo-jo, JO", &known), "Jo:person");
        assert_eq!(found("will you ask will or Will?", &known), "Will:person");
        assert_eq!(found("we met in (St. Ondry), then left", &known), "St. Ondry:location");
        assert_eq!(found("ana, silva", &known), "");
    }

    // proves: NX-05.2 (known names without spaces around them)
    #[test]
    fn known_names_are_found_where_words_have_no_spaces() {
        let known = known(&[
            ("王小明", EntityKind::Person),
            ("서울", EntityKind::Location),
            ("上海", EntityKind::Location),
        ]);
        assert_eq!(found("我妹妹叫王小明，住在上海。", &known), "王小明:person | 上海:location");
        assert_eq!(found("저는 서울에 살아요", &known), "서울:location");
    }

    // proves: BA-04 (kinds come from lists; a short word counts only as a whole word)
    #[test]
    fn listed_words_inside_longer_words_do_not_count() {
        check("the awsome gitter and a nasally voice", "");
        check("we deploy it on AWS with Git", "AWS:product | Git:product");
    }

    #[test]
    fn a_name_keeps_its_kind_within_a_text() {
        check("My dog Zorbo barks. I love Zorbo.", "Zorbo:animal | Zorbo:animal");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn names_lie_in_the_text_in_order_and_twice_alike(text in any::<String>(), tail in "[A-Za-z .,'’@/$0-9]{0,60}") {
            let text = text + &tail;
            let known = known(&[("Jo", EntityKind::Person), ("王小", EntityKind::Person)]);
            let names = mentions(&text, &known);
            prop_assert_eq!(&names, &mentions(&text, &known));
            prop_assert!(names.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
            for name in &names {
                prop_assert!(name.span.of(&text).is_some());
                prop_assert!((1..=80).contains(&name.name.chars().count()) && !name.name.chars().any(char::is_control));
            }
        }
    }
}
