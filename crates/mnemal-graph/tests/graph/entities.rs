//! Entity resolution.

use mnemal_core::{AsOf, Decision, Entity, EntityKind, Timestamp, Zone};

use crate::log::{Life, now};

fn named(life: &Life, name: &str) -> Vec<Entity> {
    now(life.graph().entities_named(name, AsOf::present(Timestamp::MAX))).unwrap()
}

// proves: DF-38
#[test]
fn one_name_is_one_entity_however_often_it_is_said() {
    let mut life = Life::new();
    for n in 0..1_000 {
        let entry = life.entry(
            "2020-05-01",
            &format!("s{}", n % 7),
            ["Ada_Lovelace", "ADA_LOVELACE", "Dr._Ada_Lovelace's"][n % 3],
        );
        life.append(entry);
    }
    life.fold();
    assert_eq!(life.dump().entities.len(), 1);
    assert_eq!(
        now(life.graph().mentions(life.dump().entities[0].id, AsOf::present(Timestamp::MAX))).unwrap().len(),
        1_000
    );
}

// proves: CF-16, BA-03 (the word of an extractor that knows other kinds is kept beside the kind)
#[test]
fn the_kinds_of_other_extractors_are_kept_with_their_words() {
    let mut life = Life::new();
    life.say("2020-05-01", "Apollo|repository");
    life.say("2020-05-02", "Apollo|Repo");
    life.say("2020-05-03", "Ripgrep:product");
    life.say("2020-05-04", "Ripgrep|library");
    life.say("2020-05-05", "Handbook|file");
    life.say("2020-05-06", "Sailing|theme");
    life.say("2020-05-07", "Acme|ORG");
    life.say("2020-05-08", "Zorp|gizmo");
    life.say("2020-05-09", "Zorp|app");
    life.say("2020-05-10", "Oslo:location");
    let one = |name: &str| {
        let found = named(&life, name);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        (found[0].kind, found[0].kind_word.clone())
    };
    for (name, kind, word) in [
        ("Apollo", EntityKind::Project, Some("repository")),
        ("Ripgrep", EntityKind::Tool, Some("library")),
        ("Handbook", EntityKind::Document, Some("file")),
        ("Sailing", EntityKind::Topic, Some("theme")),
        ("Acme", EntityKind::Organization, Some("ORG")),
        ("Zorp", EntityKind::Tool, Some("app")),
        ("Oslo", EntityKind::Location, None),
    ] {
        assert_eq!(one(name), (kind, word.map(str::to_owned)), "{name}");
    }
    let always = AsOf::present(Timestamp::MAX);
    let topics: Vec<String> =
        now(life.graph().topics(always)).unwrap().into_iter().map(|topic| topic.name).collect();
    for name in ["Apollo", "Ripgrep", "Handbook", "Sailing"] {
        assert!(topics.iter().any(|topic| topic == name), "{name} is talked about: {topics:?}");
    }
    assert_eq!(life.difference().rows, 0, "a rebuild makes the same rows");
}

// proves: DF-40, BA-19
#[test]
fn a_name_inside_another_is_another() {
    let mut life = Life::new();
    let pairs = [
        ("Ann", "Joanne"),
        ("Al", "Alice"),
        ("York:location", "New_York:location"),
        ("王芳", "王芳芳"),
        ("Sam", "Samantha"),
    ];
    for n in 0..500 {
        let (short, long) = pairs[n % pairs.len()];
        let (short, long) = (short.split(':').next().unwrap(), long.split(':').next().unwrap());
        let kind = if n % pairs.len() == 2 { ":location" } else { "" };
        life.say("2020-05-01", &format!("{short}{}{kind}\n{long}{}{kind}", n / 5, n / 5));
    }
    assert_eq!(life.dump().entities.len(), 1_000);
}

// proves: DF-39
#[test]
fn names_of_many_scripts_resolve_without_a_model() {
    let mut life = Life::new();
    let names = ["Ада", "Νίκος", "محمد", "דוד", "राम", "王芳", "さくら", "민준", "สมชาย", "தமிழ்", "Zoë"];
    for _ in 0..2 {
        for name in names {
            life.say("2020-05-01", name);
        }
    }
    assert_eq!(life.dump().entities.len(), names.len());
    for name in names {
        assert_eq!(named(&life, name).len(), 1, "{name}");
    }
}

#[test]
fn a_name_joins_a_relative_who_had_none() {
    let mut life = Life::new();
    life.say("2020-05-01", "sister() works_at Fjordbank:organization");
    assert_eq!(life.on("2021-01-01"), ["sister works_at Fjordbank"]);
    life.say("2020-06-01", "me relative Anna:person #sister");
    assert_eq!(life.on("2021-01-01"), ["Anna works_at Fjordbank", "user relative Anna #sister"]);
    life.say("2020-07-01", "Anna lives_in Oslo:location");
    life.say("2020-07-01", "sister() likes tea");
    assert_eq!(
        life.on("2021-01-01"),
        ["Anna likes tea", "Anna lives_in Oslo", "Anna works_at Fjordbank", "user relative Anna #sister"]
    );
}

#[test]
fn a_relative_turns_out_to_be_somebody_known_and_belief_time_tells_since_when() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna lives_in Oslo:location");
    life.say("2020-05-02", "sister() works_at Fjordbank:organization");
    let before = life.dump().facts.iter().map(|fact| fact.created_at).max().unwrap();
    life.say("2020-06-01", "sister(Anna) likes tea");
    assert_eq!(life.on("2021-01-01"), ["Anna likes tea", "Anna lives_in Oslo", "Anna works_at Fjordbank"]);
    let as_of = AsOf { world: Timestamp::MAX, belief: before };
    let subjects: std::collections::BTreeSet<_> = life.facts(as_of).iter().map(|fact| fact.subject).collect();
    assert_eq!(subjects.len(), 2, "before, there were two");
}

#[test]
fn two_of_one_name_are_told_apart_by_what_they_are() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "home", "brother(John) role plumber");
    life.say_in("2020-05-02", "work", "colleague(John) lives_in Bergen:location");
    assert_eq!(named(&life, "John").len(), 2);
    life.say_in("2020-05-02", "work", "John likes tea");
    life.say_in("2020-05-03", "home", "John likes coffee");
    let lines = life.on("2021-01-01");
    assert_eq!(lines, ["John likes coffee", "John likes tea", "John lives_in Bergen", "John role plumber"]);
    let facts = life.facts(AsOf::present(Timestamp::MAX));
    let subject = |predicate: &str, object: &str| {
        let found = facts
            .iter()
            .find(|fact| fact.predicate.as_str() == predicate && fact.object.key().contains(object));
        found.unwrap().subject
    };
    assert_eq!(subject("likes", "tea"), subject("lives_in", ""));
    assert_eq!(subject("likes", "coffee"), subject("role", "plumber"));
}

#[test]
fn whose_name_is_told_by_role_is_somebody_of_the_speaker() {
    let mut life = Life::new();
    life.say("2020-05-01", "sister() name Anna:person\nboss() name Petra:person\nwife() name Ines:person");
    life.say("2020-05-02", "Anna name Annie:person");
    let known = life.on("2021-01-01");
    for fact in ["user relative Annie #sister", "user knows Petra #boss", "user partner Ines"] {
        assert!(known.contains(&fact.to_owned()), "{known:?}");
    }
    assert_eq!(known.iter().filter(|fact| fact.starts_with("user ")).count(), 3, "{known:?}");
}

#[test]
fn a_renamed_pet_is_the_same_pet() {
    let mut life = Life::new();
    life.say("2020-05-01", "dog() name Rex:animal");
    life.say("2020-05-02", "Rex likes bones");
    life.say("2021-05-01", "dog() name Max:animal");
    life.say("2021-05-02", "Max likes walks");
    assert_eq!(
        life.on("2022-01-01"),
        ["Max likes bones", "Max likes walks", "Max name Max", "user pet Max #dog"]
    );
}

#[test]
fn the_user_is_one_by_whatever_label_his_words_come_in() {
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea");
    for (label, what) in [("user", "walks"), ("Ich", "trains"), ("Usuario", "rain")] {
        let mut entry = life.entry("2020-05-02", "s", &format!("me likes {what}"));
        entry.event.speaker = Some(mnemal_core::Speaker::new(label).unwrap());
        life.append(entry);
        life.fold();
    }
    let held = ["user likes rain", "user likes tea", "user likes trains", "user likes walks"];
    assert_eq!(life.on("2021-01-01"), held);
    life.say("2020-05-03", "me name Ada:person");
    assert!(life.on("2021-01-01").iter().all(|line| line.starts_with("Ada ")), "{:?}", life.on("2021-01-01"));
}

#[test]
fn the_speaker_is_somebody() {
    let mut life = Life::new();
    life.say_by("Caroline", "2020-05-01", "me likes tea");
    life.say_by("Melanie", "2020-05-01", "Caroline lives_in Oslo:location");
    assert_eq!(life.on("2021-01-01"), ["Caroline likes tea", "Caroline lives_in Oslo"]);
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea");
    life.say("2020-05-02", "me name Ada:person");
    life.say("2020-05-03", "Ada lives_in Oslo:location");
    assert_eq!(life.on("2021-01-01"), ["Ada likes tea", "Ada lives_in Oslo", "Ada name Ada"]);
}

// proves: RB-77
#[test]
fn when_somebody_was_named_is_counted_from_the_events_that_are_left() {
    let mut life = Life::new();
    life.say("2020-05-01", "Anna lives_in Oslo:location");
    let last = life.say("2020-06-01", "Anna likes tea");
    let anna = named(&life, "Anna")[0].id;
    let seen = |life: &Life| {
        let seen = now(life.graph().mention_stats(anna, AsOf::present(Timestamp::MAX))).unwrap().unwrap();
        let days = [seen.first_at, seen.last_at].map(|at| at.civil(&Zone::utc()).day_text());
        (seen.events, days)
    };
    assert_eq!(seen(&life), (2, ["2020-05-01".to_owned(), "2020-06-01".to_owned()]));
    life.forget("2020-07-01", &[last]);
    assert_eq!(seen(&life), (1, ["2020-05-01".to_owned(), "2020-05-01".to_owned()]));
    life.say("2040-05-01", "Ben likes tea");
    assert_eq!(life.on("2040-06-01"), ["Anna lives_in Oslo", "Ben likes tea"], "silence condemns nobody");
}

// proves: RB-78
#[test]
fn whoever_has_no_source_left_goes_and_nobody_else_does() {
    let mut life = Life::new();
    let only = life.say("2020-05-01", "Anna likes tea ~0.6");
    life.say("2040-05-01", "Ben likes tea");
    assert_eq!(life.on("2040-06-01"), ["Anna likes tea (candidate)", "Ben likes tea"]);
    life.forget("2040-06-01", &[only]);
    assert_eq!((named(&life, "Anna"), life.on("2040-07-01")), (vec![], vec!["Ben likes tea".to_owned()]));
}

// proves: AD-21 (homonyms)
#[test]
fn a_dog_is_not_the_man_of_its_name_and_a_product_not_the_firm() {
    let mut life = Life::new();
    life.say("2020-05-01", "Robert_Finch\nHarbour_Club:organization");
    life.say("2020-05-01", "Robert_Finch name Bert");
    life.say("2020-05-02", "Bert:animal\nBello:animal");
    life.say("2020-05-03", "Bert\nHarbour_Club:organization");
    assert_eq!(named(&life, "Bert").len(), 2);
    let man = named(&life, "Robert Finch").remove(0);
    let seen = now(life.graph().mentions(man.id, AsOf::present(Timestamp::MAX))).unwrap();
    assert_eq!(seen.len(), 3);
    // An entity never introduced by a person's full name might be a dog.
    life.say("2020-05-04", "Rex");
    life.say("2020-05-05", "Rex:animal");
    assert_eq!(named(&life, "Rex").len(), 1);
}

#[test]
fn the_company_of_who_was_merged_tells_who_is_meant_after_a_restart_too() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "one", "Nan_Voss\nOslo:location");
    life.say_in("2020-05-02", "two", "Anna_Berg\nRome:location");
    life.say_in("2020-05-03", "three", "Anna_Holm\nBern:location");
    let id = |name: &str| named(&life, name)[0].id;
    let (one, into) = (id("Nan Voss"), id("Anna Berg"));
    life.decide("2020-05-04", Decision::Merge { one, into });
    life.restart();
    life.say_in("2020-05-05", "four", "Anna\nOslo:location");
    let seen = now(life.graph().mentions(into, AsOf::present(Timestamp::MAX))).unwrap();
    assert_eq!(seen.len(), 3);
    let rows = life.dump();
    assert_eq!(rows, life.rebuilt());
}

/// The entity that a question about a name means, or the error that lists several.
fn asked_about(life: &Life, name: &str) -> Result<String, String> {
    let found = now(life.graph().asked_about(name, AsOf::present(Timestamp::MAX)));
    found.map(|entity| entity.name).map_err(|error| error.what().to_owned())
}

// proves: NB-90 (a first name is enough)
#[test]
fn a_question_by_a_first_name_finds_the_full_name_however_they_were_said_in_turn() {
    let mut life = Life::new();
    life.say("2020-05-01", "John_Smith lives_in Bergen:location");
    life.say("2020-05-02", "John");
    assert_eq!(asked_about(&life, "John").unwrap(), "John Smith");
    let mut life = Life::new();
    life.say_in("2020-05-01", "a", "John");
    life.say_in("2020-05-02", "b", "John_Smith lives_in Bergen:location");
    assert_eq!(asked_about(&life, "john").unwrap(), "John Smith");
    assert_eq!(asked_about(&life, "John Smith").unwrap(), "John Smith");
    assert_eq!(now(life.graph().whom("John", AsOf::present(Timestamp::MAX))).unwrap().name, "John");
}

#[test]
fn two_of_one_first_name_stay_two_and_a_question_names_both() {
    let mut life = Life::new();
    life.say_in("2020-05-01", "a", "John");
    life.say_in("2020-05-02", "b", "John_Smith lives_in Bergen:location");
    life.say_in("2020-05-03", "c", "John_Miller lives_in Oslo:location");
    let several = asked_about(&life, "John").unwrap_err();
    assert!(several.contains("John Smith") && several.contains("John Miller"), "{several}");
    let mut life = Life::new();
    life.say_in("2020-05-01", "a", "John likes tea");
    life.say_in("2020-05-02", "b", "John_Smith lives_in Bergen:location");
    assert_eq!(asked_about(&life, "John").unwrap(), "John", "he of whom something is known is himself");
}
