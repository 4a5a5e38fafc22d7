//! Opening a file: versions first, then settings, then the tables.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::budget::Budget;
use super::checkpointer::Checkpointer;
use super::damage::Damage;
use super::driver::{NOT_A_DATABASE, SqliteDriver, failed, is_busy, rows};
use super::readers::Readers;
use super::schema::{APPLICATION_ID, SCHEMA_VERSION};
use super::writer::{self, Writer};
use super::{Durability, Options, file, migrate, table_repair, wal_check};
use crate::codec::corrupt;
use crate::port::index;
use crate::read_snapshot::WriteCounter;
use crate::sql::Row;
use crate::statement;
use crate::witness::Witness;

/// Oldest SQLite that does not lose commits when two connections write and checkpoint at once.
///
/// Source: the WAL-reset bug, fixed in SQLite 3.51.3 (release notes of SQLite).
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];
/// How long a statement waits for another process.
///
/// Source: own choice; a second process on the same file is normal.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two attempts to prepare a file that another process is preparing.
///
/// Source: own default; making a space takes 5 to 20 ms.
const OPEN_PAUSE: Duration = Duration::from_millis(20);
/// Attempts after which a file counts as held. Source: own default, two seconds of pauses.
const OPEN_TRIES: u32 = 100;
/// Queued jobs of the writer before callers have to wait.
///
/// Source: own default, two full groups.
const QUEUE: usize = 256;

/// Page cache of the writer in kibibytes, negative as SQLite requires.
///
/// Source: measured; ids and idempotency keys are scattered over their indexes, which take 11 MB for 100,000 imported events,
/// and with SQLite's default of 2 MB a batch reads most of their pages again.
const WRITER_CACHE: &str = "-16384";

/// Pages of the write-ahead log at which a commit of the writer checkpoints it. Up to that size a separate connection does it
/// ([`Checkpointer`]).
///
/// Source: own default, 32 MB, half of the log's size limit.
const WRITER_LOG: &str = "8000";
/// Names of the threads of write and checkpoint connections; a name has at most 15 bytes.
const WRITER_THREAD: &str = "mnemal-writer";
const RELIEF_THREAD: &str = "mnemal-relief";

const VERSION: &str = "select sqlite_version()";
/// One statement, so that all three values are of one moment, also while another process creates the space.
const NATURE: &str = "select (select application_id from pragma_application_id), \
     (select user_version from pragma_user_version), (select count(*) from sqlite_schema)";
/// Only for a new file: on one that has tables, to set `auto_vacuum` is a write with a flush of its own.
/// Counts the tables and indexes whose text is not one of ours, which are ASCII. The driver ends its thread over such a text,
/// so it is looked for before any statement names a column.
pub(super) const STRANGE_TEXTS: &str =
    "select count(*) from sqlite_schema where sql glob '*[^' || char(10) || ' -~]*'";
const CLAIM: &str = "pragma auto_vacuum = incremental; pragma application_id = 1835953516";
const READ_ONLY: &str = "pragma query_only = on";
const USE_WAL: &str = "pragma journal_mode = wal";
/// Read in this order, and compared with [`SETTINGS`].
const READ_SETTINGS: &str = "pragma busy_timeout; pragma foreign_keys; pragma secure_delete; pragma auto_vacuum; \
     pragma wal_autocheckpoint; pragma journal_size_limit; pragma temp_store; pragma trusted_schema; \
     pragma cell_size_check; pragma application_id; pragma synchronous";
/// The required value of every setting.
///
/// Source: the values set above; `mmap_size` is missing because SQLite returns no row where it is off.
const SETTINGS: [(&str, i64); 10] = [
    ("busy_timeout", 5_000),
    ("foreign_keys", 1),
    ("secure_delete", 1),
    ("auto_vacuum", 2),
    ("wal_autocheckpoint", 1_000),
    ("journal_size_limit", 67_108_864),
    ("temp_store", 2),
    ("trusted_schema", 0),
    ("cell_size_check", 1),
    ("application_id", APPLICATION_ID),
];

/// Opens a file and starts its writer, which opens its own connection with the first job; the connection that prepared the file
/// becomes the first reader.
pub(super) async fn open(path: &Path, options: Options) -> Result<(SqliteDriver, JoinHandle<()>)> {
    if options.vfs.is_none() {
        file::prepare(path)?;
        wal_check::check(path).await.map_err(|error| named(error, path))?;
    }
    let connect = connect_options(path, options);
    let budget = Budget::of_the_process();
    let mut first = budget
        .open(async { connect.connect().await.map_err(failed) })
        .await
        .map_err(|error| named(error, path))?;
    let made = match prepare_in_turn(&mut first.connection, path, options).await {
        Ok(made) => made,
        Err(error) => {
            first.connection.close().await.map_err(failed)?;
            return Err(named(error, path));
        }
    };
    let damage = Damage::default();
    // What can be read of a damaged file is read.
    match damage.noted(check_head(&mut first.connection).await) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {}
        known => known?,
    }
    let for_writes = for_writes(path, options);
    let readers = Readers::new(connect.pragma("query_only", "on"), options.readers.max(1), budget);
    readers.adopt(first);
    let (jobs, queue) = mpsc::channel(QUEUE);
    // Over a VFS of a test one thread does everything, so that a seed gives one order.
    let checkpointer = match options.vfs {
        Some(_) => Checkpointer::inline(),
        None => Checkpointer::beside(beside_writes(path, options)),
    };
    let writer = Writer::new(for_writes, checkpointer);
    let (timings, rebuilt) = (writer.timings(), writer.rebuilt_tables());
    rebuilt.note(&made);
    let writer = writer::start(writer, queue);
    let driver = SqliteDriver {
        jobs,
        readers,
        damage,
        rebuilt,
        timings,
        writes: WriteCounter::default(),
        witness: Witness::default(),
    };
    Ok((driver, writer))
}

/// The options of the connection that writes.
pub(super) fn for_writes(path: &Path, options: Options) -> SqliteConnectOptions {
    let connect = connect_options(path, options).pragma("cache_size", WRITER_CACHE);
    connect.pragma("wal_autocheckpoint", WRITER_LOG).thread_name(|_| WRITER_THREAD.to_owned())
}

/// The options of the checkpoint connection.
pub(super) fn beside_writes(path: &Path, options: Options) -> SqliteConnectOptions {
    connect_options(path, options).pragma("query_only", "on").thread_name(|_| RELIEF_THREAD.to_owned())
}

/// Rejects a file with a damaged list of tables.
async fn check_texts(connection: &mut SqliteConnection) -> Result<()> {
    let mut answer = rows(connection, STRANGE_TEXTS, Vec::new()).await?;
    match answer.first_mut().map(Row::int).transpose()? {
        Some(0) => Ok(()),
        _ => Err(corrupt("the list of tables")),
    }
}

/// Compares the head with the last event, so that a file without its newest pages is recognized as damaged before any write.
async fn check_head(connection: &mut SqliteConnection) -> Result<()> {
    let mut mark = rows(connection, statement::MARK, vec![0_u64.into()]).await?;
    let row = mark.first_mut().ok_or_else(|| corrupt("the space has no row"))?;
    index::read_mark(row, 0, &Witness::default()).map(drop)
}

/// Returns the settings of every connection.
pub(super) fn connect_options(path: &Path, options: Options) -> SqliteConnectOptions {
    let synchronous = match options.durability {
        Durability::Disk => SqliteSynchronous::Full,
        Durability::Process => SqliteSynchronous::Normal,
    };
    let base = SqliteConnectOptions::new();
    // Without a VFS the file is made beforehand, private from its first moment.
    let base = match options.vfs {
        Some(name) => base.vfs(name).create_if_missing(true),
        None => base,
    };
    base.filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .synchronous(synchronous)
        .pragma("secure_delete", "on")
        .pragma("wal_autocheckpoint", "1000")
        .pragma("journal_size_limit", "67108864")
        .pragma("temp_store", "memory")
        .pragma("mmap_size", "0")
        .pragma("trusted_schema", "off")
        .pragma("cell_size_check", "on")
        .pragma("fullfsync", if cfg!(target_vendor = "apple") { "on" } else { "off" })
        .pragma("checkpoint_fullfsync", if cfg!(target_vendor = "apple") { "on" } else { "off" })
        .disable_statement_logging()
}

/// Prepares the file, and retries while another process prepares the same new file: to change the journal mode SQLite needs
/// exclusive access, and of two callers one is rejected at once, whatever its busy timeout.
async fn prepare_in_turn(
    connection: &mut SqliteConnection,
    path: &Path,
    options: Options,
) -> Result<Vec<&'static str>> {
    for _ in 0..OPEN_TRIES {
        match prepare(connection, path, options).await {
            Err(error) if is_busy(&error) => {}
            done => return done,
        }
        #[expect(clippy::disallowed_methods, reason = "the other process must have time to finish")]
        tokio::time::sleep(OPEN_PAUSE).await;
    }
    prepare(connection, path, options).await
}

/// Returns the missing tables that were rebuilt.
async fn prepare(
    connection: &mut SqliteConnection,
    path: &Path,
    options: Options,
) -> Result<Vec<&'static str>> {
    check_version(connection).await?;
    claim(connection).await?;
    let mode = rows(connection, USE_WAL, Vec::new()).await?;
    if mode.into_iter().next().map(|mut row| row.text()).transpose()?.as_deref() != Some("wal") {
        return Err(Error::new(ErrorKind::Unsupported, "the file system cannot keep a write-ahead log"));
    }
    migrate::migrate(connection, path, options).await?;
    let tables = table_repair::mend(connection).await?;
    check_settings(connection, options.durability).await?;
    rows(connection, READ_ONLY, Vec::new()).await?;
    Ok(tables)
}

async fn check_version(connection: &mut SqliteConnection) -> Result<()> {
    let mut answer = rows(connection, VERSION, Vec::new()).await?;
    admit_version(&answer.first_mut().map(Row::text).transpose()?.unwrap_or_default())
}

/// Rejects a SQLite version that can lose commits; an unreadable version is rejected too.
fn admit_version(text: &str) -> Result<()> {
    let numbers: Vec<u32> = text.split('.').map_while(|part| u32::from_str(part).ok()).collect();
    if numbers.as_slice() < OLDEST_SQLITE.as_slice() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("SQLite {text} can lose commits; 3.51.3 is the oldest"),
        ));
    }
    Ok(())
}

/// Rejects a foreign or newer file; marks an empty one as ours.
async fn claim(connection: &mut SqliteConnection) -> Result<()> {
    let mut answer = rows(connection, NATURE, Vec::new()).await?;
    let row = answer.first_mut().ok_or_else(|| corrupt("the file has no header"))?;
    match [row.int()?, row.int()?, row.int()?] {
        [APPLICATION_ID, version, _] if version > SCHEMA_VERSION => Err(Error::new(
            ErrorKind::Unsupported,
            format!("refused: its version {version} is newer than {SCHEMA_VERSION}"),
        )),
        [APPLICATION_ID, ..] => check_texts(connection).await,
        [0, 0, 0] => rows(connection, CLAIM, Vec::new()).await.map(drop),
        _ => Err(Error::invalid("it is not a space")),
    }
}

async fn check_settings(connection: &mut SqliteConnection, durability: Durability) -> Result<()> {
    let synchronous = match durability {
        Durability::Disk => 2,
        Durability::Process => 1,
    };
    let expected = SETTINGS.into_iter().chain([("synchronous", synchronous)]);
    let mut answer = rows(connection, READ_SETTINGS, Vec::new()).await?.into_iter();
    for (name, value) in expected {
        let found = answer.next().map(|mut row| row.int()).transpose()?;
        if found != Some(value) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the setting {name} cannot be made {value}"),
            ));
        }
    }
    Ok(())
}

/// Prefixes an error with the file's name; a file that is no database at all is the caller's mistake.
fn named(error: Error, path: &Path) -> Error {
    let foreign = error.what() == NOT_A_DATABASE && !file::may_be_ours(path, APPLICATION_ID);
    let kind = if foreign { ErrorKind::Invalid } else { error.kind() };
    let advice = if kind == ErrorKind::Corrupt { "; `mnemal recover` saves what is left of it" } else { "" };
    Error::new(kind, format!("cannot open {}: {}{advice}", path.display(), error.what())).because(error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mnemal_core::{EventStore as _, Upkeep as _};
    use sqlx::Executor as _;

    use super::*;
    use crate::{SqliteStore, removal};

    async fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        (folder, store)
    }

    #[tokio::test]
    async fn every_statement_is_understood_by_the_newest_schema() {
        let (_folder, store) = store().await;
        let mut connection = connect_options(store.path(), Options::default()).connect().await.unwrap();
        for sql in statement::all().into_iter().chain(removal::all()) {
            let prepared = connection.prepare(sqlx::SqlStr::from_static(sql)).await;
            assert!(prepared.is_ok(), "{sql}: {prepared:?}");
        }
    }

    #[test]
    fn no_limit_is_a_bare_value_for_which_a_statement_is_prepared_anew_each_time() {
        for sql in statement::all().into_iter().chain(removal::all()) {
            for limit in sql.split("limit ").skip(1) {
                assert!(!limit.starts_with(['$', '?']) || limit.contains(" + 0"), "{sql}");
            }
        }
    }

    #[tokio::test]
    async fn statements_by_key_use_an_index() {
        let (_folder, store) = store().await;
        let explained = [
            "explain query plan select seq from event where session = $3 and seq > $1 and ($3 is null or session = $3) \
             order by seq desc limit $2",
            "explain query plan select id from event where idempotency_key in (?, ?)",
            "explain query plan select id from event where id in (?, ?)",
            "explain query plan select bytes from block where first_seq <= $1 order by first_seq desc limit 1",
            "explain query plan select session, count(*), min(seq) from event where session is not null group by session",
        ];
        let mut reader = store.inner.driver.readers.take().await.unwrap();
        for sql in explained {
            for mut row in rows(reader.connection().unwrap(), sql, Vec::new()).await.unwrap() {
                let (_, _, _, plan) = (row.int(), row.int(), row.int(), row.text().unwrap());
                assert!(plan.contains("USING") && !plan.contains("TEMP B-TREE"), "{sql}: {plan}");
            }
        }
    }

    // proves: D4
    #[tokio::test]
    async fn a_reader_cannot_write() {
        let (_folder, store) = store().await;
        let mut reader = store.inner.driver.readers.take().await.unwrap();
        let refused =
            rows(reader.connection().unwrap(), "update space set head = 7", Vec::new()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert_eq!(store.head().await.unwrap(), mnemal_core::Cursor::START);
    }

    // proves: E2
    #[tokio::test(start_paused = true)]
    async fn a_scrub_waits_for_a_reader_and_says_what_is_left() {
        let (_folder, store) = store().await;
        let mut reader = connect_options(store.path(), Options::default()).connect().await.unwrap();
        rows(&mut reader, "begin", Vec::new()).await.unwrap();
        rows(&mut reader, statement::MARK, vec![0_u64.into()]).await.unwrap();
        store
            .adopt(&[mnemal_core::Tombstone {
                event: mnemal_core::EventId(1),
                body: mnemal_core::TombstoneHash([1; 16]),
                sentences: Vec::new(),
                at: mnemal_core::Timestamp::EPOCH,
            }])
            .await
            .unwrap();
        let start = tokio::time::Instant::now();
        let held = store.scrub(&[]).await.unwrap();
        assert!(!held.truncated && held.residual.iter().any(|what| what.contains("write-ahead log")));
        assert!(start.elapsed() >= Duration::from_secs(30));
        rows(&mut reader, "rollback", Vec::new()).await.unwrap();
        assert!(store.scrub(&[]).await.unwrap().truncated);
    }

    // proves: GB-10 (a newer file)
    #[tokio::test]
    async fn a_newer_file_is_refused_and_a_foreign_one_is_invalid() {
        let (folder, store) = store().await;
        store.close().await.unwrap();
        let spoil = async |name: &str, sql: &'static str| {
            let path = folder.path().join(name);
            std::fs::copy(store.path(), &path).unwrap();
            let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
            rows(&mut connection, sql, Vec::new()).await.unwrap();
            connection.close().await.unwrap();
            SqliteStore::open(&path).await.unwrap_err()
        };
        let newer = spoil("newer.db", "pragma user_version = 99").await;
        assert_eq!(newer.kind(), ErrorKind::Unsupported);
        assert!(newer.what().contains("refused"), "{newer}");
        let foreign = spoil("foreign.db", "pragma application_id = 99").await;
        assert_eq!(foreign.kind(), ErrorKind::Invalid);
        assert_eq!(spoil("unmarked.db", "pragma application_id = 0").await.kind(), ErrorKind::Invalid);
    }

    // proves: DF-76, D6 (the version check)
    #[test]
    fn an_older_sqlite_is_refused() {
        for old in ["3.7.0", "3.51.2", "3.51", "3", "2.99.99", "", "unknown", "x.51.3"] {
            assert_eq!(admit_version(old).unwrap_err().kind(), ErrorKind::Unsupported, "{old}");
        }
        for new in ["3.51.3", "3.51.10", "3.52.0", "4.0", "3.51.3.1"] {
            assert!(admit_version(new).is_ok(), "{new}");
        }
    }

    #[tokio::test]
    async fn many_openings_at_once_make_one_space() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = folder.path().join(format!("deep{round}")).join("space.db");
            let open = || SqliteStore::open(&path);
            let (one, two, three) = tokio::join!(open(), open(), open());
            for store in [one, two, three] {
                assert_eq!(store.unwrap().head().await.unwrap(), mnemal_core::Cursor::START);
            }
        }
    }
}
