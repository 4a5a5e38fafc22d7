//! Migrations of older files, killed at every step.

use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, EventFilter, EventStore as _, IndexStore as _, LearningFilter, LearningStore as _, NoteKey,
    ReceiptStore as _, SessionId, Upkeep as _,
};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;

use super::*;
use crate::SqliteStore;

const ALL: NonZeroUsize = NonZeroUsize::MAX;

fn fixture(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/schema-{version}.db"))
}

/// A copy of a fixture that may be changed.
fn old_space(version: i64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    fs::copy(fixture(version), &path).unwrap();
    (folder, path)
}

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).pragma("wal_autocheckpoint", "0").connect().await.unwrap()
}

/// Every row of every table that the first version has, as text.
async fn contents(path: &Path) -> Vec<String> {
    const TABLES: [&str; 13] = [
        "space",
        "event",
        "tombstone",
        "block",
        "vector_model",
        "progress",
        "dead_letter",
        "learning",
        "learning_source",
        "receipt",
        "receipt_source",
        "seen",
        "seen_source",
    ];
    let mut connection = raw(path).await;
    let mut found = Vec::new();
    for table in TABLES {
        let sql = AssertSqlSafe(format!("select * from {table} order by 1, 2"));
        let rows = rows(&mut connection, sql, Vec::new()).await.unwrap();
        found.extend(rows.iter().map(|row| format!("{table}: {:?}", row.rest())));
    }
    connection.close().await.unwrap();
    found
}

/// What the process would leave behind if it were killed now: the file and its write-ahead log as they are.
fn killed(path: &Path) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("space.db");
    fs::copy(path, &to).unwrap();
    let wal = |path: &Path| vec![file::beside(path, "-wal")];
    let beside = |path: &Path| [wal(path), copies(path)].concat();
    for (from, to) in beside(path).iter().zip(beside(&to)) {
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
    (folder, to)
}

/// Opens the space, which must be whole and without a copy.
async fn completes(path: &Path, expected: &[String], at: &str) {
    let store = SqliteStore::open(path).await.unwrap_or_else(|error| panic!("{at}: {error}"));
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new(), "{at}");
    store.close().await.unwrap();
    let mut connection = raw(path).await;
    assert_eq!(version(&mut connection).await.unwrap(), SCHEMA_VERSION, "{at}");
    connection.close().await.unwrap();
    assert_eq!(contents(path).await, expected, "{at}");
    for copy in copies(path) {
        assert!(!copy.exists(), "{at}: {} is left", copy.display());
    }
}

fn statements(text: &'static str) -> Vec<&'static str> {
    text.split_inclusive(';').filter(|statement| !statement.trim().is_empty()).collect()
}

#[tokio::test]
async fn every_schema_version_has_a_fixture_of_its_own() {
    for expected in 1..=SCHEMA_VERSION {
        let (_folder, path) = old_space(expected);
        let mut connection = raw(&path).await;
        assert_eq!(version(&mut connection).await.unwrap(), expected, "schema-{expected}.db");
        connection.close().await.unwrap();
    }
}

// proves: D9 (no difference)
#[tokio::test]
async fn an_older_file_keeps_every_event_note_tombstone_and_receipt() {
    for from in 1..=SCHEMA_VERSION {
        let (_folder, path) = old_space(from);
        completes(&path, &contents(&fixture_copy(from)).await, "once").await;
        let store = SqliteStore::open(&path).await.unwrap();
        let events = store.scan(&EventFilter::all(), Cursor::START, ALL).await.unwrap();
        assert_eq!((events.len(), events.iter().filter(|event| event.body().is_none()).count()), (29, 1));
        assert!(events[14].body().unwrap().content.starts_with("日本語"));
        assert_eq!(store.tombstones().await.unwrap()[0].event, events[16].id);
        let versions = store.history(&NoteKey::new("opening-hours").unwrap()).await.unwrap();
        assert_eq!(versions.iter().map(|note| note.version).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(store.all(&LearningFilter::all()).await.unwrap().len(), 4);
        let seen = store.seen(&SessionId::new("later").unwrap()).await.unwrap();
        assert_eq!(seen.items.len(), 21);
        let blocks = store.load(Cursor::START, ALL).await.unwrap();
        assert_eq!(blocks.iter().map(mnemal_core::IndexBlock::len).sum::<usize>(), 28);
        assert_eq!(store.unfinished_forgets().await.unwrap().len(), usize::from(from == 1));
        store.close().await.unwrap();
    }
}

/// A fixture as a file that SQLite may put its own files beside.
fn fixture_copy(version: i64) -> PathBuf {
    let (folder, path) = old_space(version);
    let _kept = folder.keep();
    path
}

// proves: D9 (killed and aborted at every statement)
// proves: GB-10, PB-06
#[tokio::test]
async fn a_migration_that_ends_at_any_statement_is_completed_by_the_next_open() {
    for (from, step) in (1..).zip(&MIGRATIONS[1..]) {
        let expected = contents(&fixture_copy(from)).await;
        let step = statements(step);
        for done in 0..=step.len() {
            let (_folder, path) = old_space(from);
            let mut connection = raw(&path).await;
            writer::begin(&mut connection).await.unwrap();
            for statement in &step[..done] {
                rows(&mut connection, *statement, Vec::new()).await.unwrap();
            }
            let (_other, image) = killed(&path);
            completes(&image, &expected, &format!("{from}: killed after {done} statements")).await;
            connection.close().await.unwrap();
            completes(&path, &expected, &format!("{from}: aborted after {done} statements")).await;
        }
    }
}

// proves: GB-10 (the way back)
#[tokio::test]
async fn the_copy_of_every_version_opens_and_is_the_file_as_it_was() {
    for from in 1..SCHEMA_VERSION {
        let (_folder, path) = old_space(from);
        let before = contents(&path).await;
        let step = usize::try_from(from).unwrap();
        copy(&path, Options::default(), step).await.unwrap();
        let back = file::beside(&path, &format!(".v{from}.bak"));
        assert!(copies(&path).contains(&back));
        let mut connection = raw(&back).await;
        assert_eq!(version(&mut connection).await.unwrap(), from);
        connection.close().await.unwrap();
        // Whoever wants the old file back puts the copy in its place.
        fs::rename(&back, &path).unwrap();
        assert_eq!(contents(&path).await, before, "{from}");
        completes(&path, &before, &format!("{from}: from its copy")).await;
    }
}

// proves: D9 (a new file)
#[tokio::test]
async fn a_creation_that_ends_at_any_statement_is_completed_by_the_next_open() {
    let all: Vec<_> = MIGRATIONS.into_iter().flat_map(statements).collect();
    for done in 0..=all.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.db");
        drop(file::create(&path).unwrap());
        let mut connection = connect_options(&path, Options::default()).connect().await.unwrap();
        let claim = "pragma auto_vacuum = incremental; pragma application_id = 1835953516";
        rows(&mut connection, claim, Vec::new()).await.unwrap();
        rows(&mut connection, "pragma journal_mode = wal", Vec::new()).await.unwrap();
        writer::begin(&mut connection).await.unwrap();
        for statement in &all[..done] {
            rows(&mut connection, *statement, Vec::new()).await.unwrap();
        }
        let (_other, image) = killed(&path);
        connection.close().await.unwrap();
        for path in [image, path] {
            let store = SqliteStore::open(&path).await.unwrap();
            assert_eq!(store.head().await.unwrap(), Cursor::START, "after {done} statements");
            store.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn copies_that_a_kill_left_are_replaced_or_dropped() {
    let expected = contents(&fixture_copy(1)).await;
    // Killed while copying, and between the copy and the commit: the file is still the old one.
    for end in [".v1.bak.partial", ".v1.bak"] {
        let (_folder, path) = old_space(1);
        fs::write(file::beside(&path, end), "half of a copy").unwrap();
        completes(&path, &expected, end).await;
    }
    // Killed after the commit: the file is new and not checked yet.
    let (_folder, path) = old_space(1);
    SqliteStore::open(&path).await.unwrap().close().await.unwrap();
    fs::copy(fixture(1), file::beside(&path, ".v1.bak")).unwrap();
    completes(&path, &expected, "behind the commit").await;
}

#[tokio::test]
async fn a_migration_that_fails_leaves_the_old_file_and_a_private_copy() {
    let (_folder, path) = old_space(1);
    let mut connection = raw(&path).await;
    rows(&mut connection, "create table forgetting (in_the_way bigint)", Vec::new()).await.unwrap();
    connection.close().await.unwrap();
    let before = contents(&path).await;
    assert!(SqliteStore::open(&path).await.is_err());
    assert_eq!(contents(&path).await, before);
    let copy = file::beside(&path, ".v1.bak");
    assert_eq!(contents(&copy).await, before);
    assert!(!file::beside(&copy, ".partial").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let mut connection = raw(&path).await;
    rows(&mut connection, "drop table forgetting", Vec::new()).await.unwrap();
    connection.close().await.unwrap();
    completes(&path, &before, "the second time").await;
}

// proves: E1 (what a migration copied does not outlive a forget)
#[tokio::test]
async fn a_dropped_copy_is_overwritten_first() {
    let folder = tempfile::tempdir().unwrap();
    let (copy, link) = (folder.path().join("copy"), folder.path().join("link"));
    fs::write(&copy, "the safe word is marzipan").unwrap();
    fs::hard_link(&copy, &link).unwrap();
    drop_copy(&copy).unwrap();
    assert!(!copy.exists());
    assert_eq!(fs::read(&link).unwrap(), [0; 25]);
    drop_copy(&copy).unwrap();
}

#[tokio::test]
async fn a_new_space_is_not_copied_and_two_openings_migrate_once() {
    let (_folder, path) = old_space(1);
    let expected = contents(&fixture_copy(1)).await;
    let open = || SqliteStore::open(&path);
    let (one, two, three) = tokio::join!(open(), open(), open());
    for store in [one, two, three] {
        store.unwrap().close().await.unwrap();
    }
    completes(&path, &expected, "three at once").await;
}
