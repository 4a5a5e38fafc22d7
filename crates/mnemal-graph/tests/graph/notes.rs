//! Stored notes are extracted like messages, with their owner.

use mnemal_core::{
    AsOf, Category, Decision, EntityFilter, EventId, EventKind, EventStore as _, FactStatus, Importance,
    LearningKind, Level, NoteKey, Origin, Remember, Timestamp, Trust,
};

use crate::decide::{ADD, about, words};
use crate::log::{Life, now};

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

/// Returns the names of an entity, now or when an event was recorded.
fn known(life: &Life, as_of: Option<EventId>) -> Vec<String> {
    let recorded = |event| now(life.store.get(&[event])).unwrap()[0].recorded_at;
    let belief = as_of.map_or(Timestamp::MAX, recorded);
    let all = now(life.graph().all(&EntityFilter::all(), AsOf { world: belief, belief })).unwrap();
    all.into_iter().map(|entity| entity.name).collect()
}

#[test]
fn whom_only_notes_name_goes_with_the_last_of_them() {
    let mut life = Life::new();
    life.say("2020-05-01", "Ada likes tea");
    let of_user = Origin::UserDirect;
    let first = note(&mut life, of_user, "2020-05-02", None, "Edda_Lund lives_in Oslo:location");
    let other = note(&mut life, of_user, "2020-05-03", None, "Edda_Lund likes tea");
    assert_eq!(known(&life, None), ["Ada", "Edda Lund", "Oslo"]);
    life.decide("2020-05-04", Decision::Undo { decision: first });
    assert_eq!(known(&life, None), ["Ada", "Edda Lund"], "the other note names her too");
    life.restart();
    life.decide("2020-05-05", Decision::Undo { decision: other });
    assert_eq!(known(&life, None), ["Ada"]);
    assert_eq!(known(&life, Some(other)), ["Ada", "Edda Lund", "Oslo"], "as it was known then");
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows, "the log gives the same graph");

    // A part of the name does not find an undone entity; the whole name creates it again.
    life.say("2020-05-06", "Edda likes chess");
    assert_eq!(known(&life, None), ["Ada", "Edda"]);
    life.say("2020-05-07", "Edda_Lund likes rain");
    assert_eq!(known(&life, None), ["Ada", "Edda", "Edda Lund"]);
    let again = note(&mut life, of_user, "2020-05-08", None, "Edda_Lund likes jazz");
    life.decide("2020-05-09", Decision::Undo { decision: again });
    assert_eq!(known(&life, None), ["Ada", "Edda", "Edda Lund"], "a turn names her");
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
}

#[test]
fn whom_a_note_named_first_and_a_turn_later_stays() {
    let mut life = Life::new();
    let first = note(&mut life, Origin::UserDirect, "2020-05-02", None, "Edda_Lund lives_in Oslo:location");
    life.say("2020-05-03", "Edda_Lund likes tea");
    life.decide("2020-05-04", Decision::Undo { decision: first });
    assert_eq!(known(&life, None), ["Edda Lund"]);
    let rows = life.dump();
    assert_eq!(life.rebuilt(), rows);
}

#[test]
fn what_a_decided_fact_named_goes_with_it() {
    let mut life = Life::new();
    life.say("2020-05-01", "me likes tea");
    let fact = about(&life, "lives_in", words("Bergen"), ADD);
    let fact = life.decide("2020-05-02", fact);
    assert!(known(&life, None).contains(&"Bergen".to_owned()), "{:?}", known(&life, None));
    life.decide("2020-05-03", Decision::Undo { decision: fact });
    assert!(!known(&life, None).contains(&"Bergen".to_owned()), "{:?}", known(&life, None));
}
