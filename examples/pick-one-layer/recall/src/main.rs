//! Finds events with `mnemal-recall` and a store in memory: no facade, no runtime, no database, no model.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mnemal_core::{
    ChannelId, EventId, EventKind, EventStore as _, Indexer as _, LogEntry, Metadata, NewEvent, Origin,
    Result, SessionId, Slot, Speaker, Timestamp, Zone,
};
use mnemal_recall::{EventIndexer, Recall, RecallParts, RecallRequest, RecallSettings};
use mnemal_store::MemoryStore;

const SAID: [(&str, &str); 4] = [
    ("Ada", "I moved to Kiruna in March, it is dark and lovely."),
    ("Ben", "Do you miss the sea?"),
    ("Ada", "I do, and the bakery with the cardamom buns."),
    ("Ben", "My brother adopted a greyhound called Pixel."),
];

fn event(minute: i64, (speaker, text): (&str, &str)) -> Result<NewEvent> {
    Ok(NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new("chat:1")?,
        channel: ChannelId::new("chat")?,
        parent: None,
        speaker: Some(Speaker::new(speaker)?),
        user: None,
        agent: None,
        occurred_at: Timestamp::from_micros(1_770_000_000_000_000 + minute * 60_000_000)?,
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    })
}

async fn find() -> Result<()> {
    let events =
        SAID.into_iter().zip(0..).map(|(said, minute)| event(minute, said)).collect::<Result<Vec<_>>>()?;
    let settings = RecallSettings::default();
    let index = EventIndexer::new(settings.language, Slot::Empty).index(&events).await?;
    let entries: Vec<LogEntry> = events
        .into_iter()
        .zip(index)
        .zip(1..)
        .map(|((event, index), number)| LogEntry {
            id: EventId(number),
            recorded_at: event.occurred_at,
            event,
            index: Some(index),
            quarantined: None,
            echo: Vec::new(),
            body_hash: [0; 32],
        })
        .collect();
    let store = Arc::new(MemoryStore::new());
    store.append(&entries).await?;

    let (index, events) = (Slot::Filled(Arc::clone(&store) as _), store);
    let recall = Recall::new(
        RecallParts {
            index,
            events,
            graph: Slot::Empty,
            learnings: Slot::Empty,
            embedder: Slot::Empty,
            counter: Slot::Empty,
        },
        settings,
    );
    let found = recall.recall(&RecallRequest::new("Where did Ada move?")).await?;
    assert_eq!(found.hits[0].event.id, EventId(1));
    for hit in &found.hits {
        println!("{:.3}  {}", hit.score.get(), hit.event.body().map_or("", |event| &event.content));
    }
    let dog = recall.recall(&RecallRequest::new("What is the name of the greyhound?")).await?;
    assert_eq!(dog.hits[0].event.id, EventId(4));
    Ok(())
}

fn main() -> Result<()> {
    let (mut work, mut context) = (pin!(find()), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(answer) = work.as_mut().poll(&mut context) {
            return answer;
        }
    }
}
