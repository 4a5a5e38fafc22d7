//! Summaries of a space: read, rebuilt, forgotten, and absent.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;

use mnemal::admin::RebuildMode;
use mnemal::dream::DreamMode;
use mnemal::events::Selector;
use mnemal::summaries::NodePath;
use mnemal::types::{ChannelId, Layer, OwnerId};
use mnemal::{Engine, ErrorKind, Memory, Message, Scope, SessionId, SpaceId};
use mnemal_testkit::ManualClock;

/// A space with a stopped clock: on any machine, a refresh ends when the whole log is read.
fn memory() -> Memory {
    let engine = Engine::builder().with_clock(Arc::new(ManualClock::default())).in_memory().unwrap();
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}

async fn said(memory: &Memory, session: &str, text: &str) -> mnemal::EventId {
    let memory = memory.for_session(SessionId::new(session).unwrap());
    let message = Message::user(text).channel(ChannelId::new("mail").unwrap());
    memory.log(message).await.unwrap().value.id
}

async fn text(memory: &Memory, path: &str) -> String {
    let path: NodePath = path.parse().unwrap();
    mnemal::summaries::render_summary(
        &memory.summaries().reader().await.unwrap().get(&path).await.unwrap().node.lines,
    )
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
    let engine = memory.admin().engine();
    let behind = memory.summaries().reader().await.unwrap().gaps;
    assert_eq!(behind.first().map(|gap| gap.layer), Some(Layer::Summaries), "nobody has folded: {behind:?}");
    drop(engine.maintain(&OwnerId::new("test").unwrap()).await.unwrap());
    assert_eq!(memory.summaries().reader().await.unwrap().gaps, []);
    assert!(text(&memory, "session:s1").await.contains("marzipan"));
    assert_eq!(engine.rebuild(Layer::Summaries, RebuildMode::Check).await.unwrap().rows, 0);
    let erasure = memory.forget(Selector::Events(vec![secret])).await.unwrap();
    assert!(erasure.verified(), "{erasure:?}");
    for path in ["root", "channel:mail", "session:s1"] {
        assert!(!text(&memory, path).await.contains("marzipan"), "{path}");
    }
    assert_eq!(engine.rebuild(Layer::Summaries, RebuildMode::Check).await.unwrap().rows, 0);
    assert_eq!(engine.rebuild(Layer::Summaries, RebuildMode::Anew).await.unwrap().rows, 0);
    let health = memory.admin().health().await.unwrap();
    let part = health.parts.iter().find(|part| part.layer == Layer::Summaries).unwrap();
    assert_eq!((part.behind, part.cause), (0, None));
}

#[tokio::test]
async fn a_dream_that_is_asked_for_refreshes_them() {
    let memory = memory();
    for number in 0..45 {
        said(&memory, &format!("s{}", number % 4), &format!("Parcel {number} was sent to Oslo.")).await;
    }
    let behind = memory.summaries().reader().await.unwrap().gaps;
    assert_eq!(behind.first().map(|gap| gap.layer), Some(Layer::Summaries), "nobody has folded: {behind:?}");
    drop(memory.admin().engine().dream(&OwnerId::new("test").unwrap(), DreamMode::Asked).await.unwrap());
    assert_eq!(memory.summaries().reader().await.unwrap().gaps, []);
    assert!(text(&memory, "session:s1").await.contains("Parcel"));
}

#[tokio::test]
async fn a_context_without_a_question_tells_what_was_said_in_other_conversations() {
    let memory = memory();
    said(&memory, "s1", "The ferry to Hydra leaves at nine.").await;
    assert_eq!(memory.admin().engine().refresh_summaries().await.unwrap(), []);
    let asking = memory.for_session(SessionId::new("s2").unwrap());
    let context = asking.context("").sections(vec![mnemal::context::Section::Knowledge]).await.unwrap();
    assert!(context.text.contains("The ferry to Hydra leaves at nine."), "{}", context.text);
}

#[tokio::test]
async fn an_engine_without_them_says_so() {
    let engine = Engine::builder().without(Layer::Summaries).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("space").unwrap()));
    said(&memory, "s1", "The ferry to Hydra leaves at nine.").await;
    assert_eq!(memory.summaries().reader().await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(engine.refresh_summaries().await.unwrap_err().kind(), ErrorKind::Unsupported);
    let rebuilt = engine.rebuild(Layer::Summaries, RebuildMode::Check).await;
    assert_eq!(rebuilt.unwrap_err().kind(), ErrorKind::Unsupported);
}

async fn of(memory: &Memory, path: &NodePath) -> mnemal::summaries::SummaryState {
    memory.summaries().get(path, None).await.unwrap().value
}

// proves: NB-11, NB-39, NB-48, DF-43, BA-26, BA-27, BA-39 (parent, children and sources of a node)
#[tokio::test]
async fn what_is_known_of_a_name_is_told_from_its_node_which_leads_from_the_root_to_its_events() {
    let memory = memory();
    let first = said(&memory, "s1", "My sister Anna moved to Lisbon in March.").await;
    said(&memory, "s1", "I prefer tea to coffee.").await;
    assert_eq!(memory.admin().engine().refresh_summaries().await.unwrap(), []);
    let now = mnemal::AsOf::present(memory.admin().engine().now());
    let anna = memory.facts().graph().await.unwrap().whom("Anna", now).await.unwrap();
    let path = NodePath::Entity(anna.id);
    let node = of(&memory, &path).await.node;
    assert_eq!(
        mnemal::summaries::render_summary(&node.lines).split(' ').skip(1).collect::<Vec<_>>().join(" "),
        "My sister Anna moved to Lisbon in March."
    );
    assert_eq!((node.parents.as_slice(), node.events), (&[NodePath::EntityType(anna.kind)][..], 1));
    assert_eq!(node.lines[0].source.event, first, "each sentence leads to its event");

    // An entity that is only mentioned, and elsewhere, has its node removed too.
    for number in 0..10 {
        let text = format!("Anna sold painting number {number} to the museum of Porto.");
        said(&memory, &format!("other-{number}"), &text).await;
    }
    let standing = of(&memory, &path).await;
    assert_eq!((standing.node.events, standing.behind, standing.is_stale()), (11, 0, false));
    assert!(standing.node.lines.iter().any(|line| line.text.contains("painting")), "{standing:?}");
    assert!(standing.node.lines.len() <= 5);

    assert_eq!(memory.admin().engine().refresh_summaries().await.unwrap(), []);
    let tree = memory.summaries().tree(&NodePath::Root, 2).await.unwrap().value;
    let place = |wanted: &NodePath| tree.iter().position(|one| one.node.path == *wanted).unwrap();
    let kind = NodePath::EntityType(anna.kind);
    assert!(place(&NodePath::Root) < place(&kind) && place(&kind) < place(&path));
    assert_eq!(tree[place(&path)].depth, 2);
    assert_eq!(tree[place(&NodePath::Preferences)].node.lines[0].text, "I prefer tea to coffee.");
    assert!(tree.iter().any(|one| matches!(one.node.path, NodePath::Channel(_))));
    let below = memory.summaries().tree(&kind, 1).await.unwrap().value;
    assert_eq!(below.iter().map(|one| one.depth).collect::<Vec<_>>()[..2], [0, 1]);

    // Erased content is in no node, from the commit on.
    assert!(memory.forget(Selector::Events(vec![first])).await.unwrap().verified());
    let standing = memory.summaries().get(&path, None).await;
    assert!(standing.is_err() || !format!("{standing:?}").contains("sister"), "{standing:?}");
}

// proves: NB-49, BA-34
#[tokio::test]
async fn what_the_user_prefers_is_a_page_of_his_own_sentences_under_headings() {
    let memory = memory();
    assert_eq!(
        memory.summaries().get(&NodePath::Preferences, None).await.unwrap_err().kind(),
        ErrorKind::NotFound,
        "a page without a sentence is none"
    );
    for text in ["Actually, I prefer shorter responses.", "I am allergic to peanuts."] {
        said(&memory, "s1", text).await;
    }
    let page =
        memory.preferences().profile(mnemal::AsOf::present(memory.admin().engine().now())).await.unwrap();
    let page: Vec<(&str, &str)> =
        page.iter().map(|(heading, row)| (heading.as_str(), row.content.as_str())).collect();
    assert_eq!(
        page,
        [
            ("Owner profile", "I am allergic to peanuts."),
            ("Communication preferences", "Actually, I prefer shorter responses."),
        ]
    );
    let node = of(&memory, &NodePath::Preferences).await.node;
    assert_eq!((node.lines.len(), node.path.to_string().as_str()), (2, "user_preferences"));
    let context = memory.context("").await.unwrap();
    assert!(page.iter().all(|(_, text)| context.text.contains(text)), "{}", context.text);
}

#[tokio::test]
async fn a_node_of_the_past_is_made_of_what_was_said_and_known_by_then() {
    use mnemal::{AsOf, Timestamp, Zone};
    let memory = memory();
    let at = |day: i64| Timestamp::from_micros((19_722 + day) * 86_400_000_000).unwrap();
    for (day, text) in [(1, "The ferry to Hydra leaves at nine."), (5, "The ferry to Naxos leaves at ten.")] {
        let said = Message::user(text).session(SessionId::new("trip").unwrap());
        let said = said.channel(ChannelId::new("mail").unwrap()).occurred_at(at(day), Zone::utc());
        let _ack = memory.log(said).await.unwrap();
    }
    let present = memory.admin().engine().now();
    for path in ["root", "channel:mail", "session:trip"] {
        let path: NodePath = path.parse().unwrap();
        let then = Some(AsOf { world: at(3), belief: present });
        let node = memory.summaries().get(&path, then).await.unwrap().value.node;
        assert_eq!(node.lines.len(), 1, "{path}");
        assert!(node.lines[0].text.contains("Hydra"), "{path}");
        let before = memory.summaries().get(&path, Some(AsOf::at(at(3)))).await;
        assert_eq!(before.unwrap_err().kind(), ErrorKind::NotFound, "nobody had told the engine by then");
    }
    let day =
        memory.summaries().get(&NodePath::Day("2024-01-01".to_owned()), Some(AsOf::present(present))).await;
    assert_eq!(day.unwrap_err().kind(), ErrorKind::Invalid);
}

// proves: NB-40
#[tokio::test]
async fn settings_say_when_a_summary_is_stale_and_how_much_a_step_makes() {
    let mut settings = mnemal::Settings::default();
    assert_eq!((settings.summaries.staleness_threshold, settings.summaries.max_refresh_batch), (10, 20));
    settings.summaries.staleness_threshold = 3;
    settings.summaries.max_refresh_batch = 1;
    let engine = Engine::builder().with_settings(settings).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("space").unwrap()));
    said(&memory, "s1", "The ferry to Hydra leaves at nine.").await;
    assert_eq!(engine.refresh_summaries().await.unwrap(), []);
    assert!(!of(&memory, &NodePath::Root).await.is_stale());
    for number in 0..3 {
        said(&memory, &format!("t{number}"), &format!("The ferry number {number} is late.")).await;
    }
    let standing = of(&memory, &NodePath::Root).await;
    assert_eq!((standing.behind, standing.is_stale()), (3, true));
}

#[tokio::test]
async fn nothing_that_reads_waits_for_a_summary_to_be_made() {
    let memory = memory();
    for number in 0..60 {
        said(&memory, &format!("s{number}"), &format!("Parcel {number} was sent to Oslo.")).await;
    }
    let behind = async || {
        let health = memory.admin().health().await.unwrap();
        health.parts.iter().find(|part| part.layer == Layer::Summaries).unwrap().behind
    };
    assert_eq!(behind().await, 60);
    let mail = ChannelId::new("mail").unwrap();
    for question in ["", "which parcel went to Oslo?"] {
        let context = memory.context(question).channel(mail.clone()).await.unwrap();
        assert!(context.gaps.iter().all(|gap| gap.layer == Layer::Graph), "{:?}", context.gaps);
    }
    assert!(!memory.recall("parcel").await.unwrap().hits.is_empty());
    assert_eq!(memory.summaries().get(&NodePath::Root, None).await.unwrap_err().kind(), ErrorKind::NotFound);
    let read = memory.summaries().reader().await.unwrap();
    assert_eq!(
        read.gaps.first().map(|gap| gap.layer),
        Some(Layer::Summaries),
        "it says how far it is behind"
    );
    assert_eq!(behind().await, 60, "and no read has moved it");
}
