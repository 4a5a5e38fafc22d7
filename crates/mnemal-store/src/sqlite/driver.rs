//! SQLite driver of the ports: values, errors, and access to the writer.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{AppendOutcome, Error, ErrorKind, IndexBlock, Result};
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Arguments as _, Decode, Row as _, SqlSafeStr, Sqlite, TypeInfo as _, ValueRef as _};
use tokio::sync::{mpsc, oneshot};

use super::closed;
use super::damage::Damage;
use super::readers::Readers;
use super::table_repair::RebuiltTables;
use super::write_connection::Flush;
use super::write_timings::WriteTimings;
use super::writer::{ATTEMPTS, Job};
use crate::codec::{corrupt, decode};
use crate::entry::Prepared;
use crate::read_snapshot::{WriteCounter, shared_state};
use crate::sql::{ChangeState, Row, Sql, Value, Work};
use crate::witness::Witness;

/// The writer's queue and the readers.
#[derive(Debug)]
pub(super) struct SqliteDriver {
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) readers: Readers,
    pub(super) damage: Damage,
    pub(super) rebuilt: Arc<RebuiltTables>,
    pub(super) timings: Arc<WriteTimings>,
    pub(super) writes: WriteCounter,
    pub(super) witness: Witness,
}

impl SqliteDriver {
    /// Sends a job to the writer and waits for its answer.
    pub(super) async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Result<T>>) -> Job) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(job(answer)).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    pub(super) async fn close(&self) -> Result<()> {
        self.readers.close().await;
        self.ask(|answer| Job::Close { answer }).await
    }
}

#[async_trait]
impl Sql for SqliteDriver {
    async fn rows(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        let mut attempt = 1;
        loop {
            let mut reader = self.readers.take().await?;
            let answer = rows(reader.connection()?, sql, args.clone()).await;
            match reader.finish(answer) {
                Err(error) if is_busy(&error) && attempt < ATTEMPTS => attempt += 1,
                answer => return self.damage.noted(answer),
            }
        }
    }

    fn witness(&self) -> &Witness {
        &self.witness
    }

    async fn state(&self) -> Option<Arc<ChangeState>> {
        shared_state(self, &self.writes).await
    }

    async fn blocks(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<IndexBlock>> {
        let mut attempt = 1;
        let rows = loop {
            let mut reader = self.readers.take().await?;
            let query = sqlx::query_with(sql, arguments(args.clone())?);
            let answer = query.fetch_all(reader.connection()?).await.map_err(failed);
            match reader.finish(answer) {
                Err(error) if is_busy(&error) && attempt < ATTEMPTS => attempt += 1,
                answer => break self.damage.noted(answer)?,
            }
        };
        let block = |row: SqliteRow| decode(row.try_get::<&[u8], _>(0).map_err(failed)?);
        rows.into_iter().map(block).collect()
    }

    async fn commit(&self, work: Box<dyn Work>) -> Result<u64> {
        self.damage.admits_writes()?;
        let done = self.ask(|answer| Job::Work { work, flush: Flush::Now, answer }).await;
        self.writes.count();
        done
    }

    async fn commit_for_now(&self, work: Box<dyn Work>) -> Result<u64> {
        self.damage.admits_writes()?;
        self.ask(|answer| Job::Work { work, flush: Flush::Later, answer }).await
    }

    async fn commit_projection(&self, work: Box<dyn Work>) -> Result<u64> {
        let done = self.commit_for_now(work).await;
        self.writes.count();
        done
    }

    async fn append(&self, entries: Vec<Prepared>) -> Result<Vec<AppendOutcome>> {
        self.damage.admits_writes()?;
        let done = self.ask(|answer| Job::append(entries, answer)).await;
        self.writes.count();
        done
    }
}

/// Runs one text without reading rows; returns the number of affected rows.
pub(super) async fn execute(
    connection: &mut SqliteConnection,
    sql: &'static str,
    args: Vec<Value>,
) -> Result<u64> {
    let done = sqlx::query_with(sql, arguments(args)?).execute(connection).await.map_err(failed)?;
    Ok(done.rows_affected())
}

/// Runs one text and returns all its rows.
pub(super) async fn rows(
    connection: &mut SqliteConnection,
    sql: impl SqlSafeStr + Send,
    args: Vec<Value>,
) -> Result<Vec<Row>> {
    let rows = sqlx::query_with(sql, arguments(args)?).fetch_all(connection).await.map_err(failed)?;
    rows.into_iter().map(row).collect()
}

fn arguments(values: Vec<Value>) -> Result<SqliteArguments> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        match value {
            Value::Null => arguments.add(None::<i64>),
            Value::Int(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Blob(value) => arguments.add(value),
        }
        .map_err(|error| Error::internal("cannot bind a value").because(error))?;
    }
    Ok(arguments)
}

/// Converts a row; the driver's copy is freed at once, which matters for blocks.
#[expect(clippy::needless_pass_by_value, reason = "the row must not outlive its values")]
fn row(row: SqliteRow) -> Result<Row> {
    let value = |place: usize| -> Result<Value> {
        let raw = row.try_get_raw(place).map_err(failed)?;
        let unreadable = |_| corrupt("a column cannot be read");
        if raw.is_null() {
            return Ok(Value::Null);
        }
        let name = raw.type_info().into_owned();
        match name.name() {
            "INTEGER" => <i64 as Decode<Sqlite>>::decode(raw).map(Value::Int).map_err(unreadable),
            "TEXT" => <String as Decode<Sqlite>>::decode(raw).map(Value::Text).map_err(unreadable),
            "BLOB" => <Vec<u8> as Decode<Sqlite>>::decode(raw).map(Value::Blob).map_err(unreadable),
            _ => Err(corrupt("a column has a type that no statement asks for")),
        }
    };
    let values: Vec<Value> = (0..row.len()).map(value).collect::<Result<_>>()?;
    Ok(Row(values.into_iter()))
}

/// Error for a file without a database header.
pub(super) const NOT_A_DATABASE: &str = "the file is damaged or not a database";

/// Error for a resource held by another process; retry.
pub(super) const BUSY: &str = "another process holds the write lock";

/// Error for a full disk.
pub(super) const FULL: &str = "the disk is full";

/// Whether a retry may succeed.
pub(super) fn is_busy(error: &Error) -> bool {
    error.what() == BUSY
}

/// Names of SQLite's primary result codes; the low byte of the extended ones.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READ_ONLY: i32 = 8;
    pub(super) const IO: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    /// Too many lock conflicts on the write-ahead log.
    pub(super) const PROTOCOL: i32 = 15;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const NOT_A_DATABASE: i32 = 26;
}

/// Maps a driver error to an error kind; the driver's own error stays as the source.
pub(super) fn failed(error: sqlx::Error) -> Error {
    let (kind, what) = match &error {
        sqlx::Error::Database(cause) => match cause.code().and_then(|code| code.parse::<i32>().ok()) {
            Some(code) => classify(code & 0xff),
            None => (ErrorKind::Internal, "the database refused a statement"),
        },
        sqlx::Error::PoolClosed => (ErrorKind::Unavailable, "the store is closed"),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => (ErrorKind::Corrupt, "a row is damaged"),
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => {
            (ErrorKind::Unavailable, "the database does not answer")
        }
        _ => (ErrorKind::Internal, "the database driver failed"),
    };
    Error::new(kind, what).because(error)
}

fn classify(code: i32) -> (ErrorKind, &'static str) {
    match code {
        code::BUSY | code::LOCKED | code::PROTOCOL => (ErrorKind::Unavailable, BUSY),
        code::FULL => (ErrorKind::Unavailable, FULL),
        code::IO => (ErrorKind::Unavailable, "the disk cannot be read or written"),
        code::READ_ONLY => (ErrorKind::Unavailable, "the database file cannot be written"),
        code::CORRUPT => (ErrorKind::Corrupt, "the database file is damaged"),
        code::NOT_A_DATABASE => (ErrorKind::Corrupt, NOT_A_DATABASE),
        code::CONSTRAINT => (ErrorKind::Conflict, "an id or a key is known"),
        1 | 20 | 21 | 25 => (ErrorKind::Internal, "the database refused a statement"),
        _ => (ErrorKind::Unavailable, "the database file cannot be read or written"),
    }
}
