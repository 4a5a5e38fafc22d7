//! The read connections: each is opened on first use and kept until the end, or until another space needs its place.
//!
//! A connection is reused without a test query, because a query is a round trip to its thread, which costs more than most
//! reads.

use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::budget::{Budget, IdleConnections, PooledConnection};
use super::closed;
use super::driver::failed;
use super::open::BUSY_TIMEOUT;

/// The readers of one space: limited in number, and part of the process's budget.
#[derive(Debug)]
pub(super) struct Readers {
    connect: SqliteConnectOptions,
    most: u32,
    permits: Semaphore,
    budget: Arc<Budget>,
    idle_connections: Arc<IdleConnections>,
}

/// A connection in use by one caller; it is returned on drop.
#[derive(Debug)]
pub(super) struct ReadConnection<'r> {
    readers: &'r Readers,
    kept: Option<PooledConnection>,
    state: ConnectionState,
    /// Released last, so that a permit always finds a connection.
    _permit: SemaphorePermit<'r>,
}

/// The state of a returned connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    /// A statement may still run, because its caller stopped waiting: the next one waits for it.
    Busy,
    /// It has answered.
    Idle,
    /// It has failed: a new one replaces it.
    Failed,
}

impl Readers {
    /// Opens nothing yet.
    pub(super) fn new(connect: SqliteConnectOptions, most: u32, budget: Arc<Budget>) -> Self {
        let permits = Semaphore::new(most as usize);
        let idle_connections = budget.idle_connections();
        Self { connect, most, permits, budget, idle_connections }
    }

    /// Takes over an open connection.
    pub(super) fn adopt(&self, kept: PooledConnection) {
        self.budget.put_back(&self.idle_connections, kept);
    }

    /// Waits for a free connection; opens one if there is none.
    pub(super) async fn take(&self) -> Result<ReadConnection<'_>> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait().await?,
        };
        let kept = match self.budget.take(&self.idle_connections) {
            Some(kept) => kept,
            None => self.budget.open(async { self.connect.connect().await.map_err(failed) }).await?,
        };
        Ok(ReadConnection { readers: self, kept: Some(kept), state: ConnectionState::Busy, _permit: permit })
    }

    async fn wait(&self) -> Result<SemaphorePermit<'_>> {
        let waited = tokio::time::timeout(BUSY_TIMEOUT, self.permits.acquire()).await;
        let late = |_| Error::new(ErrorKind::Unavailable, "all readers of the database are busy");
        waited.map_err(late)?.map_err(|_| closed())
    }

    /// Waits for all callers and closes the connections; later callers are refused.
    pub(super) async fn close(&self) {
        // Closed already where there are none.
        drop(self.permits.acquire_many(self.most).await);
        self.permits.close();
        self.idle_connections.clear().await;
    }

    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.idle_connections.len()
    }
}

impl ReadConnection<'_> {
    /// Returns the connection for one query, whose answer goes to [`finish`](Self::finish).
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection> {
        self.kept.as_mut().map(|kept| &mut kept.connection).ok_or_else(closed)
    }

    /// Decides by an answer whether the connection is reused, and passes the answer on.
    pub(super) fn finish<T>(mut self, answer: Result<T>) -> Result<T> {
        self.state = if answer.is_ok() { ConnectionState::Idle } else { ConnectionState::Failed };
        answer
    }
}

impl Drop for ReadConnection<'_> {
    fn drop(&mut self) {
        let Some(kept) = self.kept.take() else { return };
        let Readers { budget, idle_connections, .. } = self.readers;
        match self.state {
            ConnectionState::Idle => budget.put_back(idle_connections, kept),
            ConnectionState::Busy => budget.put_aside(idle_connections, kept),
            ConnectionState::Failed => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use mnemal_core::EventStore as _;

    use crate::SqliteStore;
    use crate::sqlite::driver::rows;

    const ENDLESS: &str = "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n";

    #[tokio::test]
    async fn readers_of_callers_that_went_away_serve_the_next_ones() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        for _ in 0..8 {
            let mut reader = store.inner.driver.readers.take().await.unwrap();
            let question = rows(reader.connection().unwrap(), ENDLESS, Vec::new());
            let waited = tokio::time::timeout(std::time::Duration::from_millis(5), question).await;
            assert!(waited.is_err());
        }
        assert_eq!(store.head().await.unwrap(), mnemal_core::Cursor::START);
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_failed_is_replaced_and_a_closed_store_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let readers = &store.inner.driver.readers;
        for _ in 0..8 {
            let mut reader = readers.take().await.unwrap();
            let answer = rows(reader.connection().unwrap(), "select nothing from nowhere", Vec::new()).await;
            assert!(reader.finish(answer).is_err());
        }
        assert_eq!(readers.idle(), 0);
        store.head().await.unwrap();
        assert_eq!(readers.idle(), 1);
        store.close().await.unwrap();
        assert_eq!(store.head().await.unwrap_err().kind(), mnemal_core::ErrorKind::Unavailable);
    }
}
