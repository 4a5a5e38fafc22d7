//! Maintenance common to all databases: missing index entries and unfinished forgets.

use std::collections::BTreeMap;

use mnemal_core::{BLOCK_ROWS, Error, Event, EventId, IndexEntry, Result, Seq};

use super::{index, log};
use crate::codec::decode;
use crate::reindex::Reindex;
use crate::sql::{Batch, Row, Sql, Step};
use crate::{removal, statement};

/// Blocks read at once.
///
/// Source: own default, about four megabytes.
const BLOCK_PAGE: usize = 16;
/// Events read at once.
///
/// Source: own default, the rows of a page of blocks.
const PAGE: usize = BLOCK_PAGE * BLOCK_ROWS;

/// First position of a block, and its rows unless they cannot be read.
type BlockRows = (u64, Option<Vec<(Seq, EventId)>>);

pub(crate) async fn damaged_index(sql: &dyn Sql) -> Result<Vec<(Seq, Seq)>> {
    let head = index::mark(sql).await?.head.count();
    let mut damaged = Vec::new();
    let mut open: BlockRows = (1, Some(Vec::new()));
    let mut after = 0_i64;
    loop {
        let page = sql.rows(statement::BLOCKS_FROM, vec![after.into(), BLOCK_PAGE.into()]).await?;
        let last_page = page.is_empty();
        for mut row in page {
            after = row.int()?;
            let (first, rows) = block_rows(after, &mut row);
            if first > head {
                break;
            }
            let before = std::mem::replace(&mut open, (first, rows));
            judge(sql, before, first.saturating_sub(1), &mut damaged).await?;
        }
        if last_page {
            judge(sql, open, head, &mut damaged).await?;
            return Ok(damaged);
        }
    }
}

fn block_rows(first: i64, row: &mut Row) -> BlockRows {
    let block = row.blob().and_then(|bytes| decode(&bytes)).ok();
    let rows = block.map(|block| block.seqs.into_iter().zip(block.events).collect());
    (u64::try_from(first).unwrap_or_default(), rows)
}

/// Compares a block with the events from its first position to the next block's.
async fn judge(
    sql: &dyn Sql,
    (first, rows): BlockRows,
    last: u64,
    damaged: &mut Vec<(Seq, Seq)>,
) -> Result<()> {
    if first > last {
        return Ok(());
    }
    let mut expected = Vec::new();
    let mut after = Seq(first.saturating_sub(1));
    while let Some(page) = Some(log::indexed(sql, after, PAGE).await?).filter(|page| !page.is_empty()) {
        after = page.last().map_or(after, |(seq, _)| *seq);
        expected.extend(page.into_iter().filter(|(seq, _)| seq.0 <= last));
        if after.0 >= last {
            break;
        }
    }
    if rows.is_some_and(|rows| rows == expected) {
        return Ok(());
    }
    let mut start = first;
    let mut rest = expected.chunks(BLOCK_ROWS).peekable();
    while let Some(chunk) = rest.next() {
        let full = chunk.last().filter(|_| rest.peek().is_some());
        let end = full.map_or(last, |(seq, _)| seq.0);
        damaged.push((Seq(start), Seq(end)));
        start = end + 1;
    }
    if expected.is_empty() {
        damaged.push((Seq(first), Seq(last)));
    }
    Ok(())
}

pub(crate) async fn reindex(sql: &dyn Sql, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64> {
    let by_seq: BTreeMap<Seq, (Event, IndexEntry)> =
        rows.iter().map(|row| (row.0.seq, row.clone())).collect();
    let inside = |seq: &Seq| (stretch.0..=stretch.1).contains(seq);
    if !by_seq.keys().all(inside) {
        return Err(Error::invalid(format!(
            "cannot index {} events anew as positions {} to {}",
            rows.len(),
            stretch.0.0,
            stretch.1.0
        )));
    }
    sql.commit(Box::new(Reindex { stretch, rows: by_seq.into_values().collect() })).await
}

pub(crate) async fn unfinished_forgets(sql: &dyn Sql) -> Result<Vec<EventId>> {
    let rows = sql.rows(statement::FORGETTING, Vec::new()).await?;
    rows.into_iter().map(|mut row| Ok(EventId(row.id()?))).collect()
}

pub(crate) async fn forgets_finished(sql: &dyn Sql, decisions: &[EventId]) -> Result<()> {
    let step = |id: &EventId| Step::new(removal::FINISH_FORGETTING, vec![(*id).into()]);
    sql.commit(Box::new(Batch::new("erase", decisions.iter().map(step).collect()))).await.map(drop)
}
