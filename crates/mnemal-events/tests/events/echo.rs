//! What a session was shown is known again when it comes back.

use mnemal_core::{EventId, Gap, Layer, Origin, ReceiptStore, Source, Span};
use mnemal_testkit::{block_on, receipt};

use crate::desk::{Desk, at, by, desk, said};

const FACT: &str = "The harbour master of Kiruna prefers green ink for every single form he signs.";

fn show(desk: &Desk, number: u128, session: &str, id: EventId) {
    let mut receipt = receipt(number, session, id, at(1_772_355_700)).unwrap();
    let text = desk.text(id);
    receipt.lines[0].sources = vec![Source { event: id, span: Span::whole(&text).unwrap() }];
    block_on(desk.store.put(&receipt)).unwrap();
}

// J2
// proves: NX-08.5
#[test]
fn words_that_a_session_was_shown_come_back_as_echo_whoever_says_them() {
    let desk = desk();
    let fact = desk.one(said("old", FACT)).id;
    assert_eq!(desk.get(fact).echo, []);
    show(&desk, 1, "new", fact);
    for origin in [Origin::Assistant, Origin::UserDirect, Origin::ToolExternal] {
        let text = format!("As I said: {FACT} Anything else?");
        let ack = desk.one(by(origin, "new", &text));
        let [span] = desk.get(ack.id).echo[..] else { panic!("one echo") };
        let echoed = span.of(&text).unwrap();
        assert!(echoed.starts_with("The harbour") && echoed.ends_with("signs"), "{echoed}");
    }
    let elsewhere = desk.one(by(Origin::Assistant, "third", FACT));
    assert_eq!(desk.get(elsewhere.id).echo, [], "another session was not shown it");
    let own = desk.one(said("new", "The harbour is small."));
    assert_eq!(desk.get(own.id).echo, []);
}

#[test]
fn what_is_shown_later_is_known_too() {
    let desk = desk();
    let first = desk.one(said("old", FACT)).id;
    show(&desk, 1, "new", first);
    desk.one(said("new", "hello"));
    let other = "Every Thursday the blue ferry brings seven crates of apples to the old fish market.";
    let second = desk.one(said("old", other)).id;
    show(&desk, 2, "new", second);
    let ack = desk.one(by(Origin::Assistant, "new", other));
    assert_eq!(desk.get(ack.id).echo.len(), 1);
}

#[test]
fn receipts_that_do_not_answer_are_a_gap_and_the_event_is_stored() {
    let desk = desk();
    let fact = desk.one(said("old", FACT)).id;
    let mut receipt = receipt(1, "new", fact, at(1_772_355_700)).unwrap();
    receipt.lines[0].sources = vec![Source { event: EventId(99), span: Span { start: 0, end: 1 } }];
    block_on(desk.store.put(&receipt)).unwrap();
    let answer = desk.append(vec![by(Origin::Assistant, "new", FACT)]).unwrap();
    assert!(matches!(answer.gaps[..], [Gap { layer: Layer::Receipts, .. }]), "{:?}", answer.gaps);
    assert_eq!(desk.all().len(), 2);
}
