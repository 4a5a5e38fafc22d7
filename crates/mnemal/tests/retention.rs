//! Retention by event kind, as ordinary forgets.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::settings::RetentionSettings;
use mnemal::types::{InstallationKey, OwnerId, ToolName};
use mnemal::{
    Decision, Engine, EventFilter, EventId, EventKind, Memory, Message, NoteKey, Scope, Settings, SpaceId,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

const DAY: Duration = Duration::from_hours(24);

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Space {
    fn new(retention: RetentionSettings) -> Self {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_stores(MemoryStore::new())
            .with_settings(Settings { retention, ..Settings::default() })
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(5)))
            .with_key(InstallationKey::new([5; 32]))
            .build()
            .unwrap();
        Self { memory: engine.memory(Scope::whole(SpaceId::new("test").unwrap())), clock }
    }

    async fn say(&self, message: Message) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        self.memory.log(message).await.unwrap().value.id
    }

    async fn maintain(&self) -> u64 {
        self.memory.admin().engine().maintain(&OwnerId::new("a").unwrap()).await.unwrap().value.outdated
    }

    async fn is_there(&self, id: EventId) -> bool {
        self.memory.events().get(id).await.unwrap().body().is_some()
    }

    async fn decisions(&self) -> usize {
        let many = std::num::NonZeroUsize::new(1_000).unwrap();
        let events = self
            .memory
            .events()
            .scan(&EventFilter::all(), mnemal::events::Cursor::START, many)
            .await
            .unwrap();
        let is_forget = |kind: &EventKind| matches!(kind, EventKind::Decision(Decision::Forget(_)));
        events.iter().filter_map(mnemal::Event::body).filter(|kept| is_forget(&kept.kind)).count()
    }
}

fn tool(text: &str) -> Message {
    Message::tool_result(ToolName::new("weather").unwrap(), text)
}

// proves: NB-18, PB-57, BA-46, CF-13, CF-06
#[tokio::test]
async fn each_kind_is_kept_for_its_time_and_what_carries_something_stays() {
    let retention = RetentionSettings {
        enabled: true,
        events_days: 30,
        tools_days: Some(7),
        ..RetentionSettings::default()
    };
    let space = Space::new(retention);
    let idle = space.say(Message::user("The heron of the pond was grey today.")).await;
    let carrying = space.say(Message::user("I live in Oslo.")).await;
    let rain = space.say(tool("Rain from noon on in the valley.")).await;
    let key = NoteKey::new("gate").unwrap();
    let note = space.memory.remember("The gate is green.").key(key).by_user().await.unwrap().value.event;
    assert!(space.memory.facts().graph().await.unwrap().gaps.is_empty());
    assert_eq!(space.maintain().await, 0);
    space.clock.advance(8 * DAY);
    assert_eq!(space.memory.events().outdated().await.unwrap(), [rain]);
    assert_eq!(space.maintain().await, 1);
    assert!(!space.is_there(rain).await && space.is_there(idle).await);
    space.clock.advance(31 * DAY);
    let fresh = space.say(Message::user("The heron of the pond is back again.")).await;
    assert_eq!(space.maintain().await, 1);
    for (id, stays) in [(idle, false), (carrying, true), (note, true), (fresh, true)] {
        assert_eq!(space.is_there(id).await, stays, "{id}");
    }
    assert_eq!(space.decisions().await, 2, "each is a decision in the log");
    let hits = space.memory.recall("What colour was the heron of the pond?").await.unwrap();
    assert!(hits.hits.iter().all(|hit| hit.event.id != idle));
    space.clock.advance(2 * DAY);
    assert_eq!(space.maintain().await, 0);
}

#[tokio::test]
async fn beyond_the_number_the_oldest_goes_first_and_what_carries_something_last() {
    let space = Space::new(RetentionSettings { max_events: 3, ..RetentionSettings::default() });
    let carrying = space.say(Message::user("I live in Oslo.")).await;
    let mut turns = Vec::new();
    for n in 0..4 {
        turns.push(space.say(Message::user(format!("On day {n} the pond was still."))).await);
    }
    assert!(space.memory.facts().graph().await.unwrap().gaps.is_empty());
    assert_eq!(space.memory.events().outdated().await.unwrap(), turns[..2]);
    let few = Space::new(RetentionSettings { max_events: 1, ..RetentionSettings::default() });
    let oslo = few.say(Message::user("I live in Oslo.")).await;
    let pond = few.say(Message::user("The pond was still.")).await;
    assert!(few.memory.facts().graph().await.unwrap().gaps.is_empty());
    assert_eq!(few.memory.events().outdated().await.unwrap(), [pond]);
    assert!(few.is_there(oslo).await && space.is_there(carrying).await);
    few.clock.advance(400 * DAY);
    assert_eq!(few.maintain().await, 0, "it is off until it is asked for");
}
