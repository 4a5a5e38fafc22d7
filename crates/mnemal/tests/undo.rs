//! A decision that another decision takes back.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mnemal::{
    AsOf, Decision, Engine, EntityFilter, ErrorKind, EventId, InstallationKey, Memory, Message, Scope,
    SessionId, SpaceId, Speaker, Timestamp,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

const PEOPLE: [&str; 4] = ["Anna Berg", "Bruno Kohl", "Clara Voss", "Dario Neri"];

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Space {
    async fn new(seed: u64) -> Self {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_stores(MemoryStore::new())
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([5; 32]))
            .build()
            .unwrap();
        let space = Self { memory: engine.memory(Scope::whole(SpaceId::new("test").unwrap())), clock };
        let session = SessionId::new("hall").unwrap();
        for (n, name) in PEOPLE.iter().enumerate() {
            let friend = PEOPLE[(n + 1) % PEOPLE.len()];
            let said = format!("My friend {friend} lives in Lisbon and works at Acme.");
            let speaker = Speaker::new(*name).unwrap();
            space.clock.advance(Duration::from_mins(1));
            let _ack = space
                .memory
                .log(Message::user(said).speaker(speaker).session(session.clone()))
                .await
                .unwrap();
        }
        space
    }

    async fn graph(&self) -> mnemal::Graph {
        for _ in 0..1_000 {
            let graph = self.memory.graph().await.unwrap();
            if graph.gaps.is_empty() && !self.is_behind().await {
                return graph.value;
            }
        }
        panic!("the graph does not catch up");
    }

    async fn is_behind(&self) -> bool {
        match self.memory.diff(Timestamp::EPOCH, Timestamp::EPOCH.plus_micros(1)).await {
            Err(error) => error.kind() == ErrorKind::Unavailable,
            Ok(_) => false,
        }
    }

    async fn entities(&self) -> BTreeSet<String> {
        let all = self.graph().await.all(&EntityFilter::all(), AsOf::present(Timestamp::MAX)).await.unwrap();
        all.iter().map(|entity| format!("{} {} {:?}", entity.id, entity.name, entity.kind)).collect()
    }

    async fn undo(&self, event: EventId) -> mnemal::Result<()> {
        self.clock.advance(Duration::from_mins(1));
        let undo = self.memory.undoing(event).await?;
        self.memory.decide(undo).await.map(drop)
    }
}

#[tokio::test]
async fn a_split_is_taken_back_by_the_merge_that_it_ended() {
    let space = Space::new(99).await;
    let always = AsOf::present(Timestamp::MAX);
    let graph = space.graph().await;
    let (one, into) =
        (graph.whom(PEOPLE[1], always).await.unwrap().id, graph.whom(PEOPLE[0], always).await.unwrap().id);
    let before = space.entities().await;
    let _merge = space.memory.decide(Decision::Merge { one, into }).await.unwrap();
    let merged = space.entities().await;
    assert_ne!(merged, before);
    space.clock.advance(Duration::from_mins(1));
    let split = space.memory.decide(Decision::Split { one, from: into }).await.unwrap().value.id;
    assert_eq!(space.entities().await, before);
    space.undo(split).await.unwrap();
    assert_eq!(space.entities().await, merged);
    space.clock.advance(Duration::from_mins(1));
    let again = space.memory.decide(Decision::Split { one: into, from: one }).await.unwrap().value.id;
    space.undo(again).await.unwrap();
    assert_eq!(space.entities().await, merged, "whichever is named first");
    let strangers = graph.whom(PEOPLE[2], always).await.unwrap().id;
    space.clock.advance(Duration::from_mins(1));
    let nothing = space.memory.decide(Decision::Split { one: strangers, from: into }).await.unwrap().value.id;
    assert_eq!(space.undo(nothing).await.unwrap_err().kind(), ErrorKind::Invalid, "it ended no merge");
}
