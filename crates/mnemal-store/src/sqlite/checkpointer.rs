//! Background checkpointing that keeps the write-ahead log short without blocking callers.
//!
//! A commit that checkpoints a thousand pages delays its caller for some milliseconds, and everyone who waits for the write
//! lock. So a separate connection checkpoints next to the writer, which SQLite permits: both flush the log before the file, as
//! every checkpoint does. The log restarts only when all of it is in the file: usually that connection reaches this in a pause
//! of the writer. If the log grows all the same, the writer checkpoints the rest itself between two jobs.

use mnemal_core::Result;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::task::JoinHandle;

use super::driver::rows;
use super::write_connection::{Log, WriteConnection};

/// Pages of the write-ahead log, missing in the file, at which a checkpoint begins.
///
/// Source: SQLite's default `wal_autocheckpoint`.
const LONG: i64 = 1_000;
/// Pages of the write-ahead log at which the writer makes sure that it restarts.
///
/// Source: own measurement (ADR 9), 16 MB: on a shared disk a checkpoint of sixty pages may take fifteen milliseconds, which
/// the next job waits for.
const TOO_LONG: i64 = 4_000;
/// Most pages that the writer checkpoints itself between two jobs, after the separate connection has done most of them.
///
/// Source: own measurement (ADR 9): a page takes some ten microseconds, and the next job waits for all of them.
const REST: i64 = 32;
/// Number of times in a row with a larger rest, after which the writer's share doubles, up to five times: otherwise a process
/// that writes without a pause to a slow disk would never get a log that restarts. Source: own choice; the log grows by some
/// hundred pages each time, and at the end the writer's share is 1,024 pages.
const PATIENCE: u32 = 4;
const TIMES: u32 = 5 * PATIENCE;
/// Reads the file's header first, so that the connection knows that there is a log. Pages written meanwhile are checkpointed at
/// once: each time there are fewer, and when the writer pauses none is left. With nothing to do, it costs nothing.
const TAKE_OVER: &str = "pragma schema_version; \
     pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); \
     pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); pragma wal_checkpoint(passive)";

/// The checkpointer of a long write-ahead log.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// Options of its connection; `None` if the writer does all the work.
    connect: Option<SqliteConnectOptions>,
    running: Option<JoinHandle<()>>,
    /// How often in a row too much was left.
    times: u32,
}

impl Checkpointer {
    /// Opens a connection whenever there is something to checkpoint.
    pub(super) fn beside(connect: SqliteConnectOptions) -> Self {
        Self { connect: Some(connect), running: None, times: 0 }
    }

    /// Lets the writer checkpoint between two jobs, so that one thread does everything in one order.
    pub(super) fn inline() -> Self {
        Self { connect: None, running: None, times: 0 }
    }

    /// Whether the writer does it, so that one thread does everything.
    pub(super) fn is_inline(&self) -> bool {
        self.connect.is_none()
    }

    /// Whether a checkpoint has ended whose result was not examined yet.
    pub(super) fn is_over(&self) -> bool {
        self.running.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Checks the length of the log, and starts a checkpoint if it is long. Waits for nothing but the writer's own connection.
    pub(super) async fn look(&mut self, ready: &mut WriteConnection) -> Result<()> {
        if self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return Ok(());
        }
        let was_taken_over = self.running.is_some();
        self.joined().await;
        let Log { pages, lacking } = ready.log().await?;
        let Some(connect) = &self.connect else {
            return if lacking >= LONG { ready.take_over().await } else { Ok(()) };
        };
        if !was_taken_over || pages < TOO_LONG {
            self.times = 0;
            if lacking >= LONG {
                self.running = Some(taken_over(connect.clone()));
            }
            return Ok(());
        }
        if lacking <= REST << (self.times / PATIENCE) {
            self.times = 0;
            // Without it a log that is written all the time would never restart.
            return if lacking > 0 { ready.take_over().await } else { Ok(()) };
        }
        self.times = TIMES.min(self.times + 1);
        self.running = Some(taken_over(connect.clone()));
        Ok(())
    }

    /// Waits until no checkpoint is running.
    pub(super) async fn joined(&mut self) {
        if let Some(running) = self.running.take() {
            // One that failed has left the log as it was, and the next look begins again.
            drop(running.await);
        }
    }
}

fn taken_over(connect: SqliteConnectOptions) -> JoinHandle<()> {
    #[expect(clippy::disallowed_methods, reason = "a part of the store's writer, which joins it")]
    tokio::spawn(async move {
        // What is not taken over now is with the next look, or with a commit.
        let Ok(mut connection) = connect.connect().await else { return };
        drop(rows(&mut connection, TAKE_OVER, Vec::new()).await);
        drop(connection.close().await);
    })
}

#[cfg(test)]
mod tests {
    use sqlx::sqlite::SqliteConnection;

    use super::*;
    use crate::SqliteStore;
    use crate::sqlite::open::{beside_writes, connect_options, for_writes};

    /// Writes this many pages in one commit.
    async fn write(ready: &mut WriteConnection, sql: &'static str) {
        ready.run(sql).await.unwrap();
    }

    /// Reads with a connection.
    async fn read(reader: &mut SqliteConnection, sql: &'static str) {
        rows(reader, sql, Vec::new()).await.unwrap();
    }

    async fn check(checkpointer: impl FnOnce(&SqliteStore) -> Checkpointer) -> (i64, i64) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut ready = WriteConnection::open(&for_writes(store.path(), store.inner.options)).await.unwrap();
        let mut checkpointer = checkpointer(&store);
        write(&mut ready, "create table scratch (text)").await;
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 4200))").await;
        assert!(
            ready.log().await.unwrap().lacking > 4_200,
            "nobody who waited for the commit waited for more"
        );
        checkpointer.look(&mut ready).await.unwrap();
        let is_beside = checkpointer.running.is_some();
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 20))").await;
        while checkpointer.running.as_ref().is_some_and(|running| !running.is_finished()) {
            tokio::task::yield_now().await;
        }
        let between = ready.log().await.unwrap().lacking;
        checkpointer.look(&mut ready).await.unwrap();
        assert!(checkpointer.running.is_none());
        let after = ready.log().await.unwrap().lacking;
        assert!(between < 1_000 && is_beside == checkpointer.connect.is_some(), "{between}");
        ready.close().await.unwrap();
        store.close().await.unwrap();
        (between, after)
    }

    #[tokio::test]
    async fn a_long_log_is_taken_over_beside_the_writer_which_takes_over_the_rest() {
        let (_between, after) =
            check(|store| Checkpointer::beside(beside_writes(store.path(), store.inner.options))).await;
        assert_eq!(after, 0);
    }

    #[tokio::test]
    async fn who_writes_without_a_pause_has_a_log_that_begins_anew_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut ready = WriteConnection::open(&for_writes(store.path(), store.inner.options)).await.unwrap();
        let mut checkpointer = Checkpointer::beside(beside_writes(store.path(), store.inner.options));
        write(&mut ready, "create table scratch (text)").await;
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 4200))").await;
        // With a reader in the log it does not restart.
        let mut reader = connect_options(store.path(), store.inner.options).connect().await.unwrap();
        read(&mut reader, "begin; select count(*) from scratch").await;
        checkpointer.look(&mut ready).await.unwrap();
        let mut left = Vec::new();
        while checkpointer.running.is_some() {
            while checkpointer.running.as_ref().is_some_and(|running| !running.is_finished()) {
                tokio::task::yield_now().await;
            }
            // More than the writer takes over at once, each time that another has just taken over everything.
            write(&mut ready, "insert into scratch values (zeroblob(4096 * 100))").await;
            read(&mut reader, "commit; begin; select count(*) from scratch").await;
            left.push(ready.log().await.unwrap().lacking);
            checkpointer.look(&mut ready).await.unwrap();
        }
        assert!(left.iter().all(|pages| (100..128).contains(pages)), "{left:?}");
        assert_eq!((left.len(), ready.log().await.unwrap().lacking), (9, 0), "32 pages, then 64, then 128");
        reader.close().await.unwrap();
        ready.close().await.unwrap();
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn without_a_connection_of_its_own_the_writer_takes_over_all_of_it() {
        let (between, after) = check(|_| Checkpointer::inline()).await;
        assert!(between > 0 && after == between, "what is short stays: {between} and {after}");
    }
}
