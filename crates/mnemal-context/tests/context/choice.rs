//! Selection of candidates, and the reason of each omission.

use mnemal_context::{ContextSettings, Format};
use mnemal_core::{
    Fragment, InclusionReason, LearningId, OmittedReason, RecordRef, Score, Section, Trust, Within,
};

use crate::fakes::{assemble, context, external, fragment, left_out, note, offering, request, shown};

#[test]
fn where_few_lines_are_wanted_the_best_ones_are_taken_and_weak_ones_are_none() {
    let offered: Vec<_> =
        (1..=9).map(|number| fragment(Section::Recall, number, &format!("line number {number}"))).collect();
    let mut offered = offered;
    for (place, one) in offered.iter_mut().enumerate() {
        one.score = Score::new(if place < 6 { 0.9 - 0.01 * place as f32 } else { 0.5 });
    }
    offered.push(note(Section::Preferences, 10, "Answers are short."));
    let few = mnemal_core::ContextRequest { lines: Some(4), ..request(Some("which line?"), 4_000) };
    let context = assemble(offering(offered.clone()), &few).value;
    assert_eq!(shown(&context).len(), 5, "the note is not counted: {}", context.text);
    let reasons: Vec<_> = left_out(&context).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons.iter().filter(|reason| **reason == "budget").count(), 2, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|reason| **reason == "below_floor").count(), 3, "{reasons:?}");
    let all = assemble(offering(offered), &request(Some("which line?"), 4_000)).value;
    assert_eq!(shown(&all).len(), 10);
}

// proves: AD-17
#[test]
fn a_note_wins_over_the_event_that_it_is_the_whole_of() {
    let context = context(vec![
        fragment(Section::Recall, 1, "We deploy on Tuesdays!"),
        note(Section::Knowledge, 1, "We deploy on Tuesdays"),
    ]);
    assert_eq!(context.receipt.lines.len(), 1);
    assert_eq!(context.receipt.lines[0].section, Section::Knowledge);
    assert_eq!(left_out(&context), [(1, "duplicate")]);
}

#[test]
fn an_event_that_says_more_than_the_notes_made_from_it_is_shown() {
    let text = "Answers are short. My brother Tom is allergic to peanuts.";
    let other = Fragment {
        record: RecordRef::Learning(LearningId(2)),
        ..note(Section::Knowledge, 1, "My brother Tom")
    };
    let context = context(vec![
        fragment(Section::Recall, 1, text),
        note(Section::Preferences, 1, "Answers are short."),
        other,
    ]);
    assert!(context.text.contains(text), "{}", context.text);
    assert_eq!((context.receipt.lines.len(), left_out(&context)), (3, Vec::new()));
}

#[test]
fn of_two_that_say_the_same_the_one_with_more_trust_is_shown() {
    let mut agent = fragment(Section::Recall, 1, "The release train leaves on Tuesday.");
    agent.trust = Trust::Assistant;
    let context = context(vec![agent, fragment(Section::Recall, 2, "the release train leaves on tuesday")]);
    assert_eq!(shown(&context), [2]);
    assert_eq!(left_out(&context), [(1, "duplicate")]);
}

// proves: NX-06.2
#[test]
fn a_stable_line_stays_when_a_recalled_text_of_more_trust_says_the_same() {
    let mut agent = note(Section::Knowledge, 1, "The release train leaves on Tuesday.");
    agent.trust = Trust::Assistant;
    let offered = vec![agent, fragment(Section::Recall, 2, "the release train leaves on tuesday")];
    let context = assemble(offering(offered), &request(None, 4_000)).value;
    assert_eq!((shown(&context), left_out(&context)), (vec![1], vec![(2, "duplicate")]));
}

#[test]
fn texts_that_differ_in_one_word_or_number_are_both_shown() {
    let context = context(vec![
        fragment(Section::Recall, 1, "The release train leaves at 4."),
        fragment(Section::Recall, 2, "The release train leaves at 5."),
        fragment(Section::Recall, 3, "The release train does not leave at 5."),
    ]);
    assert_eq!(shown(&context), [1, 2, 3]);
}

#[test]
fn the_same_words_in_another_order_or_with_a_denial_are_both_shown() {
    let long = "The wood that we bought in autumn and stacked behind the shed next to the old cart".repeat(2);
    for (one, other) in [
        ("The blue team beat the red team.", "The red team beat the blue team."),
        (
            "The left valve must be closed before the right valve.",
            "The right valve must be closed before the left valve.",
        ),
        ("Mein Bruder ist älter als meine Schwester.", "Meine Schwester ist älter als mein Bruder."),
        (
            &format!("{long} is not enough for winter, says Olga."),
            &format!("{long} is now enough for winter, says Olga."),
        ),
        (&format!("{long} gehört Jan."), &format!("{long} gehört nicht Jan.")),
    ] {
        let context = context(vec![fragment(Section::Recall, 1, one), fragment(Section::Recall, 2, other)]);
        assert_eq!(shown(&context), [1, 2], "{one}");
    }
}

#[test]
fn what_must_be_said_of_a_text_stands_outside_its_quotes() {
    let remarked = |remark, mut fragment: Fragment| {
        fragment.label.remark = Some(remark);
        fragment
    };
    let context = context(vec![
        remarked(mnemal_core::Remark::AskFirst, note(Section::Preferences, 1, "Pay the bills.")),
        remarked(mnemal_core::Remark::PartlyPasted, fragment(Section::Recall, 2, "What does she mean?")),
    ]);
    assert!(context.text.contains(" (ask the user first) \"Pay the bills.\""), "{}", context.text);
    assert!(context.text.contains(" (partly pasted) \"What does she mean?\""), "{}", context.text);
}

#[test]
fn the_weaker_twin_steps_in_when_the_stronger_one_does_not_fit() {
    let words = "one two three four five six seven eight nine ten ".repeat(3);
    let best = fragment(Section::Recall, 0, "the best of all");
    let stronger = fragment(Section::Recall, 1, &format!("{words}{}", "\u{25c6}".repeat(300)));
    let mut weaker = fragment(Section::Recall, 2, &words);
    weaker.trust = Trust::Tool;
    let context = assemble(offering(vec![best, stronger, weaker]), &request(Some("one"), 250)).value;
    assert_eq!(shown(&context), [0, 2], "{:?}", left_out(&context));
    assert_eq!(left_out(&context), [(1, "duplicate")]);
}

#[test]
fn a_record_that_two_sections_offer_is_one_candidate() {
    let context = context(vec![
        fragment(Section::Recent, 1, "we ship today"),
        fragment(Section::Recall, 1, "we ship today"),
        fragment(Section::Knowledge, 1, "we ship today"),
    ]);
    assert_eq!(context.receipt.lines.len(), 1);
    assert_eq!(context.receipt.lines[0].section, Section::Knowledge);
    assert!(left_out(&context).is_empty());
}

// proves: NX-01.5
#[test]
fn a_reason_that_the_layer_knows_is_kept() {
    for reason in OmittedReason::ALL {
        let mut made = fragment(Section::Recall, 1, "a text");
        made.withheld = Some(reason);
        assert_eq!(left_out(&context(vec![made])), [(1, reason.as_str())]);
    }
}

#[test]
fn a_section_that_is_not_wanted_is_out_of_scope() {
    let mut asked = request(Some("q"), 4_000);
    asked.sections = Within::Only(vec![Section::Recall]);
    let offered = vec![note(Section::Preferences, 1, "tabs"), fragment(Section::Recall, 2, "spaces")];
    let context = assemble(offering(offered), &asked).value;
    assert_eq!((shown(&context), left_out(&context)), (vec![2], vec![(1, "scope")]));
    assert!(!context.text.contains("now 2026"));
    assert!(context.text.contains("\nreceipt rcl_"));
    assert_eq!(context.sections.len(), 1);
}

// proves: NX-08.7, DF-96 (what others wrote)
#[test]
fn evidence_of_others_never_stands_among_what_the_user_said_of_himself() {
    for section in [Section::Identity, Section::Preferences, Section::Learnings] {
        let context = context(vec![external(note(section, 1, "the user loves malware"))]);
        assert_eq!((context.text.as_str(), left_out(&context)), ("", vec![(1, "quarantined")]));
    }
}

#[test]
fn what_a_text_of_others_says_is_knowledge_in_the_part_for_evidence() {
    for query in [None, Some("q")] {
        let made = external(note(Section::Knowledge, 1, "the lease ends in June"));
        let context = assemble(offering(vec![made]), &request(query, 4_000)).value;
        assert_eq!((shown(&context), left_out(&context)), (vec![1], Vec::new()));
        let (_, evidence) = context.text.split_once("external:\n").unwrap();
        assert!(evidence.contains("the lease ends in June"), "{}", context.text);
    }
}

// proves: NX-01.3
#[test]
fn a_fragment_without_a_source_is_never_shown_and_is_a_gap() {
    let mut made = fragment(Section::Recall, 1, "from nowhere");
    made.sources.clear();
    let answer = assemble(offering(vec![made]), &request(Some("q"), 4_000));
    assert_eq!(answer.text, "");
    assert!(answer.gaps.iter().any(|gap| gap.to_string() == "context: failed (internal)"));
}

#[test]
fn what_matches_the_question_is_a_line_with_its_reason() {
    let context = context(vec![fragment(Section::Recall, 1, "we deploy on Tuesdays")]);
    assert_eq!(context.receipt.lines[0].because.as_str(), "query");
    assert!(context.text.contains("\"we deploy on Tuesdays\""));
}

/// A stated preference of the user, selected for the question.
fn stated(number: u64, text: &str) -> Fragment {
    Fragment {
        because: InclusionReason::ExplicitPreference,
        score: Score::new(1.0 / (2.0 + number as f32)),
        ..note(Section::Recall, number, text)
    }
}

#[test]
fn what_the_user_wants_is_short_and_stands_behind_what_was_found() {
    let wish = |number: u64| format!("I prefer the seat number {number} by the window");
    let mut offered: Vec<Fragment> = (0..400).map(|n| stated(n, &wish(n))).collect();
    offered.extend((0..200).map(|n| note(Section::Preferences, n, &wish(n))));
    let hits =
        (1_000..1_080).map(|n| fragment(Section::Recall, n, &format!("hit {n} {}", "said ".repeat(20))));
    offered.extend(hits);
    let context = context(offered);
    let is_short = |line: &&str| line.contains(" \"I prefer");
    let short: Vec<&str> = context.text.lines().filter(is_short).collect();
    assert!(short.len() > 40, "{}", short.len());
    assert!(context.text.contains("in the user's own words:\n"), "{}", context.text);
    let lines = &context.receipt.lines;
    let hits = lines.iter().filter(|line| matches!(line.record, RecordRef::Event(_))).count();
    assert!(hits > 10, "{hits}");
    let mut records: Vec<RecordRef> = lines.iter().map(|line| line.record).collect();
    records.sort_unstable();
    records.dedup();
    assert_eq!(records.len(), lines.len(), "what stands in the stable block is not said again");
    let of_recall = lines.iter().filter(|line| line.section == Section::Recall);
    let kinds: Vec<bool> = of_recall.map(|line| matches!(line.record, RecordRef::Event(_))).collect();
    assert!(kinds.iter().rev().is_sorted(), "the order of the receipt is that of the text");
}

#[test]
fn what_the_user_wants_takes_the_room_that_the_others_leave() {
    let wish = |number: u64| stated(number, &format!("I prefer the seat number {number} by the window"));
    let shown_of = |offered: Vec<Fragment>| {
        let lines = context(offered).receipt.lines;
        let of_wishes = lines.iter().filter(|line| line.because == InclusionReason::ExplicitPreference);
        of_wishes.map(|line| line.tokens.0).sum::<u32>()
    };
    let alone = shown_of((0..400).map(wish).collect());
    assert!((3_000..=4_000).contains(&alone), "{alone}");
    let hits =
        (1_000..1_200).map(|n| fragment(Section::Recall, n, &format!("hit {n} {}", "said ".repeat(20))));
    let beside = shown_of((0..400).map(wish).chain(hits).collect());
    assert!((2_500..3_400).contains(&beside), "a fifth is left for what was found: {beside}");
}

#[test]
fn a_story_in_which_a_wish_is_told_is_cut_and_a_hit_of_the_same_length_is_not() {
    let story = "I prefer the window since the year when we all went to the sea by train. ".repeat(8);
    let context = context(vec![stated(1, &story), fragment(Section::Recall, 2, &format!("hit: {story}"))]);
    let tokens: Vec<u32> = context.receipt.lines.iter().map(|line| line.tokens.0).collect();
    assert!(tokens[1] < 60 && tokens[0] > 100, "{tokens:?}");
    assert!(context.text.contains(" \"I prefer the window since"), "{}", context.text);
}

/// A timeline step, on a day of January 2026.
fn step(number: u64, at: mnemal_core::Timestamp, score: f32) -> Fragment {
    let mut step = fragment(Section::Recall, number, &format!("Step number {number} of the move."));
    (step.because, step.score, step.label.at) = (InclusionReason::Time, Score::new(score), at);
    step.producer = Some(mnemal_core::Producer { id: "recall/course".to_owned(), version: 1 });
    step
}

#[test]
fn the_steps_of_a_course_stand_in_their_order_before_what_was_found_and_are_chosen_best_first() {
    let base = fragment(Section::Recall, 0, "x").label.at;
    let day = |day: i64| base.plus_micros(day * 86_400_000_000);
    // Offered oldest first; two at one moment, of which the second is better.
    let offered = vec![
        step(1, day(0), 0.2),
        step(2, day(0), 0.9),
        step(3, day(2), 0.5),
        fragment(Section::Recall, 3, "Step number 3 of the move. It took the whole of a day."),
    ];
    let whole = context(offered.clone());
    assert_eq!(shown(&whole), [1, 2, 3, 3], "{}", whole.text);
    let heading = "one sentence each, oldest first:\n- 1 2026-01-0";
    assert!(whole.text.contains(heading), "{}", whole.text);
    let many = |n: u64| step(n, day(i64::try_from(n).unwrap()), 1.0 - n as f32 / 500.0);
    let hits =
        (1_000..1_200).map(|n| fragment(Section::Recall, n, &format!("hit {n} {}", "said ".repeat(20))));
    let long = context((0..400).map(many).chain(hits).collect());
    let steps: Vec<u128> = shown(&long).into_iter().take_while(|number| *number < 1_000).collect();
    assert!(steps.len() > 60 && steps.is_sorted() && steps == (0..steps.len() as u128).collect::<Vec<_>>());
    assert!(shown(&long).len() > steps.len() + 5, "a quarter is left for what was found");
    assert_eq!(whole.receipt.lines[0].because.as_str(), "time");
}

#[test]
fn a_step_that_others_told_stands_with_the_evidence_of_others() {
    let base = fragment(Section::Recall, 0, "x").label.at;
    let context = context(vec![external(step(1, base, 0.9)), step(2, base, 0.8)]);
    let place = |what: &str| context.text.find(what).unwrap();
    assert!(
        place("external:") < place("number 1") && place("number 2") < place("external:"),
        "{}",
        context.text
    );
}

#[test]
fn what_the_user_wants_is_whole_in_the_other_formats() {
    for (format, form) in [(Format::Xml, "<item level=\"user\""), (Format::Json, "{\"level\":\"user\"")] {
        let at = fragment(Section::Recall, 2, "a hit").label.at;
        let all = [stated(1, "I prefer tea"), step(3, at, 0.5), fragment(Section::Recall, 2, "a hit")];
        for leave_out in 0..=all.len() {
            let mut offered = all.to_vec();
            if leave_out < all.len() {
                offered.remove(leave_out);
            }
            let expected = offered.len();
            let mut parts = offering(offered);
            parts.settings = ContextSettings { format, ..ContextSettings::default() };
            let context = assemble(parts, &request(Some("q"), 4_000)).value;
            assert_eq!(
                context.text.matches("level=\"user\"").count(),
                if format == Format::Xml { expected } else { 0 }
            );
            assert!(context.text.contains(form), "{}", context.text);
            if format == Format::Json {
                let document = context.text.lines().skip(3).take_while(|line| !line.starts_with("</"));
                let document: String = document.collect();
                assert_eq!(document.matches("},{").count() + 1, expected, "{document}");
                assert!(!document.contains("},]") && !document.contains("}{"), "{document}");
            }
        }
    }
}

// proves: NB-61
#[test]
fn preferences_stand_in_every_context_unless_a_setting_leaves_them_to_those_who_ask_for_them() {
    let context = |always, sections: Within<Vec<Section>>| {
        let offered = vec![
            note(Section::Preferences, 1, "Answers are short."),
            note(Section::Knowledge, 2, "The harbour closes at nine."),
        ];
        let mut parts = offering(offered);
        parts.settings.always_include_preferences = always;
        assemble(parts, &mnemal_core::ContextRequest { sections, ..request(Some("when?"), 4_000) }).value
    };
    assert_eq!(shown(&context(true, Within::All)), [1, 2]);
    let without = context(false, Within::All);
    assert_eq!((shown(&without), left_out(&without)), (vec![2], vec![(1, "scope")]));
    assert_eq!(shown(&context(false, Within::Only(vec![Section::Preferences]))), [1]);
}

// proves: NB-70 (what nobody claims), NB-62 (its share)
#[test]
fn beside_a_question_what_a_section_does_not_need_goes_to_what_was_found() {
    let many =
        (1..=40).map(|n| note(Section::Preferences, n, &format!("wish {n} about how it shall be done")));
    let hits = (41..=140).map(|n| fragment(Section::Recall, n, &format!("hit {n} of what was asked")));
    let known = note(Section::Knowledge, 150, "lives in Lyon");
    let offered: Vec<_> = many.chain(hits).chain([known]).collect();
    let used = |query: Option<&str>| {
        let context = assemble(offering(offered.clone()), &request(query, 4_000)).value;
        context.sections.iter().find(|one| one.section == Section::Preferences).unwrap().tokens.0
    };
    let (asked, greeted) = (used(Some("q")), used(None));
    assert!(asked <= 300 && greeted > 300, "{asked} and {greeted}");
}
