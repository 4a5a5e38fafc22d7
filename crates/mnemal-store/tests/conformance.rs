//! Both stores pass the suites of their ports.

#![expect(
    clippy::unwrap_used,
    clippy::unused_async,
    reason = "a fixture is a test; all fixtures are called alike"
)]

use std::sync::Arc;

use mnemal_testkit::Storage;

mod memory {
    use mnemal_store::MemoryStore;

    use super::*;

    async fn fixture() -> Storage {
        let store = Arc::new(MemoryStore::new());
        Storage {
            events: Arc::<MemoryStore>::clone(&store),
            other: Arc::new(MemoryStore::clone(&store)),
            index: Arc::<MemoryStore>::clone(&store),
            learnings: Arc::<MemoryStore>::clone(&store),
            graph: Arc::<MemoryStore>::clone(&store),
            summaries: Arc::<MemoryStore>::clone(&store),
            receipts: Arc::<MemoryStore>::clone(&store),
            working: Arc::<MemoryStore>::clone(&store),
            completions: Arc::<MemoryStore>::clone(&store),
            leases: Arc::<MemoryStore>::clone(&store),
            ledger: Arc::<MemoryStore>::clone(&store),
            upkeep: store,
            keep: Box::new(()),
        }
    }

    mnemal_testkit::event_store_conformance!(fixture);
    mnemal_testkit::index_store_conformance!(fixture);
    mnemal_testkit::learning_store_conformance!(fixture);
    mnemal_testkit::graph_store_conformance!(fixture);
    mnemal_testkit::summary_store_conformance!(fixture);
    mnemal_testkit::receipt_store_conformance!(fixture);
    mnemal_testkit::working_store_conformance!(fixture);
    mnemal_testkit::completion_cache_conformance!(fixture);
    mnemal_testkit::lease_store_conformance!(fixture);
    mnemal_testkit::ledger_store_conformance!(fixture);
    mnemal_testkit::upkeep_conformance!(fixture);
}

mod sqlite {
    use mnemal_store::SqliteStore;

    use super::*;

    async fn fixture() -> Storage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.db");
        let store = Arc::new(SqliteStore::open(&path).await.unwrap());
        let other = Arc::new(SqliteStore::open(&path).await.unwrap());
        Storage {
            events: Arc::<SqliteStore>::clone(&store),
            other,
            index: Arc::<SqliteStore>::clone(&store),
            learnings: Arc::<SqliteStore>::clone(&store),
            graph: Arc::<SqliteStore>::clone(&store),
            summaries: Arc::<SqliteStore>::clone(&store),
            receipts: Arc::<SqliteStore>::clone(&store),
            working: Arc::<SqliteStore>::clone(&store),
            completions: Arc::<SqliteStore>::clone(&store),
            leases: Arc::<SqliteStore>::clone(&store),
            ledger: Arc::<SqliteStore>::clone(&store),
            upkeep: store,
            keep: Box::new(folder),
        }
    }

    mnemal_testkit::event_store_conformance!(fixture);
    mnemal_testkit::index_store_conformance!(fixture);
    mnemal_testkit::learning_store_conformance!(fixture);
    mnemal_testkit::graph_store_conformance!(fixture);
    mnemal_testkit::summary_store_conformance!(fixture);
    mnemal_testkit::receipt_store_conformance!(fixture);
    mnemal_testkit::working_store_conformance!(fixture);
    mnemal_testkit::completion_cache_conformance!(fixture);
    mnemal_testkit::lease_store_conformance!(fixture);
    mnemal_testkit::ledger_store_conformance!(fixture);
    mnemal_testkit::upkeep_conformance!(fixture);
}
