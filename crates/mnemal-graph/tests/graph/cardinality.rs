//! Predicate cardinality of a space: decided, learned, undone.

use std::sync::Arc;

use mnemal_core::{
    AsOf, Cardinality, Decision, EventId, EventKind, Fact, GraphStore as _, Operation, OperationKind, Origin,
    Pass as _, PassOutcome, Predicate, Producer, Value, Within,
};
use mnemal_graph::{CardinalityEvidence, CardinalityOrigin, CardinalityPass};
use mnemal_testkit::{ManualClock, permit};
use proptest::prelude::*;

use crate::log::{Life, PLENTY, day, now};

fn predicate_named(name: &str) -> Predicate {
    Predicate::new(name).unwrap()
}

fn holds(predicate: &str, cardinality: Cardinality) -> Decision {
    Decision::Cardinality { predicate: predicate_named(predicate), cardinality }
}

/// Records a cardinality ruling of the engine.
fn learn(life: &mut Life, on: &str, predicate: &str, cardinality: Cardinality) -> EventId {
    let kind = OperationKind::Cardinality { predicate: predicate_named(predicate), cardinality };
    let producer = Producer { id: "dream/cardinality".into(), version: 1 };
    let because = "a test".to_owned();
    carry_out(life, on, Operation { kind, producer, prompt: None, shown: Vec::new(), because })
}

fn carry_out(life: &mut Life, on: &str, operation: Operation) -> EventId {
    let mut entry = life.entry(on, "dream", "");
    entry.event.kind = EventKind::Operation(operation);
    entry.event.origin = Origin::Engine;
    let id = life.append(entry);
    life.fold();
    id
}

/// The evidence that the pass reads on a day.
fn run_pass(life: &Life, on: &str) -> PassOutcome {
    let pass = CardinalityPass::new(life.store.clone(), Arc::new(ManualClock::at(day(on))));
    now(pass.run(&mut permit(0))).unwrap()
}

/// Runs the pass on a day and applies its proposals.
fn dream(life: &mut Life, on: &str) -> Vec<(String, Cardinality)> {
    let operations: Vec<Operation> =
        run_pass(life, on).proposals.into_iter().map(|one| one.operation).collect();
    let told = operations.iter().map(|operation| match &operation.kind {
        OperationKind::Cardinality { predicate, cardinality } => (predicate.to_string(), *cardinality),
        other => panic!("{other:?}"),
    });
    let told = told.collect();
    for operation in operations {
        carry_out(life, on, operation);
    }
    told
}

fn evidence(life: &Life, on: &str, predicate: &str) -> CardinalityEvidence {
    let predicates = Within::Only(vec![predicate_named(predicate)]);
    now(life.graph().cardinality_evidence(predicates, day(on))).unwrap().remove(0)
}

fn is_the_same_anew(life: &mut Life) {
    let (rows, edition) = (life.dump(), now(life.store.edition()).unwrap());
    assert_eq!(life.rebuilt(), rows);
    assert_eq!(now(life.store.edition()).unwrap().predicates, edition.predicates);
}

// proves: NX-09.3, NX-09.5 (decision)
#[test]
fn a_predicate_of_the_space_is_a_set_until_a_person_decides_and_again_when_that_is_taken_back() {
    let mut life = Life::new();
    life.say("2020-05-01", "me sits_at window\nAnna sits_at door");
    life.say("2020-05-08", "me sits_at wall");
    let both = ["Anna sits_at door", "user sits_at wall", "user sits_at window"];
    assert_eq!(life.on("2021-01-01"), both);
    assert_eq!(evidence(&life, "2020-06-01", "sits_at").origin, CardinalityOrigin::Candidate);
    let before = life.dump().facts.iter().map(|fact| fact.created_at).max().unwrap();
    let is_door = |fact: &Fact| matches!(&fact.object, Value::Literal { text, .. } if text == "door");
    let untouched = life.dump().facts.into_iter().find(is_door).unwrap();
    life.restart();
    let decision = life.decide("2020-06-01", holds("sits_at", Cardinality::Now));
    assert_eq!(
        life.believed(),
        [
            "Anna sits_at door [..]",
            "user sits_at wall [2020-05-08..]",
            "user sits_at window (superseded) [..2020-05-08]"
        ]
    );
    assert!(life.dump().facts.contains(&untouched), "what does not change is not written again");
    assert_eq!(evidence(&life, "2020-06-01", "sits_at").origin, CardinalityOrigin::Decided);
    let then = AsOf { world: day("2021-01-01"), belief: before };
    assert_eq!(life.facts(then).len(), 3, "the past is what was believed then");
    is_the_same_anew(&mut life);
    life.restart();
    life.say("2020-06-08", "me sits_at stove");
    assert_eq!(life.on("2021-01-01"), ["Anna sits_at door", "user sits_at stove"], "and from then on");
    life.decide("2020-06-09", Decision::Undo { decision });
    assert_eq!(life.on("2021-01-01").len(), 4);
    is_the_same_anew(&mut life);
}

// proves: NX-09.5 (a shipped predicate)
#[test]
fn a_person_changes_a_shipped_predicate_the_engine_and_the_agent_never_do_and_a_happening_stays_one() {
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Oslo:location\nme visited Rome:location");
    life.say("2020-05-08", "me lives_in Bergen:location\nme visited Oslo:location");
    let moved = life.believed();
    learn(&mut life, "2020-06-01", "lives_in", Cardinality::Many);
    let mut entry = life.entry("2020-06-01", "s", "");
    entry.event.kind = EventKind::Decision(holds("lives_in", Cardinality::Many));
    entry.event.origin = Origin::Assistant;
    life.append(entry);
    life.fold();
    life.decide("2020-06-02", holds("visited", Cardinality::One));
    life.decide("2020-06-02", holds("lives_in", Cardinality::Event));
    assert_eq!(life.believed(), moved);
    let decision = life.decide("2020-06-03", holds("lives_in", Cardinality::Many));
    assert!(life.on("2021-01-01").contains(&"user lives_in Oslo".to_owned()), "two homes");
    is_the_same_anew(&mut life);
    life.decide("2020-06-04", Decision::Undo { decision });
    assert_eq!(life.believed(), moved);
    assert!(now(life.store.edition()).unwrap().predicates.is_empty(), "nothing is kept of it");
    assert_eq!(
        run_pass(&life, "2021-01-01"),
        PassOutcome::default(),
        "it has nothing to look at, and says so"
    );
}

// proves: NX-09.4 (undo)
#[test]
fn what_is_learnt_holds_until_it_is_taken_back_and_gives_way_to_a_person() {
    let mut life = Life::new();
    life.say("2020-05-01", "me sits_at window");
    life.say("2020-05-08", "me sits_at wall");
    let both = life.believed();
    let learnt = learn(&mut life, "2020-06-01", "sits_at", Cardinality::Now);
    assert_eq!(life.on("2021-01-01"), ["user sits_at wall"]);
    let decided = life.decide("2020-06-02", holds("sits_at", Cardinality::Many));
    assert_eq!(life.believed(), both);
    learn(&mut life, "2020-06-03", "sits_at", Cardinality::Now);
    assert_eq!(life.believed(), both, "a person decided");
    life.restart();
    life.decide("2020-06-04", Decision::Undo { decision: decided });
    assert_eq!(life.on("2021-01-01"), ["user sits_at wall"]);
    is_the_same_anew(&mut life);
    life.decide("2020-06-05", Decision::Undo { decision: learnt });
    assert_eq!(life.on("2021-01-01"), ["user sits_at wall"], "it was learnt once more since");
    is_the_same_anew(&mut life);
}

#[test]
fn the_opposite_of_a_predicate_that_leaves_their_slot_is_weighed_again() {
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea");
    life.say("2020-05-02", "me dislikes tea");
    life.say("2020-05-03", "me likes rain");
    let before = life.believed();
    assert_eq!(life.on("2021-01-01"), ["user dislikes tea", "user likes rain"]);
    let decision = life.decide("2020-06-01", holds("likes", Cardinality::Now));
    assert_eq!(life.on("2021-01-01"), ["user dislikes tea", "user likes rain"]);
    life.say("2020-06-02", "me likes tea");
    assert_eq!(
        life.on("2021-01-01"),
        ["user dislikes tea", "user likes tea"],
        "they exclude each other no more"
    );
    is_the_same_anew(&mut life);
    life.decide("2020-06-03", Decision::Undo { decision });
    assert_eq!(life.on("2021-01-01"), ["user likes rain", "user likes tea"]);
    assert_ne!(life.believed(), before);
    is_the_same_anew(&mut life);
}

#[test]
fn a_forgotten_decision_holds_no_more() {
    let mut life = Life::new();
    life.say("2020-05-01", "me sits_at window");
    life.say("2020-05-08", "me sits_at wall");
    let both = life.believed();
    let decision = life.decide("2020-06-01", holds("sits_at", Cardinality::Now));
    life.forget("2020-06-02", &[decision]);
    assert_eq!(life.believed(), both);
    is_the_same_anew(&mut life);
}

/// A unique name; no two are within one typo: two syllables of 20, twice each.
fn name(n: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "Bra", "Cel", "Dov", "Fyr", "Gus", "Hem", "Jor", "Kli", "Lun", "Mab", "Nep", "Osk", "Pry", "Quo",
        "Rid", "Sta", "Tev", "Ulv", "Wex", "Zin",
    ];
    let (one, two) = (SYLLABLES[n % 20], SYLLABLES[n / 20 % 20].to_lowercase());
    format!("{one}{two}{}{two}", one.to_lowercase())
}

/// Statements about one subject, each with its day. `Together` states both values of one time, `Followed` one after the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Together,
    Followed,
}

fn state(life: &mut Life, predicate: &str, subject: usize, shape: Shape, variant: u8) {
    let who = name(subject);
    let says = |value: &str| format!("{who} {predicate} {value}");
    let turns: Vec<(&str, String)> = match (shape, variant % 2) {
        (Shape::Together, 0) => vec![("2020-01-02", format!("{}\n{}", says("north"), says("south")))],
        (Shape::Together, _) => {
            vec![("2020-01-02", says("north")), ("2020-01-12", says("south")), ("2020-01-22", says("north"))]
        }
        (Shape::Followed, 0) => vec![("2020-01-02", says("north")), ("2020-01-12", says("south"))],
        (Shape::Followed, _) => vec![
            ("2020-01-02", says("north")),
            ("2020-01-12", says("south")),
            ("2020-01-22", says("south")),
            ("2020-02-12", says("east")),
        ],
    };
    for (on, text) in turns {
        let entry = life.entry(on, &format!("s{subject}"), &text);
        life.append(entry);
    }
}

/// A population in which one subject in twenty shows the opposite, spread by a stride.
fn population(
    life: &mut Life,
    predicate: &str,
    subjects: std::ops::Range<usize>,
    shape: Shape,
    stride: usize,
) {
    let other = if shape == Shape::Together { Shape::Followed } else { Shape::Together };
    for n in subjects {
        let of = if (n * stride) % 20 == 3 { other } else { shape };
        state(life, predicate, n, of, u8::try_from(n % 5).unwrap());
    }
    life.step(PLENTY);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    // proves: NX-09.T3, NX-09.4, DF-33
    #[test]
    fn learning_converges_with_one_in_twenty_wrong_and_successions_alone_flip_nothing(
        stride in prop::sample::select(vec![1_usize, 3, 7, 9, 11, 13, 17, 19]),
    ) {
        let mut life = Life::new();
        let (first, second) = (Shape::Followed, Shape::Together);
        let predicate = |shape| if shape == Shape::Followed { "sits_at" } else { "plays_in" };
        // Fewer than twenty subjects prove nothing.
        for shape in [first, second] {
            population(&mut life, predicate(shape), 0..19, shape, stride);
        }
        prop_assert_eq!(dream(&mut life, "2021-01-01"), []);
        let mut learnt = Vec::new();
        for until in [19..60, 60..120, 120..240] {
            for shape in [first, second] {
                population(&mut life, predicate(shape), until.clone(), shape, stride);
            }
            learnt.extend(dream(&mut life, "2021-01-01"));
        }
        learnt.sort_by_key(|(predicate, _)| predicate.clone());
        let wanted = [("plays_in".to_owned(), Cardinality::Many), ("sits_at".to_owned(), Cardinality::Now)];
        prop_assert_eq!(learnt, wanted, "each once, and never the other");
        let (sits, plays) = (evidence(&life, "2021-01-01", "sits_at"), evidence(&life, "2021-01-01", "plays_in"));
        prop_assert_eq!((sits.together, sits.followed, sits.open), (12, 228, 0));
        prop_assert_eq!((plays.together, plays.followed, plays.open), (228, 12, 0));
        prop_assert_eq!(sits.origin, CardinalityOrigin::Learned);
        // One home after another, for known subjects and for others.
        for n in 0..20 {
            for (on, value) in [("2021-06-01", "up"), ("2021-12-01", "down"), ("2022-06-01", "out")] {
                let entry = life.entry(on, "later", &format!("{} sits_at {value}", name(n)));
                life.append(entry);
            }
        }
        for n in 240..280 {
            state(&mut life, "sits_at", n, Shape::Followed, 1);
        }
        life.step(PLENTY);
        prop_assert_eq!(dream(&mut life, "2023-01-01"), []);
        prop_assert_eq!(evidence(&life, "2023-01-01", "sits_at").shows(), Some(Cardinality::Now));
        let last = life.on("2023-01-01");
        let held = last.iter().filter(|line| line.starts_with(&format!("{} sits_at ", name(0))));
        prop_assert_eq!(held.count(), 1, "one at a time");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    // proves: NX-09.T3 (successions), DF-33
    #[test]
    fn changes_of_job_never_make_anybody_have_several(
        jobs in prop::collection::vec(2..6_usize, 30..60),
    ) {
        let mut life = Life::new();
        for (n, jobs) in jobs.iter().enumerate() {
            for job in 0..*jobs {
                let on = format!("20{:02}-03-01", 10 + job);
                let text = format!("{} works_at Company{job}:organization\n{} toils_at place{job}", name(n), name(n));
                let entry = life.entry(&on, &format!("s{n}"), &text);
                life.append(entry);
            }
        }
        life.step(PLENTY);
        for predicate in ["works_at", "toils_at"] {
            let seen = evidence(&life, "2020-01-01", predicate);
            prop_assert_eq!((seen.together, seen.followed, seen.open), (0, jobs.len(), 0));
            prop_assert!(seen.shows() != Some(Cardinality::Many) && !(predicate == "works_at" && seen.disagrees()));
        }
        let learnt = dream(&mut life, "2020-01-01");
        prop_assert!(learnt.iter().all(|(predicate, to)| predicate == "toils_at" && *to == Cardinality::Now));
        prop_assert_eq!(learnt.len(), usize::from(jobs.len() >= 35), "the bound of Wilson for none of 35");
    }
}
