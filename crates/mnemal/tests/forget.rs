//! Forgetting: erased content is in no layer and in no byte, and does not return.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::io::Cursor;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal::context::Section;
use mnemal::events::{ErasureStatus, Forget, Selector};
use mnemal::graph::{Edition, GraphDelta};
use mnemal::ports::{Advance, EventStore as _, GraphStore, Progress, Projection, Projector, SummaryStore};
use mnemal::recall::RecallMode;
use mnemal::types::Layer;
use mnemal::{
    AsOf, Decision, Engine, Error, ErrorKind, EventFilter, EventKind, FactFilter, ImportFormat,
    ImportOptions, Memory, Message, NoteKey, Result, Scope, SessionId, Settings, SpaceId, Timestamp,
};
use mnemal_store::{MemoryStore, SqliteStore, Stores};
use mnemal_testkit::{Fault, Faulty, Records};

fn holds(folder: &Path, needle: &str) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
}

async fn space(home: &Path) -> Memory {
    let memory = Memory::open(home.join("space.db")).await.unwrap();
    for n in 0..40 {
        let _ack =
            memory.log(Message::user(format!("ordinary turn number {n} about gardens"))).await.unwrap();
    }
    memory
}

fn key(name: &str) -> NoteKey {
    NoteKey::new(name).unwrap()
}

#[tokio::test]
async fn what_is_not_made_anew_after_a_forget_is_said() {
    let said = |text: &str| Message::user(text);
    for broken in [Layer::Graph, Layer::Summaries] {
        let store = Arc::new(MemoryStore::new());
        let whole = Stores::all(Arc::clone(&store));
        let space = |stores: Stores| {
            let scope = Scope::whole(SpaceId::new("test").unwrap());
            Engine::builder().with_stores(stores).build().unwrap().memory(scope)
        };
        let ack = space(whole.clone()).log(said("Ada lives in Porto.")).await.unwrap();
        let stores = if broken == Layer::Graph {
            let rows: Arc<dyn GraphStore> = Arc::<MemoryStore>::clone(&store);
            let rows: Arc<dyn GraphStore> =
                Arc::new(Faulty::new(rows, Fault::Failing(ErrorKind::Unavailable)));
            Stores { graph: rows.into(), ..whole }
        } else {
            let rows: Arc<dyn SummaryStore> = Arc::<MemoryStore>::clone(&store);
            let rows: Arc<dyn SummaryStore> =
                Arc::new(Faulty::new(rows, Fault::Failing(ErrorKind::Unavailable)));
            Stores { summaries: rows.into(), ..whole }
        };
        let erasure = space(stores).forget(Selector::Events(vec![ack.id])).await.unwrap();
        let of_layer = |line: &&String| line.contains(&format!("{}: failed", broken.as_str()));
        assert_eq!(erasure.events, 1);
        assert!(erasure.residual.iter().any(|line| of_layer(&line)), "{:?}", erasure.residual);
    }
}

/// A projector of the host that reads nothing.
#[derive(Clone, Copy, Debug)]
enum Stuck {
    Failing,
    Silent,
}

#[async_trait]
impl Projector for Stuck {
    fn layer(&self) -> Layer {
        Layer::Working
    }

    async fn step(&self, _limit: NonZeroUsize) -> Result<Progress> {
        match self {
            Self::Failing => Err(Error::new(ErrorKind::Unavailable, "its store does not answer")),
            Self::Silent => std::future::pending().await,
        }
    }

    async fn reset(&self) -> Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_projector_that_does_not_read_a_forget_is_named_and_holds_nothing_up() {
    for (stuck, said) in [(Stuck::Failing, "working: failed"), (Stuck::Silent, "working: no answer within")] {
        let engine = Engine::builder().with_projector(Arc::new(stuck)).in_memory().unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
        let ack = memory.log(Message::user("Ada lives in Porto.")).await.unwrap();
        let erasure = memory.forget(Selector::Events(vec![ack.id])).await.unwrap();
        assert_eq!(erasure.events, 1);
        assert!(erasure.residual.iter().any(|line| line.contains(said)), "{:?}", erasure.residual);
    }
}

// proves: NX-03.4, NX-01.9, DF-59, DF-94, DF-81, PR7
#[tokio::test]
async fn a_forgotten_event_is_in_no_byte_and_no_answer() {
    let home = tempfile::tempdir().unwrap();
    let memory = space(home.path()).await;
    let text = "the zanzibar protocol starts at dawn";
    let ack = memory.log(Message::user(text)).await.unwrap();
    let session = SessionId::new("reader").unwrap();
    let before = memory.context("zanzibar protocol").session(session.clone()).await.unwrap();
    assert!(before.text.contains("zanzibar"));
    assert!(holds(home.path(), "zanzibar"));
    let preview = memory.forget(Selector::Events(vec![ack.id])).dry_run().await.unwrap();
    assert_eq!((preview.status, preview.events), (ErasureStatus::Preview, 1));
    assert!(memory.events().get(ack.id).await.unwrap().body().is_some(), "a preview erases nothing");

    let erasure = memory.forget(Selector::Events(vec![ack.id])).await.unwrap();
    assert_eq!((erasure.status, erasure.events, erasure.verified()), (ErasureStatus::Erased, 1, true));
    assert!(erasure.residual.iter().all(|place| !place.contains("space.db")), "{:?}", erasure.residual);
    assert!(
        erasure.residual.iter().any(|place| place.contains("backups")),
        "copies that cannot be reached are named"
    );
    assert!(!holds(home.path(), "zanzibar"));
    assert!(memory.events().get(ack.id).await.unwrap().body().is_none());
    for mode in [RecallMode::Auto, RecallMode::Lexical, RecallMode::Vector] {
        let hits = memory.recall("zanzibar protocol at dawn").mode(mode).await.unwrap();
        assert!(hits.hits.iter().all(|hit| hit.event.id != ack.id), "{mode:?}");
    }
    let after = memory.context("zanzibar protocol").session(session).await.unwrap();
    assert!(!after.text.contains("zanzibar"));
    let receipt = memory.admin().receipt(before.receipt.id).await.unwrap();
    let named = receipt.lines.iter().flat_map(|line| &line.sources).any(|source| source.event == ack.id);
    assert!(!named, "no receipt names the event");
}

#[tokio::test]
async fn of_a_turn_and_the_one_that_puts_it_right_either_is_erased_alone() {
    for forgotten in 0..2 {
        let home = tempfile::tempdir().unwrap();
        let memory = space(home.path()).await;
        let mut acks = Vec::new();
        for text in ["I live in Zanzibarqux.", "No wait, Brugesqux."] {
            acks.push(memory.log(Message::user(text)).await.unwrap().id);
        }
        let facts = async || {
            let graph = memory.facts().graph().await.unwrap().value;
            graph.facts(&FactFilter::all(), AsOf::present(Timestamp::MAX)).await.unwrap().len()
        };
        assert_eq!(facts().await, 1);
        let erasure = memory.forget(Selector::Events(vec![acks[forgotten]])).await.unwrap();
        assert!(erasure.verified(), "{:?}", erasure.residual);
        for gone in [["Zanzibarqux", "zanzibarqux"], ["Brugesqux", "brugesqux"]][forgotten] {
            assert!(!holds(home.path(), gone), "{gone}");
        }
        // What put nothing right says nothing, and what was never put right holds.
        assert_eq!(facts().await, forgotten);
        let context = memory.context("Where do I live?").await.unwrap();
        assert_eq!(context.text.contains("lives in Zanzibarqux"), forgotten == 1, "{}", context.text);
    }
}

// proves: NX-12.7 (redaction and tombstones of exports have tests of their own)
#[tokio::test]
async fn a_forget_names_the_exports_and_backups_that_may_hold_what_is_erased() {
    let home = tempfile::tempdir().unwrap();
    let memory = space(home.path()).await;
    let first = memory.log(Message::user("the red lamp stands on the pier")).await.unwrap().id;
    let mut exported = Vec::new();
    let _done = memory.admin().export(&mut exported).await.unwrap();
    let _copy = memory.admin().backup(&home.path().join("zanzibar.db")).await.unwrap();
    let second = memory.log(Message::user("the zanzibar protocol starts at dawn")).await.unwrap().id;
    let of = async |event| {
        let erasure = memory.forget(Selector::Events(vec![event])).await.unwrap();
        let named = erasure.residual.into_iter().filter(|what| what.contains("wherever it was written"));
        named.collect::<Vec<_>>()
    };
    assert_eq!(of(second).await, [""; 0], "they are older");
    let named = of(first).await;
    assert_eq!(named.len(), 2, "{named:?}");
    assert!(named[0].starts_with("backup bak_") && named[1].starts_with("export exp_"), "{named:?}");
    assert!(named.iter().all(|what| what.contains(" events, ") && !what.contains("zanzibar")), "{named:?}");
}

#[tokio::test]
async fn a_name_that_is_said_elsewhere_is_not_verified_to_be_gone() {
    for (name, of, elsewhere, is_gone) in [
        (
            "Bartholomeus",
            "I met Bartholomeus at the market",
            "it is at example.org/bartholomeus/1.jpg",
            false,
        ),
        ("Hildegund", "Gestern kam Hildegund vorbei", "die Datei heißt hildegund-2026.pdf", false),
        ("Bartholomeus", "I met Bartholomeus at the market", "the market is closed on Mondays", true),
    ] {
        let home = tempfile::tempdir().unwrap();
        let memory = space(home.path()).await;
        let first = memory.log(Message::user(of)).await.unwrap().id;
        let _other = memory.log(Message::user(elsewhere)).await.unwrap();
        let erasure =
            memory.forget(Selector::Events(vec![first])).called(vec![name.to_owned()]).await.unwrap();
        assert_eq!(erasure.verified(), is_gone, "{elsewhere}: {erasure:?}");
        assert_eq!(
            erasure.verified(),
            !holds(home.path(), &name.to_lowercase()),
            "the bytes agree: {elsewhere}"
        );
    }
}

#[tokio::test]
async fn forgetting_a_key_erases_every_version() {
    let home = tempfile::tempdir().unwrap();
    let memory = space(home.path()).await;
    let _one = memory.remember("the safe opens with opal-seven").key(key("safe")).by_user().await.unwrap();
    let _two = memory.remember("the safe opens with opal-nine").key(key("safe")).by_user().await.unwrap();
    let _other = memory.remember("the gate is green").key(key("gate")).by_user().await.unwrap();
    let erasure = memory.forget(Selector::Key(key("safe"))).await.unwrap();
    assert_eq!((erasure.events, erasure.learnings, erasure.verified()), (2, 2, true));
    assert!(!holds(home.path(), "opal-"));
    assert_eq!(memory.preferences().history(&key("safe")).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(memory.preferences().history(&key("gate")).await.unwrap().len(), 1);
}

// proves: E5
#[tokio::test]
async fn a_selector_that_matches_nothing_is_not_found() {
    let memory = Memory::in_memory().await.unwrap();
    for selector in [
        Selector::Key(key("none")),
        Selector::Session(SessionId::new("none").unwrap()),
        Selector::Events(Vec::new()),
    ] {
        assert_eq!(memory.forget(selector).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

// proves: E4
#[tokio::test]
async fn an_import_does_not_bring_it_back() {
    let home = tempfile::tempdir().unwrap();
    let memory = space(home.path()).await;
    let line = r#"{"id":"x1","conv":"c","session":"s","ts":"2026-01-01T10:00:00","speaker":"Ada","text":"the krakatoa folder is under the desk"}"#;
    let import = async || {
        let options = ImportOptions::new("file", memory.admin().engine().now());
        memory
            .events()
            .import(Cursor::new(format!("{line}\n")), ImportFormat::Neutral, options, &mut |_| ())
            .await
            .unwrap()
    };
    assert_eq!(import().await.taken.stored, 1);
    let session = SessionId::new("s").unwrap();
    let erasure = memory.forget(Selector::Session(session)).await.unwrap();
    assert!(erasure.verified());
    let again = import().await;
    assert_eq!(again.taken.stored, 0);
    let other_name = {
        let options = ImportOptions::new("file", memory.admin().engine().now());
        let line = line.replace("\"x1\"", "\"x2\"");
        memory
            .events()
            .import(Cursor::new(format!("{line}\n")), ImportFormat::Neutral, options, &mut |_| ())
            .await
            .unwrap()
    };
    assert_eq!(other_name.taken.stored, 0);
    assert!(!holds(home.path(), "krakatoa"));
}

#[tokio::test]
async fn an_interrupted_forget_is_finished_by_the_next_open() {
    let home = tempfile::tempdir().unwrap();
    let target = {
        let memory = space(home.path()).await;
        memory.log(Message::user("the marianas ledger is complete")).await.unwrap().id
    };
    // The state after a crash: the decision is logged, and nothing is erased.
    let store = SqliteStore::open(home.path().join("space.db")).await.unwrap();
    let forget = Forget { selector: Selector::Events(vec![target]), events: vec![target] };
    let mut entry = Records::new(3).turn("default", "").unwrap();
    entry.event.kind = EventKind::Decision(Decision::Forget(forget));
    store.append(&[entry]).await.unwrap();
    assert!(store.get(&[target]).await.unwrap()[0].body().is_some());
    drop(store);
    let memory = Memory::open(home.path().join("space.db")).await.unwrap();
    assert!(memory.events().get(target).await.unwrap().body().is_none());
    assert!(!holds(home.path(), "marianas"));
    let everything =
        memory.events().latest(&EventFilter::all(), NonZeroUsize::new(100).unwrap()).await.unwrap();
    assert_eq!(everything.len(), 42);
}

/// A space in the state after a kill behind the erasing: the rows of its graph went with others, and nothing was made anew.
async fn interrupted(home: &Path) {
    {
        let memory = space(home).await;
        let _ack = memory.log(Message::user("I live in Ghent.")).await.unwrap();
        assert!(memory.facts().graph().await.unwrap().gaps.is_empty());
    }
    let store = SqliteStore::open(&home.join("space.db")).await.unwrap();
    let at = <SqliteStore as Projection<GraphDelta>>::cursor(&store).await.unwrap();
    let facts = <SqliteStore as GraphStore>::history(&store, &FactFilter::all()).await.unwrap();
    let edition = <SqliteStore as GraphStore>::edition(&store).await.unwrap();
    assert_eq!(facts.len(), 1);
    let delta = GraphDelta {
        remove_facts: facts.iter().map(|fact| fact.id).collect(),
        edition: Some(Edition { producer: None, ..edition }),
        ..GraphDelta::default()
    };
    let advance = Advance { expect: at, next: at, ..Advance::default() };
    <SqliteStore as Projection<GraphDelta>>::apply(&store, &delta, &advance).await.unwrap();
}

#[tokio::test]
async fn rows_that_an_interrupted_rebuild_left_out_are_there_with_the_next_question() {
    let home = tempfile::tempdir().unwrap();
    interrupted(home.path()).await;
    let memory = Memory::open(home.path().join("space.db")).await.unwrap();
    let graph = memory.facts().graph().await.unwrap();
    let facts = graph.facts(&FactFilter::all(), AsOf::present(Timestamp::MAX)).await.unwrap();
    assert_eq!((facts.len(), graph.gaps.len()), (1, 0));

    let home = tempfile::tempdir().unwrap();
    interrupted(home.path()).await;
    let memory = Memory::open(home.path().join("space.db")).await.unwrap();
    let context = memory.context("Where do I live?").sections(vec![Section::Entity]).await.unwrap();
    assert!(context.text.contains("Ghent") && context.gaps.is_empty(), "{context:?}");
}

#[tokio::test]
async fn rows_that_cannot_be_made_anew_in_time_are_a_gap_of_a_context_and_of_the_graph() {
    let home = tempfile::tempdir().unwrap();
    interrupted(home.path()).await;
    let mut settings = Settings::default();
    settings.recall.catch_up_ms = 0;
    let engine = Engine::builder().with_settings(settings).open(home.path().join("space.db")).await.unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("default").unwrap()));
    let context = memory.context("Where do I live?").sections(vec![Section::Entity]).await.unwrap();
    assert!(context.gaps.iter().any(|gap| gap.layer == Layer::Graph), "{:?}", context.gaps);
    let graph = memory.facts().graph().await.unwrap();
    assert!(graph.gaps.iter().any(|gap| gap.layer == Layer::Graph), "{:?}", graph.gaps);
}
