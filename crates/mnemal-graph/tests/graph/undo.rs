//! Exact undo of decisions: the state equals that of a log without the undone ones.

use std::collections::BTreeSet;

use mnemal_core::{
    AsOf, Cardinality, Decision, Entity, EntityId, EventId, Fact, FactChoice, FactDecision, FactFilter,
    GraphStore as _, Predicate, Timestamp, WorldTime,
};
use proptest::prelude::*;

use crate::decide::words;
use crate::laws::{story, tell};
use crate::log::{Life, day, now};

/// Random choices: the kind of decision, its subject, and whether ids are canonical or any.
type Choice = (u8, prop::sample::Index, prop::sample::Index, bool);

fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
    let one =
        (0..12_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::bool::weighted(0.3));
    prop::collection::vec(one, 1..most)
}

fn decision(life: &Life, (sort, one, other, is_stale): Choice) -> Decision {
    let mut known: Vec<Entity> = life.dump().entities;
    if !is_stale {
        known.retain(|entity| entity.merged_into_at(Timestamp::MAX).is_none());
    }
    let (one, other) = (known[one.index(known.len())].id, known[other.index(known.len())].id);
    let at = WorldTime::from_seconds(day("2020-03-01").as_micros() / 1_000_000);
    let fact = |predicate: &str, object, choice| {
        let predicate = Predicate::new(predicate).unwrap();
        Decision::Fact(FactDecision {
            subject: one,
            predicate,
            topic: None,
            object,
            choice,
            sources: Vec::new(),
        })
    };
    let add = FactChoice::Add { valid_at: None, invalid_at: None };
    match sort {
        0..3 => Decision::Merge { one, into: other },
        3 => Decision::Split { one, from: other },
        4 => fact("name", words(if is_stale { "Anna Berg" } else { "Zoe" }), add),
        5 => fact("likes", words("tea"), FactChoice::Reject),
        6 => fact("likes", words("tea"), FactChoice::End { at }),
        7 => fact("likes", words("tea"), FactChoice::Add { valid_at: Some(at), invalid_at: None }),
        8 => {
            let cardinality = if is_stale { Cardinality::One } else { Cardinality::Now };
            Decision::Cardinality { predicate: Predicate::new("likes").unwrap(), cardinality }
        }
        9 => {
            let cardinality = if is_stale { Cardinality::One } else { Cardinality::Many };
            Decision::Cardinality { predicate: Predicate::new("lives_in").unwrap(), cardinality }
        }
        10 => fact("lives_in", mnemal_core::Value::Entity(other), add),
        _ => fact("likes", words("tea"), add),
    }
}

/// The current beliefs, without ids and belief times of versions, and without former values.
#[derive(Debug, PartialEq)]
struct State {
    facts: BTreeSet<String>,
    entities: Vec<String>,
}

fn state(life: &Life) -> State {
    let facts = now(life.store.believed(&FactFilter::all())).unwrap();
    let n_facts = facts.len();
    let fact = |fact: Fact| {
        let Fact { subject, predicate, topic, object, act, valid_at, invalid_at, status, .. } = fact;
        let Fact { superseded, supports, trust, level, .. } = fact;
        format!(
            "{subject} {predicate} {topic:?} {object:?} {act:?} {valid_at:?} {invalid_at:?} {status:?} {superseded:?} {supports:?} {trust:?} {level:?}"
        )
    };
    let facts: BTreeSet<String> = facts.into_iter().map(fact).collect();
    assert_eq!(facts.len(), n_facts, "nothing is believed twice");
    let entity = |entity: Entity| {
        let into = entity.merged_into_at(Timestamp::MAX);
        let Entity { id, kind, name, names, roles, .. } = entity;
        let names: BTreeSet<String> =
            names.into_iter().map(|name| format!("{} {} {}", name.text, name.key, name.source)).collect();
        format!("{id} {kind:?} {name} {names:?} {roles:?} {into:?}")
    };
    State { facts, entities: life.dump().entities.into_iter().map(entity).collect() }
}

/// No entity is found by a non-canonical id, and every entity by each current name.
fn is_sound(life: &Life) {
    let all = life.dump().entities;
    for fact in now(life.store.believed(&FactFilter::all())).unwrap() {
        for id in [Some(fact.subject), fact.object.entity()].into_iter().flatten() {
            let entity = all.iter().find(|entity| entity.id == id).unwrap();
            assert_eq!(
                entity.merged_into_at(Timestamp::MAX),
                None,
                "{} is about one who is another",
                fact.predicate
            );
        }
    }
    for entity in all.iter().filter(|entity| entity.merged_into_at(Timestamp::MAX).is_none()) {
        let chosen = entity.chosen.iter().filter(|name| name.expired_at.is_none());
        for name in entity.names.iter().chain(chosen) {
            let found = now(life.graph().entities_named(&name.text, AsOf::present(Timestamp::MAX))).unwrap();
            assert!(found.iter().any(|of| of.id == entity.id), "{} is not found", name.text);
        }
    }
}

/// Applies decisions, each in its own minute, and returns their events.
fn decided(life: &mut Life, choices: &[Choice]) -> Vec<EventId> {
    let decide = |choice: &Choice| {
        let decision = decision(life, *choice);
        life.decide("2020-06-01", decision)
    };
    choices.iter().map(decide).collect()
}

/// Shuffles events.
fn shuffled(mut events: Vec<EventId>, seed: u64) -> Vec<EventId> {
    let of = |event: &EventId| {
        let half = u64::try_from(event.0 & u128::from(u64::MAX)).unwrap() ^ (event.0 >> 64) as u64;
        half.rotate_left((seed % 63) as u32).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ seed)
    };
    events.sort_by_key(of);
    events
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    // proves: DF-41 (any order)
    #[test]
    fn what_is_decided_and_taken_back_in_any_order_was_never_there(
        story in story(),
        choices in choices(14),
        seed in any::<u64>(),
        restarts in any::<u16>(),
    ) {
        let mut life = Life::new();
        tell(&mut life, &story);
        life.fold();
        let before = state(&life);
        let events = decided(&mut life, &choices);
        is_sound(&life);
        for (n, decision) in shuffled(events, seed).into_iter().enumerate() {
            if restarts >> (n % 16) & 1 == 1 {
                life.restart();
            }
            life.decide("2020-07-01", Decision::Undo { decision });
            is_sound(&life);
        }
        prop_assert_eq!(state(&life), before);
        let rows = life.dump();
        prop_assert_eq!(life.rebuilt(), rows);
    }

    // Without renames: a name goes to the canonical entity at the time, and stays there.
    #[test]
    fn what_is_taken_back_in_part_is_as_if_the_rest_was_all_that_was_decided(
        story in story(),
        choices in choices(10),
        kept in any::<u16>(),
        seed in any::<u64>(),
    ) {
        let mut life = Life::new();
        tell(&mut life, &story);
        life.fold();
        let decisions: Vec<(Decision, EventId)> = choices
            .iter()
            .filter(|(sort, ..)| *sort != 4)
            .map(|choice| {
                let decision = decision(&life, *choice);
                let event = life.decide("2020-06-01", decision.clone());
                (decision, event)
            })
            .collect();
        let is_kept = |n: usize| kept >> (n % 16) & 1 == 1;
        // The other log replaces each undone decision by one without effect, so that both have the same events.
        let mut never = Life::new();
        tell(&mut never, &story);
        never.fold();
        for (n, (decision, _)) in decisions.iter().enumerate() {
            let nothing = Decision::Undo { decision: EventId(7) };
            never.decide("2020-06-01", if is_kept(n) { decision.clone() } else { nothing });
        }
        let gone = decisions.iter().enumerate().filter(|(n, _)| !is_kept(*n)).map(|(_, (_, event))| *event);
        for decision in shuffled(gone.collect(), seed) {
            life.decide("2020-07-01", Decision::Undo { decision });
        }
        prop_assert_eq!(state(&life), state(&never));
    }
}

fn one(life: &Life, name: &str) -> EntityId {
    life.dump().entities.iter().find(|entity| entity.names.iter().any(|own| own.text == name)).unwrap().id
}

#[test]
fn the_first_link_of_a_chain_is_taken_back() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna likes tea\nBen likes jazz\nCleo likes rain");
    let before = state(&life);
    let [anna, ben, cleo] = ["Anna", "Ben", "Cleo"].map(|name| one(&life, name));
    let first = life.decide("2020-06-01", Decision::Merge { one: anna, into: ben });
    let second = life.decide("2020-06-02", Decision::Merge { one: ben, into: cleo });
    life.decide("2020-06-03", Decision::Undo { decision: first });
    assert_eq!(life.on("2021-01-01"), ["Anna likes tea", "Cleo likes jazz", "Cleo likes rain"]);
    life.decide("2020-06-04", Decision::Undo { decision: second });
    assert_eq!(state(&life), before);
}

#[test]
fn who_is_two_stays_two_until_the_split_is_taken_back() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna likes tea\nBen likes jazz\nCleo likes rain");
    let [anna, ben, cleo] = ["Anna", "Ben", "Cleo"].map(|name| one(&life, name));
    life.decide("2020-06-01", Decision::Merge { one: anna, into: ben });
    life.decide("2020-06-02", Decision::Merge { one: ben, into: cleo });
    let merged = state(&life);
    // Not merged with each other but both with Ben: the last statement is undone.
    let split = life.decide("2020-06-03", Decision::Split { one: anna, from: cleo });
    assert_eq!(life.on("2021-01-01"), ["Ben likes jazz", "Ben likes tea", "Cleo likes rain"]);
    life.restart();
    life.decide("2020-06-04", Decision::Undo { decision: split });
    assert_eq!(state(&life), merged);
}

#[test]
fn a_split_before_anybody_joined_the_two_keeps_texts_from_doing_so() {
    let lines =
        ["Anna lives_in Oslo:location", "sister() works_at Fjordbank:organization", "sister(Anna) likes tea"];
    let (mut life, mut never) = (Life::new(), Life::new());
    life.say("2020-05-01", &lines[..2].join("\n"));
    never.say("2020-05-01", &lines[..2].join("\n"));
    let sister = life.dump().entities.iter().find(|entity| entity.name == "sister").unwrap().id;
    let split = life.decide("2020-06-01", Decision::Split { one: sister, from: one(&life, "Anna") });
    never.decide("2020-06-01", Decision::Undo { decision: EventId(7) });
    life.say("2020-07-01", lines[2]);
    never.say("2020-07-01", lines[2]);
    assert!(life.on("2021-01-01").contains(&"sister works_at Fjordbank".to_owned()));
    assert!(never.on("2021-01-01").contains(&"Anna works_at Fjordbank".to_owned()));
    life.restart();
    life.decide("2020-08-01", Decision::Undo { decision: split });
    assert_eq!(life.believed(), never.believed());
}
