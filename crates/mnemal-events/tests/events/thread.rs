//! Conversations as trees.

use mnemal_core::{EventId, NewEvent};
use mnemal_testkit::block_on;

use crate::desk::{desk, said};

#[test]
fn a_thread_has_ancestors_oldest_first_and_replies_by_position() {
    let desk = desk();
    let answer = |parent: Option<EventId>, text: &str| desk.one(NewEvent { parent, ..said("s", text) }).id;
    let question = answer(None, "question");
    let call = answer(Some(question), "call");
    answer(None, "something else");
    let result = answer(Some(call), "result");
    let reply = answer(Some(result), "reply");
    let thread = block_on(desk.log.thread(result)).unwrap();
    let ids = |events: &[mnemal_core::Event]| events.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(ids(&thread.ancestors), [question, call]);
    assert_eq!(thread.event.id, result);
    assert_eq!(ids(&thread.replies), [reply]);
    let whole = block_on(desk.log.thread(question)).unwrap();
    assert_eq!(ids(&whole.replies), [call, result, reply]);
}

#[test]
fn a_parent_must_exist() {
    let desk = desk();
    desk.invalid(NewEvent { parent: Some(EventId(9)), ..said("s", "text") });
    assert!(block_on(desk.log.thread(EventId(9))).is_err());
}
