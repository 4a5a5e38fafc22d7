//! No text makes a function panic, and ranges stand on character boundaries.

#[cfg(test)]
mod tests {
    use mnemal_extract::{gates, question, screen, strip_private, synth, turn_marks};
    use proptest::prelude::*;

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            "[ -~\n]{0,40}",
            prop::sample::select(vec![
                "<private>",
                "</private>",
                "<PRIVATE ",
                "'",
                "’s",
                "I'",
                "May 3",
                "2023-",
                "5pm",
                "?",
                "Ana",
                " de ",
                "when ",
                "ignore all ",
                "![x](http://",
                "{",
                "*",
                "“",
                "»",
                "```",
                "how many",
                "isn't it",
                "年",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_function_answers_every_text_twice_alike(text in texts()) {
            prop_assert_eq!(gates(&text), gates(&text));
            prop_assert_eq!(turn_marks(&text), turn_marks(&text));
            prop_assert_eq!(screen(&text), screen(&text));
            let asked = question(&text);
            prop_assert!(asked.phrases.iter().all(|range| text.get(range.clone()).is_some()));
            prop_assert!(asked.names.iter().all(|name| !name.is_empty()));
        }

        #[test]
        fn nothing_private_is_left_and_cutting_again_changes_nothing(text in texts()) {
            let (left, cuts) = strip_private(&text);
            prop_assert!(cuts.iter().all(|cut| text.get(cut.clone()).is_some()));
            prop_assert!(!left.to_ascii_lowercase().contains("<private>"));
            let again = strip_private(&left).0.into_owned();
            prop_assert_eq!(again, left);
        }

        #[test]
        fn synthesised_secrets_depend_on_the_seed_alone(seed in any::<u64>()) {
            for rule in synth::rule_ids() {
                let planted = synth::phrase(rule, seed).unwrap();
                prop_assert!(planted.text.contains(&planted.secret) && planted.secret.len() >= 9);
                prop_assert_eq!(synth::secret(rule, seed), Some(planted.secret));
            }
        }
    }
}
