//! Leases.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{Acquisition, Error, ErrorKind, Lease, LeaseName, OwnerId, Result, Timestamp};

use crate::codec::corrupt;
use crate::sql::{Batch, Row, Sql, Step, Transaction, Value, Work};
use crate::statement;

pub(crate) async fn acquire(
    sql: &dyn Sql,
    name: &LeaseName,
    owner: &OwnerId,
    at: Timestamp,
    ttl: Duration,
) -> Result<Acquisition> {
    let (until, answer) = (Lease::end(at, ttl)?, TurnSlot::default());
    let take = TakeLease { name: name.clone(), owner: owner.clone(), at, until, answer: Arc::clone(&answer) };
    sql.commit(Box::new(take)).await?;
    let turn = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
    turn.ok_or_else(|| Error::internal("a lease without an answer"))
}

pub(crate) async fn renew(sql: &dyn Sql, lease: &Lease, at: Timestamp, ttl: Duration) -> Result<Lease> {
    let until = Lease::end(at, ttl)?;
    let mut args = named(lease);
    args.extend([until.into(), at.into(), Lease::latest_end(at).into()]);
    let moved =
        sql.commit(Box::new(Batch::new("lease", vec![Step::rows(statement::RENEW_LEASE, args, 1)]))).await;
    match moved {
        Ok(_) => Ok(Lease { until, ..lease.clone() }),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(lost(lease)),
        Err(error) => Err(error),
    }
}

pub(crate) async fn release(sql: &dyn Sql, lease: &Lease) -> Result<()> {
    let step = Step::new(statement::RELEASE_LEASE, named(lease));
    sql.commit(Box::new(Batch::new("lease", vec![step]))).await.map(drop)
}

pub(crate) async fn holder(sql: &dyn Sql, name: &LeaseName) -> Result<Option<Lease>> {
    let mut rows = sql.rows(statement::LEASE, vec![name.as_str().into()]).await?;
    rows.first_mut().map(|row| read(name, row)).transpose()
}

/// Makes the error for a lease with another owner.
pub(crate) fn lost(lease: &Lease) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("cannot renew lease {} of {}: it has run out or was taken over", lease.name, lease.owner),
    )
}

fn named(lease: &Lease) -> Vec<Value> {
    vec![lease.name.as_str().into(), lease.owner.as_str().into(), lease.turn.into()]
}

fn read(name: &LeaseName, row: &mut Row) -> Result<Lease> {
    let (owner, turn, until) = (owner(row.text()?)?, row.count()?, row.time()?);
    Ok(Lease { name: name.clone(), owner, turn, until })
}

fn owner(name: String) -> Result<OwnerId> {
    OwnerId::new(name).map_err(|_| corrupt("a lease has no owner"))
}

type TurnSlot = Arc<Mutex<Option<Acquisition>>>;

/// Takes a lease in one statement, or reads its holder.
#[derive(Debug)]
struct TakeLease {
    name: LeaseName,
    owner: OwnerId,
    at: Timestamp,
    until: Timestamp,
    answer: TurnSlot,
}

impl TakeLease {
    async fn take(&self, transaction: &mut dyn Transaction) -> Result<Acquisition> {
        let args = vec![
            self.name.as_str().into(),
            self.owner.as_str().into(),
            self.until.into(),
            self.at.into(),
            Lease::latest_end(self.at).into(),
        ];
        if let Some(row) = transaction.rows(statement::TAKE_LEASE, args).await?.first_mut() {
            let (turn, left_by) = (row.count()?, row.opt_text()?.map(owner).transpose()?);
            let lease = Lease { name: self.name.clone(), owner: self.owner.clone(), turn, until: self.until };
            return Ok(Acquisition::Acquired { lease, left_by });
        }
        let mut rows = transaction.rows(statement::LEASE, vec![self.name.as_str().into()]).await?;
        let row = rows.first_mut().ok_or_else(|| corrupt("a lease is neither free nor held"))?;
        read(&self.name, row).map(Acquisition::Held)
    }
}

#[async_trait]
impl Work for TakeLease {
    fn kind(&self) -> &'static str {
        "lease"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let turn = self.take(transaction).await?;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
        Ok(0)
    }
}
