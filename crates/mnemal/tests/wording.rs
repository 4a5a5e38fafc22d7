//! Warnings of a cycle about word lists of a space that it cannot use.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;

use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::ports::GraphStore;
use mnemal::settings::DreamSettings;
use mnemal::types::{OwnerId, Slot};
use mnemal::{Engine, ErrorKind, Scope, Settings, SpaceId};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{Fault, Faulty};

async fn cycle(stores: Stores, settings: Settings) -> DreamCycle {
    settings.check().unwrap();
    let engine = Engine::builder().with_stores(stores).with_settings(settings).build().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    for _ in 0..2 {
        let _stored = memory.remember("The lift is loud.").await.unwrap();
    }
    engine.dream(&OwnerId::new("test").unwrap(), DreamMode::Asked).await.unwrap()
}

// proves: AD-44 (a malformed list leaves the built-in rules, and is told)
#[tokio::test]
async fn a_list_that_cannot_be_read_does_nothing_and_every_cycle_says_so() {
    let of = |common: &[&str], disposable: &[&str]| {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        let dream = DreamSettings {
            common_words: words(common),
            disposable_numbers: words(disposable),
            ..DreamSettings::default()
        };
        Settings { dream, ..Settings::default() }
    };
    let good = of(&["standup"], &["logs/daily"]);
    assert_eq!(good.dream.malformed(), [""; 0]);
    assert_eq!(cycle(MemoryStore::new().into(), good).await.failed, [""; 0]);
    let malformed = of(&["standup", " "], &["//"]);
    assert_eq!(malformed.dream.malformed(), ["dream.common_words", "dream.disposable_numbers"]);
    let told = cycle(MemoryStore::new().into(), malformed).await;
    assert_eq!(
        told.failed,
        [
            "dream.common_words: cannot be read, and does nothing",
            "dream.disposable_numbers: cannot be read, and does nothing"
        ]
    );
    assert_eq!(told.accepted().count(), 1, "what needs no list goes on: {told:?}");
}

#[tokio::test]
async fn names_that_cannot_be_read_are_told() {
    let mut stores = Stores::from(MemoryStore::new());
    let Slot::Filled(graph) = stores.graph.clone() else { panic!("a memory store has a graph") };
    let broken: Arc<dyn GraphStore> = Arc::new(Faulty::new(graph, Fault::Failing(ErrorKind::Unavailable)));
    stores.graph = Slot::Filled(broken);
    let told = cycle(stores, Settings::default()).await;
    assert!(told.failed.contains(&"names: unavailable".to_owned()), "{told:?}");
}
