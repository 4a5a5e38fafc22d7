//! Notes that somebody stored on purpose are read as what is said is, with whose they are.

use mnemal_core::{
    AsOf, Category, Decision, EventId, EventKind, FactStatus, Importance, LearningKind, Level, NoteKey,
    Origin, Remember, Timestamp, Trust,
};

use crate::log::Life;

/// Stores a note and folds it.
fn note(life: &mut Life, origin: Origin, on: &str, key: Option<&str>, text: &str) -> EventId {
    let mut entry = life.entry(on, "s", text);
    entry.event.origin = origin;
    entry.event.kind = EventKind::Decision(Decision::Remember(Remember {
        key: key.map(|key| NoteKey::new(key).unwrap()),
        kind: LearningKind::Note,
        category: Category::new("general").unwrap(),
        tags: Vec::new(),
        importance: Importance::new(0.5).unwrap(),
        expires_at: None,
    }));
    let id = life.append(entry);
    life.fold();
    id
}

#[test]
fn a_note_names_people_and_says_of_them_what_it_says() {
    let mut life = Life::new();
    note(&mut life, Origin::UserDirect, "2020-05-01", None, "Maria works_at Acme:organization");
    assert_eq!(life.on("2021-01-01"), ["Maria works_at Acme"]);
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows, "the log gives the same graph");
}

#[test]
fn what_an_agent_notes_is_a_candidate_and_stays_the_agents() {
    let mut life = Life::new();
    note(&mut life, Origin::Assistant, "2020-05-01", None, "Maria works_at Acme:organization");
    let facts = life.facts(AsOf::present(Timestamp::MAX));
    let [fact] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!(
        (fact.status, fact.level, fact.trust),
        (FactStatus::Candidate, Level::Agent, Trust::Assistant)
    );
    assert!(!fact.is_said(), "nobody but the agent says so");
    life.say("2020-05-02", "Maria works_at Acme:organization");
    let facts = life.facts(AsOf::present(Timestamp::MAX));
    assert!(facts.iter().all(|fact| fact.status == FactStatus::Active && fact.is_said()), "{facts:?}");
}

#[test]
fn a_new_version_of_a_note_ends_what_only_the_earlier_ones_say() {
    let mut life = Life::new();
    let of_user = Origin::UserDirect;
    note(&mut life, of_user, "2020-05-01", Some("maria"), "Maria likes tea\nMaria likes jazz\nme likes salt");
    life.say("2020-05-02", "Maria likes chess");
    let second = note(&mut life, of_user, "2020-05-03", Some("maria"), "Maria likes tea\nMaria likes chess");
    let held = ["Maria likes chess", "Maria likes tea"];
    let stands = |life: &Life| -> Vec<String> {
        life.on("2021-01-01").into_iter().filter(|line| !line.ends_with("(rejected)")).collect()
    };
    assert_eq!(stands(&life), held);
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
    life.decide("2020-05-04", Decision::Undo { decision: second });
    assert_eq!(
        stands(&life),
        ["Maria likes chess", "Maria likes jazz", "Maria likes tea", "user likes salt"],
        "the version before holds again"
    );
}

#[test]
fn notes_of_other_keys_and_of_none_are_left_alone() {
    let mut life = Life::new();
    for (key, text) in
        [(Some("a"), "Maria likes tea"), (None, "Maria likes jazz"), (Some("b"), "Maria likes salt")]
    {
        note(&mut life, Origin::UserDirect, "2020-05-01", key, text);
        life.restart();
    }
    note(&mut life, Origin::UserDirect, "2020-05-02", Some("b"), "Maria likes chess");
    assert!(life.on("2021-01-01").contains(&"Maria likes tea".to_owned()));
    assert!(life.on("2021-01-01").contains(&"Maria likes jazz".to_owned()));
    assert!(life.on("2021-01-01").contains(&"Maria likes chess".to_owned()));
    assert!(!life.on("2021-01-01").contains(&"Maria likes salt".to_owned()));
}

#[test]
fn what_was_forgotten_of_a_note_is_in_no_row() {
    let mut life = Life::new();
    let id = note(&mut life, Origin::UserDirect, "2020-05-01", Some("maria"), "Maria likes tea");
    life.forget("2020-05-02", &[id]);
    assert_eq!(life.on("2021-01-01"), [] as [String; 0]);
    assert!(life.dump().entities.is_empty() && life.dump().mentions.is_empty(), "{:?}", life.dump());
}
