//! The writers of a space: take the queued work, commit once, and answer every caller.
//!
//! One has the space for itself, by the lock of its row, which other processes wait for. The other stores what needs no lock:
//! receipts, leases and the ledger. So a receipt never waits for an import.

use std::sync::Arc;

use mnemal_core::{AppendOutcome, BLOCK_ROWS, Error, ErrorKind, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::pool::Pool;
use super::transaction::{Beginning, OpenTransaction};
use crate::admit::Dimensions;
use crate::append;
use crate::entry::Prepared;
use crate::seal::{SMALL, Seal};
use crate::sql::Work;

/// Events that close a group. Source: as in a file, a hundred events a commit share one flush.
const GROUP_EVENTS: usize = 100;
/// Bytes that close a group. Source: as in a file.
const GROUP_BYTES: usize = 1 << 20;
/// Jobs that wait in a queue; further callers wait before it. Source: own choice.
pub(super) const QUEUE: usize = 256;

type Responder<T> = oneshot::Sender<Result<T>>;

/// A job of a writer.
#[derive(Debug)]
pub(super) enum Job {
    /// Append entries; may share its transaction with others.
    Append(Append),
    /// Run work in its own transaction.
    Work { work: Box<dyn Work>, beginning: Beginning, answer: Responder<u64> },
}

/// One caller's entries.
#[derive(Debug)]
pub(super) struct Append {
    entries: Vec<Prepared>,
    bytes: usize,
    answer: Responder<Vec<AppendOutcome>>,
}

impl Job {
    pub(super) fn append(entries: Vec<Prepared>, answer: Responder<Vec<AppendOutcome>>) -> Self {
        let bytes = entries.iter().map(Prepared::size).sum();
        Self::Append(Append { entries, bytes, answer })
    }
}

/// A writer with what it knows of its space.
#[derive(Debug)]
pub(super) struct Writer {
    pool: Arc<Pool>,
    space: i64,
    models: Dimensions,
    /// Rows added in small blocks since the last merge.
    small_rows: usize,
    /// Whether small blocks are left to merge.
    sealing: bool,
}

/// Starts a writer; it ends when no sender is left and the queue is empty.
pub(super) fn start(pool: Arc<Pool>, space: i64, mut queue: mpsc::Receiver<Job>) -> JoinHandle<()> {
    let mut writer = Writer { pool, space, models: Dimensions::new(), small_rows: 0, sealing: false };
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
                Job::Work { mut work, beginning, answer } => {
                    reply(answer, writer.work(work.as_mut(), beginning).await);
                }
            }
        }
    })
}

/// Collects the queued appends after the first one, until the group is full or another job comes.
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
fn reply<T>(answer: Responder<T>, result: Result<T>) {
    drop(answer.send(result));
}

impl Writer {
    /// Writes a group; if the database rejects it because of one caller's entries, each is tried alone.
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
        if self.small_rows >= BLOCK_ROWS {
            self.small_rows = 0;
            self.sealing = true;
        }
        if self.sealing {
            // A little behind each append. A block that cannot be merged stays as it is; a check says why.
            self.sealing = matches!(self.work(&mut Seal, Beginning::Locked).await, Ok(1..));
        }
    }

    /// Appends the batches of several callers in one transaction; after an error no transaction is open.
    async fn write(&mut self, group: &[Append]) -> Result<Vec<Result<Vec<AppendOutcome>>>> {
        let batches: Vec<&[Prepared]> = group.iter().map(|append| append.entries.as_slice()).collect();
        // After an error they are read again when they are needed.
        let mut models = std::mem::take(&mut self.models);
        let mut open = OpenTransaction::new(&self.pool, self.space, Beginning::Locked).await?;
        match append::append(&batches, &mut models, &mut open).await {
            Ok(outcome) => {
                if outcome.wrote {
                    open.commit().await?;
                    self.models = models;
                } else {
                    open.give_up().await;
                }
                let indexed = usize::try_from(outcome.indexed).unwrap_or(usize::MAX);
                if indexed < SMALL {
                    self.small_rows += indexed;
                }
                Ok(outcome.answers)
            }
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }

    /// Runs work in its own transaction; after an error no transaction is open.
    async fn work(&mut self, work: &mut dyn Work, beginning: Beginning) -> Result<u64> {
        let mut open = OpenTransaction::new(&self.pool, self.space, beginning).await?;
        match work.run(&mut open).await {
            Ok(answer) => open.commit().await.map(|()| answer),
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        }
    }
}
