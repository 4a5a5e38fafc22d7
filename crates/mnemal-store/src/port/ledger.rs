//! The ledger of background work.

use std::num::NonZeroUsize;

use mnemal_core::{LedgerKind, LedgerLine, Result, Timestamp};

use super::working::{SWEPT, swept};
use crate::codec::corrupt;
use crate::row::ledger as row;
use crate::sql::{Batch, Row, Sql, Step};
use crate::{removal, statement};

pub(crate) async fn put(sql: &dyn Sql, lines: &[LedgerLine]) -> Result<()> {
    let rows = lines.iter().map(|line| {
        Ok(vec![
            line.kind.as_str().into(),
            line.key.as_str().into(),
            line.at.into(),
            row::write(line)?.into(),
        ])
    });
    let steps = statement::PUT_LEDGER.upserts(2, rows.collect::<Result<_>>()?);
    sql.commit(Box::new(Batch::new("ledger", steps))).await.map(drop)
}

pub(crate) async fn lines(sql: &dyn Sql, kind: LedgerKind, limit: NonZeroUsize) -> Result<Vec<LedgerLine>> {
    let rows = sql.rows(statement::LEDGER, vec![kind.as_str().into(), limit.get().into()]).await?;
    rows.into_iter().map(|row| line(kind, row)).collect()
}

pub(crate) async fn sweep(sql: &dyn Sql, kind: LedgerKind, before: Timestamp) -> Result<u64> {
    let args = || vec![kind.as_str().into(), before.into(), SWEPT.into()];
    swept(sql, || Step::new(removal::SWEEP_LEDGER, args())).await
}

fn line(kind: LedgerKind, mut row: Row) -> Result<LedgerLine> {
    let (key, at) = (row.text()?, row.time()?);
    row::read(&row.text()?, kind, key, at)
        .map_err(|error| corrupt("a line of the ledger is none").because(error))
}
