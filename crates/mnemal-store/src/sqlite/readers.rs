//! The connections that read: each is opened when it is first needed and kept until the end.
//!
//! A connection is handed on without a question to it, because a question is a trip to its thread and back, which costs
//! more than most reads.

use std::sync::{Mutex, PoisonError};

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::closed;
use super::driver::failed;
use super::open::BUSY_TIMEOUT;

/// A fixed number of readers.
#[derive(Debug)]
pub(super) struct Readers {
    connect: SqliteConnectOptions,
    most: u32,
    permits: Semaphore,
    /// Connections that nobody uses; the last one is taken first.
    idle: Mutex<Vec<SqliteConnection>>,
}

/// A connection that one caller uses; it goes back when it is dropped.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    readers: &'r Readers,
    connection: Option<SqliteConnection>,
    state: State,
    /// Given back last, so that a permit always finds what it permits.
    _permit: SemaphorePermit<'r>,
}

/// What is known of a connection that goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A statement may still run, because its caller stopped waiting: the next one waits behind it.
    Busy,
    /// It has answered.
    Idle,
    /// It has failed: a new one takes its place.
    Failed,
}

impl Readers {
    /// Opens nothing yet.
    pub(super) fn new(connect: SqliteConnectOptions, most: u32) -> Self {
        let permits = Semaphore::new(most as usize);
        Self { connect, most, permits, idle: Mutex::default() }
    }

    /// Waits for a connection that is free; opens one where none is.
    pub(super) async fn take(&self) -> Result<Reader<'_>> {
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait().await?,
        };
        let known = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match known {
            Some(connection) => connection,
            None => self.connect.connect().await.map_err(failed)?,
        };
        Ok(Reader { readers: self, connection: Some(connection), state: State::Busy, _permit: permit })
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
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in idle {
            // A reader has nothing to lose.
            drop(connection.close().await);
        }
    }
}

impl Reader<'_> {
    /// Returns the connection for one question, whose answer goes to [`told`](Self::told).
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection> {
        self.connection.as_mut().ok_or_else(closed)
    }

    /// Decides by an answer what becomes of the connection, and passes the answer on.
    pub(super) fn told<T>(mut self, answer: Result<T>) -> Result<T> {
        self.state = if answer.is_ok() { State::Idle } else { State::Failed };
        answer
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match self.state {
            State::Idle => idle.push(connection),
            State::Busy => idle.insert(0, connection),
            State::Failed => {}
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
            assert!(reader.told(answer).is_err());
        }
        assert!(readers.idle.lock().unwrap().is_empty());
        store.head().await.unwrap();
        assert_eq!(readers.idle.lock().unwrap().len(), 1);
        store.close().await.unwrap();
        assert_eq!(store.head().await.unwrap_err().kind(), mnemal_core::ErrorKind::Unavailable);
    }
}
