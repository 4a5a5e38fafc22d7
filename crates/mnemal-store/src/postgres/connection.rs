//! One connection: prepared statements, and trips of several statements at once.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::maybe_done;
use mnemal_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage, Statement};

use super::dialect::translated;
use super::failure::{LOST, failed};
use super::scope::scoped;
use super::value::{Column, Parameter};
use crate::sql::{Row, Value};

/// Time limit of a trip. A proxy can acknowledge bytes that no server will answer, so that no limit of the network helps.
///
/// Source: own default, above the 15 s that a write waits for its lock.
pub(super) const DEADLINE: Duration = Duration::from_secs(30);
/// Most prepared statements of a connection; beyond it all are dropped.
///
/// Source: own default; 120 statements cost the server some five megabytes.
const MOST_STATEMENTS: usize = 256;

/// One statement with its values.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) sql: &'static str,
    pub(super) args: Vec<Value>,
}

/// The answer to a statement.
#[derive(Debug, Default)]
pub(super) struct StatementResult {
    pub(super) rows: Vec<tokio_postgres::Row>,
    /// Affected rows; those that were returned for a query.
    pub(super) touched: u64,
}

impl StatementResult {
    /// Returns the rows with their values.
    pub(super) fn values(&self) -> Result<Vec<Row>> {
        self.rows.iter().map(values).collect()
    }
}

fn values(row: &tokio_postgres::Row) -> Result<Row> {
    let value = |place: usize| row.try_get::<_, Column>(place).map(|column| column.0).map_err(unreadable);
    let values: Vec<Value> = (0..row.len()).map(value).collect::<Result<_>>()?;
    Ok(Row(values.into_iter()))
}

/// Makes the error for a column of another type than the statement asks for.
pub(super) fn unreadable(error: tokio_postgres::Error) -> Error {
    Error::new(ErrorKind::Corrupt, "a column cannot be read").because(error)
}

/// What is sent before or after the statements of a trip.
#[derive(Clone, Copy, Debug)]
enum TripPart<'m> {
    /// Statements without values and rows.
    Plain(&'m str),
    Prepared(&'m Statement, &'m [Parameter]),
}

/// An open connection.
pub(super) struct Connection {
    client: Client,
    /// Reads and writes the socket until the client is dropped.
    socket: JoinHandle<()>,
    prepared: HashMap<&'static str, Statement>,
    /// Set by a warning of the server.
    warned: Arc<AtomicBool>,
    /// The space that the session is set to, outside of a transaction.
    space: Option<i64>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Connection").field("space", &self.space).finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A socket that nobody reads any more would else wait for a server that does not answer.
        self.socket.abort();
    }
}

impl Connection {
    /// Takes over a new connection. Must be called within a tokio runtime, which then runs its socket.
    pub(super) fn new<S, T>(client: Client, mut socket: tokio_postgres::Connection<S, T>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let warned = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&warned);
        let read = poll_fn(move |context| {
            loop {
                match socket.poll_message(context) {
                    Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) if notice.severity() == "WARNING" => {
                        seen.store(true, Ordering::Release);
                    }
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        #[expect(clippy::disallowed_methods, reason = "the socket of the store; the connection ends it")]
        let socket = tokio::spawn(read);
        Self { client, socket, prepared: HashMap::new(), warned, space: None }
    }

    /// Whether the connection has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The space that the session is set to.
    pub(super) fn space(&self) -> Option<i64> {
        self.space
    }

    /// Whether the server warned of something since [`forget_warning`](Self::forget_warning). A commit that was cancelled while
    /// it waited for a standby succeeds with a warning.
    pub(super) fn is_warned(&self) -> bool {
        self.warned.load(Ordering::Acquire)
    }

    /// Forgets that the server warned.
    pub(super) fn forget_warning(&self) {
        self.warned.store(false, Ordering::Release);
    }

    /// Runs statements without values.
    pub(super) async fn plain(&mut self, sql: &str) -> Result<()> {
        self.sent(vec![TripPart::Plain(sql)]).await.map(drop)
    }

    /// Runs statements without values, and returns the columns of their rows as texts.
    pub(super) async fn texts(&self, sql: &str) -> Result<Vec<String>> {
        let answers = timely(self.client.simple_query(sql)).await?.map_err(failed)?;
        let mut texts = Vec::new();
        for answer in answers {
            if let SimpleQueryMessage::Row(row) = answer {
                texts.extend((0..row.len()).map(|place| row.get(place).unwrap_or_default().to_owned()));
            }
        }
        Ok(texts)
    }

    /// Reads in a space, outside of a transaction.
    pub(super) async fn read(&mut self, space: i64, query: Query) -> Result<StatementResult> {
        let before = (self.space != Some(space)).then(|| format!("set mnemal.space = '{space}'"));
        if before.is_some() {
            self.space = None;
        }
        let mut answers = self.trip(space, before.as_deref(), vec![query], None).await?;
        self.space = Some(space);
        Ok(answers.pop().unwrap_or_default())
    }

    /// Sends statements at once, between two without values, and returns the answers to those with values. After an error the
    /// others were not run, if they belong to one transaction.
    pub(super) async fn trip(
        &mut self,
        space: i64,
        before: Option<&str>,
        queries: Vec<Query>,
        after: Option<&str>,
    ) -> Result<Vec<StatementResult>> {
        self.prepare(&queries).await?;
        let parameters = |args: Vec<Value>| {
            let all = args.into_iter().chain([Value::Int(space)]);
            all.map(Parameter).collect::<Vec<_>>()
        };
        let ready: Vec<(&Statement, Vec<Parameter>)> = queries
            .into_iter()
            .filter_map(|query| Some((self.prepared.get(query.sql)?, parameters(query.args))))
            .collect();
        let prepared = ready.iter().map(|(statement, parameters)| TripPart::Prepared(statement, parameters));
        let messages: Vec<TripPart<'_>> = before
            .map(TripPart::Plain)
            .into_iter()
            .chain(prepared)
            .chain(after.map(TripPart::Plain))
            .collect();
        let mut answers = self.sent(messages).await?;
        if before.is_some() && !answers.is_empty() {
            answers.remove(0);
        }
        if after.is_some() {
            answers.pop();
        }
        Ok(answers)
    }

    /// Prepares the statements that are not, at once.
    async fn prepare(&mut self, queries: &[Query]) -> Result<()> {
        if self.prepared.len() + queries.len() > MOST_STATEMENTS {
            self.prepared.clear();
        }
        let mut missing: Vec<(&'static str, String, Vec<Type>)> = Vec::new();
        for query in queries.iter().filter(|query| !self.prepared.contains_key(query.sql)) {
            if missing.iter().any(|(sql, ..)| *sql == query.sql) {
                continue;
            }
            let mut text = scoped(&translated(query.sql))?;
            if text.parameters != query.args.len() {
                return Err(Error::internal("a statement and its values differ in number"));
            }
            let types = query.args.iter().chain([&Value::Int(0)]).map(Parameter::of).collect::<Vec<_>>();
            missing.push((query.sql, std::mem::take(&mut text.text), types));
        }
        if missing.is_empty() {
            return Ok(());
        }
        let client = &self.client;
        let prepare = missing.iter().map(|(_, text, types)| client.prepare_typed(text, types)).collect();
        let prepared = timely(in_order(prepare)).await?;
        let named = missing.iter().map(|(sql, ..)| *sql).zip(prepared);
        for (sql, statement) in named.collect::<Vec<_>>() {
            self.prepared.insert(sql, statement.map_err(failed)?);
        }
        Ok(())
    }

    /// Prepares one statement, for the test that prepares all of them.
    #[cfg(all(test, feature = "postgres-tests"))]
    pub(super) async fn prepared_with(&mut self, query: Query) -> Result<()> {
        self.prepare(&[query]).await
    }

    async fn sent(&self, messages: Vec<TripPart<'_>>) -> Result<Vec<StatementResult>> {
        let answers = messages.into_iter().map(|message| self.answer(message)).collect();
        timely(in_order(answers)).await?.into_iter().map(|answer| answer.map_err(failed)).collect()
    }

    async fn answer(
        &self,
        message: TripPart<'_>,
    ) -> std::result::Result<StatementResult, tokio_postgres::Error> {
        match message {
            TripPart::Plain(sql) => self.client.batch_execute(sql).await.map(|()| StatementResult::default()),
            TripPart::Prepared(statement, parameters) => {
                let mut stream = Box::pin(self.client.query_raw(statement, parameters).await?);
                let mut rows = Vec::new();
                while let Some(row) = stream.try_next().await? {
                    rows.push(row);
                }
                Ok(StatementResult { rows, touched: stream.rows_affected().unwrap_or_default() })
            }
        }
    }
}

/// Ends what takes too long.
async fn timely<T>(work: impl Future<Output = T>) -> Result<T> {
    timeout(DEADLINE, work).await.map_err(|late| Error::new(ErrorKind::Unavailable, LOST).because(late))
}

/// Runs futures together, each polled after the ones before it, so that what they send arrives in their order.
async fn in_order<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.into_iter().map(|future| Box::pin(maybe_done(future))).collect();
    poll_fn(|context| {
        let mut is_pending = false;
        for future in &mut all {
            is_pending |= future.as_mut().poll(context).is_pending();
        }
        if is_pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.into_iter().filter_map(|mut future| Pin::as_mut(&mut future).take_output()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test]
    async fn futures_begin_in_their_order_and_all_are_answered() {
        let begun = RefCell::new(Vec::new());
        let one = |number: usize| {
            let begun = &begun;
            async move {
                begun.borrow_mut().push(number);
                for _ in 0..9 - number {
                    tokio::task::yield_now().await;
                }
                number
            }
        };
        assert_eq!(in_order((0..9).map(one).collect()).await, (0..9).collect::<Vec<_>>());
        assert_eq!(*begun.borrow(), (0..9).collect::<Vec<_>>());
    }
}
