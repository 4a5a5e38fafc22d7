//! Look-ahead: an erasure between two steps, and the limit in bytes.

use std::num::NonZeroUsize;

use mnemal_core::{Cursor, EventKind, Origin, read_ahead};

use crate::log::{Space, now};

#[test]
fn a_text_that_is_erased_between_two_steps_is_not_folded() {
    let mut space = Space::new();
    for number in 0..38 {
        space.remember(&format!("key_{number}"), &format!("note {number}"), Origin::UserDirect);
    }
    let gone = space.remember("deploy", "on Mondays", Origin::UserDirect);
    space.remember("deploy", "on Tuesdays", Origin::UserDirect);
    assert!(space.step(100).behind > 0, "it has read more than it has folded");
    space.erase(&[gone]);
    space.catch_up(100);
    assert_eq!(space.history("deploy"), [("on Tuesdays".to_owned(), 1, "active")], "there is none before it");
    assert!(space.active().contains(&"note 37".to_owned()));
}

#[test]
fn texts_are_read_ahead_within_a_limit_of_bytes() {
    let mut space = Space::new();
    for _ in 0..200 {
        space.append(EventKind::UserMessage, &"long ".repeat(20_000), Origin::UserDirect);
    }
    let mut held = Vec::new();
    let all = NonZeroUsize::new(1_000).unwrap();
    now(read_ahead(space.store.as_ref(), &mut held, Cursor::START, all)).unwrap();
    assert_eq!(held.len(), 32, "one page");
    let end = Cursor(held.last().map(|event| event.seq));
    now(read_ahead(space.store.as_ref(), &mut held, end, all)).unwrap();
    assert_eq!(held.len(), 32, "nothing more beside it");
    let few = NonZeroUsize::new(3).unwrap();
    held.clear();
    now(read_ahead(space.store.as_ref(), &mut held, end, few)).unwrap();
    assert_eq!((held.len(), held[0].seq.0), (3, 33));
    space.catch_up(1_000);
}
