//! Working memory through the facade: namespaces, redaction, and sweeps.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::future::IntoFuture as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal::ports::Upkeep as _;
use mnemal::types::{InstallationKey, Layer, OwnerId, Status};
use mnemal::working::{KeyPrefix, PutOptions, WorkingQuery};
use mnemal::{Engine, ErrorKind, Memory, Message, Scope, SessionId, SpaceId};
use mnemal_core::{Embedder, ModelId};
use mnemal_store::{SqliteStore, Stores};
use mnemal_testkit::ManualClock;

async fn open(path: &Path, clock: &Arc<ManualClock>) -> Memory {
    let builder = Engine::builder().with_clock(Arc::<ManualClock>::clone(clock));
    let engine = builder.with_key(InstallationKey::new([7; 32])).open(path).await.unwrap();
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}

async fn put(memory: &Memory, name: &str, value: &str) -> mnemal::Result<mnemal::working::PutOutcome> {
    memory.working()?.put(name, value.to_owned(), PutOptions::default()).await
}

// proves: RB-32
#[tokio::test]
async fn a_conversation_has_its_own_namespace() {
    let memory = Memory::in_memory().await.unwrap();
    let chat = memory.for_session(SessionId::new("chat").unwrap());
    assert_eq!(put(&chat, "plan", "x").await.unwrap().key.as_str(), "session/chat/plan");
    assert_eq!(put(&memory, "plan", "y").await.unwrap().key.as_str(), "session/default/plan");
    let patrol = memory.admin().engine().working(KeyPrefix::new("patrol/disk").unwrap()).unwrap();
    patrol.put("full", "92 %".to_owned(), PutOptions::default()).await.unwrap();
    assert_eq!(chat.working().unwrap().get("patrol/disk/full").await.unwrap().value, "92 %");
}

/// An embedder that gives every text the same vector.
#[derive(Debug)]
struct OneMeaning(ModelId);

#[async_trait]
impl Embedder for OneMeaning {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        1
    }

    fn floor(&self) -> f32 {
        0.5
    }

    async fn embed(&self, texts: &[&str]) -> mnemal::Result<Vec<Option<Vec<f32>>>> {
        Ok(vec![Some(vec![1.0]); texts.len()])
    }
}

// proves: RB-14 (the embedder in process)
#[tokio::test]
async fn working_memory_is_searched_by_the_vectors_of_the_engine() {
    let embedder: Arc<dyn Embedder> = Arc::new(OneMeaning(ModelId::new("one").unwrap()));
    let engine = Engine::builder().with_embedder(embedder).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    put(&memory, "plan", "the rollout waits").await.unwrap();
    let (text, prefix) = ("zebra".to_owned(), KeyPrefix::all());
    let query = WorkingQuery { prefix, text, category: None, tags: Vec::new() };
    let found = memory.working().unwrap().search(&query).await.unwrap();
    assert_eq!((found.value.len(), found.gaps.len()), (1, 0));
}

// proves: RB-39, RB-40
#[tokio::test]
async fn entries_outlive_the_process_and_are_swept_every_hour() {
    let home = tempfile::tempdir().unwrap();
    let (path, clock) = (home.path().join("space.db"), Arc::new(ManualClock::default()));
    let first = open(&path, &clock).await;
    put(&first, "plan", "an unmistakable plan").await.unwrap();
    first.admin().engine().close().await.unwrap();

    let memory = open(&path, &clock).await;
    assert_eq!(memory.working().unwrap().get("plan").await.unwrap().value, "an unmistakable plan");
    let owner = OwnerId::new("one").unwrap();
    let expired = async || memory.admin().engine().maintain(&owner).await.unwrap().value.expired;
    assert_eq!(expired().await, 0);
    clock.advance(Duration::from_mins(6));
    assert_eq!(memory.working().unwrap().get("plan").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(expired().await, 0, "it is not yet time to sweep");
    clock.advance(Duration::from_mins(54));
    assert_eq!(expired().await, 1);
    memory.admin().engine().close().await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.search_bytes(&["unmistakable".to_owned()]).await.unwrap(), [], "nor in the bytes");
}

// proves: DF-90 (working memory)
#[tokio::test]
async fn a_secret_never_reaches_the_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let memory = open(&path, &Arc::new(ManualClock::default())).await;
    let secret = format!("ghp_{}", "Zx81kQ93mVb27LpTr56WnYc40HsDf19JgUeA");
    put(&memory, "login", &format!("token={secret} <private>my pin</private> then deploy")).await.unwrap();
    let value = memory.working().unwrap().get("login").await.unwrap().value;
    assert!(value.contains("[secret:") && value.contains("then deploy"), "{value}");
    assert!(!value.contains(&secret) && !value.contains("my pin"), "{value}");
    assert_eq!(put(&memory, &secret, "x").await.unwrap_err().kind(), ErrorKind::Invalid);
    memory.admin().engine().close().await.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
}

#[tokio::test]
async fn an_engine_without_it_says_so() {
    let memory = Memory::in_memory().await.unwrap();
    let state = async |memory: &Memory| {
        let health = memory.admin().health().await.unwrap();
        health.parts.into_iter().find(|part| part.layer == Layer::Working).map(|part| part.status)
    };
    assert_eq!(state(&memory).await, Some(Status::Ok));
    let engine = Engine::builder().with_stores(Stores::none()).build().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    assert_eq!(state(&memory).await, Some(Status::Degraded));
    assert_eq!(memory.working().unwrap_err().kind(), ErrorKind::Unsupported);
}

// proves: RB-70, RB-71
#[tokio::test]
async fn a_turn_takes_one_call_that_is_told_what_its_kind_of_conversation_wants() {
    let memory = Memory::in_memory().await.unwrap();
    let session = |name: &str| SessionId::new(name).unwrap();
    let (user, patrol) = (session("chat"), session("patrol/disk"));
    for number in 0..12 {
        let text = format!("the deploy of service {number} waits for the disk to be cleaned");
        let turn = Message::user(text).session(session("older"));
        assert!(!memory.log(turn).await.unwrap().duplicate);
    }
    for (name, key) in [
        ("chat", "plan"),
        ("patrol/disk", "full"),
        ("subagent/review", "notes-index"),
        ("subagent/review", "draft"),
    ] {
        put(&memory.for_session(session(name)), key, "never shown").await.unwrap();
    }
    let ask = |session: &SessionId| {
        let call = memory.context("which deploy waits for the disk?").session(session.clone());
        call.budget(2_000).skip_injected().into_future()
    };
    let first = ask(&user).await.unwrap();
    assert!(first.tokens.0 <= 2_000 && !first.text.contains("never shown"));
    let volatile = &first.blocks.last().unwrap().text;
    for told in
        ["\"plan, expires in", "\"patrol/disk/full, expires in", "\"subagent/review/notes-index, expires in"]
    {
        assert!(volatile.contains(told), "{volatile}");
    }
    assert!(!volatile.contains("draft"), "{volatile}");
    assert!(volatile.find("expires in").unwrap() < volatile.find("\n- 1 20").unwrap(), "{volatile}");
    let hashes = |context: &mnemal::Context| -> Vec<[u8; 16]> {
        context.receipt.lines.iter().map(|line| line.content_hash).collect()
    };
    let shown = hashes(&first);
    assert!(!shown.is_empty());
    let second = ask(&user).await.unwrap();
    assert!(hashes(&second).iter().all(|text| !shown.contains(text)), "the delta repeats nothing");
    assert!(second.text.contains("\"plan, expires in"), "an inventory is told every time");
    let guard = ask(&patrol).await.unwrap();
    assert!(
        guard.text.contains("\"full, expires in") && !guard.text.contains("notes-index"),
        "{}",
        guard.text
    );
    assert!(!guard.text.contains("\"plan"), "{}", guard.text);
}
