//! The tree after a forget.

use mnemal_core::SummaryStore as _;

use crate::log::{STEP, Space, now};

// proves: NB-13, NX-03.3
#[test]
fn nothing_serves_the_words_of_an_erased_event_and_the_rest_comes_back_without_it() {
    let mut space = Space::new();
    space.say("mail/1", "The invoice of Carla is due on Friday.");
    let secret = space.say("mail/1", "The safe of Boris opens with 4711.");
    space.say("chat/1", "My sister Dora moved to Lisbon.");
    space.fold();
    assert!(space.lines("root").iter().any(|line| line.contains("4711")));
    space.erase(secret);
    for node in space.all() {
        assert!(node.lines.iter().all(|line| !line.text.contains("4711")), "{}", node.path);
    }
    assert!(space.node("session:mail/1").is_none(), "hollow until it is made anew");
    space.fold();
    assert_eq!(space.lines("session:mail/1"), ["The invoice of Carla is due on Friday."]);
    assert_eq!(space.all(), space.anew());
    assert_eq!(now(space.store.erased_nodes(STEP)).unwrap(), []);
}

#[test]
fn nodes_without_a_living_source_are_gone() {
    let mut space = Space::new();
    let only = space.say("mail/1", "The safe of Boris opens with 4711.");
    space.fold();
    assert_eq!(space.all().len(), 7);
    space.erase(only);
    space.fold();
    assert_eq!(space.all(), []);
    assert_eq!(now(space.store.erased_nodes(STEP)).unwrap(), []);
}
