//! The write transaction of a connection: it begins with its first statement and sends statements that return nothing along.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{Error, ErrorKind, Result};

use super::connection::{Query, StatementResult};
use super::failure::{is_lost, is_refusal};
use super::pool::{Pool, PooledConnection};
use crate::port::receipt::ShownCache;
use crate::sql::{Row, Step, Transaction, Value};

/// Error for a commit of which nobody said whether it happened.
pub(super) const UNKNOWN: &str = "the outcome of a commit is unknown, retry with the same key";
/// Error for a commit that is stored here, and perhaps on no standby.
const WARNED: &str = "the database warned of a commit, which may be on no standby; retry with the same key";
const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";
/// Time that a write waits for the lock of its space, in milliseconds. Source: the deadline of a write to a file, 15 s.
const PATIENCE: u32 = 15_000;

/// How a transaction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It has the space for itself: what it reads is what it changes. Commits are flushed.
    Locked,
    /// It touches rows of its own, and waits for no other.
    Shared,
    /// The same; its commit may be lost in a crash of the server.
    Unflushed,
}

impl Beginning {
    fn text(self, space: i64) -> String {
        // What waits for a lock must read what its holder wrote, whatever level the server has by default.
        let begin = format!("begin isolation level read committed; set local mnemal.space = '{space}'");
        match self {
            Self::Locked => format!(
                "{begin}; set local lock_timeout = {PATIENCE}; select 1 from space where space_id = {space} for update"
            ),
            Self::Shared => begin,
            Self::Unflushed => format!("{begin}; set local synchronous_commit = off"),
        }
    }
}

/// A transaction that is open, or begins with the first statement.
pub(super) struct OpenTransaction {
    connection: PooledConnection,
    space: i64,
    beginning: Beginning,
    begun: bool,
    waiting: Vec<Query>,
    /// Empty for each transaction: the next one of this space may have another connection, and other processes write too.
    shown: ShownCache,
}

impl OpenTransaction {
    /// Takes a connection; begins with the first statement.
    pub(super) async fn new(pool: &Arc<Pool>, space: i64, beginning: Beginning) -> Result<Self> {
        let connection = pool.take(Some(space)).await?;
        Ok(Self {
            connection,
            space,
            beginning,
            begun: false,
            waiting: Vec::new(),
            shown: ShownCache::default(),
        })
    }

    /// Commits, together with queued statements; after an error nothing of the transaction is open.
    pub(super) async fn commit(mut self) -> Result<()> {
        if !self.begun && self.waiting.is_empty() {
            return Ok(());
        }
        self.end(None).await.map(drop)
    }

    /// Rolls the transaction back.
    pub(super) async fn give_up(mut self) {
        self.roll_back().await;
    }

    async fn roll_back(&mut self) {
        self.waiting.clear();
        if std::mem::take(&mut self.begun) {
            let is_over = match self.connection.get() {
                Ok(connection) => connection.plain(ROLLBACK).await.is_ok(),
                Err(_) => false,
            };
            self.connection.is_clean = is_over;
        }
    }

    /// Sends queued statements with a last one, and commits.
    async fn end(&mut self, last: Option<Query>) -> Result<Vec<Row>> {
        let has_rows = last.is_some();
        self.waiting.extend(last);
        // A warning from before says nothing about this commit.
        self.connection.get()?.forget_warning();
        let ended = self.send(Some(COMMIT)).await;
        match ended {
            Ok(mut answers) => {
                self.begun = false;
                self.connection.is_clean = true;
                if self.connection.get()?.is_warned() {
                    return Err(Error::new(ErrorKind::Unavailable, WARNED));
                }
                match answers.pop().filter(|_| has_rows) {
                    Some(answer) => answer.values(),
                    None => Ok(Vec::new()),
                }
            }
            Err(error) if is_refusal(&error) => {
                self.roll_back().await;
                Err(error)
            }
            Err(error) => {
                self.begun = false;
                Err(Error::new(ErrorKind::Unavailable, UNKNOWN).because(error))
            }
        }
    }

    /// Sends queued statements in one trip; returns their answers.
    async fn send(&mut self, after: Option<&str>) -> Result<Vec<StatementResult>> {
        let queries = std::mem::take(&mut self.waiting);
        let before = (!self.begun).then(|| self.beginning.text(self.space));
        self.begun = true;
        // Until it is known how it ended: a dropped future leaves it open.
        self.connection.is_clean = false;
        let again = (before.is_some() && after.is_none()).then(|| queries.clone());
        let answers = self.connection.get()?.trip(self.space, before.as_deref(), queries, after).await;
        match (answers, again) {
            // The server was started anew since the connection was used. What has not begun to commit changed nothing.
            (Err(error), Some(queries)) if is_lost(&error) => {
                self.connection.renew().await?;
                self.connection.get()?.trip(self.space, before.as_deref(), queries, after).await
            }
            (answers, _) => answers,
        }
    }
}

#[async_trait]
impl Transaction for OpenTransaction {
    async fn rows(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        self.waiting.push(Query { sql, args });
        let answers = self.send(None).await?;
        answers.last().map_or(Ok(Vec::new()), StatementResult::values)
    }

    async fn run(&mut self, mut step: Step) -> Result<u64> {
        self.waiting.push(Query { sql: step.sql, args: std::mem::take(&mut step.args) });
        let answers = self.send(None).await?;
        step.judge(answers.last().map_or(0, |answer| answer.touched))
    }

    fn later(&mut self, sql: &'static str, args: Vec<Value>) {
        self.waiting.push(Query { sql, args });
    }

    async fn last(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>> {
        self.end(Some(Query { sql, args })).await
    }

    fn shown_cache(&mut self) -> &mut ShownCache {
        &mut self.shown
    }
}
