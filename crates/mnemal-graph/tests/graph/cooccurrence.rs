//! Co-occurrences and topics.

use mnemal_core::{AsOf, Decision, EntityId, ErrorKind, Timestamp};
use mnemal_graph::Topic;

use crate::log::{Life, day, now};

fn id(life: &Life, name: &str) -> EntityId {
    now(life.graph().whom(name, ALWAYS)).unwrap().id
}

const ALWAYS: AsOf = AsOf { world: Timestamp::MAX, belief: Timestamp::MAX };

/// Names that co-occur with an entity, each with its count.
fn with(life: &Life, name: &str, as_of: AsOf) -> Vec<(String, usize)> {
    let company = now(life.graph().cooccurrences(id(life, name), as_of)).unwrap();
    let shown = |id| now(life.graph().entities([id], as_of)).unwrap()[0].name.clone();
    company.into_iter().map(|one| (shown(one.entity), one.stats.events)).collect()
}

fn pairs(expect: &[(&str, usize)]) -> Vec<(String, usize)> {
    expect.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

// proves: DF-47 (mention counts rank descending)
#[test]
fn cooccurrences_are_counted_by_event_and_ranked_descending() {
    let mut life = Life::new();
    life.say("2020-05-01", "Ada\nBen");
    life.say("2020-05-02", "Ada\nBen\nOslo:location");
    life.say("2020-05-03", "Ada\nBen\nBen");
    life.say("2020-05-04", "Ada\nCleo");
    life.say("2020-05-05", "Ben\nDan");
    assert_eq!(with(&life, "Ada", ALWAYS), pairs(&[("Ben", 3), ("Cleo", 1), ("Oslo", 1)]));
    assert_eq!(with(&life, "Ada", AsOf::present(day("2020-05-03"))), pairs(&[("Ben", 2), ("Oslo", 1)]));
    let seen = now(life.graph().mention_stats(id(&life, "Ben"), ALWAYS)).unwrap().unwrap();
    assert_eq!((seen.events, seen.first_at < seen.last_at), (4, true));
    let census = now(life.graph().census(ALWAYS)).unwrap();
    assert_eq!(census.iter().map(|one| one.stats.events).collect::<Vec<_>>(), [4, 4, 1, 1, 1]);
    // Merged entities count as one.
    life.decide("2020-06-01", Decision::Merge { one: id(&life, "Cleo"), into: id(&life, "Ben") });
    assert_eq!(with(&life, "Ada", ALWAYS), pairs(&[("Ben", 4), ("Oslo", 1)]));
}

#[test]
fn a_name_of_several_lists_them_and_a_nameless_one_is_found_by_what_it_is() {
    let mut life = Life::new();
    life.say("2020-05-01", "sister(Anna) likes tea");
    life.say("2020-05-02", "me knows Anna:person #colleague");
    life.say("2020-05-03", "brother() likes rain");
    let several = now(life.graph().whom("anna", ALWAYS)).unwrap_err();
    assert_eq!(several.kind(), ErrorKind::Invalid);
    for part in ["sister", "colleague", "ent_"] {
        assert!(several.what().contains(part), "{several}");
    }
    assert_eq!(now(life.graph().whom("brother", ALWAYS)).unwrap().name, "brother");
    assert_eq!(now(life.graph().whom("user", ALWAYS)).unwrap().name, "user");
    assert_eq!(now(life.graph().whom("Ann", ALWAYS)).unwrap_err().kind(), ErrorKind::NotFound);
    life.say("2020-06-01", "me name Zoe:person");
    let user = now(life.graph().whom("user", ALWAYS)).unwrap();
    assert_eq!(user.name, "Zoe", "the user is still the user when he has said his name");
    assert_eq!(now(life.graph().whom("Zoe", ALWAYS)).unwrap().id, user.id);
}

// proves: NB-10, BA-06
#[test]
fn a_topic_has_its_events_with_their_share_its_keywords_its_company_and_its_parent() {
    let mut life = Life::new();
    let first = life.say("2020-05-01", "Rust:product\nCargo:product\nBen");
    life.say("2020-05-02", "Rust:product\nCargo:product");
    life.say("2020-05-03", "Rust:product\nCleo");
    life.say("2020-05-04", "me likes sailing");
    life.say("2020-05-05", "Ben likes Sailing\nBen lives_in Oslo:location");
    let topics = now(life.graph().topics(ALWAYS)).unwrap();
    let [rust, sailing, cargo] = topics.as_slice() else { panic!("{topics:?}") };
    let shown = |topic: &Topic| (topic.name.clone(), topic.stats.events, topic.entities);
    assert_eq!(shown(rust), ("Rust".to_owned(), 3, 2));
    assert_eq!(shown(sailing), ("sailing".to_owned(), 2, 2));
    assert_eq!(shown(cargo), ("Cargo".to_owned(), 2, 1));
    assert_eq!((cargo.parent, rust.parent, sailing.parent), (Some(rust.id), None, None));
    assert_eq!(rust.keywords[0], "Cargo");
    assert_eq!(rust.keywords.len(), 3);
    assert_eq!(rust.events[0], (first, 0.5));
    assert!(rust.events[2].1 > 0.99, "alone in its event");
    let before = now(life.graph().topics(AsOf::present(day("2020-05-02")))).unwrap();
    assert_eq!(before.len(), 2, "nothing that was said later");
}

#[test]
fn what_is_over_is_past_and_what_was_wrong_is_not() {
    let mut life = Life::new();
    life.say("2020-05-01", "Ada lives_in Oslo:location @2019-01-01");
    life.say("2020-05-02", "Ada lives_in Rome:location @2020-03-01");
    let places = |as_of| {
        let past = now(life.graph().past(&[id(&life, "Ada")], as_of)).unwrap();
        past.into_iter().map(|fact| (fact.object, fact.invalid_at.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(places(ALWAYS).len(), 1);
    assert!(places(AsOf { world: day("2020-01-01"), ..ALWAYS }).is_empty());
}
