//! The reach of a forget, and the block on stored tombstones.

use mnemal_core::{
    Category, Decision, ErrorKind, EventId, EventKind, EventStore, Forget, Importance, LearningKind,
    Metadata, NewEvent, NoteKey, Origin, Remember, Selector, SessionId,
};
use mnemal_events::{ErasedTexts, SkipReason, tombstones_for};
use mnemal_testkit::block_on;

use crate::desk::{Desk, at, by, desk, key, said};

const SECRET_PLACE: &str = "My sister hides the spare key under the blue flower pot.";

fn erase(desk: &Desk, selector: &Selector) -> Vec<EventId> {
    let ids = block_on(desk.log.closure(selector)).unwrap();
    let events = block_on(desk.store.get(&ids)).unwrap();
    block_on(desk.store.erase(&tombstones_for(&events, &key(), at(1_772_356_000)))).unwrap();
    ids
}

// proves: NX-03.9
#[test]
fn a_selection_without_a_living_event_is_not_found() {
    let desk = desk();
    let session = Selector::Session(SessionId::new("s").unwrap());
    let none = |selector: &Selector| block_on(desk.log.closure(selector)).unwrap_err().kind();
    assert_eq!(none(&session), ErrorKind::NotFound);
    let id = desk.one(said("s", SECRET_PLACE)).id;
    assert_eq!(erase(&desk, &session), [id]);
    assert_eq!(none(&session), ErrorKind::NotFound);
    assert_eq!(none(&Selector::Events(vec![id])), ErrorKind::NotFound);
    assert_eq!(none(&Selector::Events(vec![EventId(1)])), ErrorKind::NotFound);
    assert_eq!(none(&Selector::Key(NoteKey::new("k").unwrap())), ErrorKind::NotFound);
}

#[test]
fn a_key_reaches_all_versions_of_its_note_and_nothing_else() {
    let desk = desk();
    let noted = |name: &str, text: &str| {
        let decision = Decision::Remember(Remember {
            key: Some(NoteKey::new(name).unwrap()),
            kind: LearningKind::Note,
            category: Category::new("general").unwrap(),
            tags: Vec::new(),
            importance: Importance::DEFAULT,
            expires_at: None,
        });
        desk.one(NewEvent { kind: EventKind::Decision(decision), ..said("s", text) }).id
    };
    let (one, two) = (noted("editor", "prefers vim"), noted("editor", "prefers helix"));
    noted("shell", "prefers fish");
    let key = NoteKey::new("editor").unwrap();
    let forget = Forget { selector: Selector::Key(key.clone()), events: vec![one, two] };
    desk.one(NewEvent { kind: EventKind::Decision(Decision::Forget(forget)), ..said("s", "") });
    let mut expect = vec![one, two];
    expect.sort_unstable();
    assert_eq!(erase(&desk, &Selector::Key(key)), expect);
    // The record of the forget stays when its conversation is forgotten.
    erase(&desk, &Selector::Session(SessionId::new("s").unwrap()));
    let living: Vec<_> = desk.all().into_iter().filter(|event| event.body().is_some()).collect();
    assert_eq!(living.len(), 1);
}

// E4
// proves: NX-03.5, DF-95
#[test]
fn erased_text_does_not_come_back_but_the_user_may_say_it_again() {
    let desk = desk();
    let id = desk.one(said("s", SECRET_PLACE)).id;
    desk.one(said("t", "warm the log's memory of tombstones"));
    erase(&desk, &Selector::Events(vec![id]));
    let shouted = SECRET_PLACE.to_uppercase().replace(' ', "  ");
    for origin in Origin::ALL {
        let late = NewEvent { occurred_at: at(1_772_357_000), ..by(origin, "s", &shouted) };
        let fate = desk.fate(late);
        assert_eq!(fate.is_ok(), origin == Origin::UserDirect, "{origin:?}");
        if origin != Origin::UserDirect {
            assert_eq!(fate, Err(SkipReason::Forgotten));
        }
    }
    let early = NewEvent { occurred_at: at(1_772_355_999), ..said("s", SECRET_PLACE) };
    assert_eq!(desk.fate(early), Err(SkipReason::Forgotten));
}

#[test]
fn an_erased_sentence_is_cut_out_of_what_surrounds_it() {
    let desk = desk();
    let id = desk.one(said("s", &format!("Hello! {SECRET_PLACE} Please keep it quiet."))).id;
    erase(&desk, &Selector::Events(vec![id]));
    let ack =
        desk.one(by(Origin::Assistant, "s", &format!("You told me this. {SECRET_PLACE} Shall I note it?")));
    let stored = desk.text(ack.id);
    assert!(stored.contains("You told me this.") && stored.contains("[forgotten]"), "{stored}");
    assert!(!stored.contains("flower pot"), "{stored}");
    let captioned = NewEvent {
        metadata: Metadata::from([("caption".to_owned(), SECRET_PLACE.to_owned())]),
        ..by(Origin::ToolExternal, "s", "a photo")
    };
    let ack = desk.one(captioned);
    assert_eq!(desk.get(ack.id).body().unwrap().metadata["caption"], "[forgotten]");
    let thought = format!("They asked for the key. {SECRET_PLACE} I should be careful.");
    let reasoned = NewEvent {
        metadata: Metadata::from([("reasoning".to_owned(), thought)]),
        ..by(Origin::Assistant, "s", "I cannot say that.")
    };
    let ack = desk.one(reasoned);
    let kept = desk.get(ack.id).body().unwrap().metadata["reasoning"].clone();
    assert!(kept.contains("They asked for the key.") && !kept.contains("flower pot"), "{kept}");
    let inner = serde_json::json!({"note": SECRET_PLACE}).to_string();
    let arguments = serde_json::json!({
        "body": format!("{SECRET_PLACE} Be careful."), "to": [SECRET_PLACE], SECRET_PLACE: 1, "inner": inner
    });
    let called = NewEvent {
        metadata: Metadata::from([("arguments".to_owned(), arguments.to_string())]),
        ..by(Origin::Assistant, "s", &format!("\n{arguments}"))
    };
    let event = desk.get(desk.one(called).id);
    let stored = event.body().unwrap();
    let inner = serde_json::json!({"note": "[forgotten]"}).to_string();
    let expect = serde_json::json!({
        "body": "[forgotten] Be careful.", "to": ["[forgotten]"], "[forgotten]": 1, "inner": inner
    });
    for text in [&stored.content, &stored.metadata["arguments"]] {
        assert_eq!(serde_json::from_str::<serde_json::Value>(text).unwrap(), expect);
    }
    // A short sentence has no tombstone of its own: it is not what was erased.
    assert!(desk.fate(by(Origin::Assistant, "s", "Hello!")).is_ok());
}

#[test]
fn a_retry_of_what_was_cut_is_a_retry() {
    let desk = desk();
    let id = desk.one(said("s", SECRET_PLACE)).id;
    let quoting = || NewEvent {
        idempotency_key: Some("k".to_owned()),
        metadata: Metadata::from([("reasoning".to_owned(), format!("They told me. {SECRET_PLACE}"))]),
        ..by(Origin::Assistant, "s", &format!("You told me this. {SECRET_PLACE} Shall I note it?"))
    };
    let before = desk.one(quoting());
    erase(&desk, &Selector::Events(vec![id]));
    let again = desk.one(quoting());
    assert!(again.duplicate && again.id == before.id, "{again:?}");
}

#[test]
fn adopted_tombstones_hold_at_once() {
    let (one, two) = (desk(), desk());
    let id = one.one(said("s", SECRET_PLACE)).id;
    erase(&one, &Selector::Events(vec![id]));
    two.one(said("s", "something"));
    let tombstones = block_on(one.store.tombstones()).unwrap();
    block_on(two.log.adopt(&tombstones)).unwrap();
    assert_eq!(two.fate(by(Origin::Import, "s", SECRET_PLACE)), Err(SkipReason::Forgotten));
}

#[test]
fn what_is_erased_is_looked_for_without_its_accents_too() {
    let desk = desk();
    let ids = [
        desk.one(said("s", "Jürgen Müßiggänger wohnt in der Façade am Fluß.")).id,
        desk.one(said("s", "The spare key hangs behind the door.")).id,
    ];
    let erasing = ErasedTexts::of(&block_on(desk.store.get(&ids)).unwrap(), 8);
    let texts = [
        "Jürgen Müßiggänger wohnt in der Façade am Fluß.",
        "The spare key hangs behind the door.",
        "jurgen mussigganger wohnt in der facade am fluss.",
    ];
    assert_eq!(erasing.texts(), texts.map(str::to_owned));
    let words: Vec<&str> = erasing.words().map(String::as_str).collect();
    assert_eq!(words, ["mussigganger", "müßiggänger"]);
}
