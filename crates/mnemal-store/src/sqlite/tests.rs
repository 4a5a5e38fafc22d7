//! Cost of a graph lookup, counted in SQLite virtual-machine steps; a file whose history is another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mnemal_core::{
    Advance, AsOf, EntityId, EntityKind, EventId, EventStore as _, Fact, FactFilter, GraphDelta,
    GraphStore as _, IndexStore as _, Predicate, Projection as _, Timestamp, Within,
};
use mnemal_testkit::{Records, entity, fact};

use super::SqliteStore;
use super::driver::rows;
use super::open::for_writes;
use super::write_connection::WriteConnection;
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
    let (rows, steps) = counted(store, sql, args).await;
    assert_eq!(rows, 1);
    steps
}

/// Counts the rows and the steps of a statement.
async fn counted(store: &SqliteStore, sql: &'static str, args: Vec<Value>) -> (usize, u64) {
    let mut reader = store.inner.driver.readers.take().await.unwrap();
    let connection = reader.connection().unwrap();
    let total = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&total);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        true
    };
    connection.lock_handle().await.unwrap().set_progress_handler(1, count);
    let found = rows(connection, sql, args).await.unwrap().len();
    connection.lock_handle().await.unwrap().remove_progress_handler();
    (found, total.load(Ordering::Relaxed))
}

/// The lookups that are asked for one subject or one name, with what they are asked.
fn lookups() -> Vec<(&'static str, Vec<Value>)> {
    let ada = || Value::Blob(7_u128.to_be_bytes().to_vec());
    let mut all = Vec::new();
    for slots in [&statement::BELIEVED_OF_SLOTS, &statement::FACTS_OF_SLOTS] {
        for (sql, mut args) in slots.lookups(vec!["lives_in".into()]) {
            args.push(ada());
            all.push((sql, args));
        }
    }
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
        subjects: Within::Only(vec![EntityId(7)]),
        predicates: Within::Only(vec![Predicate::new("lives_in").unwrap()]),
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

/// A hub with `n` facts, and as many with it as object, among `n` people with two facts each.
async fn hub(n: u128) -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
    let at = Timestamp::EPOCH;
    let about = (1..=n).map(|id| fact(id, HUB, "likes", EventId(id), at).unwrap());
    let leading = (1..=n).map(|id| {
        let object = mnemal_core::Value::Entity(EntityId(HUB));
        Fact { object, ..fact(n + id, HUB + id, "knows", EventId(id), at).unwrap() }
    });
    let beside = (1..=n).map(|id| fact(2 * n + id, HUB + id, "lives_in", EventId(id), at).unwrap());
    let facts: Vec<Fact> = about.chain(leading).chain(beside).collect();
    for some in facts.chunks(1_000) {
        let delta = GraphDelta { facts: some.to_vec(), ..GraphDelta::default() };
        store.apply(&delta, &Advance::default()).await.unwrap();
    }
    (folder, store)
}

/// The hub.
const HUB: u128 = 1 << 100;

#[tokio::test]
async fn what_is_known_first_of_somebody_costs_the_same_however_much_is_known() {
    let ((_few_kept, few), (_many_kept, many)) = (hub(300).await, hub(6_000).await);
    let blob = |id: u128| Value::Blob(id.to_be_bytes().to_vec());
    let alone = || vec![blob(HUB)];
    let among = || vec![blob(HUB + 3), blob(HUB), blob(HUB + 5)];
    for statement in [&statement::STRONGEST_OF_SUBJECTS, &statement::STRONGEST_OF_OBJECTS] {
        for who in [alone(), among()] {
            for (sql, mut args) in statement.lookups(who) {
                args.push(Value::Int(20));
                let (found, one) = counted(&few, sql, args.clone()).await;
                let (also, other) = counted(&many, sql, args).await;
                assert_eq!((found, also), (20, 20), "{sql}");
                assert_eq!(one, other, "{sql}");
            }
        }
    }
    let most = std::num::NonZeroUsize::new(20).unwrap();
    let found = many.strongest(&[EntityId(HUB)], most, AsOf::present(Timestamp::EPOCH)).await.unwrap();
    assert_eq!(found.len(), 20);
}

#[tokio::test]
async fn another_event_at_the_head_is_another_history() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
    let mut records = Records::new(1);
    for text in ["one", "two"] {
        store.append(&[records.turn("s", text).unwrap()]).await.unwrap();
    }
    let before = store.mark().await.unwrap();
    assert_eq!(store.mark().await.unwrap(), before);
    let mut raw = WriteConnection::open(&for_writes(store.path(), store.inner.options)).await.unwrap();
    raw.run("update event set id = zeroblob(16) where seq = 2").await.unwrap();
    raw.close().await.unwrap();
    let after = store.mark().await.unwrap();
    assert_eq!(after.head, before.head);
    assert!(
        after.forgets > before.forgets + u64::from(u32::MAX),
        "more than erasures that the history lost could add"
    );
    assert_eq!(store.mark().await.unwrap(), after, "once");
}
