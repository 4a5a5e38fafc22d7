//! Session delta: records already shown are not repeated.

use std::sync::Arc;

use mnemal_core::{Gap, GapCause, Layer, RepeatPolicy, Section, Slot};

use crate::fakes::{Shown, assemble, fragment, left_out, note, offering, request, shown};

fn offered() -> Vec<mnemal_core::Fragment> {
    vec![
        note(Section::Preferences, 1, "answers in French"),
        fragment(Section::Recall, 2, "we deploy on Tuesdays"),
    ]
}

// proves: NX-06.6, NX-06.8, RB-09, RB-10, DF-88
#[test]
fn what_was_shown_is_left_out_until_its_text_changes() {
    let mut asked = request(Some("deploy"), 4_000);
    asked.injected = RepeatPolicy::Skip;
    let mut parts = offering(offered());
    parts.receipts = Shown::by(&[]);
    let first = assemble(parts.clone(), &asked);
    assert_eq!(shown(&first), [2, 1]);
    parts.receipts = Shown::by(std::slice::from_ref(&first.receipt));
    let second = assemble(parts.clone(), &asked);
    assert_eq!(second.text, "");
    assert_eq!(left_out(&second), [(1, "already_injected"), (2, "already_injected")]);
    let mut changed = offering(vec![note(Section::Preferences, 1, "answers in German")]);
    changed.receipts = parts.receipts.clone();
    assert_eq!(shown(&assemble(changed, &asked)), [1]);
    asked.injected = RepeatPolicy::Repeat;
    assert_eq!(assemble(parts, &asked).text, first.text);
}

// proves: NX-06.6
#[test]
fn the_event_behind_a_note_that_was_shown_is_not_shown_as_new() {
    let mut asked = request(Some("deploy"), 4_000);
    asked.injected = RepeatPolicy::Skip;
    let mut parts = offering(vec![note(Section::Knowledge, 9, "we deploy on Tuesdays")]);
    parts.receipts = Shown::by(&[]);
    let first = assemble(parts, &asked);
    let mut parts = offering(vec![fragment(Section::Recall, 9, "we deploy on Tuesdays")]);
    parts.receipts = Shown::by(std::slice::from_ref(&first.receipt));
    assert_eq!(left_out(&assemble(parts, &asked)), [(9, "already_injected")]);
}

#[test]
fn receipts_that_fail_or_are_absent_hold_nothing_back_and_are_a_gap() {
    let mut asked = request(Some("deploy"), 4_000);
    asked.injected = RepeatPolicy::Skip;
    let failing: Slot<dyn mnemal_core::ReceiptStore> = Slot::Filled(Arc::new(Shown(None)));
    let down = GapCause::Failed(mnemal_core::ErrorKind::Unavailable);
    for (receipts, cause) in [(failing, down), (Slot::Empty, GapCause::NotConfigured)] {
        let mut parts = offering(offered());
        parts.receipts = receipts;
        let answer = assemble(parts, &asked);
        assert_eq!(shown(&answer), [2, 1]);
        assert!(answer.gaps.contains(&Gap { layer: Layer::Receipts, cause }));
    }
}

// proves: DF-85
#[test]
fn the_seventh_question_of_a_session_gets_its_lines() {
    let mut asked = request(Some("deploy"), 4_000);
    asked.injected = RepeatPolicy::Skip;
    let mut receipts = Vec::new();
    for turn in 0..7_u64 {
        let hits =
            (0..=turn).map(|number| fragment(Section::Recall, number, &format!("hit of turn {number}")));
        let mut parts = offering(hits.collect());
        parts.receipts = Shown::by(&receipts);
        let context = assemble(parts, &asked).value;
        assert_eq!(shown(&context), [u128::from(turn)]);
        receipts.push(context.receipt);
    }
}
