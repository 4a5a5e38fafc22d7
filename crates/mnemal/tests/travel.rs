//! Time travel: the state as of a moment equals that of a memory which got no later events.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mnemal::graph::EntityFilter;
use mnemal::ports::Clock as _;
use mnemal::types::InstallationKey;
use mnemal::{
    AsOf, Decision, Engine, EventId, FactFilter, LearningFilter, Memory, Message, NoteKey, Scope, SessionId,
    SpaceId, Speaker, Timestamp,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

/// The story's turns in order; `!` archives a key, `=` stores a note under one.
const STORY: [&str; 24] = [
    "My sister Anna lives in Oslo.",
    "I work at Acme as a cook.",
    "=ferry The ferry leaves at seven.",
    "I always want short answers, please.",
    "My friend Bob lives in Lisbon.",
    "Anna is allergic to peanuts.",
    "=gate The gate is green.",
    "My sister Anna moved to Bergen last month.",
    "=ferry The ferry leaves at nine.",
    "I no longer work at Acme.",
    "I work at Globex now.",
    "!gate",
    "My friend Bob likes chess.",
    "Bob moved to Porto in spring.",
    "=oven The oven is loud.",
    "I prefer tea to coffee.",
    "Anna has a dog called Rex.",
    "=gate The gate is blue.",
    "No, Bob lives in Braga.",
    "My name is Cleo.",
    "!oven",
    "I moved to Turin last week.",
    "=ferry The ferry leaves at ten.",
    "Anna works at the library in Bergen.",
];

struct Space {
    memory: Memory,
    /// Recording time of each part.
    at: Vec<Timestamp>,
    events: Vec<EventId>,
}

impl Space {
    async fn told(parts: &[&str]) -> Self {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_stores(MemoryStore::new())
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(3)))
            .with_key(InstallationKey::new([5; 32]))
            .build()
            .unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
        let (mut at, mut events) = (Vec::new(), Vec::new());
        let session = SessionId::new("hall").unwrap();
        for part in parts {
            clock.advance(Duration::from_hours(1));
            let id = if let Some(key) = part.strip_prefix('!') {
                let key = NoteKey::new(key).unwrap();
                memory.facts().decide(Decision::Archive(key.into())).await.unwrap().value.id
            } else if let Some((key, text)) = part.strip_prefix('=').and_then(|part| part.split_once(' ')) {
                memory.remember(text).key(NoteKey::new(key).unwrap()).by_user().await.unwrap().value.event
            } else {
                let speaker = Speaker::new("Cleo").unwrap();
                let said = Message::user(*part).speaker(speaker).session(session.clone());
                memory.log(said).await.unwrap().value.id
            };
            at.push(memory.events().get(id).await.unwrap().recorded_at);
            events.push(id);
            assert!(at.last().unwrap() <= &clock.now());
        }
        Self { memory, at, events }
    }

    async fn graph(&self) -> mnemal::Graph {
        loop {
            let graph = self.memory.facts().graph().await.unwrap();
            if self
                .memory
                .admin()
                .engine()
                .rebuild(mnemal::types::Layer::Graph, mnemal::admin::RebuildMode::Check)
                .await
                .unwrap()
                .rows
                == 0
            {
                return graph.value;
            }
        }
    }

    async fn facts(&self, as_of: AsOf) -> BTreeSet<String> {
        let facts = self.graph().await.facts(&FactFilter::all(), as_of).await.unwrap();
        let line = |fact: &mnemal::Fact| {
            let sources: Vec<_> = fact.supports.iter().map(|one| one.source).collect();
            format!(
                "{} {} {} {} {:?} {:?} {:?} {:?} {sources:?}",
                fact.id,
                fact.subject,
                fact.predicate,
                fact.object.key(),
                fact.act,
                fact.valid_at,
                fact.invalid_at,
                fact.status,
            )
        };
        facts.iter().map(line).collect()
    }

    async fn entities(&self, as_of: AsOf) -> BTreeSet<String> {
        let all = self.graph().await.all(&EntityFilter::all(), as_of).await.unwrap();
        all.iter().map(|entity| entity.id.to_string()).collect()
    }

    async fn learnings(&self, as_of: AsOf) -> BTreeSet<String> {
        let rows = self.memory.preferences().learnings(&LearningFilter::all(), as_of).await.unwrap();
        rows.iter().map(|row| format!("{} {:?} {}", row.item.id, row.item.key, row.item.content)).collect()
    }

    async fn found(&self, query: &str, as_of: AsOf) -> BTreeSet<EventId> {
        let found = self.memory.recall(query).as_of(as_of).limit(100).await.unwrap();
        found.hits.iter().map(|hit| hit.event.id).collect()
    }
}

// proves: NX-02.5
#[tokio::test]
async fn belief_at_an_event_is_that_of_a_memory_which_was_told_no_more() {
    let all = Space::told(&STORY).await;
    for told in [1, 4, 8, 9, 12, 17, 19, 22, 24] {
        let part = Space::told(&STORY[..told]).await;
        assert_eq!(part.events, all.events[..told]);
        let at = all.at[told - 1];
        let (then, now) = (AsOf::at(at), AsOf { world: at, belief: Timestamp::MAX });
        assert_eq!(all.facts(then).await, part.facts(now).await, "facts after {told}");
        assert_eq!(all.entities(then).await, part.entities(now).await, "entities after {told}");
        assert_eq!(all.learnings(then).await, part.learnings(now).await, "learnings after {told}");
        for query in ["Where does Anna live?", "When does the ferry leave?", "Where do I work?"] {
            let (was, is) = (all.found(query, then).await, part.found(query, now).await);
            assert_eq!(was, is, "{query} after {told}");
            let context = all.memory.context(query).as_of(then).await.unwrap();
            for line in &context.receipt.lines {
                let known = line.sources.iter().all(|source| part.events.contains(&source.event));
                assert!(known, "{line:?} after {told}");
            }
            let shown = |word: &str| context.text.contains(word);
            assert!(!shown("nine") || (9..23).contains(&told), "the ferry after {told}: {}", context.text);
            assert!(!shown("Globex") || told >= 11, "work after {told}: {}", context.text);
        }
    }
}

#[tokio::test]
async fn recall_at_a_belief_time_looks_deep_enough_behind_what_came_later() {
    let mut parts = vec!["The red lamp of the harbour is broken."];
    parts.extend(std::iter::repeat_n(
        "The red lamp of the harbour is broken, the red lamp of the harbour.",
        60,
    ));
    let space = Space::told(&parts).await;
    let then = AsOf::at(space.at[0]);
    let found = space.memory.recall("red lamp harbour").as_of(then).limit(3).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.event.id).collect::<Vec<_>>(), space.events[..1]);
    let now = space.memory.recall("red lamp harbour").limit(3).await.unwrap();
    assert_eq!(now.hits.len(), 3);
}
