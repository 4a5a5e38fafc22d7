//! Look-ahead: an erasure between two steps.

use mnemal_core::{EventStore as _, Projector as _};
use mnemal_testkit::tombstone;

use crate::log::{Life, PLENTY, day, now};

#[test]
fn a_text_that_is_erased_between_two_steps_is_not_folded() {
    let mut life = Life::new();
    let said: Vec<_> = (0..100)
        .map(|number| {
            let entry =
                life.entry("2020-05-01", "s", &format!("Person{number} lives_in Town{number}:location"));
            life.append(entry)
        })
        .collect();
    assert!(now(life.projector.step(PLENTY)).unwrap().behind > 0, "it has read more than it has folded");
    let stones = [said[99], said[1]].map(|event| tombstone(event, day("2020-05-02")));
    now(life.store.erase(&stones)).unwrap();
    life.step(PLENTY);
    let lines = life.on("2020-05-03");
    assert!(!lines.iter().any(|line| line.contains("Town99")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("Town98")), "{lines:?}");
}
