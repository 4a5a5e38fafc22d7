//! Look-ahead: an erasure between two steps.

use std::sync::{Arc, Mutex};

use mnemal_core::{EventStore as _, Extraction, Extractor, Producer, Projector as _, Utterance};
use mnemal_testkit::tombstone;

use crate::log::{Life, PLENTY, Script, day, now};

/// Reads as the script says, and keeps what it was given.
#[derive(Debug, Default)]
struct Watched(Mutex<Vec<String>>);

impl Extractor for Watched {
    fn producer(&self) -> Producer {
        Script.producer()
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map(|kept| kept.content.clone()).unwrap_or_default();
        self.0.lock().unwrap().push(text);
        Script.extract(utterance)
    }
}

#[test]
fn a_text_that_is_erased_between_two_steps_is_not_folded() {
    let watched = Arc::new(Watched::default());
    let mut life = Life::read_by(watched.clone());
    let said: Vec<_> = (0..100)
        .map(|number| {
            let entry =
                life.entry("2020-05-01", "s", &format!("Person{number} lives_in Town{number}:location"));
            life.append(entry)
        })
        .collect();
    assert!(now(life.projector.step(PLENTY)).unwrap().behind > 0, "it has read more than it has folded");
    now(life.store.erase(&[tombstone(said[99], day("2020-05-02"))])).unwrap();
    life.step(PLENTY);
    let read = watched.0.lock().unwrap();
    assert!(!read.iter().any(|text| text.contains("Town99")), "it was erased before its turn");
    assert!(read.iter().any(|text| text.contains("Town98")));
    assert!(life.on("2020-05-03").iter().any(|line| line.contains("Town98")));
}
