//! PostgreSQL passes the suites of the ports. `cargo xtask ci postgres` starts a server for it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the parts that tests share are tests too")]

#[path = "reference/sequence.rs"]
mod sequence;
#[path = "reference/two_handles.rs"]
mod two_handles;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mnemal_core::SpaceId;
use mnemal_store::{PostgresDatabase, PostgresStore};
use mnemal_testkit::Storage;
use proptest::prelude::*;

use self::sequence::{Reopen, ask, run};

/// Names the server, whose tables are made on first use.
const ADDRESS: &str = "MNEMAL_TEST_POSTGRES";

#[expect(clippy::disallowed_methods, reason = "the step that starts the server names it")]
fn address() -> String {
    std::env::var(ADDRESS).unwrap()
}

async fn database() -> PostgresDatabase {
    PostgresDatabase::migrate(&address()).await.unwrap();
    PostgresDatabase::connect(&address()).await.unwrap()
}

/// A name that no other test has.
fn fresh_name() -> SpaceId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    SpaceId::new(format!("t{process}-{number}")).unwrap()
}

async fn fixture() -> Storage {
    let name = fresh_name();
    let (one, two) = (database().await, database().await);
    let store = Arc::new(one.space(&name).await.unwrap());
    let other = Arc::new(two.space(&name).await.unwrap());
    Storage {
        events: Arc::<PostgresStore>::clone(&store),
        other,
        index: Arc::<PostgresStore>::clone(&store),
        learnings: Arc::<PostgresStore>::clone(&store),
        graph: Arc::<PostgresStore>::clone(&store),
        summaries: Arc::<PostgresStore>::clone(&store),
        receipts: Arc::<PostgresStore>::clone(&store),
        working: Arc::<PostgresStore>::clone(&store),
        completions: Arc::<PostgresStore>::clone(&store),
        leases: Arc::<PostgresStore>::clone(&store),
        ledger: Arc::<PostgresStore>::clone(&store),
        upkeep: store,
        keep: Box::new((one, two)),
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

impl Reopen for PostgresStore {
    async fn close(self) {
        PostgresStore::close(&self).await.unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    // proves: CF-03
    #[test]
    fn a_database_agrees_with_the_reference(asks in proptest::collection::vec(ask(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (database, name) = (database().await, fresh_name());
            run(asks, async || database.space(&name).await.unwrap()).await;
        });
    }
}

#[tokio::test]
async fn rows_that_another_server_makes_anew_are_read_at_once() {
    let name = fresh_name();
    let (one, two) = (database().await, database().await);
    let (one, two) = (one.space(&name).await.unwrap(), two.space(&name).await.unwrap());
    two_handles::rows_made_anew_are_read_at_once(&one, &two).await.unwrap();
}
