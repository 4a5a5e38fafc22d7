//! Echo detection of text that a session was shown before.

use std::sync::Arc;

use mnemal_core::{EventId, EventStore, Origin, ReceiptStore, Source, Span};
use mnemal_events::EventLog;
use mnemal_testkit::{SeededIds, block_on, receipt};

use crate::desk::{Desk, at, by, desk, desk_with, said};

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
fn what_was_shown_of_another_space_is_known_where_its_log_is_read_and_disturbs_nobody_where_it_is_not() {
    let desk = desk();
    let elsewhere = desk_with(|parts| parts.ids = Arc::new(SeededIds::new(99)));
    let foreign = block_on(elsewhere.log.append(vec![said("old", FACT)])).unwrap();
    let foreign = foreign.value[0].as_ref().unwrap().id;
    let own = "Every Thursday the blue ferry brings seven crates of apples to the old fish market.";
    let mut shown = receipt(1, "new", foreign, at(1_772_355_700)).unwrap();
    shown.lines[0].sources = vec![
        Source { event: EventId(u128::MAX), span: Span { start: 0, end: 1 } },
        Source { event: foreign, span: Span::whole(FACT).unwrap() },
        Source { event: desk.one(said("old", own)).id, span: Span::whole(own).unwrap() },
    ];
    block_on(desk.store.put(&shown)).unwrap();
    let said_again = |text: &str| vec![by(Origin::Assistant, "new", text)];
    let echo = |log: &EventLog, text: &str| {
        let answer = block_on(log.append(said_again(text))).unwrap();
        assert_eq!(answer.gaps, []);
        desk.get(answer.value[0].as_ref().unwrap().id).echo.len()
    };
    assert_eq!((echo(&desk.log, FACT), echo(&desk.log, own)), (0, 1));
    let store = Arc::clone(&elsewhere.store) as Arc<dyn EventStore>;
    let beside = desk.log.with_elsewhere(vec![store]);
    assert_eq!((echo(&beside, FACT), echo(&beside, own)), (1, 1));
}
