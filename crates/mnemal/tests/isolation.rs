//! Isolation: no method of a memory returns text of another space or another user, whatever ids and names are given.

#![cfg(feature = "sqlite")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "the parts that tests share may panic as the tests do; the calls are one table"
)]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Cursor as Bytes;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mnemal::admin::ReportPeriod;
use mnemal::context::RecordRef;
use mnemal::events::{
    Cursor, Description, Document, ExportForm, ImportPreview, Judgment, Position, Selector,
};
use mnemal::graph::EntityFilter;
use mnemal::summaries::NodePath;
use mnemal::types::{EntityId, FactId, InstallationKey, ReceiptId};
use mnemal::working::PutOptions;
use mnemal::{
    AsOf, Decision, Engine, EventFilter, EventId, FactFilter, ImportFormat, ImportOptions, Learning,
    LearningFilter, LearningKind, Memory, Message, NoteKey, SessionId, SpaceId, Spaces, Speaker, Timestamp,
    UserId, Within,
};
use mnemal_testkit::{ManualClock, SeededIds};

/// Words that occur only in the other space.
const CANARIES: [&str; 4] = ["quarzblende", "zimtkrone", "nebelfink", "opaldistel"];
const QUERY: &str = "garden lamp harbour";
const MANY: NonZeroUsize = NonZeroUsize::new(100).unwrap();

/// Ids and names of the other space that a caller may have.
struct OtherRecords {
    event: EventId,
    note: Learning,
    key: NoteKey,
    entity: EntityId,
    fact: FactId,
    receipt: ReceiptId,
    session: SessionId,
}

fn said<T: Debug>(what: T) -> String {
    format!("{what:?}").to_lowercase()
}

fn leak(said: &str) -> Option<&'static str> {
    CANARIES.into_iter().find(|canary| said.contains(canary))
}

/// Every public method of `Memory` and of the handles of its areas, parsed from the source.
fn methods() -> BTreeSet<String> {
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = BTreeSet::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let is_read = |head: &str| head == "Memory" || head.contains("Handle<");
        let blocks = text.split("\nimpl").skip(1).filter(|block| {
            block
                .split_once(" {\n")
                .is_some_and(|(head, _)| is_read(head.rsplit("> ").next().unwrap_or(head).trim()))
        });
        for line in blocks.flat_map(|block| block.split("\n}").next().unwrap_or_default().lines()) {
            let name = line.strip_prefix("    pub fn ").or_else(|| line.strip_prefix("    pub async fn "));
            let name = name.and_then(|rest| rest.split(['(', '<']).next());
            found.extend(name.map(str::to_owned));
        }
    }
    found
}

fn home(folder: &Path) -> Spaces {
    let builder = Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(11)))
        .with_key(InstallationKey::new([11; 32]));
    Spaces::new(folder, builder).unwrap()
}

async fn theirs(memory: &Memory) -> OtherRecords {
    let session = SessionId::new("their-talk").unwrap();
    let talk =
        |text: &str| Message::user(text).speaker(Speaker::new("Ada").unwrap()).session(session.clone());
    let told = "The garden lamp of Ronja Quarzblende stands at the harbour beside the zimtkrone.";
    let event = memory.log(talk(told)).await.unwrap().value.id;
    let _moved = memory.log(talk("My friend Ronja Quarzblende lives in Kiruna.")).await.unwrap();
    let key = NoteKey::new("their-key").unwrap();
    let note = memory.remember("The nebelfink opens the harbour garden").key(key.clone()).by_user();
    let _note = note.await.unwrap();
    let wish = memory.remember("I prefer an opaldistel lamp in the garden").kind(LearningKind::Preference);
    let _wish = wish.by_user().await.unwrap();
    let working = memory.working().unwrap();
    working.put("their-key", "zimtkrone in the garden".to_owned(), PutOptions::default()).await.unwrap();
    let context = memory.context(QUERY).session(session.clone()).await.unwrap();
    let graph = memory.facts().graph().await.unwrap().value;
    let always = AsOf::present(Timestamp::MAX);
    let entity = graph.whom("Ronja Quarzblende", always).await.unwrap().id;
    let fact = graph.history(&FactFilter::all()).await.unwrap().first().unwrap().id;
    let note = memory.preferences().history(&key).await.unwrap().remove(0);
    OtherRecords { event, note, key, entity, fact, receipt: context.receipt.id, session }
}

/// Calls a method of one space with ids of the other; `None` for methods without output, with the reason in the arm.
async fn call(name: &str, ours: &Memory, known: &OtherRecords, away: &Path) -> Option<String> {
    let OtherRecords { event, note, key, entity, fact, receipt, session } = known;
    let always = AsOf::present(Timestamp::MAX);
    let source = "{\"id\":\"1\",\"speaker\":\"Ulf\",\"text\":\"a lamp\"}\n";
    let options = || ImportOptions::new("ours.jsonl", ours.admin().engine().now());
    Some(match name {
        // They create another memory, or return no text; the last one reads another space that is named explicitly, whose lines
        // are labelled, as the tests of spaces show.
        "open" | "in_memory" | "disabled" | "scope" | "engine" | "secondary" | "with_secondary"
        | "without_secondary" | "events" | "facts" | "preferences" | "summaries" | "admin" => {
            return None;
        }
        "for_session" => said(ours.for_session(session.clone()).context(QUERY).await),
        "for_user" => said(ours.for_user(UserId::new("ada").unwrap()).recall(QUERY).await),
        "for_agent" => said(ours.for_agent(mnemal::types::AgentId::new("ada").unwrap()).recall(QUERY).await),
        "log" => said(ours.log(Message::user("ours").session(session.clone()).parent(*event)).await),
        "log_all" => said(ours.events().log_all([Message::user("ours too")]).await),
        "remember" => said(ours.remember("ours").key(key.clone()).await),
        "recall" => said(ours.recall(QUERY).await),
        "context" => said(ours.context(QUERY).session(session.clone()).await),
        "ask" => said(ours.ask(QUERY).session(session.clone()).await),
        "forget" => {
            let mut all = String::new();
            for selector in [
                Selector::Events(vec![*event]),
                Selector::Key(key.clone()),
                Selector::Session(session.clone()),
                Selector::User(UserId::new("ada").unwrap()),
            ] {
                all += &said(ours.forget(selector).dry_run().await);
            }
            all
        }
        "get" => {
            let node = ours.summaries().get(&"root".parse::<NodePath>().unwrap(), None).await;
            format!("{}{}", said(ours.events().get(*event).await), said(node))
        }
        "scan" => said(ours.events().scan(&EventFilter::all(), Cursor::START, MANY).await),
        "latest" => said(ours.events().latest(&EventFilter::all(), MANY).await),
        "sessions" => said(ours.events().sessions(MANY).await),
        "notes" => said(ours.preferences().notes(&LearningFilter::all()).await),
        "history" => said(ours.preferences().history(key).await),
        "receipt" => said(ours.admin().receipt(*receipt).await),
        "to_review" => said(ours.preferences().to_review(&LearningFilter::all()).await),
        "line_use" => match ours.admin().receipt(*receipt).await {
            Ok(receipt) => said(ours.admin().line_use(&receipt).await),
            Err(error) => error.to_string(),
        },
        "receipts" => said(ours.admin().receipts(&Within::All, None, MANY).await),
        "undone" => {
            let events = ours.events().latest(&EventFilter::all(), MANY).await.unwrap_or_default();
            said(ours.events().undone(&events).await)
        }
        "health" => said(ours.admin().health().await),
        "examine" => said(ours.admin().examine().await),
        "read_mark" => said(ours.admin().read_mark().await),
        "stats" => said(ours.admin().stats().await),
        "recent_languages" => said(ours.admin().recent_languages().await),
        "backup" => said(ours.admin().backup(&away.join("copy.db")).await),
        "compress" => said(ours.events().compress(session.clone()).keep_last(1).await),
        "decide" => {
            let mut all = said(ours.facts().decide(Decision::Archive(key.clone().into())).await);
            all += &said(ours.facts().decide(Decision::Undo { decision: *event }).await);
            all + &said(ours.facts().decide(Decision::Merge { one: *entity, into: EntityId(1) }).await)
        }
        "decide_by_agent" => said(ours.facts().decide_by_agent(Decision::Archive(key.clone().into())).await),
        "report" => {
            let week = ReportPeriod::last_days(None, ours.admin().engine().now()).unwrap();
            said(ours.admin().report(week).await)
        }
        "audit" => said(ours.admin().audit().await),
        "feedback" => {
            said(ours.preferences().feedback(*receipt, RecordRef::Event(*event), Judgment::Wrong).await)
        }
        "feedback_by_agent" => said(
            ours.preferences().feedback_by_agent(*receipt, RecordRef::Event(*event), Judgment::Useful).await,
        ),
        "feedback_on" => said(ours.preferences().feedback_on(RecordRef::Event(*event)).await),
        "release" => said(ours.events().release(*event).await),
        "undoing" => said(ours.facts().undoing(*event).await),
        "naming" => said(ours.facts().naming(*entity).await),
        "diff" => said(ours.facts().diff(Timestamp::EPOCH, ours.admin().engine().now()).await),
        "embed_query" => said(ours.admin().embed_query(QUERY, Duration::from_secs(5)).await),
        "extract" => said(ours.facts().extract(*event).await),
        "extract_with_model" => said(ours.facts().extract_with_model(*event).await),
        "selected" => {
            let filter = EventFilter { session: Within::Only(session.clone()), ..EventFilter::all() };
            said(ours.events().selected(&Description::from(filter)).await)
        }
        "get_many" => said(ours.events().get_many(&[*event]).await),
        "outdated" => said(ours.events().outdated().await),
        "selected_by_text" => said(ours.events().selected_by_text(QUERY, 5).await),
        "selected_by_fact" => said(ours.events().selected_by_fact(*fact).await),
        "selected_by_person" => said(ours.events().selected_by_person("Ronja").await),
        "clear_shown" => said(ours.admin().clear_shown(session).await),
        "suggestions" => said(ours.facts().suggestions(100).await),
        "graph" | "stored_graph" => {
            let graph =
                if name == "graph" { ours.facts().graph().await } else { ours.facts().stored_graph().await };
            let graph = graph.unwrap().value;
            let mut all = said(graph.whom(&entity.to_string(), always).await);
            all += &said(graph.all(&EntityFilter::all(), always).await);
            all + &said(graph.history(&FactFilter::all()).await)
        }
        "ingest" => {
            let document = Document {
                name: "ours.md".to_owned(),
                kind: "md".to_owned(),
                hash: [3; 32],
                written_at: None,
                fields: mnemal::events::Metadata::new(),
                passages: Vec::new(),
                location: None,
                undescribed: None,
            };
            said(ours.events().ingest(&document).await)
        }
        "learnings" => said(ours.preferences().learnings(&LearningFilter::all(), always).await),
        "all_learnings" => said(ours.preferences().all_learnings(&LearningFilter::all()).await),
        "learning" => {
            said(ours.preferences().learning(&note.id.to_string()).await)
                + &said(ours.preferences().learning(key.as_str()).await)
        }
        "categories" => said(ours.preferences().categories().await),
        "confirm" => said(ours.preferences().confirm(note, "ours").await),
        "pin" => said(ours.preferences().pin(&note.id.to_string()).await),
        "unpin" => said(ours.preferences().unpin(key.as_str()).await),
        "pins" => said(ours.preferences().pins().await),
        "export_markdown" => {
            let mut all = String::new();
            let mut put = |path: &str, text: &str| {
                all += &format!("{path}\n{text}\n").to_lowercase();
                Ok(())
            };
            let done = ours.admin().export_markdown(&mut put).await;
            said(done) + &all
        }
        "decision_subject" => said(ours.facts().decision_subject(&entity.to_string()).await),
        "entity_profile" => said(ours.facts().entity_profile(&entity.to_string(), always).await),
        "describe_facts" => {
            let graph = ours.facts().graph().await.unwrap().value;
            let facts = graph.history(&FactFilter::all()).await.unwrap();
            said(ours.facts().describe_facts(&graph, facts, always).await)
        }
        "mentions_of" => {
            let graph = ours.facts().graph().await.unwrap().value;
            said(ours.facts().mentions_of(&graph, *entity, MANY, always).await)
        }
        "render_fragments" => said(ours.admin().render_fragments(QUERY, Vec::new(), 500).await),
        "quality" => said(ours.admin().quality().await),
        "quote" => said(ours.events().quote(QUERY, Vec::new()).await),
        "fence" => said(ours.admin().fence(&["ours".to_owned()], 200)),
        "reader" => said(ours.summaries().reader().await.map(|all| all.gaps)),
        "stored_tree" => said(ours.summaries().stored_tree(&"root".parse::<NodePath>().unwrap(), 8).await),
        "tree" => said(ours.summaries().tree(&"root".parse::<NodePath>().unwrap(), 8).await),
        "profile" => said(ours.preferences().profile(always).await),
        "import" => said(
            ours.events().import(Bytes::new(source), ImportFormat::Neutral, options(), &mut |_| ()).await,
        ),
        "preview_import" => {
            let mut rehearsal = ImportPreview::default();
            let watch: &mut (dyn FnMut(&mnemal::events::ImportReport) + Send) = &mut |_| ();
            let done = ours
                .events()
                .preview_import(Bytes::new(source), ImportFormat::Neutral, options(), (&mut rehearsal, watch))
                .await;
            said(done)
        }
        "follow" => {
            let how = (ImportFormat::Neutral, options());
            said(ours.events().follow(Bytes::new(source), Position::default(), how, &mut |_, _| ()).await)
        }
        "export" | "export_as" => {
            let mut out = Vec::new();
            let done = ours.admin().export_as(ExportForm::Lines, &mut out).await;
            said(done) + &String::from_utf8(out).unwrap().to_lowercase()
        }
        "why" => {
            let mut all = String::new();
            for record in [RecordRef::Event(*event), RecordRef::Learning(note.id), RecordRef::Fact(*fact)] {
                all += &said(ours.admin().why(record, Some(*receipt)).await);
            }
            all
        }
        "record_named" => said(ours.admin().record_named("1", Some(*receipt)).await),
        "why_not" => said(ours.admin().why_not(RecordRef::Event(*event), QUERY).await),
        "check_receipt" => said(ours.admin().check_receipt(*receipt, None).await),
        "working" => {
            let working = ours.working().unwrap();
            said(working.get(key.as_str()).await) + &said(working.get("session/default/their-key").await)
        }
        "working_in" => {
            said(ours.admin().working_in(mnemal::working::KeyPrefix::all()).unwrap().get("their-key").await)
        }
        _ => panic!("Memory::{name} needs a line here: how it is called, or why it can say nothing"),
    })
}

#[tokio::test]
async fn no_method_shows_words_of_another_space() {
    let (folder, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spaces = home(folder.path());
    let space = async |name: &str| spaces.open_or_create(&SpaceId::new(name).unwrap()).await.unwrap();
    let (other, ours) = (space("theirs").await, space("ours").await);
    let known = theirs(&other).await;
    let _lamp = ours.log(Message::user("Ulf has a garden with a lamp near the harbour.")).await.unwrap();
    assert!(leak(&said(other.recall(QUERY).await)).is_some(), "the space itself shows them");
    assert!(leak(&said(other.events().get(known.event).await)).is_some());
    let all = methods();
    assert!(all.len() > 50, "{all:?}");
    let mut called = 0;
    for name in &all {
        let Some(said) = call(name, &ours, &known, away.path()).await else { continue };
        assert_eq!(leak(&said), None, "Memory::{name}: {said}");
        called += 1;
    }
    assert!(called > 50, "{called}");
    spaces.close().await.unwrap();
}

#[tokio::test]
async fn no_method_shows_words_of_another_user() {
    let (folder, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spaces = home(folder.path());
    let space = spaces.open_or_create(&SpaceId::new("shared").unwrap()).await.unwrap();
    let of = |name: &str| space.for_user(UserId::new(name).unwrap());
    let (other, ours) = (of("ada"), of("bo"));
    let known = theirs(&other).await;
    let _lamp = ours.log(Message::user("Ulf has a garden with a lamp near the harbour.")).await.unwrap();
    let _same = ours.log(Message::user("My friend Ulf lives in Malmo.").session(known.session.clone())).await;
    assert!(leak(&said(other.recall(QUERY).await)).is_some(), "the user himself is shown them");
    assert!(leak(&said(space.recall(QUERY).await)).is_some(), "and so is the memory of everybody");
    assert!(
        leak(&said(other.facts().entity_profile("Ronja", AsOf::present(Timestamp::MAX)).await)).is_some()
    );
    assert!(said(ours.facts().entity_profile("Ulf", AsOf::present(Timestamp::MAX)).await).contains("malmo"));
    for name in &methods() {
        let Some(said) = call(name, &ours, &known, away.path()).await else { continue };
        assert_eq!(leak(&said), None, "Memory::{name}: {said}");
    }
    spaces.close().await.unwrap();
}

/// A decision of one user on a record's id affects no other user's record.
#[tokio::test]
async fn no_decision_of_one_user_touches_what_is_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let spaces = home(folder.path());
    let space = spaces.open_or_create(&SpaceId::new("shared").unwrap()).await.unwrap();
    let of = |name: &str| space.for_user(UserId::new(name).unwrap());
    let (other, ours) = (of("ada"), of("bo"));
    let known = theirs(&other).await;
    let before = said(other.preferences().all_learnings(&LearningFilter::all()).await);
    let refused = |what: &str, is: bool| assert!(is, "{what}");
    for decision in [
        Decision::Archive(known.key.clone().into()),
        Decision::Reject(mnemal::learnings::target_of(&known.note)),
        Decision::Undo { decision: known.note.sources.first().unwrap().event },
        Decision::Merge { one: known.entity, into: EntityId(1) },
    ] {
        let what = said(&decision);
        refused(&what, ours.facts().decide(decision).await.is_err());
    }
    refused("a note under its key", ours.remember("mine").key(known.key.clone()).await.is_err());
    refused("forgetting its event", ours.forget(Selector::Events(vec![known.event])).await.is_err());
    refused("forgetting its key", ours.forget(Selector::Key(known.key.clone())).await.is_err());
    refused("forgetting its session", ours.forget(Selector::Session(known.session.clone())).await.is_err());
    let foreign = Message::user("as if by ada").user_id(UserId::new("ada").unwrap());
    refused("words in its name", ours.log(foreign).await.is_err());
    refused("an answer to its words", ours.log(Message::user("so").parent(known.event)).await.is_err());
    assert_eq!(said(other.preferences().all_learnings(&LearningFilter::all()).await), before);
    assert!(other.events().get(known.event).await.unwrap().body().is_some());
    // The same names and keys are free for others, each in a separate area.
    let working = ours.working().unwrap();
    working.put("their-key", "mine".to_owned(), PutOptions::default()).await.unwrap();
    assert!(said(other.working().unwrap().get("their-key").await).contains("zimtkrone"));
    // A forget of one user removes what was derived from that user's events, and from no other's.
    let _gone = other.forget(Selector::Session(known.session.clone())).await.unwrap();
    assert_eq!(leak(&said(other.summaries().get(&"root".parse::<NodePath>().unwrap(), None).await)), None);
    assert!(other.facts().entity_profile("Ronja Quarzblende", AsOf::present(Timestamp::MAX)).await.is_err());
    spaces.close().await.unwrap();
}

#[tokio::test]
async fn what_one_user_says_of_somebody_ends_and_names_nothing_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let spaces = home(folder.path());
    let space = spaces.open_or_create(&SpaceId::new("shared").unwrap()).await.unwrap();
    let of = |name: &str| space.for_user(UserId::new(name).unwrap());
    let (ada, bo) = (of("ada"), of("bo"));
    for (memory, text) in [
        (&ada, "My friend Ronja Berg lives in Kiruna."),
        (&ada, "Ronja Berg works at Nordwerft."),
        (&bo, "My colleague Ronja Berg lives in Lisbon now."),
        (&bo, "I live in Tromso."),
    ] {
        let _logged = memory.log(Message::user(text)).await.unwrap();
    }
    let always = AsOf::present(Timestamp::MAX);
    let (hers, his) = (
        ada.facts().entity_profile("Ronja Berg", always).await,
        bo.facts().entity_profile("Ronja Berg", always).await,
    );
    let (hers, his) = (said(hers), said(his));
    assert!(hers.contains("kiruna") && hers.contains("nordwerft") && !hers.contains("lisbon"), "{hers}");
    assert!(his.contains("lisbon") && !his.contains("kiruna") && !his.contains("nordwerft"), "{his}");
    assert!(said(bo.facts().entity_profile("user", always).await).contains("tromso"));
    let context = ada.context("Where does Ronja Berg live?").await.unwrap().value.text;
    assert!(context.contains("Kiruna") && !context.contains("Lisbon"), "{context}");
}
