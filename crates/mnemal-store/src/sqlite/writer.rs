//! The writer task: takes the queued work, commits once, and answers every caller.

use std::sync::Arc;

use mnemal_core::{AppendOutcome, Error, ErrorKind, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::append_priority::{AT_MOST, AppendSeries};
use super::checkpointer::Checkpointer;
use super::driver::{is_busy, rows};
use super::table_repair::{self, RebuiltTables};
use super::write_connection::{Flush, WriteConnection};
use super::write_timings::WriteTimings;
use crate::entry::Prepared;
use crate::seal::Seal;
use crate::sql::Work;

/// Events that close a group.
///
/// Source: own choice; a hundred events a commit share one flush.
const GROUP_EVENTS: usize = 100;
/// Bytes that close a group.
///
/// Source: own choice.
const GROUP_BYTES: usize = 1 << 20;
/// Attempts to get the write lock, each of at most the busy timeout.
///
/// Source: own default; three times 5 s is the deadline of a write.
pub(super) const ATTEMPTS: usize = 3;

/// Jobs between two checks of the write-ahead log's length: in between it grows by less than its limit.
///
/// Source: own default; a job writes some hundred pages at most, and a check is a round trip to the connection.
const LOOK_EVERY: u64 = 16;

pub(super) const BEGIN: &str = "begin immediate";
pub(super) const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";

type Responder<T> = oneshot::Sender<Result<T>>;

/// A job of the writer.
#[derive(Debug)]
pub(super) enum Job {
    /// Append entries; may share its transaction with others.
    Append(Append),
    /// Run work in its own transaction.
    Work { work: Box<dyn Work>, flush: Flush, answer: Responder<u64> },
    /// Try once to truncate the write-ahead log; returns whether that worked.
    Checkpoint { answer: Responder<bool> },
    /// Rewrite every page.
    Repack { answer: Responder<()> },
    /// Truncate the write-ahead log and end.
    Close { answer: Responder<()> },
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

/// The writer with its connection, which is opened with the first job and again after a failure.
#[derive(Debug)]
pub(super) struct Writer {
    connect: SqliteConnectOptions,
    checkpointer: Checkpointer,
    ready: Option<WriteConnection>,
    /// Jobs since the last check of the write-ahead log.
    unseen: u64,
    /// Whether small blocks are left to merge.
    sealing: bool,
    /// The current series of appends.
    series: AppendSeries,
    timings: Arc<WriteTimings>,
    rebuilt: Arc<RebuiltTables>,
}

/// Starts the writer; it ends with [`Job::Close`], or when no sender is left.
pub(super) fn start(mut writer: Writer, mut queue: mpsc::Receiver<Job>) -> JoinHandle<()> {
    #[expect(clippy::disallowed_methods, reason = "the store's writer; the store joins it")]
    tokio::spawn(async move {
        let mut next = None;
        while let Some(job) = match next.take() {
            Some(job) => Some(job),
            None => queue.recv().await,
        } {
            match job {
                Job::Append(first) => next = writer.group(first, &mut queue).await,
                Job::Work { mut work, flush, answer } => {
                    next = writer.give_way(&mut queue).await;
                    reply(answer, writer.work(work.as_mut(), flush).await);
                    writer.series.interrupted();
                }
                Job::Checkpoint { answer } => reply(answer, writer.checkpoint().await),
                Job::Repack { answer } => reply(answer, writer.repack().await),
                Job::Close { answer } => {
                    queue.close();
                    reply(answer, writer.close().await);
                    return;
                }
            }
            writer.look().await;
        }
        // No caller is left to hear the result; the next open finds the write-ahead log.
        drop(writer.close().await);
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
    /// Opens nothing yet.
    pub(super) fn new(connect: SqliteConnectOptions, checkpointer: Checkpointer) -> Self {
        let (series, timings, rebuilt) = (AppendSeries::default(), Arc::default(), Arc::default());
        Self { connect, checkpointer, ready: None, unseen: 0, sealing: false, series, timings, rebuilt }
    }

    /// Returns the recorder of transaction timings.
    pub(super) fn timings(&self) -> Arc<WriteTimings> {
        Arc::clone(&self.timings)
    }

    /// Returns the record of rebuilt tables.
    pub(super) fn rebuilt_tables(&self) -> Arc<RebuiltTables> {
        Arc::clone(&self.rebuilt)
    }

    /// Returns the connection; opens it if there is none.
    async fn ready(&mut self) -> Result<&mut WriteConnection> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => WriteConnection::open(&self.connect).await?,
        };
        Ok(self.ready.insert(ready))
    }

    /// Closes a connection whose state is unknown after an error; the next job opens another.
    async fn settle<T>(&mut self, done: Result<T>) -> Result<T> {
        let error = match done {
            Err(error) if is_failure(&error) => error,
            done => return done,
        };
        let Some(mut ready) = self.ready.take() else { return Err(error) };
        let error = if is_busy(&error) { ready.name_holders(error).await } else { error };
        // With it goes whatever it has left open.
        drop(ready.close().await);
        Err(error)
    }

    /// Writes an append with the queued ones after it; returns the other job that followed them, if any.
    async fn group(&mut self, first: Append, queue: &mut mpsc::Receiver<Job>) -> Option<Job> {
        self.series.comes(Instant::now());
        let (group, other) = gather(first, queue);
        self.append(group).await;
        self.series.record_end(Instant::now());
        other
    }

    /// Writes appends before other work, as long as the next append is due; returns the job that came instead of one.
    async fn give_way(&mut self, queue: &mut mpsc::Receiver<Job>) -> Option<Job> {
        // Whether one came in time depends on the machine, and a seed must give one order.
        if self.checkpointer.is_inline() {
            return None;
        }
        let limit = Instant::now() + AT_MOST;
        while let Some(due) = self.series.due(Instant::now()).filter(|_| Instant::now() < limit) {
            match timeout_at(due, queue.recv()).await {
                Ok(Some(Job::Append(first))) => {
                    let other = self.group(first, queue).await;
                    self.look().await;
                    if other.is_some() {
                        return other;
                    }
                }
                Ok(other) => return other,
                Err(_) => self.series.ends(),
            }
        }
        None
    }

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
        self.sealing |= self.ready.as_mut().is_some_and(WriteConnection::may_seal);
        if self.sealing {
            // A little behind each append. A block that cannot be merged stays as it is; `check` says why.
            self.sealing = matches!(self.work(&mut Seal, Flush::Now).await, Ok(1..));
        }
    }

    /// Checks after some jobs whether the write-ahead log has become long, and at once after a background checkpoint, because
    /// each job adds to the rest.
    async fn look(&mut self) {
        self.unseen += 1;
        if (self.unseen >= LOOK_EVERY || self.checkpointer.is_over())
            && let Some(ready) = &mut self.ready
        {
            self.unseen = 0;
            // A log that stays long is taken over by a commit, and a connection that has failed tells the next job.
            drop(self.checkpointer.look(ready).await);
        }
    }

    /// Writes a group; if the database rejects it because a table is missing, the table is rebuilt first.
    async fn write(&mut self, group: &[Append]) -> Result<Vec<Result<Vec<AppendOutcome>>>> {
        match self.write_once(group).await {
            Err(error) if error.kind() == ErrorKind::Internal && self.rebuilt().await => {
                self.write_once(group).await
            }
            done => done,
        }
    }

    /// Rebuilds missing tables; returns whether there were any. If that fails, the original error is reported.
    async fn rebuilt(&mut self) -> bool {
        let made = table_repair::mend_beside(&self.connect).await.unwrap_or_default();
        self.rebuilt.note(&made);
        !made.is_empty()
    }

    async fn write_once(&mut self, group: &[Append]) -> Result<Vec<Result<Vec<AppendOutcome>>>> {
        let batches: Vec<&[Prepared]> = group.iter().map(|append| append.entries.as_slice()).collect();
        let timings = self.timings();
        let done = match self.ready().await {
            Ok(ready) => timings.of("append", ready.append(&batches)).await,
            Err(error) => Err(error),
        };
        self.settle(done).await
    }

    async fn work(&mut self, work: &mut dyn Work, flush: Flush) -> Result<u64> {
        let (timings, kind) = (self.timings(), work.kind());
        let done = match self.ready().await {
            Ok(ready) => timings.of(kind, ready.work(work, flush)).await,
            Err(error) => Err(error),
        };
        if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Internal) {
            // The work cannot be done twice; the next one finds the tables.
            self.rebuilt().await;
        }
        self.settle(done).await
    }

    async fn checkpoint(&mut self) -> Result<bool> {
        self.checkpointer.joined().await;
        let done = match self.ready().await {
            Ok(ready) => ready.checkpoint().await,
            Err(error) => Err(error),
        };
        self.settle(done).await
    }

    async fn repack(&mut self) -> Result<()> {
        self.checkpointer.joined().await;
        let done = match self.ready().await {
            Ok(ready) => ready.repack().await,
            Err(error) => Err(error),
        };
        self.settle(done).await
    }

    /// Empties the write-ahead log and closes the connection, if there was a job for it.
    async fn close(mut self) -> Result<()> {
        self.checkpointer.joined().await;
        let Some(mut ready) = self.ready.take() else { return Ok(()) };
        let emptied = ready.checkpoint().await;
        ready.close().await?;
        emptied.map(drop)
    }
}

/// Whether an error concerns the connection rather than the statement.
fn is_failure(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Corrupt | ErrorKind::Internal)
}

/// Takes the write lock.
pub(super) async fn begin(connection: &mut SqliteConnection) -> Result<()> {
    let mut attempt = 1;
    loop {
        match rows(connection, BEGIN, Vec::new()).await {
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && attempt < ATTEMPTS => attempt += 1,
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

/// Rolls a transaction back; a missing one is no error.
pub(super) async fn rollback(connection: &mut SqliteConnection) {
    drop(rows(connection, ROLLBACK, Vec::new()).await);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_trait::async_trait;
    use mnemal_core::{
        Cursor, EventFilter, EventStore as _, IndexStore as _, LeaseName, LeaseStore as _, OwnerId,
        Timestamp, Upkeep as _,
    };
    use mnemal_testkit::Records;
    use sqlx::ConnectOptions as _;

    use super::*;
    use crate::SqliteStore;
    use crate::sql::{Batch, Row, Step, Transaction};
    use crate::sqlite::Options;
    use crate::sqlite::open::connect_options;
    use crate::statement;

    async fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        (folder, store)
    }

    fn batch() -> Batch {
        Batch::new("test", vec![Step::rows(statement::MORE_VECTORS, Vec::new(), 1)])
    }

    // proves: D4, DF-74 (the deadline of a write, and who may be in the way)
    #[tokio::test]
    async fn a_lock_that_is_never_released_is_unavailable_and_names_who_has_the_lease() {
        let (_folder, store) = store().await;
        let (name, owner) = (LeaseName::new("background").unwrap(), OwnerId::new("server-7").unwrap());
        let _turn = store.acquire(&name, &owner, Timestamp::EPOCH, Duration::from_secs(30)).await.unwrap();
        let mut holder = connect_options(store.path(), Options::default()).connect().await.unwrap();
        begin(&mut holder).await.unwrap();
        let impatient =
            connect_options(store.path(), Options::default()).busy_timeout(Duration::from_millis(1));
        let mut writer = Writer::new(impatient, Checkpointer::inline());
        let refused = writer.work(&mut batch(), Flush::Now).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(refused.what().contains("server-7 has the lease background"), "{refused}");
        assert!(!refused.what().contains("database is locked"));
        assert_eq!(store.head().await.unwrap(), Cursor::START, "a reader does not wait for the lock");
        let other = SqliteStore::open(store.path()).await.unwrap();
        assert_eq!(other.head().await.unwrap(), Cursor::START, "opening does not wait for it either");
        other.close().await.unwrap();
        rollback(&mut holder).await;
        assert_eq!(writer.work(&mut batch(), Flush::Now).await.unwrap(), 1);
        writer.close().await.unwrap();
    }

    /// Writes more than one trip takes, asks with the commit how often it wrote, and writes once more.
    #[derive(Debug)]
    struct Last;

    #[async_trait]
    impl Work for Last {
        fn kind(&self) -> &'static str {
            "test"
        }

        async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
            for _ in 0..20 {
                transaction.later(statement::MORE_VECTORS, Vec::new());
            }
            let mut rows = transaction.last(statement::MARK, vec![0_u64.into()]).await?;
            transaction.later(statement::MORE_VECTORS, Vec::new());
            let [row] = rows.as_mut_slice() else { return Err(Error::internal("no row")) };
            let (_head, _forgets) = (row.count()?, row.count()?);
            row.count()
        }
    }

    #[tokio::test]
    async fn a_last_statement_answers_with_the_commit_however_many_trips_it_took() {
        let (_folder, store) = store().await;
        let mut writer =
            Writer::new(connect_options(store.path(), Options::default()), Checkpointer::inline());
        assert_eq!(writer.work(&mut Last, Flush::Now).await.unwrap(), 20);
        assert_eq!(store.mark().await.unwrap().vectors, 21, "what comes behind it is another transaction");
        writer.close().await.unwrap();
        store.close().await.unwrap();
    }

    /// Counts events, in a transaction of its own.
    #[derive(Debug)]
    struct Count;

    #[async_trait]
    impl Work for Count {
        fn kind(&self) -> &'static str {
            "test"
        }

        async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
            transaction.rows(statement::MARK, vec![0_u64.into()]).await?.first_mut().map_or(Ok(0), Row::count)
        }
    }

    /// Asks for so many appends one after the other, then at once for a count and for another append; answers the count.
    async fn counted(checkpointer: Checkpointer, appends: u64) -> u64 {
        let (_folder, store) = store().await;
        let (jobs, queue) = mpsc::channel(8);
        let ended =
            start(Writer::new(connect_options(store.path(), Options::default()), checkpointer), queue);
        let mut records = Records::new(1);
        let mut append = || {
            let (answer, answered) = oneshot::channel();
            let prepared = Prepared::new(&records.turn("s", "again").unwrap()).unwrap();
            jobs.try_send(Job::append(vec![prepared], answer)).unwrap();
            answered
        };
        for _ in 0..appends {
            append().await.unwrap().unwrap();
        }
        let (answer, counted) = oneshot::channel();
        jobs.try_send(Job::Work { work: Box::new(Count), flush: Flush::Now, answer }).unwrap();
        append().await.unwrap().unwrap();
        let counted = counted.await.unwrap().unwrap();
        drop(jobs);
        ended.await.unwrap();
        counted
    }

    // The clock stands still, so every append comes soon.
    #[tokio::test(start_paused = true)]
    async fn the_next_append_of_a_series_goes_before_other_work() {
        let beside = |store: &str| Checkpointer::beside(connect_options(store.as_ref(), Options::default()));
        assert_eq!(counted(beside("unused"), 1).await, 1, "a single append makes no series");
        assert_eq!(counted(beside("unused"), 3).await, 4);
        assert_eq!(counted(Checkpointer::inline(), 3).await, 3, "a seed gives one order");
    }

    // proves: D3 (a full disk)
    #[tokio::test]
    async fn a_full_disk_is_unavailable_and_what_comes_later_is_written() {
        let (_folder, store) = store().await;
        let mut records = Records::new(1);
        let first = records.turn("s", "small").unwrap();
        store.append(std::slice::from_ref(&first)).await.unwrap();
        let full = connect_options(store.path(), Options::default()).pragma("max_page_count", "40");
        let mut writer = Writer::new(full, Checkpointer::inline());
        let large = records.keyed("s", &"large ".repeat(40_000), "k").unwrap();
        let (answer, answered) = oneshot::channel();
        let Job::Append(append) = Job::append(vec![Prepared::new(&large).unwrap()], answer) else {
            panic!("an append is an append");
        };
        writer.append(vec![append]).await;
        let refused = answered.await.unwrap().unwrap_err();
        assert_eq!((refused.kind(), refused.what()), (ErrorKind::Unavailable, "the disk is full"));
        assert!(writer.ready.is_none(), "the next job opens a connection anew");
        assert_eq!(writer.work(&mut batch(), Flush::Now).await.unwrap(), 1, "what fits is written");
        writer.close().await.unwrap();
        let everything = EventFilter::all();
        let all = || store.scan(&everything, Cursor::START, std::num::NonZeroUsize::MAX);
        assert_eq!(all().await.unwrap().len(), 1, "nothing of the refused event is there");
        store.append(std::slice::from_ref(&large)).await.unwrap();
        assert!(
            !store.append(std::slice::from_ref(&large)).await.unwrap()[0].fresh,
            "the retry has one effect"
        );
        assert_eq!(all().await.unwrap().len(), 2);
        assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    }

    #[tokio::test]
    async fn reading_opens_no_write_connection() {
        let (_folder, store) = store().await;
        let mut writer =
            Writer::new(connect_options(store.path(), Options::default()), Checkpointer::inline());
        assert!(writer.ready.is_none());
        assert!(writer.checkpoint().await.unwrap());
        assert!(writer.ready.is_some());
        writer.close().await.unwrap();
    }
}
