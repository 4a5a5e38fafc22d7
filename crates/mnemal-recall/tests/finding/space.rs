//! Test space with events, and an embedder of three directions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    ChannelId, Embedder, EventId, EventKind, EventStore as _, Gap, Indexer as _, LogEntry, Metadata, ModelId,
    NewEvent, Origin, Result, SessionId, Slot, Speaker, Timestamp, Zone,
};
use mnemal_recall::{EventIndexer, Recall, RecallParts, RecallRequest, RecallResult, RecallSettings};
use mnemal_store::MemoryStore;
use mnemal_text::Language;

/// 2026-01-01T00:00:00Z.
pub(crate) const START: i64 = 1_767_225_600_000_000;
pub(crate) const HOUR: i64 = 3_600_000_000;

/// Runs a future that is always ready.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Three directions: the sea, cars, and everything else; each at an angle that its text names.
#[derive(Debug)]
pub(crate) struct Directions {
    pub(crate) model: ModelId,
    pub(crate) floor: f32,
    pub(crate) embedded: AtomicUsize,
}

impl Directions {
    pub(crate) fn new(floor: f32) -> Arc<Self> {
        Arc::new(Self { model: ModelId::new("directions").unwrap(), floor, embedded: AtomicUsize::new(0) })
    }
}

pub(crate) fn direction(text: &str) -> Vec<f32> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match () {
        () if has(&["harbour"]) => vec![0.6, 0.0, 0.8],
        () if has(&["sea", "ocean", "ships"]) => vec![1.0, 0.0, 0.0],
        () if has(&["car", "engine"]) => vec![0.0, 1.0, 0.0],
        () => vec![0.0, 0.0, 1.0],
    }
}

#[async_trait]
impl Embedder for Directions {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        3
    }

    fn floor(&self) -> f32 {
        self.floor
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| Some(direction(text))).collect())
    }
}

pub(crate) fn said(session: &str, text: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new(session).unwrap(),
        channel: ChannelId::new("chat").unwrap(),
        parent: None,
        speaker: Some(Speaker::new("Ada").unwrap()),
        user: None,
        agent: None,
        occurred_at: Timestamp::from_micros(START).unwrap(),
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    }
}

/// Each text in its own session, an hour apart, so that no turn has a neighbor.
pub(crate) fn alone(texts: &[&str]) -> Vec<NewEvent> {
    let event = |(place, text): (i64, &&str)| NewEvent {
        occurred_at: Timestamp::from_micros(START + place * HOUR).unwrap(),
        ..said(&format!("s{place}"), text)
    };
    (0..).zip(texts).map(event).collect()
}

#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) recall: Recall,
}

pub(crate) fn space(events: &[NewEvent], embedder: Slot<dyn Embedder>) -> Space {
    space_in(Language::English, events, embedder)
}

pub(crate) fn space_in(language: Language, events: &[NewEvent], embedder: Slot<dyn Embedder>) -> Space {
    let store = Arc::new(MemoryStore::new());
    put_in(language, &store, events, embedder.clone(), 1);
    let settings = RecallSettings { language, ..RecallSettings::default() };
    let recall = Recall::new(parts(&store, embedder), settings);
    Space { store, recall }
}

pub(crate) fn parts(store: &Arc<MemoryStore>, embedder: Slot<dyn Embedder>) -> RecallParts {
    RecallParts {
        index: Slot::Filled(Arc::clone(store) as Arc<dyn mnemal_core::IndexStore>),
        graph: Slot::Filled(Arc::clone(store) as Arc<dyn mnemal_core::GraphStore>),
        learnings: Slot::Filled(Arc::clone(store) as Arc<dyn mnemal_core::LearningStore>),
        events: Arc::clone(store) as Arc<dyn mnemal_core::EventStore>,
        embedder,
        counter: Slot::Empty,
    }
}

pub(crate) fn put(store: &MemoryStore, events: &[NewEvent], embedder: Slot<dyn Embedder>, first: u128) {
    put_in(Language::English, store, events, embedder, first);
}

fn put_in(
    language: Language,
    store: &MemoryStore,
    events: &[NewEvent],
    embedder: Slot<dyn Embedder>,
    first: u128,
) {
    let indexer = EventIndexer::new(language, embedder);
    for (batch, events) in (0_u128..).zip(events.chunks(1_000)) {
        let entries = ready(indexer.index(events)).unwrap();
        let entries = (0_u128..).zip(events.iter().zip(entries)).map(|(place, (event, index))| LogEntry {
            id: EventId(first + batch * 1_000 + place),
            recorded_at: event.occurred_at,
            event: event.clone(),
            index: Some(index),
            quarantined: None,
            echo: Vec::new(),
            body_hash: [0; 32],
        });
        ready(store.append(&entries.collect::<Vec<_>>())).unwrap();
    }
}

pub(crate) fn words(texts: &[&str]) -> Space {
    space(&alone(texts), Slot::Empty)
}

impl Space {
    pub(crate) fn ask(&self, request: &RecallRequest) -> RecallResult {
        ready(self.recall.recall(request)).unwrap().value
    }

    pub(crate) fn find(&self, query: &str) -> Vec<String> {
        texts(&self.ask(&RecallRequest::new(query)))
    }

    pub(crate) fn gaps(&self, query: &str) -> Vec<Gap> {
        ready(self.recall.recall(&RecallRequest::new(query))).unwrap().gaps
    }
}

pub(crate) fn texts(found: &RecallResult) -> Vec<String> {
    found.hits.iter().map(|hit| hit.event.body().unwrap().content.clone()).collect()
}
