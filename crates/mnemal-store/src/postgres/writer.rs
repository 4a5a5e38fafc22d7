//! The writers of a space: take the queued work, commit once, and answer every caller.
//!
//! One has the space for itself, by the lock of its row, which other processes wait for. The other stores what needs no lock:
//! receipts, leases and the ledger. So a receipt never waits for an import.

use std::sync::Arc;

use mnemal_core::{AppendOutcome, BLOCK_ROWS, Error, ErrorKind, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::pool::Pool;
use super::transaction::{Beginning, OpenTransaction, UNKNOWN};
use crate::admit::Dimensions;
use crate::entry::Prepared;
use crate::seal::{SMALL, Seal};
use crate::sql::{Row, Transaction as _, Work};
use crate::{append, statement};

/// Events that close a group. Source: as in a file, a hundred events a commit share one flush.
const GROUP_EVENTS: usize = 100;
/// Bytes that close a group. Source: as in a file.
const GROUP_BYTES: usize = 1 << 20;
/// Jobs that wait in a queue; further callers wait before it. Source: own choice.
pub(super) const QUEUE: usize = 256;

type Responder<T> = oneshot::Sender<Result<T>>;

/// The answer to one caller's batch.
type BatchAnswer = Result<Vec<AppendOutcome>>;

/// Whether a group was sent before.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    First,
    /// It was, and the connection was lost while it was committed.
    AfterLoss,
}

/// A job of a writer.
#[derive(Debug)]
pub(super) enum WriteJob {
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

impl WriteJob {
    pub(super) fn append(entries: Vec<Prepared>, answer: Responder<Vec<AppendOutcome>>) -> Self {
        let bytes = entries.iter().map(Prepared::size).sum();
        Self::Append(Append { entries, bytes, answer })
    }
}

/// A writer with what it knows of its space.
#[derive(Debug)]
pub(super) struct SpaceWriter {
    pool: Arc<Pool>,
    space: i64,
    models: Dimensions,
    /// Rows in small blocks, as far as this process knows; `None` until the first append.
    small_rows: Option<usize>,
    /// Whether small blocks are left to merge.
    sealing: bool,
}

/// Starts a writer; it ends when no sender is left and the queue is empty.
pub(super) fn start(pool: Arc<Pool>, space: i64, mut queue: mpsc::Receiver<WriteJob>) -> JoinHandle<()> {
    let mut writer = SpaceWriter { pool, space, models: Dimensions::new(), small_rows: None, sealing: false };
    #[expect(clippy::disallowed_methods, reason = "the store's writer; the store joins it")]
    tokio::spawn(async move {
        let mut next = None;
        while let Some(job) = match next.take() {
            Some(job) => Some(job),
            None => queue.recv().await,
        } {
            match job {
                WriteJob::Append(first) => {
                    let (group, other) = gather(first, &mut queue);
                    next = other;
                    writer.append(group).await;
                }
                WriteJob::Work { mut work, beginning, answer } => {
                    reply(answer, writer.work(work.as_mut(), beginning).await);
                }
            }
        }
    })
}

/// Reads how many rows are in small blocks: processes that end early leave theirs to the next one.
async fn small_rows(open: &mut OpenTransaction) -> Result<usize> {
    let mut rows = open.rows(statement::SMALL_ROWS, vec![SMALL.into()]).await?;
    let rows = rows.first_mut().map(Row::count).transpose()?.unwrap_or_default();
    Ok(usize::try_from(rows).unwrap_or(usize::MAX))
}

/// Collects the queued appends after the first one, until the group is full or another job comes.
fn gather(first: Append, queue: &mut mpsc::Receiver<WriteJob>) -> (Vec<Append>, Option<WriteJob>) {
    let (mut events, mut bytes) = (first.entries.len(), first.bytes);
    let mut group = vec![first];
    while events < GROUP_EVENTS && bytes < GROUP_BYTES {
        match queue.try_recv() {
            Ok(WriteJob::Append(more)) => {
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

impl SpaceWriter {
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
        if self.small_rows.is_some_and(|rows| rows >= BLOCK_ROWS) {
            self.small_rows = Some(0);
            self.sealing = true;
        }
        if self.sealing {
            // A little behind each append. A block that cannot be merged stays as it is; a check says why.
            self.sealing = matches!(self.work(&mut Seal, Beginning::Locked).await, Ok(1..));
        }
    }

    /// Appends the batches of several callers; a commit that was lost is looked for once, and made again if it did not happen.
    async fn write(&mut self, group: &[Append]) -> Result<Vec<BatchAnswer>> {
        let batches: Vec<&[Prepared]> = group.iter().map(|append| append.entries.as_slice()).collect();
        match self.write_once(&batches, Attempt::First).await {
            Err(error) if error.what() == UNKNOWN => self.write_once(&batches, Attempt::AfterLoss).await,
            done => done,
        }
    }

    /// Appends in one transaction; after an error no transaction is open.
    ///
    /// After a loss the lock of the space waits for the end of the lost transaction, so that it is then known what is stored.
    async fn write_once(&mut self, batches: &[&[Prepared]], attempt: Attempt) -> Result<Vec<BatchAnswer>> {
        let mut open = OpenTransaction::new(&self.pool, self.space, Beginning::Locked).await?;
        let stored = match attempt {
            Attempt::First => Ok(vec![None; batches.len()]),
            Attempt::AfterLoss => append::stored_outcomes(batches, &mut open).await,
        };
        let done = match stored {
            Ok(stored) => self.append_rest(batches, stored, &mut open).await,
            Err(error) => Err(error),
        };
        let done = match done {
            Ok((answers, true)) => match open.commit().await {
                Ok(()) => return Ok(answers),
                Err(error) => Err(error),
            },
            Ok((answers, false)) => {
                open.give_up().await;
                Ok(answers)
            }
            Err(error) => {
                open.give_up().await;
                Err(error)
            }
        };
        // A model among them may be stored nowhere; they are read again when they are needed.
        self.models.clear();
        done
    }

    /// Appends the batches that are not stored; returns all answers, and whether anything was written.
    async fn append_rest(
        &mut self,
        batches: &[&[Prepared]],
        stored: Vec<Option<Vec<AppendOutcome>>>,
        open: &mut OpenTransaction,
    ) -> Result<(Vec<BatchAnswer>, bool)> {
        let missing = batches.iter().zip(&stored).filter(|(_, stored)| stored.is_none());
        let missing: Vec<&[Prepared]> = missing.map(|(batch, _)| *batch).collect();
        let small_rows = match self.small_rows {
            Some(rows) => rows,
            None => small_rows(open).await?,
        };
        let outcome = append::append(&missing, &mut self.models, open).await?;
        let indexed = usize::try_from(outcome.indexed).unwrap_or(usize::MAX);
        self.small_rows = Some(if indexed < SMALL { small_rows + indexed } else { small_rows });
        let mut answers = outcome.answers.into_iter();
        let none = || Err(Error::internal("a batch without an answer"));
        let answer = |known: Option<Vec<AppendOutcome>>| match known {
            Some(known) => Ok(known),
            None => answers.next().unwrap_or_else(none),
        };
        Ok((stored.into_iter().map(answer).collect(), outcome.wrote))
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
