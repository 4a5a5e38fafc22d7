//! The one task that writes: it takes what is queued, commits once, and answers every caller.

use std::mem;

use mnemal_core::{Appended, BLOCK_ROWS, Error, ErrorKind, Result};
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::driver::rows;
use super::open_transaction::Open;
use crate::admit::Dimensions;
use crate::append;
use crate::entry::Prepared;
use crate::seal::{SMALL, Seal};
use crate::sql::Work;

/// Events that close a group.
///
/// Source: RELIABILITY 2.3.
const GROUP_EVENTS: usize = 100;
/// Bytes that close a group.
///
/// Source: RELIABILITY 2.3.
const GROUP_BYTES: usize = 1 << 20;
/// Attempts to get the write lock, each of at most the busy timeout.
///
/// Source: own default; three times 5 s is the deadline of a write.
pub(super) const ATTEMPTS: usize = 3;

pub(super) const BEGIN: &str = "begin immediate";
pub(super) const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";
const CHECKPOINT: &str =
    "pragma busy_timeout = 0; pragma wal_checkpoint(truncate); pragma busy_timeout = 5000";

type Answer<T> = oneshot::Sender<Result<T>>;

/// What the writer is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Append entries; may share its transaction with others.
    Append(Append),
    /// Run work in a transaction of its own.
    Work { work: Box<dyn Work>, answer: Answer<u64> },
    /// Try once to empty the write-ahead log; answers whether that worked.
    Checkpoint { answer: Answer<bool> },
    /// Empty the write-ahead log and end.
    Close { answer: Answer<()> },
}

/// One caller's entries.
#[derive(Debug)]
pub(super) struct Append {
    entries: Vec<Prepared>,
    bytes: usize,
    answer: Answer<Vec<Appended>>,
}

impl Job {
    pub(super) fn append(entries: Vec<Prepared>, answer: Answer<Vec<Appended>>) -> Self {
        let bytes = entries.iter().map(Prepared::size).sum();
        Self::Append(Append { entries, bytes, answer })
    }
}

/// The write connection and what is known of the file.
#[derive(Debug)]
pub(super) struct Writer {
    connection: SqliteConnection,
    models: Dimensions,
    small_rows: u64,
}

/// Starts the writer; it ends with [`Job::Close`], or when nobody can ask any more.
pub(super) fn start(mut writer: Writer, mut queue: mpsc::Receiver<Job>) -> JoinHandle<()> {
    #[expect(clippy::disallowed_methods, reason = "the store's writer; the store joins it")]
    tokio::spawn(async move {
        let mut next = None;
        while let Some(job) = match next.take() {
            Some(job) => Some(job),
            None => queue.recv().await,
        } {
            match job {
                Job::Append(first) => {
                    let (group, other) = gather(first, &mut queue);
                    next = other;
                    writer.append(group).await;
                }
                Job::Work { mut work, answer } => reply(answer, writer.work(work.as_mut()).await),
                Job::Checkpoint { answer } => reply(answer, writer.checkpoint().await),
                Job::Close { answer } => {
                    queue.close();
                    reply(answer, writer.close().await);
                    return;
                }
            }
        }
        // Nobody is left to hear whether this worked; the next open finds the write-ahead log.
        drop(writer.close().await);
    })
}

/// Takes what is queued behind the first append, until the group is full or another job comes.
fn gather(first: Append, queue: &mut mpsc::Receiver<Job>) -> (Vec<Append>, Option<Job>) {
    let (mut events, mut bytes) = (first.entries.len(), first.bytes);
    let mut group = vec![first];
    while events < GROUP_EVENTS && bytes < GROUP_BYTES {
        match queue.try_recv() {
            Ok(Job::Append(more)) => {
                events += more.entries.len();
                bytes += more.bytes;
                group.push(more);
            }
            Ok(other) => return (group, Some(other)),
            Err(_) => break,
        }
    }
    (group, None)
}

/// Answers a caller; one that has stopped waiting is no error.
fn reply<T>(answer: Answer<T>, result: Result<T>) {
    drop(answer.send(result));
}

impl Writer {
    pub(super) fn new(connection: SqliteConnection, models: Dimensions, small_rows: u64) -> Self {
        Self { connection, models, small_rows }
    }

    /// Writes a group; where one caller's entries make the database refuse, each is tried alone.
    async fn append(&mut self, group: Vec<Append>) {
        match self.write(&group).await {
            Ok(answers) => {
                for (append, result) in group.into_iter().zip(answers) {
                    reply(append.answer, result);
                }
            }
            Err(error) if group.len() > 1 && error.kind() == ErrorKind::Conflict => {
                for append in group {
                    let answer = self.write(std::slice::from_ref(&append)).await;
                    let first = answer.map(|answers| answers.into_iter().next());
                    let missing = || Err(Error::internal("a batch without an answer"));
                    reply(append.answer, first.and_then(|result| result.unwrap_or_else(missing)));
                }
            }
            Err(error) => {
                for append in group {
                    reply(append.answer, Err(Error::new(error.kind(), error.what())));
                }
            }
        }
        if self.small_rows >= BLOCK_ROWS as u64 {
            self.small_rows = 0;
            // A block that cannot be merged stays as it is; `check` says why.
            drop(self.work(&mut Seal).await);
        }
    }

    async fn write(&mut self, group: &[Append]) -> Result<Vec<Result<Vec<Appended>>>> {
        let batches: Vec<&[Prepared]> = group.iter().map(|append| append.entries.as_slice()).collect();
        let mut models = mem::take(&mut self.models);
        let mut open = Open::new(&mut self.connection);
        match append::append(&batches, &mut models, &mut open).await {
            Ok(outcome) if outcome.wrote => {
                open.commit().await?;
                self.models = models;
                if outcome.indexed < SMALL as u64 {
                    self.small_rows += outcome.indexed;
                }
                Ok(outcome.answers)
            }
            Ok(outcome) => {
                open.give_up().await;
                Ok(outcome.answers)
            }
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }

    async fn work(&mut self, work: &mut dyn Work) -> Result<u64> {
        let mut open = Open::new(&mut self.connection);
        match work.run(&mut open).await {
            Ok(answer) => open.commit().await.map(|()| answer),
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }

    async fn checkpoint(&mut self) -> Result<bool> {
        for mut row in rows(&mut self.connection, CHECKPOINT, Vec::new()).await? {
            if row.rest().len() == 3 {
                return Ok(row.int()? == 0);
            }
        }
        Ok(false)
    }

    async fn close(mut self) -> Result<()> {
        let emptied = self.checkpoint().await;
        self.connection.close().await.map_err(super::driver::failed)?;
        emptied.map(drop)
    }
}

/// Takes the write lock.
pub(super) async fn begin(connection: &mut SqliteConnection) -> Result<()> {
    let mut attempt = 1;
    loop {
        match rows(connection, BEGIN, Vec::new()).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Unavailable && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Commits; after an error nothing of the transaction is open.
pub(super) async fn commit(connection: &mut SqliteConnection) -> Result<()> {
    match rows(connection, COMMIT, Vec::new()).await {
        Ok(_) => Ok(()),
        Err(error) => {
            rollback(connection).await;
            let what = "the outcome of a commit is unknown, retry with the same key";
            Err(Error::new(ErrorKind::Unavailable, what).because(error))
        }
    }
}

/// Gives a transaction up; that there is none any more is no error.
pub(super) async fn rollback(connection: &mut SqliteConnection) {
    drop(rows(connection, ROLLBACK, Vec::new()).await);
}
