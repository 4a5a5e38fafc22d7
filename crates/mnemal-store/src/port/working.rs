//! Working memory.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{Error, KeyPrefix, Result, Timestamp, WorkingEntry, WorkingKey};

use crate::codec::corrupt;
use crate::row::working as row;
use crate::sql::{Row, Sql, Step, Transaction, Value, Work};
use crate::{removal, statement};

pub(crate) async fn put(
    sql: &dyn Sql,
    key: &WorkingKey,
    entry: &WorkingEntry,
    room: NonZeroUsize,
) -> Result<Vec<(WorkingKey, Timestamp)>> {
    let gone = EvictedKeys::default();
    let body = row::write(entry)?;
    let put =
        PutEntry { key: key.clone(), expires_at: entry.expires_at, body, room, gone: Arc::clone(&gone) };
    sql.commit(Box::new(put)).await?;
    Ok(std::mem::take(&mut *gone.lock().unwrap_or_else(PoisonError::into_inner)))
}

pub(crate) async fn get(sql: &dyn Sql, key: &WorkingKey) -> Result<WorkingEntry> {
    let mut rows = sql.rows(statement::WORKING, vec![key.as_str().into()]).await?;
    let row = rows.first_mut().ok_or_else(|| Error::not_found(format!("nothing under {key}")))?;
    row::read(&row.text()?)
}

pub(crate) async fn list(sql: &dyn Sql, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
    let steps = match prefixes.iter().map(bounds).collect() {
        Some(bounds) => statement::WORKING_BELOW.steps(bounds),
        None => vec![Step::new(statement::WORKING_ALL, Vec::new())],
    };
    let mut found = BTreeMap::new();
    for step in steps {
        for mut row in sql.rows(step.sql, step.args).await? {
            found.insert(key(&mut row)?, row::read(&row.text()?)?);
        }
    }
    Ok(found.into_iter().collect())
}

pub(crate) async fn remove(sql: &dyn Sql, prefix: &KeyPrefix) -> Result<u64> {
    commit(
        sql,
        "working",
        match bounds(prefix) {
            Some(bounds) => Step::new(removal::DELETE_WORKING_BELOW, bounds),
            None => Step::new(removal::DELETE_WORKING_ALL, Vec::new()),
        },
    )
    .await
}

pub(crate) async fn sweep(sql: &dyn Sql, at: Timestamp) -> Result<u64> {
    swept(sql, || Step::new(removal::SWEEP_WORKING, vec![at.into(), SWEPT.into()])).await
}

/// Rows that a sweep removes in one transaction, so that it stays short. Source: ADR 9.
pub(super) const SWEPT: u64 = 100;

/// Sweeps in small steps until nothing is left; `some` removes at most [`SWEPT`] rows. Returns the number of removed rows.
pub(super) async fn swept(sql: &dyn Sql, some: impl Fn() -> Step) -> Result<u64> {
    let mut all = 0;
    loop {
        let gone = commit(sql, "sweep", some()).await?;
        all += gone;
        if gone < SWEPT {
            return Ok(all);
        }
    }
}

/// Runs one statement in a transaction, and returns how many rows it touched.
async fn commit(sql: &dyn Sql, kind: &'static str, step: Step) -> Result<u64> {
    sql.commit(Box::new(OneStep { kind, step: Some(step) })).await
}

#[derive(Debug)]
struct OneStep {
    kind: &'static str,
    step: Option<Step>,
}

#[async_trait]
impl Work for OneStep {
    fn kind(&self) -> &'static str {
        self.kind
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        match self.step.take() {
            Some(step) => transaction.run(step).await,
            None => Ok(0),
        }
    }
}

/// Returns the key equal to a prefix, and the bounds of the keys below it; nothing for the prefix of every key.
fn bounds(prefix: &KeyPrefix) -> Option<Vec<Value>> {
    let path = prefix.as_str();
    // `0` is the character behind `/`.
    (!path.is_empty()).then(|| vec![path.into(), format!("{path}/").into(), format!("{path}0").into()])
}

fn key(row: &mut Row) -> Result<WorkingKey> {
    WorkingKey::new(&row.text()?).map_err(|error| corrupt("a stored key is not one").because(error))
}

type EvictedKeys = Arc<Mutex<Vec<(WorkingKey, Timestamp)>>>;

/// Stores an entry and evicts others beyond the room.
#[derive(Debug)]
struct PutEntry {
    key: WorkingKey,
    expires_at: Timestamp,
    body: String,
    room: NonZeroUsize,
    gone: EvictedKeys,
}

#[async_trait]
impl Work for PutEntry {
    fn kind(&self) -> &'static str {
        "working"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let (key, namespace) = (Value::from(self.key.as_str()), self.key.namespace());
        let space = || Value::from(namespace.as_str());
        let args = vec![key.clone(), space(), self.expires_at.into(), std::mem::take(&mut self.body).into()];
        transaction.run(Step::rows(statement::PUT_WORKING, args, 1)).await?;
        let room = self.room.get();
        let mut gone = Vec::new();
        for mut row in transaction.rows(statement::WORKING_BEYOND, vec![space(), key, room.into()]).await? {
            gone.push((self::key(&mut row)?, row.time()?));
        }
        for (key, _) in &gone {
            transaction.run(Step::rows(removal::DELETE_WORKING, vec![key.as_str().into()], 1)).await?;
        }
        *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = gone;
        Ok(0)
    }
}
