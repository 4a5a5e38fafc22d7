//! The recall index.

use std::num::NonZeroUsize;

use mnemal_core::{BLOCK_ROWS, Cursor, EventId, IndexBlock, IndexMark, ModelId, Result, Seq, Vector};

use crate::block::retain;
use crate::codec::corrupt;
use crate::sql::{Row, Sql};
use crate::statement;
use crate::vectors::PutVectors;

/// Rows asked of the database at once.
///
/// Source: measured; fewer cost more wake-ups of the connection's thread, more only memory.
const STEP: usize = 16 * BLOCK_ROWS;

pub(crate) async fn mark(sql: &dyn Sql) -> Result<IndexMark> {
    let mut rows = sql.rows(statement::MARK, Vec::new()).await?;
    read_mark(rows.first_mut())
}

/// Reads the mark and compares the head with the last event.
pub(crate) fn read_mark(row: Option<&mut Row>) -> Result<IndexMark> {
    let row = row.ok_or_else(|| corrupt("the space has no row"))?;
    let head = row.count()?;
    let mark = IndexMark {
        head: Cursor((head > 0).then_some(Seq(head))),
        forgets: row.count()?,
        vectors: row.count()?,
    };
    if row.count()? != head {
        return Err(corrupt("the last event is not the head of the log"));
    }
    Ok(mark)
}

pub(crate) async fn load(sql: &dyn Sql, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
    let mut blocks: Vec<IndexBlock> = Vec::new();
    let (mut after, mut missing) = (after.count(), limit.get());
    while missing > 0 {
        let args = vec![after.into(), missing.min(STEP).into()];
        let found = sql.blocks(statement::BLOCKS, args).await?;
        if found.is_empty() {
            break;
        }
        for mut block in found {
            if block.seqs.first().is_some_and(|first| first.0 <= after) {
                block = retain(&block, |seq| seq.0 > after);
            }
            let Some(last) = block.seqs.last() else { return Err(corrupt("a block ends before it says")) };
            after = last.0;
            missing = missing.saturating_sub(block.len());
            blocks.push(block);
        }
    }
    Ok(blocks)
}

pub(crate) async fn put_vectors(sql: &dyn Sql, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
    sql.commit(Box::new(PutVectors { model: model.clone(), rows: rows.to_vec() })).await
}
