//! Tests against a server.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use mnemal_core::{
    Cursor, ErrorKind, EventFilter, EventStore as _, IndexStore as _, LearningFilter, LearningStore as _,
};
use mnemal_testkit::Records;

use super::connection::Query;
use super::*;
use crate::sql::Value;
use crate::{removal, statement};

const ALL: NonZeroUsize = NonZeroUsize::MAX;

#[expect(clippy::disallowed_methods, reason = "the step that starts the server names it")]
fn address() -> String {
    std::env::var("MNEMAL_TEST_POSTGRES").unwrap()
}

async fn database() -> PostgresDatabase {
    PostgresDatabase::migrate(&address()).await.unwrap();
    PostgresDatabase::connect(&address()).await.unwrap()
}

fn fresh_name() -> SpaceId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    SpaceId::new(format!("u{process}-{number}")).unwrap()
}

/// Values of types that repeat with each third parameter, as `choice` says.
fn values(sql: &str, choice: usize) -> Vec<Value> {
    let count = scope::scoped(sql).unwrap().parameters;
    let one = |place: usize| match choice / [1, 3, 9][place % 3] % 3 {
        0 => Value::Int(1),
        1 => Value::Text("a".to_owned()),
        _ => Value::Blob(vec![7; 16]),
    };
    (0..count).map(one).collect()
}

// proves: CF-03, AD-64
#[tokio::test]
async fn every_statement_is_understood_with_values_of_some_types() {
    let database = database().await;
    let mut connection = database.pool.take(None).await.unwrap();
    let connection = connection.get().unwrap();
    let none = |sql: &str| vec![Value::Null; scope::scoped(sql).unwrap().parameters];
    for sql in statement::all().into_iter().chain(removal::all()) {
        let mut refusal = None;
        for args in std::iter::once(none(sql)).chain((0..27).map(|choice| values(sql, choice))) {
            refusal = connection.prepared_with(Query { sql, args }).await.err();
            if refusal.is_none() {
                break;
            }
        }
        assert!(refusal.is_none(), "{}: {refusal:?}", sql.chars().take(300).collect::<String>());
    }
}

// proves: NX-10.7
#[tokio::test]
async fn a_session_that_is_set_to_one_space_neither_sees_nor_writes_another() {
    let database = database().await;
    let (one, two) = (fresh_name(), fresh_name());
    let store = database.space(&one).await.unwrap();
    store.append(&[Records::new(1).turn("s", "a secret").unwrap()]).await.unwrap();
    database.space(&two).await.unwrap();
    let (one, two) =
        (database.id_of(&one).await.unwrap().unwrap(), database.id_of(&two).await.unwrap().unwrap());
    let mut connection = database.pool.take(None).await.unwrap();
    let connection = connection.get().unwrap();
    let count = format!("select count(*) from event where space_id = {one}");
    connection.plain("reset mnemal.space").await.unwrap();
    assert!(connection.texts(&count).await.is_err(), "no space is set");
    for (space, expected) in [(one, "1"), (two, "0")] {
        connection.plain(&format!("set mnemal.space = '{space}'")).await.unwrap();
        assert_eq!(connection.texts(&count).await.unwrap(), [expected]);
    }
    let write = format!("update space set head = 9 where space_id = {one}");
    connection.plain(&write).await.unwrap();
    let add = format!("insert into tally (space_id, name, events, seqs) values ({one}, 'x', 1, 1)");
    assert!(connection.plain(&add).await.is_err(), "a row of another space");
    assert_eq!(store.head().await.unwrap().count(), 1);
}

#[tokio::test]
async fn a_space_that_is_removed_takes_its_rows_and_no_others() {
    let database = database().await;
    let (gone, kept) = (fresh_name(), fresh_name());
    for name in [&gone, &kept] {
        let store = database.space(name).await.unwrap();
        store.append(&[Records::new(1).turn("s", "text").unwrap()]).await.unwrap();
        store.close().await.unwrap();
        assert_eq!(store.head().await.unwrap_err().kind(), ErrorKind::Unavailable, "it is closed");
    }
    let named = database.spaces().await.unwrap();
    assert!(named.contains(&gone) && named.contains(&kept) && named.is_sorted());
    assert!(database.remove(&gone).await.unwrap());
    assert!(!database.remove(&gone).await.unwrap());
    assert!(!database.spaces().await.unwrap().contains(&gone));
    assert_eq!(database.space(&gone).await.unwrap().head().await.unwrap(), Cursor::START);
    assert_eq!(database.space(&kept).await.unwrap().head().await.unwrap().count(), 1);
}

// proves: NX-10.1
#[tokio::test]
async fn connections_that_the_server_ended_are_replaced() {
    let other = database().await;
    // An address may hold settings already.
    let sign = if address().contains('?') { '&' } else { '?' };
    let database =
        PostgresDatabase::connect(&format!("{}{sign}application_name=ended", address())).await.unwrap();
    let store = database.space(&fresh_name()).await.unwrap();
    let mut records = Records::new(1);
    for round in 1..=5_u64 {
        store.append(&[records.turn("s", "text").unwrap()]).await.unwrap();
        other
            .texts(
                "select pg_terminate_backend(pid) from pg_stat_activity \
                 where application_name = 'ended' and datname = current_database()",
            )
            .await
            .unwrap();
        assert_eq!(store.head().await.unwrap().count(), round);
        assert_eq!(store.scan(&EventFilter::all(), Cursor::START, ALL).await.unwrap().len() as u64, round);
    }
}

#[tokio::test]
async fn two_processes_that_create_one_space_share_it() {
    let (one, two) = (database().await, database().await);
    let name = fresh_name();
    let (first, second) = tokio::join!(one.space(&name), two.space(&name));
    let (first, second) = (first.unwrap(), second.unwrap());
    first.append(&[Records::new(1).turn("s", "text").unwrap()]).await.unwrap();
    assert_eq!(second.mark().await.unwrap().head.count(), 1);
    assert_eq!(second.all(&LearningFilter::all()).await.unwrap(), []);
}
