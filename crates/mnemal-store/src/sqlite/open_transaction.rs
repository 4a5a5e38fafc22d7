//! The write transaction of a connection: it begins with its first statement and batches statements that return nothing.

use async_trait::async_trait;
use mnemal_core::{Error, ErrorKind, Result};
use sqlx::sqlite::SqliteConnection;

use super::driver::{FULL, execute, is_busy};
use super::statement_pipeline::Pipeline;
use super::writer::{ATTEMPTS, BEGIN, COMMIT, rollback};
use crate::port::receipt::ShownCache;
use crate::sql::{Row, Step, Transaction, Value};

/// A transaction that is open, or begins with the first statement.
pub(super) struct OpenTransaction<'c> {
    connection: &'c mut SqliteConnection,
    begun: bool,
    waiting: Vec<(&'static str, Vec<Value>)>,
    shown: &'c mut ShownCache,
}

impl<'c> OpenTransaction<'c> {
    /// Begins with the first statement.
    pub(super) fn new(connection: &'c mut SqliteConnection, shown: &'c mut ShownCache) -> Self {
        Self { connection, begun: false, waiting: Vec::new(), shown }
    }

    /// Runs statements on a connection without a transaction.
    pub(super) fn as_it_is(connection: &'c mut SqliteConnection, shown: &'c mut ShownCache) -> Self {
        Self { connection, begun: true, waiting: Vec::new(), shown }
    }

    /// Commits, together with queued statements; after an error nothing of the transaction is open.
    pub(super) async fn commit(mut self) -> Result<()> {
        if !self.begun && self.waiting.is_empty() {
            return Ok(());
        }
        self.end().await.map(drop)
    }

    /// Sends queued statements and commits; returns the rows.
    async fn end(&mut self) -> Result<Vec<Row>> {
        let done = self.send(Some((COMMIT, Vec::new()))).await;
        self.begun = false;
        match done {
            Ok(rows) => Ok(rows),
            Err(error) => {
                rollback(self.connection).await;
                self.shown.forget();
                let refused =
                    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Internal | ErrorKind::Corrupt);
                // What did not fit cannot be committed.
                if refused || error.what() == FULL {
                    return Err(error);
                }
                let what = "the outcome of a commit is unknown, retry with the same key";
                Err(Error::new(ErrorKind::Unavailable, what).because(error))
            }
        }
    }

    /// Rolls the transaction back.
    pub(super) async fn give_up(self) {
        self.shown.forget();
        if self.begun {
            rollback(self.connection).await;
        }
    }

    /// Sends queued statements, then `last`, in as few round trips as possible; returns all rows.
    async fn send(&mut self, last: Option<(&'static str, Vec<Value>)>) -> Result<Vec<Row>> {
        let (mut pipeline, mut rows) = (Pipeline::default(), Vec::new());
        if !self.begun {
            pipeline.add(BEGIN, Vec::new());
        }
        for (sql, values) in std::mem::take(&mut self.waiting).into_iter().chain(last) {
            if !pipeline.fits(sql, &values) {
                rows.append(&mut self.travel(std::mem::take(&mut pipeline)).await?);
            }
            pipeline.add(sql, values);
        }
        if !pipeline.is_empty() {
            rows.append(&mut self.travel(pipeline).await?);
        }
        Ok(rows)
    }

    /// Runs one round trip; if it takes the write lock, it is retried while another process holds it.
    async fn travel(&mut self, pipeline: Pipeline) -> Result<Vec<Row>> {
        if self.begun {
            return pipeline.run(self.connection).await;
        }
        let mut attempt = 1;
        loop {
            match pipeline.clone().run(self.connection).await {
                Ok(rows) => {
                    self.begun = true;
                    return Ok(rows);
                }
                Err(error) => {
                    rollback(self.connection).await;
                    if !is_busy(&error) || attempt == ATTEMPTS {
                        return Err(error);
                    }
                    attempt += 1;
                }
            }
        }
    }
}

#[async_trait]
impl Transaction for OpenTransaction<'_> {
    async fn rows(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        self.send(Some((sql, args))).await
    }

    async fn run(&mut self, mut step: Step) -> Result<u64> {
        self.send(None).await?;
        let touched = execute(self.connection, step.sql, std::mem::take(&mut step.args)).await?;
        step.judge(touched)
    }

    fn later(&mut self, sql: &'static str, args: Vec<Value>) {
        self.waiting.push((sql, args));
    }

    async fn last(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        self.waiting.push((sql, args));
        self.end().await
    }

    fn shown_cache(&mut self) -> &mut ShownCache {
        self.shown
    }
}
