//! Rebuild while the old rows stay readable.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Advance, Change, Extraction, Extractor, GraphDelta, GraphStore as _, Producer, Projection as _, Utterance,
};
use proptest::prelude::*;

use crate::laws::{story, tell};
use crate::log::{Life, Script, now};

/// The script's next version: it ignores `jazz`, and is less certain of `tea`.
#[derive(Debug)]
struct NextScript;

impl Extractor for NextScript {
    fn producer(&self) -> Producer {
        Producer { id: "script".into(), version: 2 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut found = Script.extract(utterance);
        found.facts.retain(|fact| fact.object.text != "jazz");
        for fact in found.facts.iter_mut().filter(|fact| fact.object.text == "tea") {
            fact.confidence = mnemal_core::Confidence::new(0.6);
        }
        found
    }
}

fn few(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

#[test]
fn a_new_version_is_folded_beside_the_rows_and_says_what_changes_before_it_takes_their_place() {
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Oslo:location");
    let jazz = life.say("2020-05-02", "me likes jazz");
    life.say("2020-05-03", "me likes tea");
    let old = life.dump();
    life.read_with(Arc::new(NextScript));
    let mut told = None;
    for _ in 0..100 {
        let before = now(life.store.edition()).unwrap();
        let rows = life.dump();
        let renewal = now(life.projector.renew(few(1))).unwrap();
        if before.difference.is_none() {
            assert_eq!(rows, old, "nothing is exchanged before the difference is stored");
        } else {
            told = before.difference;
        }
        if renewal.behind == 0 {
            break;
        }
    }
    let edition = now(life.store.edition()).unwrap();
    assert_eq!(edition.producer, Some(life.projector.producer()));
    assert_eq!(edition.difference, told, "it stays to be read");
    let told = told.unwrap();
    assert_eq!((told.facts.added, told.facts.gone), (0, 1));
    let example = told.examples.iter().find(|example| example.change == Change::Gone).unwrap();
    assert_eq!((example.predicate.as_str(), example.source.event), ("likes", jazz));
    let rows = life.dump();
    assert_eq!(life.on("2021-01-01").len(), 2);
    assert!(rows.facts.iter().all(|fact| fact.producer == life.projector.producer()));
    assert_eq!(life.rebuilt(), rows);
}

#[test]
fn a_comparison_finds_one_row_that_is_not_what_the_log_gives_and_changes_nothing() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna lives_in Oslo:location");
    life.say("2020-05-02", "Anna likes jazz");
    assert_eq!(life.difference().rows, 0);
    let mut fact = life.dump().facts.remove(0);
    fact.supports[0].confidence = mnemal_core::Confidence::new(0.1);
    let delta = GraphDelta { facts: vec![fact], ..GraphDelta::default() };
    let at = now(mnemal_core::Projection::<GraphDelta>::cursor(life.store.as_ref())).unwrap();
    now(life.store.apply(&delta, &Advance { expect: at, next: at, ..Advance::default() })).unwrap();
    let rows = life.dump();
    assert_eq!(life.difference().rows, 1);
    assert_eq!(life.dump(), rows);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]


    #[test]
    fn a_renewal_ends_in_the_same_rows_whatever_comes_in_between(
        (story, more) in (story(), story()),
        limit in 1..5_usize,
        restart_at in 0..8_usize,
        gone in 0..12_usize,
    ) {
        let mut life = Life::new();
        let events = tell(&mut life, &story);
        life.step(few(3));
        life.erase("2021-01-01", &[events[gone % events.len()]]);
        life.read_with(Arc::new(NextScript));
        let mut more = more.iter();
        for n in 0.. {
            if let Some(turn) = more.next() {
                tell(&mut life, std::slice::from_ref(turn));
            }
            life.step(few(2));
            if n == restart_at {
                life.restart();
            }
            if now(life.projector.renew(few(limit))).unwrap().behind == 0 && more.len() == 0 {
                break;
            }
            prop_assert!(n < 10_000, "it does not arrive");
        }
        life.step(few(2));
        let (rows, edition) = (life.dump(), now(life.store.edition()).unwrap());
        prop_assert_eq!(edition.producer, Some(life.projector.producer()));
        prop_assert_eq!(life.difference().rows, 0);
        prop_assert_eq!(life.rebuilt(), rows);
    }
}
