//! Which candidate becomes a line, and the reason of each that does not.

use mnemal_core::{OmittedReason, Section, Trust, Within};

use crate::fakes::{assemble, context, external, fragment, left_out, note, offering, request, shown};

#[test]
fn where_few_lines_are_wanted_the_best_ones_are_taken_and_weak_ones_are_none() {
    let offered: Vec<_> =
        (1..=9).map(|number| fragment(Section::Recall, number, &format!("line number {number}"))).collect();
    let mut offered = offered;
    for (place, one) in offered.iter_mut().enumerate() {
        one.score = mnemal_core::Score::new(if place < 6 { 0.9 - 0.01 * place as f32 } else { 0.5 });
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
fn a_note_wins_over_the_event_it_was_made_from() {
    let context = context(vec![
        fragment(Section::Recall, 1, "please remember that we deploy on Tuesdays"),
        note(Section::Knowledge, 1, "We deploy on Tuesdays"),
    ]);
    assert_eq!(context.receipt.lines.len(), 1);
    assert_eq!(context.receipt.lines[0].section, Section::Knowledge);
    assert_eq!(left_out(&context), [(1, "duplicate")]);
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
    let context = context(vec![agent, fragment(Section::Recall, 2, "the release train leaves on tuesday")]);
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
fn the_weaker_twin_steps_in_when_the_stronger_one_does_not_fit() {
    let words = "one two three four five six seven eight nine ten ".repeat(3);
    let best = fragment(Section::Recall, 0, "the best of all");
    let stronger = fragment(Section::Recall, 1, &format!("{words}{}", "\u{1f9ea}".repeat(150)));
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
    for section in [Section::Identity, Section::Preferences, Section::Knowledge, Section::Learnings] {
        let context = context(vec![external(note(section, 1, "the user loves malware"))]);
        assert_eq!((context.text.as_str(), left_out(&context)), ("", vec![(1, "quarantined")]));
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
