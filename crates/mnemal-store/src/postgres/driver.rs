//! PostgreSQL driver of the ports: one space of a database.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{AppendOutcome, Error, ErrorKind, IndexBlock, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::connection::{Query, StatementResult, unreadable};
use super::failure::is_lost;
use super::pool::Pool;
use super::transaction::Beginning;
use super::writer::{QUEUE, WriteJob, start};
use crate::codec::decode;
use crate::entry::Prepared;
use crate::read_snapshot::{WriteCounter, shared_state};
use crate::sql::{ChangeState, Row, Sql, Value, Work};
use crate::witness::Witness;

/// Attempts to read, each on another connection. Source: as in a file.
const ATTEMPTS: usize = 3;
/// Kinds of work that need no lock: each writes rows that no other work reads before it writes them.
const LOCK_FREE: [&str; 2] = ["lease", "ledger"];

/// The queues of the two writers; none after the space was closed.
#[derive(Debug)]
struct Queues {
    /// For work that has the space for itself.
    locked: mpsc::Sender<WriteJob>,
    /// For the rest.
    shared: mpsc::Sender<WriteJob>,
}

/// A space, through the connections of its process.
#[derive(Debug)]
pub(super) struct PostgresDriver {
    pub(super) pool: Arc<Pool>,
    space: i64,
    queues: Mutex<Option<Queues>>,
    writers: Mutex<Vec<JoinHandle<()>>>,
    writes: WriteCounter,
    witness: Witness,
}

impl PostgresDriver {
    /// Starts the writers. Must be called within a tokio runtime, which then runs them.
    pub(super) fn new(pool: Arc<Pool>, space: i64) -> Self {
        let (locked, of_locked) = mpsc::channel(QUEUE);
        let (shared, of_shared) = mpsc::channel(QUEUE);
        let writers = [of_locked, of_shared].map(|queue| start(Arc::clone(&pool), space, queue));
        Self {
            pool,
            space,
            queues: Mutex::new(Some(Queues { locked, shared })),
            writers: Mutex::new(writers.into()),
            writes: WriteCounter::default(),
            witness: Witness::default(),
        }
    }

    /// Ends the writers after what is queued.
    pub(super) async fn close(&self) -> Result<()> {
        drop(self.queues.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            writer.await.map_err(|error| Error::internal("a writer did not end").because(error))?;
        }
        Ok(())
    }

    /// Returns the queue for a beginning.
    fn queue(&self, beginning: Beginning) -> Result<mpsc::Sender<WriteJob>> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queues = queues.as_ref().ok_or_else(closed)?;
        Ok(if beginning == Beginning::Locked { queues.locked.clone() } else { queues.shared.clone() })
    }

    /// Sends a job to its writer and waits for its answer.
    async fn ask<T>(
        &self,
        beginning: Beginning,
        job: impl FnOnce(oneshot::Sender<Result<T>>) -> WriteJob,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.queue(beginning)?.send(job(answer)).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    async fn work(&self, work: Box<dyn Work>, beginning: Beginning) -> Result<u64> {
        self.ask(beginning, |answer| WriteJob::Work { work, beginning, answer }).await
    }

    /// Reads; a connection that was lost is replaced.
    async fn read(&self, sql: &'static str, args: Vec<Value>) -> Result<StatementResult> {
        // A closed space answers nothing.
        self.queue(Beginning::Shared)?;
        let mut attempt = 1;
        loop {
            let mut connection = self.pool.take(Some(self.space)).await?;
            let query = Query { sql, args: args.clone() };
            let answer = connection.get()?.read(self.space, query).await;
            connection.is_clean = !answer.as_ref().is_err_and(is_lost);
            if connection.is_clean || attempt == ATTEMPTS {
                return answer;
            }
            attempt += 1;
        }
    }
}

/// Makes the error for a closed space.
fn closed() -> Error {
    Error::new(ErrorKind::Unavailable, "the store is closed")
}

#[async_trait]
impl Sql for PostgresDriver {
    async fn rows(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        self.read(sql, args).await?.values()
    }

    fn witness(&self) -> &Witness {
        &self.witness
    }

    async fn state(&self) -> Option<Arc<ChangeState>> {
        shared_state(self, &self.writes).await
    }

    async fn blocks(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<IndexBlock>> {
        let answer = self.read(sql, args).await?;
        answer.rows.iter().map(|row| decode(row.try_get::<_, &[u8]>(0).map_err(unreadable)?)).collect()
    }

    async fn commit(&self, work: Box<dyn Work>) -> Result<u64> {
        let beginning = if LOCK_FREE.contains(&work.kind()) { Beginning::Shared } else { Beginning::Locked };
        let done = self.work(work, beginning).await;
        self.writes.count();
        done
    }

    async fn commit_for_now(&self, work: Box<dyn Work>) -> Result<u64> {
        self.work(work, Beginning::Unflushed).await
    }

    async fn append(&self, entries: Vec<Prepared>) -> Result<Vec<AppendOutcome>> {
        let done = self.ask(Beginning::Locked, |answer| WriteJob::append(entries, answer)).await;
        self.writes.count();
        done
    }
}
