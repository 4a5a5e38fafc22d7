//! Vectors of several models in one space: separate backfills, resumable, and never on the path of an answer.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::events::Selector;
use mnemal::model::{BackgroundPermit, CallOutcome};
use mnemal::ports::{BackgroundEmbedder, Embedder as _};
use mnemal::recall::{EmbeddedBy, EmbeddedQuestion, Generation};
use mnemal::types::{Degraded, GapCause, InstallationKey, Layer, ModelId, OwnerId, TokenCount};
use mnemal::{Engine, Error, ErrorKind, Gap, Memory, Message, RecallResult, Result, Scope, SpaceId};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{HashEmbedder, ManualClock, SeededIds};

static SEED: AtomicU64 = AtomicU64::new(1);
const DEADLINE: Duration = Duration::from_millis(300);

fn model(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

/// The behavior of a remote embedder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Well,
    /// It rejects a request with this word.
    Picky(&'static str),
    Failing(ErrorKind),
    Hanging,
}

/// An embedder outside the process that records its requests.
#[derive(Debug)]
struct Remote {
    model: ModelId,
    hashes: HashEmbedder,
    manner: Mutex<Manner>,
    asked: Mutex<Vec<Vec<String>>>,
}

impl Remote {
    fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            model: model(name),
            hashes: HashEmbedder::new(model(name), 24),
            manner: Mutex::new(Manner::Well),
            asked: Mutex::default(),
        })
    }

    fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn texts(&self) -> Vec<String> {
        self.asked.lock().unwrap().concat()
    }

    async fn vector(&self, text: &str) -> Vec<f32> {
        self.hashes.embed(&[text]).await.unwrap().remove(0).unwrap()
    }
}

#[async_trait]
impl BackgroundEmbedder for Remote {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn embed(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        permit.pay(TokenCount(1))?;
        self.asked.lock().unwrap().push(texts.iter().map(|&text| text.to_owned()).collect());
        let manner = *self.manner.lock().unwrap();
        match manner {
            Manner::Failing(kind) => return Err(Error::new(kind, "the remote embedder fails")),
            Manner::Hanging => std::future::pending().await,
            Manner::Picky(word) if texts.iter().any(|text| text.contains(word)) => {
                return Err(Error::invalid("the remote embedder refuses a text"));
            }
            Manner::Picky(_) | Manner::Well => {}
        }
        let vectors = self.hashes.embed(texts).await?;
        Ok(vectors.into_iter().map(Option::unwrap).collect())
    }
}

fn builder(in_process: &str) -> mnemal::Builder {
    let settings = mnemal::Settings {
        embedding: mnemal::settings::EmbeddingSettings {
            batch: 8,
            ..mnemal::settings::EmbeddingSettings::default()
        },
        ..mnemal::Settings::default()
    };
    Engine::builder()
        .with_clock(Arc::new(ManualClock::default()))
        .with_ids(Arc::new(SeededIds::new(SEED.fetch_add(1, Ordering::Relaxed))))
        .with_key(InstallationKey::new([9; 32]))
        .with_embedder(Arc::new(HashEmbedder::new(model(in_process), 16)))
        .with_settings(settings)
}

fn memory(engine: &Engine) -> Memory {
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}

fn over(stores: &Stores, remote: &Arc<Remote>) -> Memory {
    let remote = Arc::<Remote>::clone(remote);
    memory(&builder("local").with_stores(stores.clone()).with_background_embedder(remote).build().unwrap())
}

async fn open(path: &Path, remote: &Arc<Remote>) -> Memory {
    let remote = Arc::<Remote>::clone(remote);
    memory(&builder("local").with_background_embedder(remote).open(path).await.unwrap())
}

async fn log(memory: &Memory, from: usize, to: usize) {
    let message = |n| Message::user(format!("apple number {n} is red, pear {} is green", n * 7 % 50));
    let acks = memory.events().log_all((from..to).map(message)).await.unwrap();
    assert_eq!(acks.len(), to - from);
}

async fn fill(memory: &Memory, by: EmbeddedBy) -> (u64, u64) {
    let mut backlog = memory.admin().engine().backlog(by).await.unwrap();
    while memory.admin().engine().fill(&mut backlog).await.unwrap() {}
    (backlog.stored, backlog.without)
}

async fn generations(memory: &Memory) -> Vec<(String, u64, bool)> {
    let form = |one: Generation| (one.model.to_string(), one.vectors, one.serves);
    memory.admin().engine().generations().await.unwrap().into_iter().map(form).collect()
}

/// The content of an answer, without its gaps.
fn said(answer: &Degraded<RecallResult>) -> (Vec<(mnemal::EventId, f32)>, Option<ModelId>) {
    (answer.hits.iter().map(|hit| (hit.event.id, hit.score.get())).collect(), answer.model.clone())
}

fn vector_gaps(gaps: &[Gap]) -> Vec<GapCause> {
    gaps.iter().filter(|gap| gap.layer == Layer::Vector).map(|gap| gap.cause).collect()
}

// proves: AD-37 (a new model fills its own vectors beside the old ones; nothing is mixed)
// proves: DF-78
// proves: NX-10.5
#[tokio::test]
async fn a_new_model_fills_in_beside_the_old_one_which_serves_until_it_is_complete() {
    let stores = Stores::from(MemoryStore::new());
    let (old, new) = (Remote::new("old"), Remote::new("new"));
    let memory = over(&stores, &old);
    log(&memory, 0, 60).await;
    let words = memory.recall("which pear").mode(mnemal::recall::RecallMode::Lexical).await.unwrap();
    let mut backlog = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap();
    while memory.admin().engine().fill(&mut backlog).await.unwrap() {
        let lexical = memory.recall("which pear").mode(mnemal::recall::RecallMode::Lexical).await.unwrap();
        assert_eq!(said(&lexical), said(&words));
    }
    let ask = |memory: Memory, vector: Vec<f32>| async move {
        memory.recall("which pear").query_vector(model("old"), vector).await.unwrap()
    };
    let vector = old.vector("which pear").await;
    let before = ask(memory.clone(), vector.clone()).await;

    let memory = over(&stores, &new);
    let mut backlog = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap();
    assert_eq!((backlog.waiting(), &backlog.model), (60, &model("new")));
    let mut step = 0;
    while memory.admin().engine().fill(&mut backlog).await.unwrap() {
        step += 1;
        assert_eq!(said(&ask(memory.clone(), vector.clone()).await), said(&before), "step {step}");
        let lexical = memory.recall("which pear").mode(mnemal::recall::RecallMode::Lexical).await.unwrap();
        assert_eq!(said(&lexical), said(&words), "step {step}");
        let asked = memory.admin().embed_query("which pear", DEADLINE).await;
        let waits = 60 - 8 * step;
        assert_eq!(asked.value.is_some(), waits <= 20, "{waits} of 60 wait");
    }
    assert_eq!((backlog.stored, backlog.without, step), (60, 0, 7));
    let expected = [("local", 60, true), ("new", 60, true), ("old", 60, true)];
    assert_eq!(generations(&memory).await, expected.map(|(name, n, serves)| (name.to_owned(), n, serves)));
    assert_eq!(fill(&memory, EmbeddedBy::Background).await, (0, 0), "a second run has nothing to do");
}

#[tokio::test]
async fn a_run_that_was_interrupted_goes_on_where_it_stopped() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let remote = Remote::new("far");
    let memory = open(&path, &remote).await;
    log(&memory, 0, 40).await;
    let engine = memory.admin().engine();
    let mut backlog = engine.backlog(EmbeddedBy::Background).await.unwrap();
    let estimate = engine.estimate(&backlog).await.unwrap();
    assert_eq!((estimate.texts, estimate.requests, remote.requests()), (40, 5, 0), "an estimate asks nobody");
    assert!(estimate.tokens > 400, "at least ten a text");
    assert!(engine.fill(&mut backlog).await.unwrap() && engine.fill(&mut backlog).await.unwrap());
    remote.set(Manner::Failing(ErrorKind::Unavailable));
    let broken = engine.fill(&mut backlog).await.unwrap_err();
    assert_eq!((broken.kind(), backlog.waiting(), backlog.stored), (ErrorKind::Unavailable, 24, 16));
    remote.set(Manner::Hanging);
    let hung = tokio::time::timeout(Duration::from_millis(1), engine.fill(&mut backlog)).await;
    assert!(hung.is_err(), "a run may be dropped anywhere");
    engine.close().await.unwrap();
    drop((memory, backlog));

    remote.set(Manner::Well);
    let asked = remote.texts().len();
    let memory = open(&path, &remote).await;
    assert_eq!(fill(&memory, EmbeddedBy::Background).await, (24, 0));
    assert_eq!(remote.texts().len(), asked + 24, "no text that is stored is paid twice");
    assert!(memory.admin().engine().check().await.unwrap().findings.is_empty());
}

#[tokio::test]
async fn an_erased_event_gets_no_vector() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let memory = over(&stores, &remote);
    log(&memory, 0, 10).await;
    let ack = memory.log(Message::user("the unspeakable zebra")).await.unwrap();
    let mut backlog = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap();
    assert_eq!(backlog.waiting(), 11);
    let _erased = memory.forget(Selector::Events(vec![ack.id])).await.unwrap();
    while memory.admin().engine().fill(&mut backlog).await.unwrap() {}
    assert!(!remote.texts().iter().any(|text| text.contains("zebra")), "its words do not leave");
    let far = generations(&memory).await.into_iter().find(|(name, ..)| name == "far").unwrap();
    assert_eq!(far.1, memory.admin().engine().generations().await.unwrap().first().unwrap().vectors);
}

// proves: DF-62 (what asks the endpoint is a call of its own; a read asks nobody)
#[tokio::test]
async fn a_read_through_the_endpoint_is_a_read_with_its_vector() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let memory = over(&stores, &remote);
    log(&memory, 0, 40).await;
    let _filled = fill(&memory, EmbeddedBy::Background).await;
    let before = remote.requests();
    let _plain = memory.recall("which pear is green").await.unwrap();
    let _context = memory.context("which pear is green").await.unwrap();
    assert_eq!(remote.requests(), before, "no read asks the endpoint");

    let asked = memory.admin().embed_query("which pear is green", DEADLINE).await;
    assert_eq!(remote.requests(), before + 1);
    let vector = remote.vector("which pear is green").await;
    assert_eq!(asked.value, Some(EmbeddedQuestion { model: model("far"), vector: vector.clone() }));
    let through = memory.recall("which pear is green").embedded(asked.clone()).await.unwrap();
    let handed_in =
        memory.recall("which pear is green").query_vector(model("far"), vector.clone()).await.unwrap();
    assert_eq!((said(&through), &through.gaps), (said(&handed_in), &handed_in.gaps));
    assert_eq!(through.model, Some(model("far")));
    let through = memory.context("which pear is green").embedded(asked).await.unwrap();
    let handed_in = memory.context("which pear is green").query_vector(model("far"), vector).await.unwrap();
    let lines = |text: &str| {
        text.lines()
            .filter(|line| mnemal::context::line_number(line).is_some())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&through.text), lines(&handed_in.text));
    assert!(!lines(&through.text).is_empty());
}

// proves: NB-85 (a failing endpoint is a gap, and is counted; without one nothing is asked)
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_cannot_help_costs_a_gap_and_nothing_else() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let memory = over(&stores, &remote);
    log(&memory, 0, 40).await;
    let plain = memory.recall("which pear").await.unwrap();
    assert_eq!(vector_gaps(&plain.gaps), []);
    let through = |memory: Memory| async move {
        let begun = tokio::time::Instant::now();
        let asked = memory.admin().embed_query("which pear", DEADLINE).await;
        assert!(begun.elapsed() <= DEADLINE, "{:?}", begun.elapsed());
        memory.recall("which pear").embedded(asked).await.unwrap()
    };
    let check = |answer: &Degraded<RecallResult>, cause: GapCause| {
        assert_eq!((said(answer), vector_gaps(&answer.gaps)), (said(&plain), vec![cause]));
    };

    check(&through(memory.clone()).await, GapCause::Stale { behind: 40 });
    assert_eq!(remote.requests(), 0, "a model without vectors is not asked");
    let _filled = fill(&memory, EmbeddedBy::Background).await;
    for kind in [ErrorKind::Invalid, ErrorKind::Unsupported, ErrorKind::Unavailable] {
        remote.set(Manner::Failing(kind));
        check(&through(memory.clone()).await, GapCause::Failed(kind));
    }
    remote.set(Manner::Hanging);
    let before = remote.requests();
    for _ in 0..6 {
        let answer = through(memory.clone()).await;
        assert!(matches!(
            vector_gaps(&answer.gaps)[..],
            [GapCause::TimedOut(DEADLINE) | GapCause::Failed(_)]
        ));
        assert_eq!(said(&answer), said(&plain));
    }
    assert_eq!(remote.requests() - before, 4, "after five failures in a row it is left alone");
    let counted = memory.admin().engine().asked_of_models().embeddings;
    let failed = counted.iter().filter(|(outcome, _)| **outcome != CallOutcome::Answered).map(|(_, n)| *n);
    assert!(failed.sum::<u64>() >= 9 && counted.contains_key(&CallOutcome::Refused), "{counted:?}");
    let nobody = memory_without_remote(&stores);
    assert!(nobody.admin().engine().asked_of_models().embeddings.is_empty());
    check(&through(nobody).await, GapCause::NotConfigured);
}

fn memory_without_remote(stores: &Stores) -> Memory {
    memory(&builder("local").with_stores(stores.clone()).build().unwrap())
}

// proves: RB-17 (vectors of an endpoint block no write and no answer)
#[tokio::test]
async fn nothing_waits_for_an_endpoint_that_hangs() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    remote.set(Manner::Hanging);
    let memory = over(&stores, &remote);
    log(&memory, 0, 5).await;
    let found = memory.recall("which pear").await.unwrap();
    assert_eq!((found.hits.len(), remote.requests()), (5, 0));
    let mut backlog = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap();
    let beside = async {
        log(&memory, 5, 9).await;
        memory.recall("which pear").await.unwrap().hits.len()
    };
    tokio::select! {
        _ = memory.admin().engine().fill(&mut backlog) => panic!("it hangs"),
        found = beside => assert_eq!(found, 9),
    }
}

#[tokio::test]
async fn secrets_do_not_leave_with_a_question_or_with_an_event() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let secret = "AKIAIOSFODNN7EXAMPLQ";
    let mut settings = mnemal::Settings::default();
    settings.privacy.secrets = mnemal::settings::SecretMode::Allow;
    let lax = memory(&builder("local").with_settings(settings).with_stores(stores.clone()).build().unwrap());
    let _ack = lax.log(Message::user(format!("my key is {secret}"))).await.unwrap();
    let memory = over(&stores, &remote);
    assert_eq!(fill(&memory, EmbeddedBy::Background).await, (1, 0));
    let question = format!("what is {secret} for? <private>the affair</private>");
    assert!(memory.admin().embed_query(&question, DEADLINE).await.value.is_some());
    let texts = remote.texts();
    assert_eq!(texts.len(), 2);
    assert!(!texts.iter().any(|text| text.contains(secret) || text.contains("affair")), "{texts:?}");
}

#[tokio::test]
async fn a_text_that_the_endpoint_refuses_keeps_no_other_from_its_vector() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let memory = over(&stores, &remote);
    log(&memory, 0, 20).await;
    remote.set(Manner::Picky("number 3 "));
    assert_eq!(fill(&memory, EmbeddedBy::Background).await, (19, 1));
    log(&memory, 20, 30).await;
    remote.set(Manner::Picky("apple"));
    let mut backlog = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap();
    let refused = memory.admin().engine().fill(&mut backlog).await.unwrap_err();
    assert_eq!(
        (refused.kind(), backlog.waiting()),
        (ErrorKind::Invalid, 11),
        "it takes none: not the texts are at fault"
    );
}

#[tokio::test]
async fn upkeep_gives_new_events_their_vectors_and_pays_for_none_twice() {
    let stores = Stores::from(MemoryStore::new());
    let remote = Remote::new("far");
    let memory = over(&stores, &remote);
    let tend = |memory: Memory| async move {
        let tended = memory.admin().engine().maintain(&OwnerId::new("worker").unwrap()).await.unwrap();
        (tended.embedded, vector_gaps(&tended.gaps))
    };
    log(&memory, 0, 30).await;
    assert_eq!(tend(memory.clone()).await, (30, vec![]));
    assert_eq!(tend(memory.clone()).await, (0, vec![]));
    assert_eq!(remote.requests(), 4, "eight texts a request");
    log(&memory, 30, 33).await;
    remote.set(Manner::Failing(ErrorKind::Unavailable));
    assert_eq!(tend(memory.clone()).await, (0, vec![GapCause::Failed(ErrorKind::Unavailable)]));
    remote.set(Manner::Well);
    assert_eq!(tend(memory.clone()).await, (3, vec![]), "what failed for now is tried again");
    log(&memory, 33, 36).await;
    remote.set(Manner::Picky("number 34 "));
    assert_eq!(tend(memory.clone()).await, (0, vec![GapCause::Failed(ErrorKind::Invalid)]));
    let requests = remote.requests();
    assert_eq!(tend(memory.clone()).await, (0, vec![]), "what was refused is not");
    assert_eq!(remote.requests(), requests);
    assert_eq!(fill(&memory, EmbeddedBy::Background).await, (2, 1), "a run that is asked for finds out why");
    log(&memory, 36, 636).await;
    remote.set(Manner::Well);
    assert_eq!(tend(memory.clone()).await.0, 160, "one step asks twenty times");
}

// proves: AD-37 (the embedder in process may change too)
#[tokio::test]
async fn another_table_is_filled_in_and_until_then_its_absence_is_a_gap() {
    let stores = Stores::from(MemoryStore::new());
    let engine = |name: &str| builder(name).with_stores(stores.clone()).build().unwrap();
    log(&memory(&engine("table-1")), 0, 300).await;
    let memory = memory(&engine("table-2"));
    let stale = memory.recall("which pear").await.unwrap();
    assert_eq!(vector_gaps(&stale.gaps), [GapCause::Stale { behind: 300 }]);
    assert!(!stale.hits.is_empty(), "words bridge");
    let backlog = memory.admin().engine().backlog(EmbeddedBy::InProcess).await.unwrap();
    assert_eq!(memory.admin().engine().estimate(&backlog).await.unwrap().requests, 0);
    assert_eq!(fill(&memory, EmbeddedBy::InProcess).await, (300, 0));
    let whole = memory.recall("which pear").await.unwrap();
    assert_eq!((vector_gaps(&whole.gaps), whole.model.clone()), (vec![], Some(model("table-2"))));
    let listed = generations(&memory).await;
    assert_eq!(listed, [("table-1".to_owned(), 300, true), ("table-2".to_owned(), 300, true)]);
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let stores = Stores::from(MemoryStore::new());
    let memory = memory_without_remote(&stores);
    let error = memory.admin().engine().backlog(EmbeddedBy::Background).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(memory.admin().engine().model(EmbeddedBy::Background), None);
    let mut settings = mnemal::Settings::default();
    settings.embedding.provider = mnemal::settings::EmbeddingProvider::None;
    let off = builder("local").with_settings(settings).with_stores(stores).build().unwrap();
    assert_eq!(off.model(EmbeddedBy::InProcess), None);
}

// proves: RB-15 (`recall.min_similarity`)
#[tokio::test]
async fn the_settings_may_say_how_near_is_near_enough() {
    let stores = Stores::from(MemoryStore::new());
    let evidence = |min_similarity: Option<f32>| {
        let mut settings = mnemal::Settings::default();
        settings.recall.min_similarity = min_similarity;
        let engine = builder("local").with_settings(settings).with_stores(stores.clone()).build().unwrap();
        let memory = memory(&engine);
        async move { memory.recall("plums").await.unwrap().evidence }
    };
    log(&memory(&builder("local").with_stores(stores.clone()).build().unwrap()), 0, 40).await;
    let (near, declared, far) =
        (evidence(Some(-0.9)).await, evidence(None).await, evidence(Some(0.999)).await);
    assert!(far < mnemal_recall::EVIDENCE_FLOOR && mnemal_recall::EVIDENCE_FLOOR < near, "{near} {far}");
    assert!(far <= declared && declared <= near, "{near} {declared} {far}");
}
