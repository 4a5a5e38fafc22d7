//! Trust features: forget by description with proof, explanations of shown and omitted records, and belief diffs.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::context::{CandidateGate, ContextOutcome, OmittedReason, RecordRef, WhyNot};
use mnemal::events::{Description, ErasureReceipt, FILE, Selector};
use mnemal::graph::ChangeKind;
use mnemal::ports::Clock as _;
use mnemal::types::{Category, Importance, InstallationKey, Tag};
use mnemal::working::PutOptions;
use mnemal::{
    Decision, Engine, ErrorKind, EventFilter, EventId, LearningFilter, Memory, Message, NoteKey, Origin,
    Scope, SessionId, SpaceId, Speaker, Timestamp, UserId, Within,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Space {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_stores(MemoryStore::new())
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(5)))
            .with_key(InstallationKey::new([5; 32]))
            .build()
            .unwrap();
        Self { memory: engine.memory(Scope::whole(SpaceId::new("test").unwrap())), clock }
    }

    async fn say(&self, message: Message) -> EventId {
        self.clock.advance(Duration::from_mins(1));
        self.memory.log(message).await.unwrap().value.id
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn key(name: &str) -> NoteKey {
    NoteKey::new(name).unwrap()
}

fn by(speaker: &str, text: &str) -> Message {
    Message::user(text).speaker(Speaker::new(speaker).unwrap()).session(session("hall"))
}

#[tokio::test]
async fn events_are_selected_by_what_is_known_of_them() {
    let space = Space::new();
    let old = space.say(by("Ada", "The red lamp of the harbour is broken again.")).await;
    let noon = space.now();
    space.clock.advance(Duration::from_hours(1));
    let new = space.say(by("Bo", "Bread is on the upper shelf of the pantry.")).await;
    let mine = space.say(Message::user("My ledger is green.").user_id(UserId::new("cleo").unwrap())).await;
    let of_bo = space.say(by("Ada", "Yesterday I met Bo Lindqvist at the harbour.")).await;
    let pick = async |filter| space.memory.events().selected(&Description::from(filter)).await.unwrap();
    let until = EventFilter { until: Some(noon.plus_micros(1)), ..EventFilter::all() };
    assert_eq!(pick(until).await, [old]);
    let since = EventFilter { since: Some(noon.plus_micros(1)), ..EventFilter::all() };
    assert_eq!(pick(since).await, [new, mine, of_bo]);
    let ada = Within::Only(Speaker::new("Ada").unwrap());
    assert_eq!(pick(EventFilter { speaker: ada, ..EventFilter::all() }).await, [old, of_bo]);
    let cleo = Within::Only(UserId::new("cleo").unwrap());
    assert_eq!(pick(EventFilter { user: cleo, ..EventFilter::all() }).await, [mine]);
    let of = async |origin| {
        let by = Description { origin: Some(origin), ..EventFilter::all().into() };
        space.memory.events().selected(&by).await.map_err(|error| error.kind())
    };
    assert_eq!(of(Origin::UserDirect).await, Ok(vec![old, new, mine, of_bo]));
    assert_eq!(of(Origin::Document).await, Err(ErrorKind::NotFound));
    let file = space.say(Message::document("The wharf has nine cranes.").metadata(FILE, "wharf.md")).await;
    let by = Description { file: Some("wharf.md".to_owned()), ..EventFilter::all().into() };
    assert_eq!(space.memory.events().selected(&by).await.unwrap(), [file]);
    assert_eq!(space.memory.events().selected_by_person("CLEO").await.unwrap(), [mine]);
    let bo = space.memory.events().selected_by_person("Bo Lindqvist").await.unwrap();
    assert!(bo.contains(&of_bo) && !bo.contains(&old) && !bo.contains(&mine), "{bo:?}");
    let lamp = space.memory.events().selected_by_text("the red lamp of the harbour", 5).await.unwrap();
    assert_eq!(lamp.first(), Some(&old));
    for error in [
        space.memory.events().selected(&EventFilter::all().into()).await.unwrap_err(),
        space.memory.events().selected_by_text(" ", 5).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    let nobody = space.memory.events().selected_by_person("Zacharias").await.unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_key_is_of_one_user_and_a_new_version_stays_the_users() {
    let space = Space::new();
    let user = |name: &str| UserId::new(name).unwrap();
    let note = |text: &str, of: Option<&str>| {
        let call = space.memory.remember(text).by_user().key(key("locker"));
        let of = of.map(user);
        call.message(move |message| match of {
            Some(of) => message.user_id(of),
            None => message,
        })
    };
    let _first = note("Locker 12", Some("ana")).await.unwrap();
    let refused = note("Locker 40", Some("bo")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("ana"), "{refused}");
    let bound = space.memory.for_user(user("bo")).remember("Locker 40").key(key("locker")).await.unwrap_err();
    assert!(!bound.to_string().contains("ana"), "who is bound to a user is told of no other: {bound}");
    let _next = note("Locker 13", None).await.unwrap();
    let of_ana = LearningFilter { user: Within::Only(user("ana")), ..LearningFilter::all() };
    let held: Vec<String> = space
        .memory
        .preferences()
        .notes(&of_ana)
        .await
        .unwrap()
        .into_iter()
        .map(|note| note.content)
        .collect();
    assert_eq!(held, ["Locker 13"]);
}

#[tokio::test]
async fn an_amended_note_keeps_what_is_not_said_anew() {
    let space = Space::new();
    let end = space.now().plus_micros(90_000_000_000);
    let first = space.memory.remember("Parking pass 88").by_user().key(key("pass")).expires_at(end);
    let first = first.category(Category::new("car").unwrap()).tag(Tag::new("city").unwrap());
    let _first = first.importance(Importance::new(0.9).unwrap()).await.unwrap();
    let again = async |text: &str| {
        let call = space.memory.remember(text).by_user().key(key("pass"));
        let call = if text.ends_with('9') { call.amend() } else { call };
        let _stored = call.await.unwrap();
        space.memory.preferences().learning("pass").await.unwrap()
    };
    let amended = again("Parking pass 89").await;
    assert_eq!((amended.content.as_str(), amended.expires_at), ("Parking pass 89", Some(end)));
    assert_eq!((amended.category.as_str(), amended.importance.get()), ("car", 0.9));
    assert_eq!(amended.tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["city"]);
    let replaced = again("Parking pass 90").await;
    assert_eq!((replaced.category.as_str(), replaced.expires_at), ("general", None));
}

#[tokio::test]
async fn what_a_text_selects_holds_its_words_and_what_stands_beside_it_stays() {
    let space = Space::new();
    let mut told = Vec::new();
    for text in [
        "The train is late.",
        "The number of the safe is 7719.",
        "Paul is ill.",
        "Die PIN der Alarmanlage ist 4401.",
        "We need milk.",
        "He lost the number.",
        "报警器的密码是三三四四。",
        "The roof leaks.",
    ] {
        told.push(space.say(Message::user(text).session(session("one"))).await);
    }
    let pick = async |text: &str| space.memory.events().selected_by_text(text, 5).await.unwrap();
    assert_eq!(pick("number of the safe").await, [told[1]]);
    assert_eq!(pick("the safe's numbers").await, [told[1]], "in other forms");
    assert_eq!(pick("PIN der Alarmanlage").await, [told[3]]);
    assert_eq!(pick("报警器的密码").await, [told[6]]);
    assert_eq!(pick("leaking roofs of the barn").await, [told[7]], "what holds the most of the words");
    let nothing = space.memory.events().selected_by_text("zeppelin", 5).await.unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::NotFound);
}

// proves: NX-03.11
#[tokio::test]
async fn a_preview_lists_what_says_nearly_the_same_and_is_not_selected() {
    let space = Space::new();
    let one = space.say(by("Ada", "The spare key of the boat house hangs behind the green door.")).await;
    let two = space.say(by("Bo", "The spare key of the boat house hangs behind the green door!")).await;
    let other = space.say(by("Bo", "Tomorrow the ferry leaves at seven in the morning.")).await;
    let preview = space.memory.forget(Selector::Events(vec![one])).dry_run().await.unwrap();
    let similar: Vec<EventId> = preview.similar.iter().map(|one| one.event).collect();
    assert_eq!(similar, [two]);
    assert!(preview.similar.iter().all(|one| one.likeness >= 0.8 && one.likeness <= 1.0));
    let both = space.memory.forget(Selector::Events(vec![one, two])).dry_run().await.unwrap();
    assert!(both.similar.iter().all(|one| one.event != other), "{:?}", both.similar);
    assert!(both.receipt.is_none(), "a preview is no proof");
}

// proves: NX-03.8
#[tokio::test]
async fn a_forget_is_signed_and_says_what_it_did() {
    let space = Space::new();
    let id = space.say(by("Ada", "The safe opens with the number of the old house.")).await;
    let other = space.say(by("Bo", "The safe opens with the number of the old house.")).await;
    let erasure = space.memory.forget(Selector::Events(vec![id])).await.unwrap();
    assert!(erasure.verified(), "{erasure:?}");
    assert!(
        erasure.residual.iter().any(|what| what.contains("not selected")),
        "what another event says is no remnant, and is told: {:?}",
        erasure.residual
    );
    assert!(space.memory.events().get(other).await.unwrap().body().is_some());
    let receipt = erasure.receipt.unwrap();
    let verified = receipt.verify().unwrap();
    assert_eq!(verified.public_key, space.memory.admin().engine().public_key());
    let field = |name: &str| {
        verified.fields.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    };
    let expect = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let said: Vec<String> = field("events");
    assert_eq!(said, expect(&["1"]));
    assert_eq!(field("event"), expect(&[&id.to_string()]));
    assert_eq!(field("decision"), expect(&[&erasure.event.unwrap().to_string()]));
    assert_eq!(field("verified"), expect(&["true"]));
    assert!(!receipt.as_str().contains("safe"), "no words");
    let forged = receipt.as_str().replace("events: 1", "events: 2");
    assert_eq!(ErasureReceipt::from_text(forged).verify().unwrap_err().kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn working_memory_loses_what_repeats_an_erased_text_and_nothing_else() {
    let space = Space::new();
    let said = "The vault of the museum is opened by Ottilie at noon.";
    let id = space.say(by("Ada", said)).await;
    let working = space.memory.working().unwrap();
    for (name, value) in [
        ("session/default/plan", format!("Think of this: {said} Then go.")),
        ("session/default/plan/next", "Buy bread and some butter on the way.".to_owned()),
        ("session/default/loud", said.to_uppercase()),
        ("session/default/museum", "The museum has a vault.".to_owned()),
    ] {
        working.put(name, value, PutOptions::default()).await.unwrap();
    }
    let erasure = space.memory.forget(Selector::Events(vec![id])).await.unwrap();
    assert_eq!(erasure.working, 2);
    for (name, is_there) in [("plan", false), ("plan/next", true), ("loud", false), ("museum", true)] {
        let name = format!("session/default/{name}");
        assert_eq!(working.get(&name).await.is_ok(), is_there, "{name}");
    }
    let talk = space.memory.for_session(session("hall"));
    talk.working()
        .unwrap()
        .put("own", "of this conversation".to_owned(), PutOptions::default())
        .await
        .unwrap();
    let _later = space.say(by("Ada", "One more thing before we go home.")).await;
    let erasure = space.memory.forget(Selector::Session(session("hall"))).await.unwrap();
    assert_eq!(erasure.working, 1, "a conversation that goes as a whole takes its scratch along");
    assert!(working.get("session/default/plan/next").await.is_ok());
}

#[tokio::test]
async fn a_user_that_goes_as_a_whole_takes_working_memory_along_and_nobody_elses() {
    let space = Space::new();
    let [ana, ben] = ["ana", "ben"].map(|name| space.memory.for_user(UserId::new(name).unwrap()));
    for own in [&ana, &ben] {
        let _ack = own.log(Message::user("The ferry leaves at noon.")).await.unwrap();
        own.working()
            .unwrap()
            .put("plan", "pack the blue tent".to_owned(), PutOptions::default())
            .await
            .unwrap();
    }
    let whose = || Selector::User(UserId::new("ana").unwrap());
    assert_eq!(ben.forget(whose()).await.unwrap_err().kind(), ErrorKind::NotFound);
    let erasure = space.memory.forget(whose()).await.unwrap();
    assert_eq!((erasure.events, erasure.working), (1, 1));
    assert!(ana.working().unwrap().get("plan").await.is_err());
    assert!(ben.working().unwrap().get("plan").await.is_ok());
    // One user can forget all of itself.
    assert_eq!(ben.forget(Selector::User(UserId::new("ben").unwrap())).await.unwrap().working, 1);
}

#[tokio::test]
async fn a_user_with_working_memory_alone_is_forgotten_too_and_the_preview_counts_it() {
    let space = Space::new();
    let [eva, ben] = ["eva", "ben"].map(|name| space.memory.for_user(UserId::new(name).unwrap()));
    eva.working().unwrap().put("plan", "pack the tent".to_owned(), PutOptions::default()).await.unwrap();
    let whose = || Selector::User(UserId::new("eva").unwrap());
    assert_eq!(ben.forget(whose()).await.unwrap_err().kind(), ErrorKind::NotFound);
    let preview = space.memory.forget(whose()).dry_run().await.unwrap();
    assert_eq!((preview.events, preview.working), (0, 1));
    assert!(eva.working().unwrap().get("plan").await.is_ok(), "a preview removes nothing");
    let erasure = space.memory.forget(whose()).await.unwrap();
    assert_eq!((erasure.events, erasure.working), (0, 1));
    assert!(eva.working().unwrap().get("plan").await.is_err());
    assert_eq!(space.memory.forget(whose()).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_person_is_found_in_genitives_and_compounds_of_the_name() {
    let space = Space::new();
    let mut expect = Vec::new();
    for text in [
        "Meine Freundin Ottilie wohnt in Gera.",
        "Ottilies Adresse ist Am Markt 3.",
        "Die Ottilie-Akte liegt beim Arzt.",
        "Heute war ich bei Ottilie’s Mutter.",
    ] {
        expect.push(space.memory.log(Message::user(text)).await.unwrap().id);
    }
    let note = space.memory.remember("Ottilies Hund ist krank.").await.unwrap();
    expect.push(note.event);
    for text in ["Das Wetter ist schön.", "Die Ottiliensteuer kommt.", "Die Charlottilies blühen."] {
        let _other = space.memory.log(Message::user(text)).await.unwrap();
    }
    expect.sort_unstable();
    assert_eq!(space.memory.events().selected_by_person("Ottilie").await.unwrap(), expect);
}

#[tokio::test]
async fn a_line_leads_back_to_its_words_and_its_scores() {
    let space = Space::new();
    let id = space.say(by("Ada", "The red lamp of the harbour is broken again.")).await;
    for n in 0..40 {
        let said = format!("On day {n} the gardener watered bed {} of the old park.", n * 7 % 90);
        let _id = space.say(by("Bo", &said)).await;
    }
    let note = space.memory.remember("The ferry leaves at seven.").key(key("ferry")).by_user().await.unwrap();
    let context = space.memory.context("Is the red lamp of the harbour broken?").await.unwrap();
    let receipt = context.receipt.id;
    let why = space.memory.admin().why(RecordRef::Event(id), Some(receipt)).await.unwrap();
    assert_eq!(why.evidence.len(), 1);
    let words = &why.evidence[0];
    assert_eq!(
        (words.source.event, words.text.as_str()),
        (id, "The red lamp of the harbour is broken again.")
    );
    let Some(ContextOutcome::Line(line)) = why.shown else { panic!("{:?}", why.shown) };
    let sum: f32 = line.parts.iter().map(|part| part.value).sum();
    assert!(line.score > 0.0 && (sum - line.score).abs() < 1e-3, "{sum} {}", line.score);
    let learning = space.memory.preferences().learning(&note.value.event.to_string()).await.unwrap();
    let why = space.memory.admin().why(RecordRef::Learning(learning.id), None).await.unwrap();
    assert_eq!((why.text.as_str(), why.shown), ("The ferry leaves at seven.", None));
    assert!(why.producer.is_some() && why.evidence[0].source.event == note.value.event);
    let unknown = space.memory.admin().why(RecordRef::Event(EventId(3)), None).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn what_is_not_shown_has_a_reason_or_a_gate() {
    let space = Space::new();
    let id = space.say(by("Ada", "The red lamp of the harbour is broken again.")).await;
    let far = space.say(by("Bo", "Strudel needs a very thin dough.")).await;
    let why = async |record, query: &str| space.memory.admin().why_not(record, query).await.unwrap().value;
    let lamp = "Is the red lamp of the harbour broken?";
    let WhyNot::Shown(answer) = why(RecordRef::Event(id), lamp).await else {
        panic!("it answers");
    };
    match why(RecordRef::Event(far), lamp).await {
        WhyNot::Omitted { omitted, .. } => assert_eq!(omitted.reason, OmittedReason::BelowFloor),
        WhyNot::Behind { rank, .. } => assert!(rank > 1),
        WhyNot::Barred(gate) => assert_eq!(gate, CandidateGate::NotFound),
        WhyNot::Shown(line) => {
            assert!(line.score < answer.score, "room is left, behind what answers: {line:?}");
        }
    }
    let _one = space.memory.remember("The ferry leaves at seven.").key(key("ferry")).by_user().await.unwrap();
    let _two = space.memory.remember("The ferry leaves at nine.").key(key("ferry")).by_user().await.unwrap();
    let versions = space.memory.preferences().history(&key("ferry")).await.unwrap();
    let old = RecordRef::Learning(versions[1].id);
    let superseded = WhyNot::Barred(CandidateGate::Status(mnemal::learnings::LearningStatus::Superseded));
    assert_eq!(why(old, "When does the ferry leave?").await, superseded);
    drop(space.memory.forget(Selector::Events(vec![id])).await.unwrap());
    assert_eq!(why(RecordRef::Event(id), lamp).await, WhyNot::Barred(CandidateGate::Forgotten));
}

// proves: NX-01.3, NX-01.6
#[tokio::test]
async fn a_receipt_is_checked_against_the_log_and_the_text() {
    let space = Space::new();
    for n in 0..30 {
        let said = format!("On day {n} the harbour master counted {} boats and one red lamp.", n * 3 + 1);
        let _id = space.say(by("Ada", &said)).await;
    }
    let _note = space.memory.remember("The harbour closes at ten.").by_user().await.unwrap();
    let mut lines = 0;
    for n in 0..10 {
        let query = format!("How many boats were counted on day {n}?");
        let context = space.memory.context(query).session(session("reader")).await.unwrap();
        let id = context.receipt.id;
        let check = space.memory.admin().check_receipt(id, Some(&context.text)).await.unwrap();
        assert_eq!(check.findings, Vec::<String>::new(), "{n}");
        assert_eq!((check.resolved, check.blocks), (check.lines, context.receipt.blocks.len()));
        assert_eq!(check.same + check.not_compared, check.lines);
        lines += check.lines;
        let changed = context.text.replacen("boats", "goats", 1);
        let forged = space.memory.admin().check_receipt(id, Some(&changed)).await.unwrap();
        assert!(!forged.findings.is_empty(), "goats");
        assert_eq!((check.whole, check.grounded), (Some(true), check.lines), "{n}");
    }
    assert!(lines > 50, "{lines}");
    let other = space.memory.admin().check_receipt(mnemal::types::ReceiptId(9), None).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::NotFound);
}

/// A way to forge a receipt.
type Forgery = fn(&mut mnemal::Receipt);

// proves: NX-01.10
#[tokio::test]
async fn a_receipt_that_was_forged_anywhere_is_found_and_a_forget_is_no_forgery() {
    let store = MemoryStore::new();
    let clock = Arc::new(ManualClock::default());
    let builder = Engine::builder().with_stores(store.clone()).with_clock(Arc::<ManualClock>::clone(&clock));
    let engine = builder.with_key(InstallationKey::new([5; 32])).build().unwrap();
    let space = Space { memory: engine.memory(Scope::whole(SpaceId::new("test").unwrap())), clock };
    let mut said = Vec::new();
    for n in 0..60 {
        let text = format!("On day {n} the harbour master counted {} boats and one red lamp.", n * 3 + 1);
        said.push(space.say(by("Ada", &text)).await);
    }
    let asked = "How many boats were counted on day 7?";
    let context = space.memory.context(asked).budget(400).await.unwrap();
    assert!(context.receipt.omitted.len() > 3 && context.receipt.lines.len() > 3);
    let real = space.memory.admin().receipt(context.receipt.id).await.unwrap();
    assert_eq!(space.memory.admin().check_receipt(real.id, None).await.unwrap().whole, Some(true));
    let forgeries: [(&str, Forgery); 21] = [
        ("an omission is another record", |one| one.omitted[0].record = RecordRef::Event(EventId(9))),
        ("the reason of an omission", |one| one.omitted[0].reason = OmittedReason::Quarantined),
        ("the score of an omission", |one| one.omitted[0].score += 0.5),
        ("the section of an omission", |one| one.omitted[0].section = mnemal::context::Section::Identity),
        ("omissions in another order", |one| one.omitted.reverse()),
        ("an omission is gone", |one| one.omitted.truncate(one.omitted.len() - 1)),
        ("an omission more", |one| one.omitted.push(one.omitted[0])),
        ("the counts", |one| one.omitted_counts[0].1 += 1),
        ("a line is gone", |one| one.lines.truncate(one.lines.len() - 1)),
        ("lines in another order", |one| one.lines.reverse()),
        ("the score of a line", |one| one.lines[0].score += 0.5),
        ("a part of a score", |one| {
            let ranked = one.lines.iter_mut().find(|line| !line.parts.is_empty());
            ranked.unwrap().parts[0].value += 0.5;
        }),
        ("why a line is in", |one| one.lines[0].because = mnemal::context::InclusionReason::Pinned),
        ("whose a line is", |one| one.lines[0].level = mnemal::types::Level::External),
        ("where a line stands", |one| one.lines[0].sources[0].span.end -= 1),
        ("the text of a line", |one| one.lines[0].content_hash[0] ^= 1),
        ("a block", |one| one.blocks[0].hash[0] ^= 1),
        ("the budget", |one| one.budget.0 += 1),
        ("when it was", |one| one.at = one.at.plus_micros(1)),
        ("whose it was", |one| one.session = session("another")),
        ("what it saw", |one| one.head = mnemal::events::Cursor::START),
    ];
    for (number, (what, forge)) in (1_u128..).zip(forgeries) {
        let mut forged = real.clone();
        forge(&mut forged);
        // Sealed for its claimed content, but without the key.
        forged.id = mnemal::types::ReceiptId(number);
        let own = InstallationKey::new([6; 32]);
        forged.seal = Some(forged.sealed(&own));
        mnemal_core::ReceiptStore::put(&store, &forged).await.unwrap();
        let check = space.memory.admin().check_receipt(forged.id, None).await.unwrap();
        assert!(check.whole == Some(false) && !check.findings.is_empty(), "{what}: {check:?}");
    }
    let mut fewer = real.clone();
    fewer.id = mnemal::types::ReceiptId(100);
    fewer.seal = Some(fewer.sealed(&InstallationKey::new([5; 32])));
    fewer.omitted.pop();
    mnemal_core::ReceiptStore::put(&store, &fewer).await.unwrap();
    let check = space.memory.admin().check_receipt(fewer.id, None).await.unwrap();
    assert_eq!((check.whole, check.forgotten, check.findings.len()), (None, 1, 1), "nothing was forgotten");
    let RecordRef::Event(shown) = real.lines.last().unwrap().record else { panic!("{:?}", real.lines) };
    space.clock.advance(Duration::from_mins(1));
    drop(space.memory.forget(Selector::Events(vec![shown])).await.unwrap());
    let check = space.memory.admin().check_receipt(real.id, None).await.unwrap();
    assert_eq!((check.whole, check.forgotten, check.findings), (None, 1, Vec::new()));
}

#[tokio::test]
async fn a_fact_leads_to_the_events_that_it_rests_on() {
    let space = Space::new();
    let lives = space.say(by("Ada", "I live in Oslo.")).await;
    let _other = space.say(by("Bo", "I live in Bergen.")).await;
    let graph = space.memory.facts().graph().await.unwrap().value;
    let now = mnemal::AsOf::present(space.now());
    let facts = graph.facts(&mnemal::FactFilter::all(), now).await.unwrap();
    let of = facts.iter().find(|fact| fact.supports.iter().any(|one| one.source.event == lives)).unwrap();
    assert_eq!(space.memory.events().selected_by_fact(of.id).await.unwrap(), [lives]);
    drop(space.memory.forget(Selector::Events(vec![lives])).await.unwrap());
    let gone = space.memory.events().selected_by_fact(of.id).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn belief_is_compared_between_two_moments_with_its_evidence() {
    let space = Space::new();
    let start = space.now();
    let _berlin = space.say(by("Ada", "I live in Berlin.")).await;
    let _one = space.memory.remember("The ferry leaves at seven.").key(key("ferry")).by_user().await.unwrap();
    let _gate = space.memory.remember("The gate is green.").key(key("gate")).by_user().await.unwrap();
    space.clock.advance(Duration::from_hours(1));
    let middle = space.now();
    space.clock.advance(Duration::from_hours(1));
    let rome = space.say(by("Ada", "I moved to Rome last week.")).await;
    let two = space.memory.remember("The ferry leaves at nine.").key(key("ferry")).by_user().await.unwrap();
    let away = space.memory.facts().decide(Decision::Archive(key("gate").into())).await.unwrap().value.id;
    space.clock.advance(Duration::from_secs(1));
    let end = space.now();
    let early = space.memory.facts().diff(start, middle).await.unwrap();
    assert!(early.facts.iter().all(|change| change.kind == ChangeKind::Believed), "{:?}", early.facts);
    assert!(early.facts.iter().any(|change| change.after.as_ref().unwrap().contains("Berlin")));
    assert_eq!(early.learnings.len(), 2);
    let late = space.memory.facts().diff(middle, end).await.unwrap();
    let moved =
        late.facts.iter().find(|change| change.after.as_ref().is_some_and(|text| text.contains("Rome")));
    let moved = moved.unwrap();
    assert_eq!((moved.cause, moved.kind), (Some(rome), ChangeKind::Believed));
    assert!(moved.evidence.iter().any(|words| words.text.contains("moved to Rome")), "{:?}", moved.evidence);
    let ferry = late.learnings.iter().find(|change| change.kind == ChangeKind::Changed).unwrap();
    assert_eq!(ferry.before.as_deref(), Some("The ferry leaves at seven."));
    assert_eq!(
        (ferry.after.as_deref(), ferry.cause),
        (Some("The ferry leaves at nine."), Some(two.value.event))
    );
    let gate = late.learnings.iter().find(|change| change.kind == ChangeKind::Dropped).unwrap();
    assert_eq!((gate.before.as_deref(), gate.cause), (Some("The gate is green."), Some(away)));
    assert_eq!(space.memory.facts().diff(end, middle).await.unwrap_err().kind(), ErrorKind::Invalid);
}
