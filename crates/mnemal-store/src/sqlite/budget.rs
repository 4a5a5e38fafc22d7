//! Process-wide limit on read connections, however many spaces are open.
//!
//! If all places are taken, a space gets the place of another space's least recently used idle connection; it waits only if
//! none is idle.

use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use mnemal_core::{Error, ErrorKind, Result};
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::closed;
use super::open::BUSY_TIMEOUT;

/// Read connections of one process.
///
/// Source: own choice; one connection costs a thread and about a megabyte.
const PLACES: usize = 32;

static PROCESS: LazyLock<Arc<Budget>> = LazyLock::new(|| Arc::new(Budget::new(PLACES)));

/// The places for connections, and the idle ones.
#[derive(Debug)]
pub(super) struct Budget {
    places: Arc<Semaphore>,
    /// Callers without a place: a connection that becomes idle is closed for them.
    waiting: AtomicUsize,
    /// Incremented with every use of the idle connections.
    uses: AtomicU64,
    shelves: Mutex<Vec<Weak<IdleConnections>>>,
}

/// The idle connections of one space; the most recent is taken first.
#[derive(Debug, Default)]
pub(super) struct IdleConnections {
    idle: Mutex<Vec<PooledConnection>>,
    used: AtomicU64,
}

/// A connection with its place.
#[derive(Debug)]
pub(super) struct PooledConnection {
    pub(super) connection: SqliteConnection,
    /// Released after the connection.
    place: OwnedSemaphorePermit,
}

impl Budget {
    /// Returns the budget of this process.
    pub(super) fn of_the_process() -> Arc<Self> {
        Arc::clone(&PROCESS)
    }

    pub(super) fn new(places: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            waiting: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
            shelves: Mutex::default(),
        }
    }

    /// Returns the idle connections for one more space; it is dropped with its last handle.
    pub(super) fn idle_connections(&self) -> Arc<IdleConnections> {
        let made = Arc::new(IdleConnections::default());
        let mut known = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.strong_count() > 0);
        known.push(Arc::downgrade(&made));
        made
    }

    /// Opens a connection in a new place.
    pub(super) async fn open<F>(&self, connect: F) -> Result<PooledConnection>
    where
        F: Future<Output = Result<SqliteConnection>>,
    {
        let place = self.permit().await?;
        Ok(PooledConnection { connection: connect.await?, place })
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let _waiting = WaitingGuard::new(&self.waiting);
        if let Some(idle) = self.least_recently_used() {
            let PooledConnection { connection, place } = idle;
            // A reader has nothing to lose. Its thread is gone before another takes its place, unless a statement of a
            // caller that walked away runs on it for long.
            drop(tokio::time::timeout(BUSY_TIMEOUT, connection.close()).await);
            return Ok(place);
        }
        let waited = tokio::time::timeout(BUSY_TIMEOUT, Arc::clone(&self.places).acquire_owned()).await;
        let late = |_| Error::new(ErrorKind::Unavailable, "all readers of this process are busy");
        waited.map_err(late)?.map_err(|_| closed())
    }

    /// Takes an idle connection from the idle connections that was used least recently.
    fn least_recently_used(&self) -> Option<PooledConnection> {
        let shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known: Vec<Arc<IdleConnections>> = shelves.iter().filter_map(Weak::upgrade).collect();
        drop(shelves);
        known.sort_by_key(|idle_connections| idle_connections.used.load(Ordering::Relaxed));
        known.iter().find_map(|idle_connections| idle_connections.idle().pop())
    }

    /// Takes the newest idle connection of a space.
    pub(super) fn take(&self, from: &IdleConnections) -> Option<PooledConnection> {
        from.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        from.idle().pop()
    }

    /// Returns a connection that has answered: it is taken next.
    pub(super) fn put_back(&self, to: &IdleConnections, kept: PooledConnection) {
        to.idle().push(kept);
        self.give_way(to);
    }

    /// Returns a connection on which a statement may still run: it is taken last.
    pub(super) fn put_aside(&self, to: &IdleConnections, kept: PooledConnection) {
        to.idle().insert(0, kept);
        self.give_way(to);
    }

    /// Closes a connection for a waiting caller. A caller registered before this checks the shelves afterwards; a later one
    /// finds the connection there.
    fn give_way(&self, of: &IdleConnections) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(of.idle().pop());
        }
    }
}

impl IdleConnections {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<PooledConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes idle connections.
    pub(super) async fn clear(&self) {
        let idle = mem::take(&mut *self.idle());
        for kept in idle {
            // A reader has nothing to lose.
            drop(kept.connection.close().await);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.idle().len()
    }
}

/// Counts a caller as waiting for its own lifetime.
struct WaitingGuard<'b>(&'b AtomicUsize);

impl<'b> WaitingGuard<'b> {
    fn new(count: &'b AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use mnemal_core::EventStore as _;

    use super::*;
    use crate::SqliteStore;
    use crate::sqlite::readers::Readers;

    async fn spaces(count: usize, budget: &Arc<Budget>) -> (tempfile::TempDir, Vec<Readers>) {
        let folder = tempfile::tempdir().unwrap();
        let mut readers = Vec::new();
        for number in 0..count {
            let path = folder.path().join(format!("space-{number}.db"));
            let store = SqliteStore::open(&path).await.unwrap();
            assert_eq!(store.head().await.unwrap(), mnemal_core::Cursor::START);
            store.close().await.unwrap();
            let connect = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
            readers.push(Readers::new(connect, 4, Arc::clone(budget)));
        }
        (folder, readers)
    }

    #[tokio::test]
    async fn many_spaces_share_few_connections_and_each_reads_its_own_file() {
        let budget = Arc::new(Budget::new(3));
        let (_folder, spaces) = spaces(10, &budget).await;
        for round in 0..30 {
            let number = round * 7 % 10;
            let mut reader = spaces[number].take().await.unwrap();
            let sql = "select file from pragma_database_list where name = 'main'";
            let rows = crate::sqlite::driver::rows(reader.connection().unwrap(), sql, Vec::new()).await;
            let file = reader.finish(rows).unwrap().remove(0).text().unwrap();
            assert!(file.ends_with(&format!("space-{number}.db")), "{file}");
            let open = spaces.iter().map(Readers::idle).sum::<usize>();
            assert!(open <= 3, "{open} connections are open");
        }
    }

    #[tokio::test]
    async fn a_space_waits_where_no_connection_is_idle_and_gets_the_next_one() {
        let budget = Arc::new(Budget::new(1));
        let (_folder, spaces) = spaces(2, &budget).await;
        let reader = spaces[0].take().await.unwrap();
        let mut waiting = Box::pin(spaces[1].take());
        for _ in 0..10 {
            assert!(futures_now(&mut waiting).is_none());
            tokio::task::yield_now().await;
        }
        drop(reader.finish(Ok(())));
        assert!(waiting.await.is_ok());
        assert_eq!(spaces[0].idle(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_place_ends_with_the_busy_timeout() {
        let budget = Arc::new(Budget::new(0));
        let (_folder, spaces) = spaces(1, &budget).await;
        let refused = spaces[0].take().await.err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(refused.what().contains("busy"), "{refused}");
    }

    fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
