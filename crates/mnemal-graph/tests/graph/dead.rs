//! Dead letters: unreadable events block nothing, are listed, and are retried.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mnemal_core::{
    Extraction, Extractor, Granularity, GraphStore as _, Producer, Span, Utterance, When, WorldTime,
};
use proptest::prelude::*;

use crate::laws::{story, tell};
use crate::log::{Life, PLENTY, Script, now};

/// Extracts as the script, but panics on a given word while that is switched on.
#[derive(Debug)]
pub(crate) struct Fragile {
    word: &'static str,
    is_failing: Arc<AtomicBool>,
}

impl Fragile {
    fn new(word: &'static str) -> (Arc<Self>, Arc<AtomicBool>) {
        let is_failing = Arc::new(AtomicBool::new(true));
        (Arc::new(Self { word, is_failing: Arc::clone(&is_failing) }), is_failing)
    }
}

impl Extractor for Fragile {
    fn producer(&self) -> Producer {
        Script.producer()
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map(|kept| kept.content.as_str()).unwrap_or_default();
        assert!(!(self.is_failing.load(Ordering::Relaxed) && text.contains(self.word)), "{text}");
        Script.extract(utterance)
    }
}

// proves: NB-38 (it is visible and blocks no other)
#[test]
fn an_event_over_which_the_extractor_panics_is_a_dead_letter_and_stops_nothing() {
    let (extractor, _) = Fragile::new("jazz");
    let mut life = Life::read_by(extractor);
    life.say("2020-05-01", "Anna likes tea");
    let odd = life.say("2020-05-02", "Anna likes jazz");
    life.say("2020-05-03", "Anna lives_in Oslo:location");
    assert_eq!(life.on("2021-01-01"), ["Anna likes tea", "Anna lives_in Oslo"]);
    assert_eq!(life.dead(), [(odd, "the extractor panicked".to_owned())], "the cause holds no content");
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
    assert_eq!(life.dead().len(), 1);
}

#[test]
fn what_could_not_be_read_is_read_sixteen_events_later_and_leaves_no_trace() {
    let (extractor, is_failing) = Fragile::new("jazz");
    let (mut life, mut other) = (Life::read_by(extractor), Life::new());
    let say = |life: &mut Life, n: usize| {
        let text = if n == 1 { "me likes jazz".to_owned() } else { format!("me likes thing{n}") };
        life.say(&format!("2020-05-{:02}", n + 1), &text)
    };
    for n in 0..17 {
        say(&mut life, n);
        say(&mut other, n);
        life.restart();
        is_failing.store(n < 9, Ordering::Relaxed);
    }
    assert!(life.dead().len() == 1 && life.dump() != other.dump(), "nobody has tried");
    say(&mut life, 17);
    say(&mut other, 17);
    assert_eq!(life.dead(), []);
    let edition = |life: &Life| now(life.store.edition()).unwrap();
    assert_eq!(edition(&life).producer, edition(&other).producer);
    assert_eq!(edition(&life).difference.unwrap().facts.added, 1);
    assert_eq!(life.dump(), other.dump());
}

/// Returns times without a duration between them.
#[derive(Debug)]
struct EndlessIntervals;

impl Extractor for EndlessIntervals {
    fn producer(&self) -> Producer {
        Script.producer()
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut found = Script.extract(utterance);
        let at = |seconds| Some(WorldTime::from_seconds(seconds));
        let (span, grain) = (Span { start: 0, end: 1 }, Granularity::Day);
        for fact in found.facts.iter_mut().filter(|fact| fact.object.text == "jazz") {
            let (start, end) = (at(i64::MIN), at(i64::MAX));
            fact.time = Some(When { start, end, grain, is_approximate: false, span });
        }
        found
    }
}

#[test]
fn what_an_extractor_makes_up_stops_nothing() {
    let mut life = Life::read_by(Arc::new(EndlessIntervals));
    life.say("2020-05-01", "Anna likes tea");
    life.say("2020-05-02", "Anna likes jazz");
    life.say("2020-05-03", "Anna lives_in Oslo:location");
    let known = life.on("2021-01-01");
    assert!(known.contains(&"Anna likes tea".to_owned()) && known.contains(&"Anna lives_in Oslo".to_owned()));
    let (rows, dead) = (life.dump(), life.dead());
    assert!(dead.iter().all(|(_, why)| why == "the fold panicked"), "{dead:?}");
    assert_eq!(life.rebuilt(), rows);
    assert_eq!(life.dead(), dead);
    assert_eq!(life.difference().rows, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    // proves: NB-35 (dead letters)
    #[test]
    fn dead_letters_do_not_depend_on_steps_and_restarts(story in story()) {
        let (fragile, _) = Fragile::new("tea");
        let (mut whole, mut stepped) = (Life::read_by(fragile.clone()), Life::read_by(fragile));
        tell(&mut whole, &story);
        whole.step(PLENTY);
        for turn in &story {
            tell(&mut stepped, std::slice::from_ref(turn));
            stepped.step(NonZeroUsize::MIN);
            stepped.restart();
        }
        prop_assert_eq!(whole.dump(), stepped.dump());
        prop_assert_eq!(whole.dead(), stepped.dead());
        prop_assert_eq!(whole.difference().rows, 0);
        prop_assert_eq!(whole.dead().len(), story.iter().filter(|(_, _, text)| text.contains("tea")).count());
    }
}
