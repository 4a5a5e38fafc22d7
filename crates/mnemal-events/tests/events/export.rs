//! The export is lossless and deterministic.

use std::sync::Arc;
use std::time::Duration;

use mnemal_core::{
    AgentId, Cardinality, Category, Cursor, Decision, EntityId, ErrorKind, EventId, EventKind, EventStore,
    Forget, Importance, IndexStore, LearningKind, Metadata, NewEvent, NoteKey, Operation, OperationKind,
    Origin, Predicate, Producer, Remember, Selector, SessionId, SpaceId, Speaker, Tag, Timestamp, ToolName,
    UserId, Zone,
};
use mnemal_events::{Exporter, Form, Format, ImportOptions, LogSettings, tombstones_for};
use mnemal_testkit::{TermIndexer, block_on};
use proptest::prelude::*;

use crate::desk::{Desk, MANY, RULES, at, batches, by, desk, key, options, said};

fn export(desk: &Desk) -> String {
    export_as(Form::Lines, desk)
}

fn export_as(form: Form, desk: &Desk) -> String {
    let mut out = Vec::new();
    let space = SpaceId::new("default").unwrap();
    let settings = LogSettings { secrets: Arc::clone(&RULES), ..LogSettings::default() };
    let writer = Exporter::new(desk.store.as_ref(), space, key(), &settings);
    let exported = block_on(writer.write(form, &mut out)).unwrap();
    assert_eq!(exported.bytes, out.len() as u64);
    String::from_utf8(out).unwrap()
}

fn restored(text: &str) -> Desk {
    let desk = desk();
    desk.import(text.as_bytes(), Format::Auto, &options());
    desk
}

#[derive(Clone, Debug)]
enum Step {
    Say(Box<NewEvent>),
    /// Erase one of the events so far.
    Forget(usize),
    Wait(u32),
}

fn kinds() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        Just(EventKind::UserMessage),
        Just(EventKind::AssistantMessage),
        Just(EventKind::Observation),
        Just(EventKind::Document),
        any::<bool>().prop_map(|ok| EventKind::ToolResult { tool: ToolName::new("t").unwrap(), ok }),
        (0.0_f32..=1.0, "[a-z]{1,4}", proptest::option::of(0_i64..9_000_000_000)).prop_map(
            |(weight, tag, until)| {
                EventKind::Decision(Decision::Remember(Remember {
                    key: Some(NoteKey::new("k").unwrap()),
                    kind: LearningKind::Preference,
                    category: Category::new("a/b").unwrap(),
                    tags: vec![Tag::new(tag).unwrap()],
                    importance: Importance::new(weight).unwrap(),
                    expires_at: until.map(at),
                }))
            }
        ),
        Just(EventKind::Decision(Decision::Archive(NoteKey::new("k").unwrap().into()))),
        Just(EventKind::Decision(Decision::Restore(NoteKey::new("k").unwrap().into()))),
        Just(EventKind::Decision(Decision::Reject(NoteKey::new("k").unwrap().into()))),
        Just(EventKind::Decision(Decision::Cardinality {
            predicate: Predicate::new("sits_at").unwrap(),
            cardinality: Cardinality::NowPerTopic,
        })),
        Just(EventKind::Operation(Operation {
            kind: OperationKind::Cardinality {
                predicate: Predicate::new("sits_at").unwrap(),
                cardinality: Cardinality::Now,
            },
            producer: Producer { id: "dream/cardinality".to_owned(), version: 1 },
            prompt: None,
            shown: vec![EventId(3)],
            because: "it was counted".to_owned(),
        })),
        Just(EventKind::Operation(Operation {
            kind: OperationKind::Suggest { one: EntityId(5), into: EntityId(6) },
            producer: Producer { id: "dream/lookalikes".to_owned(), version: 1 },
            prompt: None,
            shown: vec![EventId(3)],
            because: "they look alike".to_owned(),
        })),
        Just(EventKind::Decision(Decision::Forget(Forget {
            selector: Selector::Session(SessionId::new("s 1").unwrap()),
            events: vec![EventId(3)],
        }))),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || proptest::option::of("[a-zü ]{1,8}[a-z]");
    let times = (0_i64..=Timestamp::MAX.as_micros(), -50_000_i32..50_000);
    let names = (name(), name(), name(), proptest::option::of("[!-~]{1,20}"));
    let text = prop_oneof![
        "\\PC{0,60}",
        "[a-z]{2,7}( [a-z]{2,7}){4,9}\\. [a-z]{2,7}( [a-z]{2,7}){4,9}\\.",
        "(\\PC|[\\x00-\\x20\"\\\\]){0,30}"
    ];
    let event = (
        kinds(),
        text,
        0..3,
        times,
        names,
        0..Origin::ALL.len(),
        proptest::collection::btree_map("[a-z]{1,4}", "\\PC{0,8}", 0..3),
    )
        .prop_map(
            |(
                kind,
                content,
                session,
                (micros, offset),
                (speaker, user, agent, idempotency),
                origin,
                metadata,
            )| NewEvent {
                kind,
                session: SessionId::new(format!("s {session}")).unwrap(),
                occurred_at: Timestamp::from_micros(micros).unwrap(),
                zone: Zone { name: String::new(), offset_seconds: offset },
                speaker: speaker.map(|name| Speaker::new(name).unwrap()),
                user: user.map(|name| UserId::new(name).unwrap()),
                agent: agent.map(|name| AgentId::new(name).unwrap()),
                origin: Origin::ALL[origin],
                idempotency_key: idempotency,
                metadata: metadata as Metadata,
                ..said("s", &content)
            },
        );
    let step = prop_oneof![
        6 => event.prop_map(|event| Step::Say(Box::new(event))),
        1 => (0_usize..20).prop_map(Step::Forget),
        1 => (1_u32..5_000).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 0..24)
}

fn play(steps: &[Step]) -> Desk {
    let desk = desk();
    let mut ids: Vec<EventId> = Vec::new();
    for step in steps {
        match step {
            Step::Say(event) => {
                let event = NewEvent { parent: ids.last().copied(), ..*event.clone() };
                if let Ok(answer) = desk.append(vec![event]) {
                    ids.extend(answer.value.into_iter().flatten().map(|ack| ack.id));
                }
            }
            Step::Forget(place) => {
                if let Some(id) = ids.get(*place) {
                    let events = block_on(desk.store.get(&[*id])).unwrap();
                    block_on(desk.store.erase(&tombstones_for(&events, &key(), at(1_772_356_000)))).unwrap();
                }
            }
            Step::Wait(millis) => desk.clock.advance(Duration::from_millis(u64::from(*millis))),
        }
    }
    desk
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // proves: DF-79, NB-83
    // NX-12.T2: export, import and a second export give the same bytes.
    #[test]
    fn what_is_exported_imported_and_exported_again_is_the_same_bytes(steps in steps()) {
        let desk = play(&steps);
        let first = export(&desk);
        prop_assert_eq!(export(&desk), first.clone());
        let again = restored(&first);
        prop_assert_eq!(export(&again), first.clone());
        let document = export_as(Form::Document, &desk);
        let parsed: serde_json::Value = serde_json::from_str(&document).unwrap();
        prop_assert_eq!(parsed["records"].as_array().unwrap().len(), first.lines().count() - 1);
        let of_document = restored(&document);
        prop_assert_eq!(export_as(Form::Document, &of_document), document);
        prop_assert_eq!(export(&of_document), first);
        let (one, two) = (desk.all(), again.all());
        prop_assert_eq!(one.len(), two.len());
        for (one, two) in one.iter().zip(&two) {
            prop_assert_eq!((one.id, one.seq, one.recorded_at, one.role), (two.id, two.seq, two.recorded_at, two.role));
            prop_assert_eq!(&one.body, &two.body);
            prop_assert_eq!((&one.quarantined, &one.echo), (&two.quarantined, &two.echo));
        }
    }
}

// proves: NX-02.3
#[test]
fn importing_our_own_export_again_changes_nothing() {
    let desk = desk();
    desk.one(said("s", "one"));
    let gone = desk.one(said("s", "this will be gone soon enough")).id;
    desk.one(said("s", "three"));
    let events = block_on(desk.store.get(&[gone])).unwrap();
    block_on(desk.store.erase(&tombstones_for(&events, &key(), at(1_772_356_000)))).unwrap();
    let text = export(&desk);
    assert!(!text.contains("gone soon"));
    let other = restored(&text);
    let (taken, _) = other.import(text.as_bytes(), Format::Mnemal, &options());
    assert_eq!((taken.stored, taken.duplicates), (0, 3));
    assert_eq!(export(&other), text);
    // In the log that wrote it, too.
    desk.import(text.as_bytes(), Format::Mnemal, &options());
    assert_eq!(export(&desk), text);
}

// E4
// proves: NX-03.10
#[test]
fn an_older_export_does_not_bring_back_what_was_erased_since() {
    let desk = desk();
    let text = "My sister hides the spare key under the blue flower pot.";
    let gone = desk.one(said("s", text)).id;
    let old = export(&desk);
    let events = block_on(desk.store.get(&[gone])).unwrap();
    block_on(desk.store.erase(&tombstones_for(&events, &key(), at(1_772_356_000)))).unwrap();
    let new = export(&desk);
    desk.import(old.as_bytes(), Format::Mnemal, &options());
    assert_eq!(export(&desk), new);
    // A second log learns of it from the newer export, although it held the text.
    let second = restored(&old);
    assert_eq!(second.text(gone), text);
    second.import(new.as_bytes(), Format::Mnemal, &options());
    assert_eq!(second.get(gone).body(), None);
    assert!(second.fate(by(Origin::Assistant, "s", text)).is_err());
}

#[test]
fn what_stood_beside_an_erased_twin_stays_and_can_be_recalled() {
    let desk = desk();
    let text = "My sister hides the spare key under the blue flower pot.";
    let gone = desk.one(said("s", text)).id;
    // More than one batch lies between the twins.
    desk.append((0..600).map(|number| said("s", &format!("turn {number}"))).collect())
        .unwrap()
        .value
        .truncate(0);
    let twin = desk.one(by(Origin::Assistant, "s", text)).id;
    let events = block_on(desk.store.get(&[gone])).unwrap();
    block_on(desk.store.erase(&tombstones_for(&events, &key(), at(1_772_356_000)))).unwrap();
    let exported = export(&desk);
    let again = restored(&exported);
    assert_eq!(again.text(twin), text);
    assert_eq!(export(&again), exported);
    let blocks = block_on(IndexStore::load(again.store.as_ref(), Cursor::START, MANY)).unwrap();
    let term = TermIndexer::entry("flower").terms.counts[0].0;
    let found: Vec<_> = blocks.iter().filter(|block| !block.postings(term).is_empty()).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].events.contains(&twin) && blocks.iter().all(|block| !block.events.contains(&gone)));
}

#[test]
fn an_id_that_is_known_with_another_body_is_a_conflict() {
    let (one, two) = (desk(), desk());
    let (a, b) = (one.one(said("s", "one")).id, two.one(said("s", "two")).id);
    assert_eq!(a, b, "both logs count alike");
    let batch = batches(export(&one).as_bytes(), Format::Mnemal, &options()).remove(0).unwrap();
    assert_eq!(block_on(two.log.import(batch)).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn an_edited_export_cannot_bring_a_secret_in() {
    let planted = mnemal_extract::synth::phrase("github_pat", 4).unwrap();
    let desk = desk();
    desk.one(said("s", "PLACEHOLDER"));
    let text = export(&desk).replace("PLACEHOLDER", &planted.text);
    let other = restored(&text);
    assert_eq!(other.all().len(), 1);
    assert!(!other.bytes().contains(&planted.secret));
}

#[test]
fn a_file_without_header_or_of_another_version_is_refused_as_a_whole() {
    let desk = desk();
    desk.one(said("s", "one"));
    let text = export(&desk);
    let headless = text.split_once('\n').unwrap().1;
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let lenient = ImportOptions { lenient: mnemal_events::LinePolicy::Yes, ..options() };
    for wrong in [headless, &newer, ""] {
        let error = batches(wrong.as_bytes(), Format::Mnemal, &lenient).pop().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.what().starts_with("line 1: "), "{error}");
    }
}

#[test]
fn an_empty_log_has_an_export_too() {
    let text = export(&desk());
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains("\"exported_at\":\"1970-01-01T00:00:00Z\""));
    assert_eq!(export(&restored(&text)), text);
}

#[test]
fn what_an_older_rule_let_through_is_redacted_on_its_way_out() {
    let planted = mnemal_extract::synth::phrase("github_pat", 6).unwrap();
    let allow = mnemal_extract::SecretRules::built_in().with_mode("github_pat", mnemal_extract::Mode::Allow);
    let desk = crate::desk::desk_with(|parts| parts.settings.secrets = Arc::new(allow));
    desk.one(said("s", &planted.text));
    assert!(desk.bytes().contains(&planted.secret));
    assert!(!export(&desk).contains(&planted.secret));
}

#[test]
fn the_header_of_an_export_of_nothing_counts_as_a_line() {
    let header = r#"{"format":"mnemal","version":1,"space":"default","exported_at":"2026-03-01T09:30:00Z","counts":{"events":0,"tombstones":0}}"#;
    let lines = |text: &str| -> u64 {
        let read = batches(text.as_bytes(), Format::Mnemal, &options());
        read.into_iter().map(|batch| batch.unwrap().lines).map(|lines| lines.end - lines.start).sum()
    };
    assert_eq!(lines(&format!("{header}\n")), 1);
}
