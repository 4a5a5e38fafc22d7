//! Entity identity: name forms, cases left to a person, and results independent of order.

use std::collections::BTreeSet;

use mnemal_core::{Decision, EntityId, EntityKind};
use mnemal_graph::{DuplicateReason, Suggestion};
use proptest::prelude::*;

use crate::log::{Life, now};

/// Says lines of names, a day for each, and returns the number of entities.
fn entities(lines: &[&str]) -> usize {
    let mut life = Life::new();
    for (n, line) in lines.iter().enumerate() {
        life.say(&format!("2020-05-{:02}", n + 1), &line.replace(' ', "_").replace(';', "\n"));
    }
    life.dump().entities.len()
}

fn one(life: &Life, name: &str) -> EntityId {
    let all = life.dump().entities;
    let named =
        |name: &str| all.iter().find(|entity| entity.names.iter().any(|own| own.text == name)).unwrap().id;
    named(name)
}

fn suggestions(life: &Life) -> Vec<Suggestion> {
    now(life.graph().suggestions(10)).unwrap()
}

// proves: AD-21, NB-33
#[test]
fn forms_of_a_name_are_one_entity_and_names_of_others_are_not() {
    for (lines, expect) in [
        // 1: keys
        (&["Dr. Jürgen Müller", "jurgen mueller's", "Müller, Jürgen"][..], 1),
        (&["Ann Lee", "Joanne Lee"], 2),
        // short forms, initials, cases
        (&["Robert Hale", "Bob Hale", "Bob", "R. Hale", "Mr. Hale"], 1),
        (&["Анна Белова", "Анне Беловой", "Анны", "Аня"], 1),
        (&["Екатерина Орлова", "Кате"], 1),
        (&["İzmir:location", "İzmir'de:location"], 1),
        // 4: several bearers and no deciding context: the mention stays unresolved, and no entity is created
        (&["David Okafor", "David Lindqvist", "David"], 2),
        (&["Mary Hale", "Mr. Hale"], 2),
        // 5: one letter off, with and without co-occurrences
        (
            &[
                "Larkfield Instruments:organization;Oslo:location",
                "Larkfeild Instruments:organization;Oslo:location",
            ],
            2,
        ),
        (&["Larkfield Instruments:organization", "Larkfeild Instruments:organization"], 1),
        (&["Christian Mayhew;Oslo:location", "Christina Mayhew;Oslo:location"], 3),
        (&["René Duboisset;Oslo:location", "Renée Duboisset;Oslo:location"], 3),
        (&["Section 12345:work;Oslo:location", "Section 12346:work;Oslo:location"], 3),
        // 7: scripts
        (&["Anna Belova", "Анна Белова"], 2),
        (&["Apple:organization", "Аpple:organization"], 2),
    ] {
        assert_eq!(entities(lines), expect, "{lines:?}");
    }
    // In another session and without co-occurrences one letter makes another name.
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Larkfield_Instruments:organization");
    life.say_in("2020-05-02", "other", "Larkfeild_Instruments:organization");
    assert_eq!(life.dump().entities.len(), 2);
}

// proves: AD-21
#[test]
fn of_several_bearers_the_company_tells_who_is_meant() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "David_Okafor\nFjordbank:organization");
    life.say_in("2020-05-02", "two", "David_Lindqvist\nMalmö:location");
    let event = life.say_in("2020-05-03", "three", "David\nMalmö:location");
    let meant = life.dump().mentions.into_iter().filter(|row| row.source.event == event);
    let meant: BTreeSet<EntityId> = meant.map(|row| row.entity).collect();
    assert_eq!(meant, BTreeSet::from([one(&life, "David Lindqvist"), one(&life, "Malmö")]));
}

// proves: AD-21
#[test]
fn another_one_of_a_name_is_somebody_else() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Anna\nOslo:location");
    life.say_in("2020-05-02", "two", "another Anna\nAnna likes tea\nBergen:location");
    // In their own session and context each name resolves.
    life.say_in("2020-05-03", "two", "Anna likes jazz");
    life.say_in("2020-05-04", "three", "Anna likes rain\nOslo:location");
    // Ambiguous.
    life.say_in("2020-05-05", "four", "Anna likes snow");
    let annas: BTreeSet<EntityId> =
        life.dump().entities.iter().filter(|entity| entity.name == "Anna").map(|entity| entity.id).collect();
    assert_eq!(annas.len(), 2);
    let mut liked: Vec<(EntityId, String)> =
        life.dump().facts.iter().map(|fact| (fact.subject, fact.object.key())).collect();
    liked.sort_by(|one, other| one.1.cmp(&other.1));
    let whose: Vec<(&str, bool)> =
        liked.iter().map(|(id, what)| (what.as_str(), *id == liked[0].0)).collect();
    assert_eq!(whose.len(), 3, "{whose:?}");
    assert!(whose[0].1 && !whose[1].1 && whose[2].1, "{whose:?}");
    // The first bearer of a name is not a second one.
    life.say_in("2020-05-06", "five", "another Ben");
    life.say_in("2020-05-07", "six", "Ben");
    assert_eq!(life.dump().entities.iter().filter(|entity| entity.name == "Ben").count(), 1);
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
}

// proves: AD-24
#[test]
fn what_may_be_one_is_suggested_until_it_is_decided() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Katerina_Vlahou\nFjordbank:organization");
    life.say_in("2020-05-02", "two", "Κατερίνα_Βλάχου\nFjordbank:organization");
    life.say_in("2020-05-02", "two", "Oslo:location");
    life.say_in("2020-05-03", "three", "Katerina_Vlahou");
    let found = suggestions(&life);
    let pair = Suggestion {
        one: one(&life, "Κατερίνα Βλάχου"),
        into: one(&life, "Katerina Vlahou"),
        why: DuplicateReason::Script,
        score: found[0].score,
    };
    assert_eq!(found, [pair]);
    // 0.5 for the name, 0.3 for the bank, a day apart.
    assert!((found[0].score.get() - (0.5 + 0.3 + 0.2 * 6.0 / 7.0)).abs() < 1e-4);
    assert!(pair.why.is_for_people());
    let decision = life.decide("2020-06-01", Decision::Merge { one: pair.one, into: pair.into });
    assert_eq!(suggestions(&life), []);
    life.decide("2020-06-02", Decision::Undo { decision });
    assert_eq!(suggestions(&life), [], "what a person parted is not suggested again");
}

// proves: AD-24
#[test]
fn reasons_for_a_suggestion_and_for_none() {
    let with = |one: &str, other: &str| {
        let mut life = Life::new();
        life.say_in("2020-05-01", "one", &format!("{one}\nOslo:location"));
        life.say_in("2020-05-02", "two", &format!("{other}\nOslo:location"));
        suggestions(&life).first().map(|found| found.why)
    };
    for (names, why) in [
        (("Lei_Wang", "Wang_Lei"), Some(DuplicateReason::Order)),
        (("Apple:organization", "Аpple:organization"), Some(DuplicateReason::Look)),
        (("Jonathon_Smithe", "Jonathan_Smith"), Some(DuplicateReason::Spelling)),
        (("Tom", "Tom_Hartwick"), Some(DuplicateReason::Part)),
        (("Christian_Mayhew", "Christina_Mayhew"), Some(DuplicateReason::Slip)),
        (("Robert_Hale", "Priya_Ramanek"), None),
        (("Ann", "Joanne"), None),
        // A name next to the other bearer is another entity.
        (("Tom\nTom_Hartwick", "Oslo:location"), None),
    ] {
        assert_eq!(with(names.0, names.1), why, "{names:?}");
    }
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Lei_Wang");
    life.say_in("2020-09-01", "two", "Wang_Lei");
    assert_eq!(suggestions(&life), [], "an alike name alone is not enough");
}

/// Names of four people and two towns that resolve regardless of order.
const FORMS: [&[&str]; 6] = [
    &["Robert Hale", "Bob Hale", "Bobby Hale", "ROBERT  HALE's", "Hale, Robert", "Mr. Robert Hale"],
    &["Jürgen Müller", "Juergen Mueller", "Herr Jürgen Müller", "Jurgen Muller"],
    &["Екатерина Орлова", "Екатерине Орловой", "Екатерину Орлову"],
    &["陈思远", "陳思遠", "陈思远博士"],
    &["München:location", "Munich:location", "Muenchen:location"],
    &["Berlin:location", "Berlins:location"],
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    // proves: AD-21
    #[test]
    fn whole_names_mean_the_same_in_whatever_order_they_come(
        said in prop::collection::vec((0..FORMS.len(), any::<prop::sample::Index>(), 0..3_u8), 1..24),
    ) {
        let mut life = Life::new();
        let mut meant = Vec::new();
        for (n, (of, form, session)) in said.iter().enumerate() {
            let text = FORMS[*of][form.index(FORMS[*of].len())].replace(' ', "_");
            meant.push((*of, life.say_in(&format!("2020-05-{:02}", n + 1), &format!("s{session}"), &text)));
        }
        let rows = life.dump().mentions;
        let found = meant.iter().map(|(of, event)| (*of, rows.iter().find(|row| row.source.event == *event).unwrap().entity));
        let pairs: BTreeSet<(usize, EntityId)> = found.collect();
        let people: BTreeSet<usize> = meant.iter().map(|(of, _)| *of).collect();
        prop_assert_eq!(pairs.len(), people.len(), "{:?}", pairs);
        prop_assert_eq!(life.dump().entities.len(), people.len());
    }

    // proves: DF-41
    #[test]
    fn a_merge_of_any_two_that_is_undone_was_never_there(
        before in prop::collection::vec(0..6_usize, 2..8),
        after in prop::collection::vec(0..6_usize, 0..8),
        pair in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        // No role between two of them: "Anna's friend Robert" cannot be Anna, and would be another person after a merge.
        let lines = ["Robert likes tea", "Bob likes jazz", "Hale uses vim", "Anna uses vim", "Robert lives_in Oslo:location", "me knows Bob:person #friend"];
        let (mut life, mut never) = (Life::new(), Life::new());
        for line in &before {
            life.say("2020-05-01", lines[*line]);
            never.say("2020-05-01", lines[*line]);
        }
        let is_named = |entity: &&mnemal_core::Entity| entity.kind == EntityKind::Person && !entity.names.is_empty();
        let all: Vec<EntityId> = life.dump().entities.iter().filter(is_named).map(|entity| entity.id).collect();
        prop_assume!(!all.is_empty());
        let (one, into) = (all[pair.0.index(all.len())], all[pair.1.index(all.len())]);
        let decision = life.decide("2020-06-01", Decision::Merge { one, into });
        for line in &after {
            life.say("2020-07-01", lines[*line]);
            never.say("2020-07-01", lines[*line]);
        }
        life.decide("2020-08-01", Decision::Undo { decision });
        prop_assert_eq!(life.believed(), never.believed());
        prop_assert_eq!(life.rebuilt(), life.dump());
    }
}
