//! Keeps the write-ahead log short without anybody waiting for it.
//!
//! A commit that takes a thousand pages into the file keeps its caller waiting for some milliseconds, and whoever waits for the
//! write lock too. So a connection of its own does it beside the writer, which SQLite lets go on meanwhile: both flush the log
//! before the file, as every checkpoint does. Only a log that is in the file as a whole begins anew: mostly that connection brings
//! it so far in a pause of the writer. Where the log grows all the same, the writer takes over what is left itself between two jobs.

use mnemal_core::Result;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::task::JoinHandle;

use super::driver::rows;
use super::ready::{Log, Ready};

/// Pages of the write-ahead log that the file lacks from which on they are taken over.
///
/// Source: RELIABILITY 3.2, and SQLite's own default.
const LONG: i64 = 1_000;
/// Pages of the write-ahead log from which on the writer sees to it that it begins anew.
///
/// Source: own measurement (ADR 9), 16 MB: to take over sixty pages may take a disk that others use too fifteen milliseconds,
/// for which the next job waits.
const TOO_LONG: i64 = 4_000;
/// Most pages that the writer takes over itself between two jobs, once another has taken over most of them.
///
/// Source: own measurement (ADR 9): a page is some ten microseconds, and a job behind it waits for all of them.
const REST: i64 = 32;
/// With so many times in a row that more than this was left, twice as much is the writer's, and so on up to five times: who writes
/// without a pause to a slow disk would else never have a log that begins anew. Source: own choice; the log grows by some hundred
/// pages each time, and at the end 1,024 pages are the writer's.
const PATIENCE: u32 = 4;
const TIMES: u32 = 5 * PATIENCE;
/// Reads the file's head first, so that the connection knows that there is a log. What was written meanwhile is taken over at
/// once: each time it is less, and where the writer pauses nothing is left. Where nothing is, it costs nothing.
const TAKE_OVER: &str = "pragma schema_version; \
     pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); \
     pragma wal_checkpoint(passive); pragma wal_checkpoint(passive); pragma wal_checkpoint(passive)";

/// What takes over a long write-ahead log.
#[derive(Debug)]
pub(super) struct Relief {
    /// How to open a connection for it; `None` where the writer does all of it itself.
    connect: Option<SqliteConnectOptions>,
    running: Option<JoinHandle<()>>,
    /// How often in a row too much was left behind it.
    times: u32,
}

impl Relief {
    /// Opens a connection whenever there is something to take over.
    pub(super) fn beside(connect: SqliteConnectOptions) -> Self {
        Self { connect: Some(connect), running: None, times: 0 }
    }

    /// Has the writer do it between two jobs, so that one thread does everything in one order.
    pub(super) fn inline() -> Self {
        Self { connect: None, running: None, times: 0 }
    }

    /// Whether the writer does it, so that one thread does everything.
    pub(super) fn is_inline(&self) -> bool {
        self.connect.is_none()
    }

    /// Whether a connection has taken over what it could, which nobody has looked at yet.
    pub(super) fn is_over(&self) -> bool {
        self.running.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Looks how long the log is, and has it taken over if it is long. Waits for nothing but the writer's own connection.
    pub(super) async fn look(&mut self, ready: &mut Ready) -> Result<()> {
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
            // Without it a log that is written all the time would never begin anew.
            return if lacking > 0 { ready.take_over().await } else { Ok(()) };
        }
        self.times = TIMES.min(self.times + 1);
        self.running = Some(taken_over(connect.clone()));
        Ok(())
    }

    /// Waits until nobody is at it.
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
    async fn write(ready: &mut Ready, sql: &'static str) {
        ready.run(sql).await.unwrap();
    }

    /// Reads with a connection.
    async fn read(reader: &mut SqliteConnection, sql: &'static str) {
        rows(reader, sql, Vec::new()).await.unwrap();
    }

    async fn check(relief: impl FnOnce(&SqliteStore) -> Relief) -> (i64, i64) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut ready = Ready::open(&for_writes(store.path(), store.inner.options)).await.unwrap();
        let mut relief = relief(&store);
        write(&mut ready, "create table scratch (text)").await;
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 4200))").await;
        assert!(
            ready.log().await.unwrap().lacking > 4_200,
            "nobody who waited for the commit waited for more"
        );
        relief.look(&mut ready).await.unwrap();
        let is_beside = relief.running.is_some();
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 20))").await;
        while relief.running.as_ref().is_some_and(|running| !running.is_finished()) {
            tokio::task::yield_now().await;
        }
        let between = ready.log().await.unwrap().lacking;
        relief.look(&mut ready).await.unwrap();
        assert!(relief.running.is_none());
        let after = ready.log().await.unwrap().lacking;
        assert!(between < 1_000 && is_beside == relief.connect.is_some(), "{between}");
        ready.close().await.unwrap();
        store.close().await.unwrap();
        (between, after)
    }

    #[tokio::test]
    async fn a_long_log_is_taken_over_beside_the_writer_which_takes_over_the_rest() {
        let (_between, after) =
            check(|store| Relief::beside(beside_writes(store.path(), store.inner.options))).await;
        assert_eq!(after, 0);
    }

    #[tokio::test]
    async fn who_writes_without_a_pause_has_a_log_that_begins_anew_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut ready = Ready::open(&for_writes(store.path(), store.inner.options)).await.unwrap();
        let mut relief = Relief::beside(beside_writes(store.path(), store.inner.options));
        write(&mut ready, "create table scratch (text)").await;
        write(&mut ready, "insert into scratch values (zeroblob(4096 * 4200))").await;
        // Beside somebody who reads in the log it does not begin anew.
        let mut reader = connect_options(store.path(), store.inner.options).connect().await.unwrap();
        read(&mut reader, "begin; select count(*) from scratch").await;
        relief.look(&mut ready).await.unwrap();
        let mut left = Vec::new();
        while relief.running.is_some() {
            while relief.running.as_ref().is_some_and(|running| !running.is_finished()) {
                tokio::task::yield_now().await;
            }
            // More than the writer takes over at once, each time that another has just taken over everything.
            write(&mut ready, "insert into scratch values (zeroblob(4096 * 100))").await;
            read(&mut reader, "commit; begin; select count(*) from scratch").await;
            left.push(ready.log().await.unwrap().lacking);
            relief.look(&mut ready).await.unwrap();
        }
        assert!(left.iter().all(|pages| (100..128).contains(pages)), "{left:?}");
        assert_eq!((left.len(), ready.log().await.unwrap().lacking), (9, 0), "32 pages, then 64, then 128");
        reader.close().await.unwrap();
        ready.close().await.unwrap();
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn without_a_connection_of_its_own_the_writer_takes_over_all_of_it() {
        let (between, after) = check(|_| Relief::inline()).await;
        assert!(between > 0 && after == between, "what is short stays: {between} and {after}");
    }
}
