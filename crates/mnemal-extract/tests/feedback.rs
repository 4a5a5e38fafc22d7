//! Feedback and preference notes: detection, and invariants for every message.

#[cfg(test)]
mod tests {
    use mnemal_extract::{
        Aspect, Feedback, FeedbackAct, Irritation, OwnWords, Polarity, Turn, feedback, preference_notes,
        requires_user_permission,
    };
    use proptest::prelude::*;

    fn feedback_of(user: &str) -> Vec<Feedback> {
        feedback(Turn {
            user: &OwnWords::of_text(user),
            assistant: Some("Here is the reply that I drafted."),
            earlier: &[],
        })
    }

    fn acts(assistant: Option<&str>, user: &str) -> Vec<FeedbackAct> {
        feedback(Turn { user: &OwnWords::of_text(user), assistant, earlier: &[] })
            .into_iter()
            .map(|one| one.act)
            .collect()
    }

    #[test]
    fn a_wish_for_shorter_responses_is_an_explicit_preference() {
        let found = feedback_of("Actually, I prefer shorter responses");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].act, found[0].aspect), (FeedbackAct::Preference, Aspect::Length));
        assert_eq!((found[0].target.as_str(), found[0].is_explicit), ("reply", true));
        assert_eq!(
            found[0].span.of("Actually, I prefer shorter responses"),
            Some("I prefer shorter responses")
        );
    }

    #[test]
    fn feedback_is_found_inside_a_longer_message() {
        let message = "The train was late again and I am hungry. Anyway, please never use emojis in your replies. \
                       My sister is coming at six.";
        let found = feedback_of(message);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].act, found[0].polarity), (FeedbackAct::Directive, Polarity::DoNot));
        assert_eq!((found[0].target.as_str(), found[0].aspect), ("emoji", Aspect::Emoji));
    }

    #[test]
    fn what_is_right_instead_is_kept() {
        let found = feedback_of("I said Tuesday.");
        assert_eq!((found[0].act, found[0].value.as_deref()), (FeedbackAct::Repair, Some("Tuesday")));
    }

    #[test]
    fn without_an_assistant_only_directives_and_preferences_count() {
        assert!(acts(None, "That's wrong.").is_empty());
        assert!(acts(None, "Perfect!").is_empty());
        assert_eq!(acts(None, "From now on, answer in French."), [FeedbackAct::Directive]);
    }

    #[test]
    fn a_no_that_answers_a_question_is_no_correction() {
        assert!(acts(Some("Shall I send it on Friday?"), "No, on Monday.").is_empty());
        assert_eq!(acts(Some("I sent it on Friday."), "No, on Monday."), [FeedbackAct::Repair]);
    }

    #[test]
    fn corrections_of_the_world_and_of_somebody_elses_words_are_none() {
        for user in [
            "My sister lives in Nice, not Lyon.",
            "No worries!",
            "She told me to never call again.",
            "My boss says you should always use tabs.",
            "> stop using tabs",
            "```\n# never use tabs\n```",
            "The sign reads \"always wash your hands before you enter\".",
            "I never give up.",
            "Long time no see!",
        ] {
            assert!(feedback_of(user).is_empty(), "{user}: {:?}", feedback_of(user));
        }
    }

    #[test]
    fn a_complaint_that_comes_again_is_very_irritated_and_marked_as_a_repeat() {
        let first = feedback_of("Your summary is too long.");
        assert_eq!((first[0].act, first[0].irritation), (FeedbackAct::Reject, Irritation::Mild));
        let user = "The summary is still too long.";
        let again = feedback(Turn {
            user: &OwnWords::of_text(user),
            assistant: Some("Here is the summary."),
            earlier: &first,
        });
        assert_eq!(again[0].irritation, Irritation::Very);
        assert!(again.iter().any(|one| one.act == FeedbackAct::Repeat), "{again:?}");
    }

    #[test]
    fn the_level_rises_with_counted_cues() {
        let level = |user: &str| feedback_of(user).first().map(|one| one.irritation);
        assert_eq!(level("That's wrong."), Some(Irritation::Mild));
        assert_eq!(level("That's wrong!!!"), Some(Irritation::Very));
        assert_eq!(level("WRONG ANSWER. I already told you to use spaces."), Some(Irritation::Very));
        assert_eq!(level("Great job."), Some(Irritation::Casual));
        assert!(Irritation::Very.weight() >= 2.0 * Irritation::Mild.weight());
        assert!(Irritation::Very.weight() >= 3.0 * Irritation::Casual.weight());
    }

    #[test]
    fn an_anti_pattern_knows_its_alternative() {
        let found = feedback_of("Stop using npm, use pnpm instead.");
        let directive = found.iter().find(|one| one.act == FeedbackAct::Directive).unwrap();
        assert_eq!(directive.polarity, Polarity::DoNot);
        assert!(directive.alternative.as_deref().is_some_and(|text| text.starts_with("pnpm")), "{found:?}");
    }

    #[test]
    fn what_to_leave_and_why_are_kept_in_the_users_words() {
        for (user, avoid, reason) in [
            (
                "Never push to main because CI breaks; open a pull request instead.",
                "push to main",
                Some("CI breaks"),
            ),
            (
                "Use pnpm instead of npm, since it keeps one lockfile.",
                "use npm",
                Some("it keeps one lockfile"),
            ),
            (
                "Stop writing long emails, otherwise nobody reads them.",
                "writing long emails",
                Some("nobody reads them"),
            ),
            ("From now on don't ever call me sir.", "call me sir", None),
            ("From now on, use spaces instead of tabs.", "use tabs", None),
        ] {
            let found = feedback_of(user);
            let one =
                found.iter().find(|one| one.avoid.is_some()).unwrap_or_else(|| panic!("{user}: {found:?}"));
            assert_eq!((one.avoid.as_deref(), one.reason.as_deref()), (Some(avoid), reason), "{user}");
        }
        for user in [
            "That's wrong, I don't use npm.",
            "That's wrong.",
            "That didn't work either.",
            "Do it without making a mess, please, that's wrong.",
        ] {
            assert!(
                feedback_of(user).iter().all(|one| one.avoid.is_none()),
                "{user}: {:?}",
                feedback_of(user)
            );
        }
    }

    #[test]
    fn delicate_topics_require_leave_and_others_do_not() {
        for text in [
            "Always rotate the password first.",
            "Never share my API keys.",
            "Pay the invoice every month.",
            "Always transfer the rent on the first.",
            "Send the newsletter without asking.",
            "Delete old drafts every week.",
            "Ask my doctor before you change the dose.",
            "Have the contract checked by a lawyer.",
            "Push to production at night.",
            "Cancel the meeting when I am ill.",
        ] {
            assert!(requires_user_permission(text), "{text}");
        }
        for text in ["Keep it short.", "Always use metric units.", "No emojis please.", "I love hiking."] {
            assert!(!requires_user_permission(text), "{text}");
        }
    }

    fn messages() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            "[ -~\n]{0,30}",
            prop::sample::select(vec![
                "no, ",
                "that's wrong",
                "never use ",
                "always ",
                "from now on ",
                "I prefer short answers",
                "!!",
                "?!",
                "…",
                "not ",
                "stop ",
                "don't ",
                "’t ",
                "I can't stand ",
                "instead",
                "İ",
                "ß",
                "请用",
                "\"",
                "> ",
                "```",
                "I hate ",
                "perfect",
                ". ",
                "\n",
                "🙂",
                "i said ",
                "too long",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic_and_spans_stand_on_character_borders(user in messages(), assistant in messages()) {
            let own = OwnWords::of_text(&user);
            let turn = Turn { user: &own, assistant: Some(&assistant), earlier: &[] };
            let found = feedback(turn);
            prop_assert_eq!(&found, &feedback(turn));
            for one in &found {
                prop_assert!(one.span.of(&user).is_some_and(|text| !text.is_empty()));
                prop_assert!(one.value.as_deref().is_none_or(|value| user.contains(value)));
            }
            for note in preference_notes(&own) {
                prop_assert!(note.span.of(&user).is_some_and(|text| !text.is_empty()));
            }
            let _ = requires_user_permission(&user);
        }

        #[test]
        fn a_quotation_of_feedback_is_none(words in "[a-z]{1,8}") {
            let user = format!("> never use {words}\n> always use {words}");
            prop_assert!(feedback_of(&user).is_empty());
        }
    }
}
