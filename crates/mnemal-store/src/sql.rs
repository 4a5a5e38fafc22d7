//! The database interface of the ports: statements written once, and transactions as data or as closures.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{AppendOutcome, Error, ErrorKind, EventId, IndexBlock, IndexMark, Result, Timestamp};

use crate::codec::corrupt;
use crate::entry::Prepared;
use crate::port::projection::LayerVersion;
use crate::port::receipt::ShownCache;
use crate::witness::Witness;

/// A database value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    /// Counts and positions stay far below 2⁶³.
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u8> for Value {
    fn from(value: u8) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::Int(value.as_micros())
    }
}

impl From<EventId> for Value {
    fn from(value: EventId) -> Self {
        Self::Blob(value.0.to_be_bytes().to_vec())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One result row; its values are taken in the order of the statement's columns.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) std::vec::IntoIter<Value>);

impl Row {
    /// Returns the values that were not taken yet.
    pub(crate) fn rest(&self) -> &[Value] {
        self.0.as_slice()
    }

    /// Takes the next value, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        self.0.next().unwrap_or(Value::Null)
    }

    pub(crate) fn opt_int(&mut self) -> Result<Option<i64>> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            _ => Err(corrupt("a column should hold a number")),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64> {
        self.opt_int()?.ok_or_else(|| corrupt("a number is missing"))
    }

    pub(crate) fn count(&mut self) -> Result<u64> {
        u64::try_from(self.int()?).map_err(|_| corrupt("a count is negative"))
    }

    pub(crate) fn code(&mut self) -> Result<u8> {
        u8::try_from(self.int()?).map_err(|_| corrupt("a code is out of range"))
    }

    pub(crate) fn opt_text(&mut self) -> Result<Option<String>> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            _ => Err(corrupt("a column should hold text")),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        self.opt_text()?.ok_or_else(|| corrupt("a text is missing"))
    }

    pub(crate) fn opt_blob(&mut self) -> Result<Option<Vec<u8>>> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Blob(value) => Ok(Some(value)),
            _ => Err(corrupt("a column should hold bytes")),
        }
    }

    pub(crate) fn blob(&mut self) -> Result<Vec<u8>> {
        self.opt_blob()?.ok_or_else(|| corrupt("bytes are missing"))
    }

    pub(crate) fn opt_id(&mut self) -> Result<Option<u128>> {
        let id = |bytes: Vec<u8>| <[u8; 16]>::try_from(bytes).map(u128::from_be_bytes);
        self.opt_blob()?.map(id).transpose().map_err(|_| corrupt("an id has the wrong length"))
    }

    pub(crate) fn id(&mut self) -> Result<u128> {
        self.opt_id()?.ok_or_else(|| corrupt("an id is missing"))
    }

    pub(crate) fn opt_time(&mut self) -> Result<Option<Timestamp>> {
        let time = |micros| Timestamp::from_micros(micros).map_err(|_| corrupt("a time is out of range"));
        self.opt_int()?.map(time).transpose()
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp> {
        self.opt_time()?.ok_or_else(|| corrupt("a time is missing"))
    }
}

/// The change state of the database, which invalidates caches: the index mark, and the versions of the projections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeState {
    pub(crate) mark: IndexMark,
    pub(crate) learnings: LayerVersion,
    pub(crate) graph: LayerVersion,
}

/// The number of rows that a statement must affect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expect {
    /// Exactly this many; else nothing is written and the answer is `Conflict`.
    Rows(u64),
    /// Any number.
    Any,
}

/// One statement with its expected number of rows.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) sql: &'static str,
    pub(crate) args: Vec<Value>,
    pub(crate) expect: Expect,
}

impl Step {
    pub(crate) fn new(sql: &'static str, args: Vec<Value>) -> Self {
        Self { sql, args, expect: Expect::Any }
    }

    pub(crate) fn rows(sql: &'static str, args: Vec<Value>, rows: u64) -> Self {
        Self { sql, args, expect: Expect::Rows(rows) }
    }

    /// Compares the affected with the expected number of rows.
    pub(crate) fn judge(&self, touched: u64) -> Result<u64> {
        match self.expect {
            Expect::Rows(expected) if expected != touched => {
                Err(Error::new(ErrorKind::Conflict, "somebody else changed the rows in between"))
            }
            Expect::Rows(_) | Expect::Any => Ok(touched),
        }
    }
}

/// An open write transaction.
#[async_trait]
pub(crate) trait Transaction: Send {
    async fn rows(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>>;

    async fn run(&mut self, step: Step) -> Result<u64>;

    /// Queues a statement for one of the next calls, or for the commit, which also report its error.
    fn later(&mut self, sql: &'static str, args: Vec<Value>);

    /// Runs a last statement, commits, and returns the rows; statements after it belong to a new transaction.
    async fn last(&mut self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>>;

    /// Returns the connection's cache of shown records; empty after a failed transaction.
    fn shown_cache(&mut self) -> &mut ShownCache;
}

/// Work within one write transaction; after [`last`](Transaction::last) it continues in another. It runs once.
#[async_trait]
pub(crate) trait Work: Debug + Send {
    /// Returns the kind under which write transactions are measured.
    fn kind(&self) -> &'static str;

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64>;
}

/// A transaction as data: all steps or none.
#[derive(Debug)]
pub(crate) struct Batch {
    kind: &'static str,
    steps: Vec<Step>,
}

impl Batch {
    /// Runs these steps.
    pub(crate) fn new(kind: &'static str, steps: Vec<Step>) -> Self {
        Self { kind, steps }
    }
}

#[async_trait]
impl Work for Batch {
    fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the number of rows affected by the steps with an expected number.
    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut touched = 0;
        for step in std::mem::take(&mut self.steps) {
            match step.expect {
                Expect::Rows(_) => touched += transaction.run(step).await?,
                Expect::Any => transaction.later(step.sql, step.args),
            }
        }
        Ok(touched)
    }
}

/// A database; every port is implemented once over this trait.
#[async_trait]
pub(crate) trait Sql: Debug + Send + Sync + 'static {
    /// Reads committed data.
    async fn rows(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<Row>>;

    /// Returns what this handle knows of the history of the space.
    fn witness(&self) -> &Witness;

    /// Returns the change state, if the current piece of work shares one check; it may be as old as that work.
    async fn state(&self) -> Option<Arc<ChangeState>>;

    /// Reads index blocks from the first column, without a copy of their bytes if the driver can avoid one.
    async fn blocks(&self, sql: &'static str, args: Vec<Value>) -> Result<Vec<IndexBlock>>;

    /// Runs work in one transaction, to its end even when the caller stops waiting.
    async fn commit(&self, work: Box<dyn Work>) -> Result<u64>;

    /// The same for data that a power cut may lose, all of it or nothing: it is visible at once, and is flushed with the next
    /// durable commit.
    async fn commit_for_now(&self, work: Box<dyn Work>) -> Result<u64>;

    /// The same for rows of a projection with its cursor: what a power cut loses of them is folded again from the log.
    async fn commit_projection(&self, work: Box<dyn Work>) -> Result<u64> {
        self.commit(work).await
    }

    /// Appends prepared entries, all or none, in one transaction that other callers may share.
    async fn append(&self, entries: Vec<Prepared>) -> Result<Vec<AppendOutcome>>;
}
