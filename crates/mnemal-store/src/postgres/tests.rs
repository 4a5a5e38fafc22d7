//! Tests against a server.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the parts that tests share are tests too")]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mnemal_core::{
    Cursor, ErrorKind, EventFilter, EventStore as _, IndexStore as _, LearningFilter, LearningStore as _,
};
use mnemal_testkit::Records;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::connection::Query;
use super::schema::TABLES;
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

// proves: CF-03
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

// proves: DF-89
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
    let entry = |name: &SpaceId| (name.clone(), String::new());
    let entries = database.entries().await.unwrap();
    assert!(entries.contains(&entry(&gone)) && entries.contains(&entry(&kept)) && entries.is_sorted());
    assert!(database.remove(&gone).await.unwrap());
    assert!(!database.remove(&gone).await.unwrap());
    assert!(!database.has(&gone).await.unwrap() && database.has(&kept).await.unwrap());
    assert_eq!(database.set_marker(&gone, "active = true").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(database.space(&gone).await.unwrap().head().await.unwrap(), Cursor::START);
    assert_eq!(database.space(&kept).await.unwrap().head().await.unwrap().count(), 1);
}

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

#[tokio::test]
async fn an_address_that_asks_for_encryption_gets_no_connection_without_it() {
    let sign = if address().contains('?') { '&' } else { '?' };
    let encrypted = format!("{}{sign}sslmode=require", address());
    let error = PostgresDatabase::connect(&encrypted).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let nobody = address().replacen("app@", "nobody-there@", 1);
    let error = PostgresDatabase::connect(&nobody).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
}

#[tokio::test]
async fn a_handle_drops_what_a_failover_has_lost() {
    let (one, two) = (database().await, database().await);
    let name = fresh_name();
    let (store, other) = (one.space(&name).await.unwrap(), two.space(&name).await.unwrap());
    let mut records = Records::new(1);
    let turns = |records: &mut Records, words: &str, count: usize| -> Vec<_> {
        (0..count).map(|number| records.turn("s", &format!("{words} {number}")).unwrap()).collect()
    };
    store.append(&turns(&mut records, "kept", 3)).await.unwrap();
    store.append(&turns(&mut records, "lost", 2)).await.unwrap();
    let before = store.mark().await.unwrap();
    assert_eq!(store.latest(&EventFilter::all(), ALL).await.unwrap().len(), 5);
    // What a standby that was behind does not have.
    let id = one.id_of(&name).await.unwrap().unwrap();
    let lost = format!(
        "begin; set local mnemal.space = '{id}'; delete from event where space_id = {id} and seq > 3; \
         delete from block where space_id = {id} and first_seq > 3; \
         update tally set events = 3, seqs = 6 where space_id = {id}; \
         update space set head = 3 where space_id = {id}; commit"
    );
    one.change(&lost).await.unwrap();
    other.append(&turns(&mut records, "new", 4)).await.unwrap();
    let after = store.mark().await.unwrap();
    assert_eq!((before.head.count(), after.head.count()), (5, 7));
    assert!(after.forgets > before.forgets, "readers must load the index again");
    let newest = store.latest(&EventFilter::all(), ALL).await.unwrap();
    assert_eq!(newest, other.latest(&EventFilter::all(), ALL).await.unwrap());
    assert_eq!(store.mark().await.unwrap(), after, "once");
    assert_eq!(other.mark().await.unwrap().forgets, before.forgets, "it never saw the other history");
}

/// What a proxy does with the first commit that it sees.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// It ends the connection, and the server never gets it.
    Before,
    /// The server gets it, and nobody hears the answer.
    Behind,
}

/// Starts a proxy before the server, which does that to one commit; returns its address.
async fn proxy(cut: Cut) -> String {
    let at = address();
    let server = at.split(['@', '/']).nth(3).unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = at.replacen(&server, &format!("127.0.0.1:{port}"), 1);
    let is_due = Arc::new(AtomicBool::new(true));
    #[expect(clippy::disallowed_methods, reason = "the proxy ends with the runtime of the test")]
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&server).await.unwrap();
            let is_due = Arc::clone(&is_due);
            #[expect(clippy::disallowed_methods, reason = "as above")]
            tokio::spawn(forward(client, server, cut, is_due));
        }
    });
    address
}

async fn forward(mut client: TcpStream, mut server: TcpStream, cut: Cut, is_due: Arc<AtomicBool>) {
    let (mut asked, mut answered) = ([0; 4_096], [0; 4_096]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                let is_commit = asked[..read].windows(7).any(|bytes| bytes == b"commit\0");
                let ends = is_commit && is_due.swap(false, Ordering::AcqRel);
                if ends && matches!(cut, Cut::Before) {
                    return;
                }
                if server.write_all(&asked[..read]).await.is_err() || ends {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(read @ 1..) = read else { return };
                if client.write_all(&answered[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}

#[tokio::test]
async fn an_append_whose_commit_was_lost_is_stored_once_and_answered() {
    for cut in [Cut::Before, Cut::Behind] {
        let (direct, name) = (database().await, fresh_name());
        let reader = direct.space(&name).await.unwrap();
        let mut records = Records::new(1);
        reader.append(&[records.keyed("s", "known", "k0").unwrap()]).await.unwrap();
        let database = PostgresDatabase::connect(&proxy(cut).await).await.unwrap();
        let store = database.space(&name).await.unwrap();
        let batch = [
            records.turn("s", "one").unwrap(),
            records.keyed("s", "known", "k0").unwrap(),
            records.keyed("s", "two", "k1").unwrap(),
        ];
        let outcomes = store.append(&batch).await.unwrap();
        let seen: Vec<_> = outcomes.iter().map(|outcome| (outcome.seq.0, outcome.fresh)).collect();
        assert_eq!(seen, [(2, true), (1, false), (3, true)], "{cut:?}");
        assert_eq!(reader.head().await.unwrap().count(), 3, "{cut:?}");
        assert_eq!(reader.scan(&EventFilter::all(), Cursor::START, ALL).await.unwrap().len(), 3, "{cut:?}");
    }
}

// proves: AD-64 (the plan of every statement begins at the space)
#[tokio::test]
async fn every_plan_finds_its_rows_by_an_index_that_begins_with_the_space() {
    let database = database().await;
    let mut connection = database.pool.take(None).await.unwrap();
    let connection = connection.get().unwrap();
    connection
        .plain("set mnemal.space = '1'; set enable_seqscan = off; set enable_sort = off")
        .await
        .unwrap();
    // The longer forms of a statement differ in their number of rows alone.
    let one_row = |sql: &&str| sql.matches('?').count() < 40;
    let (mut plans, mut untyped) = (0, 0);
    for sql in statement::all().into_iter().chain(removal::all()).filter(one_row) {
        let text = scope::scoped(&dialect::translated(sql)).unwrap().text;
        // Without values the server cannot tell the types of a few.
        let Ok(plan) = connection.texts(&format!("explain (generic_plan, costs off) {text}")).await else {
            untyped += 1;
            continue;
        };
        plans += 1;
        let is_wide = |line: &&String| {
            let of_space = line.contains("space_id") && line.trim_start().starts_with("Filter:");
            of_space || (line.contains("Seq Scan on") && TABLES.iter().any(|table| line.contains(table)))
        };
        assert_eq!(plan.iter().find(is_wide), None, "{sql}\n{}", plan.join("\n"));
    }
    assert!(plans > 200 && untyped < 20, "{plans} plans, {untyped} without");
    connection.plain("reset enable_seqscan; reset enable_sort; reset mnemal.space").await.unwrap();
}
