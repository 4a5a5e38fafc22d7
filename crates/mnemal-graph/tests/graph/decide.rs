//! Decisions about facts and entities, and their undo.

use mnemal_core::{
    AsOf, Decision, EntityId, EntityKind, ErrorKind, EventKind, FactChoice, FactDecision, FactFilter,
    FactStatus, GraphStore as _, Origin, Predicate, Reason, Timestamp, Value, WorldTime,
};

use crate::log::{Life, day, now};

fn id(life: &Life, name: &str) -> EntityId {
    now(life.graph().entities_named(name, AsOf::present(Timestamp::MAX))).unwrap()[0].id
}

/// The unnamed speaker.
fn user(life: &Life) -> EntityId {
    life.dump().entities.iter().find(|entity| entity.name == "user").unwrap().id
}

pub(crate) fn words(text: &str) -> Value {
    Value::Literal { text: text.into(), key: mnemal_text::fold(text) }
}

pub(crate) fn about(life: &Life, predicate: &str, object: Value, choice: FactChoice) -> Decision {
    let predicate = Predicate::new(predicate).unwrap();
    Decision::Fact(FactDecision {
        subject: user(life),
        predicate,
        topic: None,
        object,
        choice,
        sources: Vec::new(),
    })
}

pub(crate) const ADD: FactChoice = FactChoice::Add { valid_at: None, invalid_at: None };

// proves: DF-37, DF-36 (rejection)
#[test]
fn what_a_person_rejected_stays_wrong_until_it_is_added() {
    let mut life = Life::new();
    life.say("2020-05-01", "me diet vegan");
    life.decide("2020-06-01", about(&life, "diet", words("vegan"), FactChoice::Reject));
    assert_eq!(life.on("2021-01-01"), Vec::<String>::new());
    for n in 0..10 {
        life.say_in("2020-07-01", &format!("s{n}"), "me diet vegan");
        life.say_as(Origin::Assistant, "2020-07-01", "me diet vegan");
        life.say_as(Origin::Import, "2020-04-01", "me diet vegan");
    }
    assert_eq!(life.on("2021-01-01"), Vec::<String>::new());
    assert_eq!(life.rebuilt(), life.dump());
    assert_eq!(life.on("2021-01-01"), Vec::<String>::new());
    let rejected = now(life.store.believed(&FactFilter::all())).unwrap();
    assert_eq!((rejected.len(), rejected[0].status), (1, FactStatus::Rejected));
    life.decide("2020-08-01", about(&life, "diet", words("vegan"), ADD));
    assert_eq!(life.on("2021-01-01"), ["user diet vegan"]);
}

// proves: AD-25 (user_correction)
#[test]
fn a_correction_wins_whatever_the_dates() {
    let mut life = Life::new();
    life.say("2020-05-01", "me birthday May_3");
    life.say("2020-05-02", "me birthday May_4");
    life.decide("2020-06-01", about(&life, "birthday", words("May 4"), ADD));
    // A corrected value was never valid, so only the history has it.
    assert_eq!(life.on("2021-01-01"), ["user birthday May 4"]);
    let facts = now(life.store.believed(&FactFilter::all())).unwrap();
    let old = facts.iter().find(|fact| fact.superseded.is_some()).unwrap();
    assert_eq!(old.superseded.as_ref().unwrap().reason, Reason::UserCorrection);
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Oslo @2020-01-01");
    life.decide("2020-06-01", about(&life, "lives_in", words("Rome"), ADD));
    assert_eq!(life.on("2021-01-01"), ["user lives_in Rome"]);
    for n in 1..=10 {
        life.say_as(Origin::Assistant, &format!("2020-07-{n:02}"), "me lives_in Bern @2020-07-01");
    }
    assert_eq!(life.on("2021-01-01"), ["user lives_in Bern (candidate)", "user lives_in Rome"]);
    life.say("2022-06-01", "me lives_in Bern @2022-05-01");
    assert_eq!(life.on("2023-01-01"), ["user lives_in Bern"]);
}

#[test]
fn an_end_and_its_undo() {
    let mut life = Life::new();
    life.say("2020-05-01", "me uses vim");
    let before = life.on("2022-01-01");
    let at = WorldTime::from_seconds(day("2021-01-01").as_micros() / 1_000_000);
    let decision = life.decide("2021-02-01", about(&life, "uses", words("vim"), FactChoice::End { at }));
    assert_eq!(life.on("2022-01-01"), Vec::<String>::new());
    assert_eq!(life.on("2020-06-01"), ["user uses vim (superseded)"]);
    for _ in 0..2 {
        life.decide("2021-03-01", Decision::Undo { decision });
        assert_eq!(life.on("2022-01-01"), before);
    }
}

#[test]
fn an_end_reaches_words_without_a_start_and_a_later_decision_moves_it() {
    let at = |on: &str| WorldTime::from_seconds(day(on).as_micros() / 1_000_000);
    let end = |life: &Life, on: &str| about(life, "lives_in", words("Malta"), FactChoice::End { at: at(on) });
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Malta");
    let before = life.on("2022-01-01");
    let first = life.decide("2020-06-01", end(&life, "2020-03-01"));
    assert_eq!(life.on("2022-01-01"), Vec::<String>::new());
    assert_eq!(life.on("2020-02-01"), ["user lives_in Malta (superseded)"]);
    assert_eq!(life.on("2020-04-01"), Vec::<String>::new());
    let second = life.decide("2020-06-02", end(&life, "2020-05-20"));
    assert_eq!(life.on("2020-04-01"), ["user lives_in Malta (superseded)"]);
    assert_eq!(life.on("2020-05-25"), Vec::<String>::new());
    for decision in [second, first] {
        life.decide("2020-07-01", Decision::Undo { decision });
    }
    assert_eq!(life.on("2022-01-01"), before);
    // What is said after the decision holds again.
    life.decide("2020-08-01", end(&life, "2020-03-01"));
    life.say("2020-09-01", "me lives_in Malta");
    assert_eq!(life.on("2022-01-01"), ["user lives_in Malta"]);
    life.decide("2020-10-01", end(&life, "2020-09-20"));
    assert_eq!(life.on("2020-04-01"), Vec::<String>::new(), "the first end stays: it was lived there twice");
    assert_eq!(life.on("2022-01-01"), Vec::<String>::new());
}

// proves: DF-41
#[test]
fn a_merge_is_taken_back_and_later_events_are_kept() {
    let (mut life, mut never) = (Life::new(), Life::new());
    let start = ["Robert likes tea", "Bob lives_in Oslo:location", "me knows Bob:person #friend"];
    for text in start {
        life.say("2020-05-01", text);
        never.say("2020-05-01", text);
    }
    let merge = Decision::Merge { one: id(&life, "Bob"), into: id(&life, "Robert") };
    let decision = life.decide("2020-06-01", merge);
    assert_eq!(
        life.on("2021-01-01"),
        ["Robert likes tea", "Robert lives_in Oslo", "user knows Robert #friend"]
    );
    assert_eq!(id(&life, "Bob"), id(&life, "Robert"));
    for n in 0..50 {
        let text = format!("{} uses thing{n}", if n % 2 == 0 { "Bob" } else { "Robert" });
        life.say("2020-07-01", &text);
        never.say("2020-07-01", &text);
    }
    assert_eq!(
        now(life.graph().mentions(id(&life, "Robert"), AsOf::present(Timestamp::MAX))).unwrap().len(),
        53
    );
    life.decide("2020-08-01", Decision::Undo { decision });
    assert_eq!(life.believed(), never.believed());
    let strip = |life: &Life| {
        let facts = now(life.store.believed(&FactFilter::all())).unwrap();
        let mut supports: Vec<_> =
            facts.into_iter().flat_map(|fact| fact.supports).map(|one| (one.source, one.subject)).collect();
        supports.sort();
        supports
    };
    let places = |all: Vec<(mnemal_core::Source, EntityId)>| {
        all.into_iter().map(|(of, id)| (of.span, id)).collect::<Vec<_>>()
    };
    assert_eq!(places(strip(&life)).len(), places(strip(&never)).len());
    life.restart();
    assert_eq!(life.rebuilt(), life.dump());
    assert_eq!(life.believed(), never.believed());
}

#[test]
fn before_a_merge_there_were_two() {
    let mut life = Life::new();
    life.say("2020-05-01", "Robert likes tea");
    life.say("2020-05-02", "Bob likes jazz");
    let before = life.dump().facts.iter().map(|fact| fact.created_at).max().unwrap();
    let merge = Decision::Merge { one: id(&life, "Bob"), into: id(&life, "Robert") };
    life.decide("2020-06-01", merge);
    let then = AsOf { world: Timestamp::MAX, belief: before };
    assert_eq!(now(life.graph().all(&mnemal_core::EntityFilter::all(), then)).unwrap().len(), 2);
    assert_eq!(
        now(life.graph().all(&mnemal_core::EntityFilter::all(), AsOf::present(Timestamp::MAX)))
            .unwrap()
            .len(),
        1
    );
    assert_ne!(now(life.graph().entities_named("Bob", then)).unwrap()[0].id, id(&life, "Robert"));
}

#[test]
fn what_a_person_parted_stays_two() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna lives_in Oslo:location");
    life.say("2020-05-02", "sister() works_at Fjordbank:organization");
    life.say("2020-05-03", "sister(Anna) likes tea");
    let joined = life.dump().entities.into_iter().find(|entity| !entity.merges.is_empty()).unwrap();
    life.decide("2020-06-01", Decision::Split { one: joined.id, from: id(&life, "Anna") });
    assert!(life.on("2021-01-01").contains(&"sister works_at Fjordbank".to_owned()));
    life.say("2020-07-01", "sister(Anna) likes jazz");
    assert!(life.on("2021-01-01").contains(&"sister works_at Fjordbank".to_owned()));
}

#[test]
fn only_the_user_decides() {
    let mut life = Life::new();
    life.say("2020-05-01", "me diet vegan");
    let mut entry = life.entry("2020-06-01", "s", "");
    entry.event.kind = EventKind::Decision(about(&life, "diet", words("vegan"), FactChoice::Reject));
    entry.event.origin = Origin::Assistant;
    life.append(entry);
    life.fold();
    assert_eq!(life.on("2021-01-01"), ["user diet vegan"]);
}

#[test]
fn a_decision_counts_more_than_a_later_correction() {
    let mut life = Life::new();
    life.say("2020-05-01", "me diet vegan");
    life.decide("2020-06-01", about(&life, "diet", words("vegan"), ADD));
    life.say("2020-07-01", "me diet vegan never");
    assert_eq!(life.on("2021-01-01"), ["user diet vegan"]);
}

fn call(life: &Life, name: &str, by: &str) -> Decision {
    let (subject, predicate) = (id(life, name), Predicate::new("name").unwrap());
    Decision::Fact(FactDecision {
        subject,
        predicate,
        topic: None,
        object: words(by),
        choice: ADD,
        sources: Vec::new(),
    })
}

#[test]
fn a_chosen_name_is_shown_found_and_taken_back() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna likes tea");
    life.say("2020-05-02", "Anya");
    let before = life.dump().entities;
    let anna = id(&life, "Anna");
    let shown = |life: &Life| {
        now(life.graph().entities([anna], AsOf::present(Timestamp::MAX))).unwrap()[0].name.clone()
    };
    let first = life.decide("2020-06-01", call(&life, "Anna", "Anna Berg"));
    let second = life.decide("2020-06-02", call(&life, "Anna", "Anna Lund"));
    life.say("2020-06-03", "Anna likes jazz");
    life.say("2020-06-04", "Anna_Berg likes cake");
    assert_eq!(shown(&life), "Anna Lund");
    assert_eq!([id(&life, "Anna"), id(&life, "anna berg"), id(&life, "Anna Lund")], [anna; 3]);
    assert!(life.on("2021-01-01").contains(&"Anna Lund likes cake".to_owned()));
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
    life.restart();
    life.decide("2020-06-05", Decision::Undo { decision: second });
    assert_eq!(shown(&life), "Anna Berg");
    assert!(now(life.graph().entities_named("Anna Lund", AsOf::present(Timestamp::MAX))).unwrap().is_empty());
    life.decide("2020-06-06", Decision::Undo { decision: first });
    assert_eq!(shown(&life), "Anna");
    life.say("2020-06-07", "Anna_Lund likes rain");
    let names = |entities: &[mnemal_core::Entity]| {
        entities.iter().find(|entity| entity.id == anna).unwrap().names.clone()
    };
    assert_eq!(names(&life.dump().entities), names(&before));
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows, "taking a name back is the same in one go and step by step");
}

#[test]
fn words_of_a_decided_relation_name_an_entity() {
    let mut life = Life::new();
    life.say("2020-05-01", "me lives_in Oslo:location");
    let decision = life.decide("2020-06-01", about(&life, "works_at", words("Fjordbank"), ADD));
    life.decide("2020-06-02", about(&life, "skill", words("sailing"), ADD));
    assert_eq!(
        life.on("2021-01-01"),
        ["user lives_in Oslo", "user skill sailing", "user works_at Fjordbank"]
    );
    let bank = id(&life, "Fjordbank");
    life.say("2020-07-01", "Anna works_at Fjordbank:organization");
    assert_eq!(now(life.graph().about(&[bank], AsOf::present(day("2021-01-01")))).unwrap().len(), 2);
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
    life.decide("2020-08-01", Decision::Undo { decision });
    assert!(!life.on("2021-01-01").contains(&"user works_at Fjordbank".to_owned()));
}

/// Introduces an entity that was not mentioned before, with a fact about it.
fn introduction(name: &str) -> (EntityId, Decision) {
    let id = mnemal_graph::name_id(name, EntityKind::Person);
    let predicate = Predicate::new("name").unwrap();
    (
        id,
        Decision::Fact(FactDecision {
            subject: id,
            predicate,
            topic: None,
            object: words(name),
            choice: ADD,
            sources: Vec::new(),
        }),
    )
}

#[test]
fn a_decision_may_introduce_whom_it_is_about() {
    let mut life = Life::new();
    let predicate = Predicate::new("crm_id").unwrap();
    let fact = |subject, text: &str| {
        let (predicate, object) = (predicate.clone(), words(text));
        Decision::Fact(FactDecision {
            subject,
            predicate,
            topic: None,
            object,
            choice: ADD,
            sources: Vec::new(),
        })
    };
    let (ilse, introduced) = introduction("Ilse");
    // Without a name no entity is created.
    life.decide("2020-05-01", fact(ilse, "K-4"));
    assert_eq!(life.on("2021-01-01"), Vec::<String>::new());
    life.decide("2020-05-02", introduced);
    life.decide("2020-05-03", fact(ilse, "K-4"));
    life.decide("2020-05-04", fact(mnemal_graph::speaker_id(None), "K-1"));
    assert_eq!(life.on("2021-01-01"), ["Ilse crm_id K-4", "user crm_id K-1"]);
    assert_eq!(life.rebuilt(), life.dump());
    // A name whose id belongs to another entity creates nothing.
    let (otto, _) = introduction("Otto");
    let predicate = Predicate::new("name").unwrap();
    let wrong = FactDecision {
        subject: otto,
        predicate,
        topic: None,
        object: words("Karl"),
        choice: ADD,
        sources: Vec::new(),
    };
    life.decide("2020-05-05", Decision::Fact(wrong));
    assert!(life.dump().entities.iter().all(|entity| entity.name != "Karl"));
}

#[test]
fn a_part_of_a_name_finds_its_one_bearer_and_lists_several() {
    let mut life = Life::new();
    life.say("2020-05-01", "Miriam_Adler works_at Acme:organization");
    life.say("2020-05-02", "Jürgen_van_Dael likes tea");
    let as_of = AsOf::present(Timestamp::MAX);
    let whom = |life: &Life, name: &str| now(life.graph().whom(name, as_of)).map(|entity| entity.name);
    assert_eq!(whom(&life, "miriam").unwrap(), "Miriam Adler");
    assert_eq!(whom(&life, "Jurgen").unwrap(), "Jürgen van Dael");
    assert_eq!(now(life.graph().exactly("Miriam", as_of)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(whom(&life, "Miri").unwrap_err().kind(), ErrorKind::NotFound, "half a word is no name");
    life.say("2020-05-03", "Miriam_Roth likes tea");
    let several = whom(&life, "Miriam").unwrap_err();
    assert_eq!(several.kind(), ErrorKind::Invalid);
    let text = several.to_string();
    assert!(text.contains("Miriam Adler") && text.contains("Miriam Roth"), "{text}");
}

#[test]
fn a_first_name_that_several_bear_is_attached_to_none() {
    let mut life = Life::new();
    life.say("2020-05-01", "Miriam_Adler likes tea");
    life.say("2020-05-02", "Miriam_Roth likes tea");
    life.say("2020-05-03", "Miriam");
    let as_of = AsOf::present(Timestamp::MAX);
    let seen = |name: &str| {
        let graph = life.graph();
        let id = now(graph.entities_named(name, as_of)).unwrap()[0].id;
        now(graph.mention_stats(id, as_of)).unwrap().map_or(0, |seen| seen.events)
    };
    assert_eq!((seen("Miriam Adler"), seen("Miriam Roth")), (1, 1));
}

#[test]
fn numbers_in_words_are_numbers_and_a_role_named_next_has_that_name() {
    let mut life = Life::new();
    life.say("2020-05-01", "cat(Mimi) age elf");
    life.say("2020-06-01", "me pet Hund #dog\ndog() name Bolle");
    assert_eq!(life.on("2021-01-01"), ["Bolle name Bolle", "Mimi age 11", "user pet Bolle #dog"]);
}

#[test]
fn an_end_that_says_the_name_alone_ends_what_it_was() {
    let mut life = Life::new();
    life.say("2020-05-01", "me pet Mimi:animal #cat");
    life.say("2020-06-01", "me pet Mimi:animal @2020-05-31 end");
    assert_eq!(life.on("2021-01-01"), Vec::<String>::new());
    assert_eq!(life.rebuilt(), life.dump());
}
