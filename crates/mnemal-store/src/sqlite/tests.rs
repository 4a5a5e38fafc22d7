//! What a lookup in the graph costs, counted in steps of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mnemal_core::{
    Advance, AsOf, EntityKind, EventId, FactFilter, GraphDelta, GraphStore as _, Projection as _,
};
use mnemal_core::{Predicate, Timestamp, Within};
use mnemal_testkit::{entity, fact};

use super::SqliteStore;
use super::driver::rows;
use crate::sql::Value;
use crate::statement;

/// A fact of each of `n` people, so that one of them is needed among many.
async fn store(n: u128) -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
    let at = Timestamp::EPOCH;
    let people: Vec<u128> = (1..=n).collect();
    for some in people.chunks(1_000) {
        let made = |id: &u128| entity(*id, &format!("P{id}"), EntityKind::Person, EventId(*id), at);
        let home = |id: &u128| fact(*id, *id, "lives_in", EventId(*id), at).unwrap();
        let delta = GraphDelta {
            entities: some.iter().map(made).collect(),
            facts: some.iter().map(home).collect(),
            ..GraphDelta::default()
        };
        store.apply(&delta, &Advance::default()).await.unwrap();
    }
    (folder, store)
}

/// Counts the steps of a statement.
async fn steps(store: &SqliteStore, sql: &'static str, args: Vec<Value>) -> u64 {
    let mut reader = store.inner.driver.readers.take().await.unwrap();
    let connection = reader.connection().unwrap();
    let total = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&total);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        true
    };
    connection.lock_handle().await.unwrap().set_progress_handler(1, count);
    assert_eq!(rows(connection, sql, args).await.unwrap().len(), 1);
    connection.lock_handle().await.unwrap().remove_progress_handler();
    total.load(Ordering::Relaxed)
}

/// The lookups that are asked for one subject or one name, with what they are asked.
fn lookups() -> Vec<(&'static str, Vec<Value>)> {
    let ada = || Value::Blob(7_u128.to_be_bytes().to_vec());
    let mut all = vec![
        (statement::BELIEVED_OF_SLOT, vec![ada(), "lives_in".into()]),
        (statement::FACTS_OF_SLOT, vec![ada(), "lives_in".into()]),
    ];
    all.extend(statement::ENTITIES_NAMED.lookups(vec!["p7".into()]));
    all.extend(statement::BELIEVED_OF_SUBJECTS.lookups(vec![ada()]));
    all.extend(statement::ENTITIES_NAMED.lookups(vec!["p7".into()]));
    all.extend(statement::ENTITIES_BY_ID.lookups(vec![ada()]));
    all.extend(statement::FACTS_OF_SOURCES.lookups(vec![ada()]));
    all
}

// proves: AD-28, DF-57
#[tokio::test]
async fn a_slot_costs_the_same_among_a_thousand_facts_and_among_twenty_thousand() {
    let ((_few_kept, few), (_many_kept, many)) = (store(1_000).await, store(20_000).await);
    for (sql, args) in lookups() {
        let (one, other) = (steps(&few, sql, args.clone()).await, steps(&many, sql, args).await);
        assert_eq!(one, other, "{sql}");
        assert!((1..200).contains(&one), "{one} steps: {sql}");
    }
    let of_slot = FactFilter {
        subjects: Within::Only(vec![mnemal_core::EntityId(7)]),
        predicate: Within::Only(Predicate::new("lives_in").unwrap()),
        ..FactFilter::all()
    };
    for as_of in [AsOf::present(Timestamp::EPOCH), AsOf { world: Timestamp::MAX, belief: Timestamp::EPOCH }] {
        assert_eq!(many.facts(&of_slot, as_of).await.unwrap().len(), 1, "current, and as of a moment");
    }
}

#[tokio::test]
async fn no_lookup_walks_a_table() {
    let (_kept, store) = store(1).await;
    for (sql, args) in lookups() {
        let mut reader = store.inner.driver.readers.take().await.unwrap();
        let text = sqlx::AssertSqlSafe(format!("explain query plan {sql}"));
        for mut row in rows(reader.connection().unwrap(), text, args).await.unwrap() {
            let (_, _, _) = (row.int().unwrap(), row.int().unwrap(), row.int().unwrap());
            let line = row.text().unwrap();
            assert!(!line.starts_with("SCAN"), "{line}: {sql}");
        }
    }
}
