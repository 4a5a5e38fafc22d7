//! Vector indexes that are built in the background: by whom, and what answers until then.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "the parts that tests share may panic as the tests do; time is paused, so that nobody sleeps"
)]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mnemal::dream::Pace;
use mnemal::events::Selector;
use mnemal::ports::{
    FlatIndex, Neighbor, QueryVector, RowSet, VectorIndex, VectorIndexBuilder, VectorIndexFactory,
};
use mnemal::types::OwnerId;
use mnemal::{Engine, Memory, Message, Scope, SpaceId};

/// Makes indexes that scan, and counts.
#[derive(Clone, Debug, Default)]
struct Watched {
    updates: Arc<AtomicUsize>,
    searches: Arc<AtomicUsize>,
    rows: FlatIndex,
    held: usize,
}

impl Watched {
    fn counts(&self) -> (usize, usize) {
        (self.updates.load(Ordering::Relaxed), self.searches.load(Ordering::Relaxed))
    }
}

impl VectorIndexFactory for Watched {
    fn builder(&self, _dimensions: usize) -> Box<dyn VectorIndexBuilder> {
        Box::new(self.clone())
    }
}

impl VectorIndexBuilder for Watched {
    fn update(&mut self, rows: &FlatIndex, most: NonZeroUsize) -> usize {
        self.updates.fetch_add(1, Ordering::Relaxed);
        self.rows = rows.clone();
        let all = rows.vectors().count();
        self.held = all.min(self.held + most.get());
        all - self.held
    }

    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        (self.held == self.rows.vectors().count()).then(|| Arc::new(self.clone()) as Arc<dyn VectorIndex>)
    }
}

impl VectorIndex for Watched {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        self.rows.nearest(query, filter, limit)
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.rows.cosine(query, row)
    }
}

const WORDS: [&str; 5] = ["garden", "telescope", "kitchen", "violin", "harbor"];

async fn memory(factory: Arc<dyn VectorIndexFactory>) -> Memory {
    let engine = Engine::builder().with_vector_index(factory).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    for (number, word) in (0..60).zip(WORDS.iter().cycle()) {
        let text = format!("On day {number} we were in the {word}");
        drop(memory.log(Message::user(text)).await.unwrap());
    }
    memory
}

async fn asked(memory: &Memory) -> usize {
    memory.recall("a walk in the garden").await.unwrap().hits.len()
}

#[tokio::test]
async fn neither_an_append_nor_a_read_builds_an_index_and_a_call_does() {
    let watched = Watched::default();
    let memory = memory(Arc::new(watched.clone())).await;
    assert!(asked(&memory).await > 0);
    assert_eq!(watched.counts(), (0, 0));
    memory.admin().engine().build_vector_index().await.unwrap();
    let (updates, _) = watched.counts();
    assert!(updates > 1, "it takes some steps");
    let found = asked(&memory).await;
    assert_eq!((watched.counts(), found), ((updates, 1), 10));
    memory.admin().engine().build_vector_index().await.unwrap();
    assert_eq!(watched.counts(), (updates, 1), "nothing has changed");
}

#[tokio::test(start_paused = true)]
async fn a_step_of_upkeep_does_not_build_it_and_a_background_worker_does() {
    let owner = OwnerId::new("test").unwrap();
    let watched = Watched::default();
    let space = memory(Arc::new(watched.clone())).await;
    assert!(space.admin().engine().maintain(&owner).await.unwrap().gaps.is_empty());
    assert_eq!(watched.counts(), (0, 0), "it holds a lease");
    let soon = tokio::time::sleep(Duration::from_secs(5));
    let done = space.admin().engine().run_background(&owner, &Pace::default(), soon).await;
    assert_eq!((done.steps, done.failed), (0, 0), "before the first step of upkeep");
    assert!(asked(&space).await > 0);
    assert_eq!(watched.counts().1, 1);
}

#[tokio::test]
async fn what_is_forgotten_is_not_found_before_and_after_the_index_is_built_anew() {
    let watched = Watched::default();
    let memory = memory(Arc::new(watched.clone())).await;
    let event = memory.log(Message::user("The treasure lies under the oak")).await.unwrap().id;
    let held = || Arc::strong_count(&watched.updates);
    let empty = held();
    memory.admin().engine().build_vector_index().await.unwrap();
    assert!(held() > empty);
    let finds = async || {
        let found = memory.recall("treasure under the oak").await.unwrap();
        found.hits.iter().any(|hit| hit.event.id == event)
    };
    assert!(finds().await);
    drop(memory.forget(Selector::Events(vec![event])).await.unwrap());
    assert_eq!(held(), empty, "nothing that was built stays");
    let (_, searches) = watched.counts();
    assert!(!finds().await);
    assert_eq!(watched.counts().1, searches, "the rows have other numbers");
    memory.admin().engine().build_vector_index().await.unwrap();
    assert!(!finds().await);
    assert_eq!(watched.counts().1, searches + 1);
}

#[cfg(feature = "hnsw")]
#[tokio::test]
async fn a_graph_answers_as_a_scan_does() {
    use mnemal::Settings;
    use mnemal::settings::{RecallSettings, VectorIndexKind};

    let graph = memory(Arc::new(mnemal::ports::HnswFactory { from: 1 })).await;
    graph.admin().engine().build_vector_index().await.unwrap();
    let recall = RecallSettings { vector_index: VectorIndexKind::Flat, ..RecallSettings::default() };
    let settings = Settings { recall, ..Settings::default() };
    let engine = Engine::builder().with_settings(settings).in_memory().unwrap();
    let scan = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    for (number, word) in (0..60).zip(WORDS.iter().cycle()) {
        let text = format!("On day {number} we were in the {word}");
        drop(scan.log(Message::user(text)).await.unwrap());
    }
    for word in WORDS {
        let mut texts = Vec::new();
        for memory in [&graph, &scan] {
            let found = memory.recall(format!("what happened near the {word}")).await.unwrap();
            let text = |hit: &mnemal::Hit| hit.event.body().unwrap().content.clone();
            texts.push(found.hits.iter().map(text).collect::<Vec<_>>());
        }
        assert_eq!(texts[0], texts[1], "{word}");
    }
}
