//! Summaries of a space: read beside the log, rebuilt, forgotten, and absent.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use mnemal::{
    ChannelId, Engine, ErrorKind, Layer, Memory, Message, NodePath, OwnerId, Rebuild, Scope, Selector,
    SessionId, SpaceId,
};

async fn said(memory: &Memory, session: &str, text: &str) -> mnemal::EventId {
    let memory = memory.for_session(SessionId::new(session).unwrap());
    let message = Message::user(text).channel(ChannelId::new("mail").unwrap());
    memory.log(message).await.unwrap().value.id
}

async fn text(memory: &Memory, path: &str) -> String {
    let path: NodePath = path.parse().unwrap();
    mnemal::render_summary(&memory.summaries().await.unwrap().get(&path).await.unwrap().node.lines)
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn upkeep_makes_them_a_rebuild_gives_the_same_and_a_forget_takes_the_words() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::open(folder.path().join("space.db")).await.unwrap();
    for number in 0..45 {
        said(&memory, &format!("s{}", number % 4), &format!("Parcel {number} was sent to Oslo.")).await;
    }
    let secret = said(&memory, "s1", "The safe word of the till is marzipan.").await;
    let engine = memory.engine();
    let behind = memory.summaries().await.unwrap().gaps;
    assert_eq!(behind.first().map(|gap| gap.layer), Some(Layer::Summaries), "nobody has folded: {behind:?}");
    drop(engine.tend(&OwnerId::new("test").unwrap()).await.unwrap());
    assert_eq!(memory.summaries().await.unwrap().gaps, []);
    assert!(text(&memory, "session:s1").await.contains("marzipan"));
    assert_eq!(engine.rebuild(Layer::Summaries, Rebuild::Check).await.unwrap().rows, 0);
    let erasure = memory.forget(Selector::Events(vec![secret])).await.unwrap();
    assert!(erasure.verified, "{erasure:?}");
    for path in ["root", "channel:mail", "session:s1"] {
        assert!(!text(&memory, path).await.contains("marzipan"), "{path}");
    }
    assert_eq!(engine.rebuild(Layer::Summaries, Rebuild::Check).await.unwrap().rows, 0);
    assert_eq!(engine.rebuild(Layer::Summaries, Rebuild::Anew).await.unwrap().rows, 0);
    let health = memory.health().await.unwrap();
    let part = health.parts.iter().find(|part| part.layer == Layer::Summaries).unwrap();
    assert_eq!((part.behind, part.cause), (0, None));
}

#[tokio::test]
async fn a_context_without_a_question_tells_what_was_said_in_other_conversations() {
    let memory = Memory::in_memory().await.unwrap();
    said(&memory, "s1", "The ferry to Hydra leaves at nine.").await;
    assert_eq!(memory.engine().refresh_summaries().await.unwrap(), []);
    let asking = memory.for_session(SessionId::new("s2").unwrap());
    let context = asking.context("").sections(vec![mnemal::Section::Knowledge]).await.unwrap();
    assert!(context.text.contains("The ferry to Hydra leaves at nine."), "{}", context.text);
}

#[tokio::test]
async fn an_engine_without_them_says_so() {
    let engine = Engine::builder().without(Layer::Summaries).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("space").unwrap()));
    said(&memory, "s1", "The ferry to Hydra leaves at nine.").await;
    assert_eq!(memory.summaries().await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(engine.refresh_summaries().await.unwrap_err().kind(), ErrorKind::Unsupported);
    let rebuilt = engine.rebuild(Layer::Summaries, Rebuild::Check).await;
    assert_eq!(rebuilt.unwrap_err().kind(), ErrorKind::Unsupported);
}
