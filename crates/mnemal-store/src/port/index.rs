//! The recall index.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;

use mnemal_core::{BLOCK_ROWS, Cursor, EventId, IndexBlock, IndexMark, ModelId, Result, Seq, Vector};

use crate::admit;
use crate::append::read_models;
use crate::block::retain;
use crate::codec::corrupt;
use crate::sql::{Row, Sql, Value};
use crate::statement;
use crate::vectors::PutVectors;
use crate::witness::Witness;

/// Rows per query.
///
/// Source: measured; fewer cost more wake-ups of the connection's thread, more only memory.
const STEP: usize = 16 * BLOCK_ROWS;

pub(crate) async fn mark(sql: &dyn Sql) -> Result<IndexMark> {
    if let Some(state) = sql.state().await {
        return Ok(state.mark);
    }
    let asked = sql.witness().seq();
    let mut rows = sql.rows(statement::MARK, vec![asked.into()]).await?;
    read_mark(rows.first_mut().ok_or_else(|| corrupt("the space has no row"))?, asked, sql.witness())
}

/// Reads the mark, compares its head with the last event, and the event at the position `asked` with the one that is known.
pub(crate) fn read_mark(row: &mut Row, asked: u64, witness: &Witness) -> Result<IndexMark> {
    let (head, forgets, vectors) = (row.count()?, row.count()?, row.count()?);
    if row.count()? != head {
        return Err(corrupt("the last event is not the head of the log"));
    }
    // A damaged id is that of no event; who reads the event says so.
    let mut id = || match row.next() {
        Value::Blob(bytes) => <[u8; 16]>::try_from(bytes).ok().map(|id| EventId(u128::from_be_bytes(id))),
        _ => None,
    };
    let (found, last) = (id(), id());
    let ended = witness.judge(asked, found, (head, last));
    Ok(IndexMark { head: Cursor((head > 0).then_some(Seq(head))), forgets: forgets + ended, vectors })
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
                block = retain(block, |seq| seq.0 > after);
            }
            let (Some(last), Some(event)) = (block.seqs.last(), block.events.last()) else {
                return Err(corrupt("a block ends before it says"));
            };
            after = last.0;
            sql.witness().saw(last.0, *event);
            missing = missing.saturating_sub(block.len());
            blocks.push(block);
        }
    }
    Ok(blocks)
}

pub(crate) async fn put_vectors(sql: &dyn Sql, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
    // Looked at before the first transaction, which may hold a part of the rows, or none where no event is there.
    let mut dimensions = read_models(sql.rows(statement::MODELS, Vec::new()).await?)?;
    for (_, vector) in rows {
        admit::agree(&mut dimensions, model, vector)?;
    }
    let mut stored = 0;
    for rows in by_blocks(sql, rows).await? {
        stored += sql.commit(Box::new(PutVectors { model: model.clone(), rows })).await?;
    }
    Ok(stored)
}

/// Most blocks that one transaction rewrites for late vectors, and most rows in them: one full block, or a few small ones.
///
/// Source: ADR 9, so that it stays below 5 ms.
const BLOCKS_AT_ONCE: usize = 16;

/// Splits rows so that each part rewrites few blocks; unknown events are skipped.
async fn by_blocks(sql: &dyn Sql, rows: &[(EventId, Vector)]) -> Result<Vec<Vec<(EventId, Vector)>>> {
    let mut seqs: HashMap<EventId, u64> = HashMap::new();
    for (text, args) in statement::PLACES_BY_ID.lookups(rows.iter().map(|(id, _)| (*id).into()).collect()) {
        for mut row in sql.rows(text, args).await? {
            seqs.insert(EventId(row.id()?), row.count()?);
        }
    }
    // By first position, with the rows that they hold.
    let mut blocks: BTreeMap<u64, u64> = BTreeMap::new();
    for mut row in sql.rows(statement::BLOCK_SIZES, Vec::new()).await? {
        blocks.insert(row.count()?, row.count()?);
    }
    let mut sorted: Vec<(u64, &(EventId, Vector))> =
        rows.iter().filter_map(|row| Some((*seqs.get(&row.0)?, row))).collect();
    sorted.sort_by_key(|(seq, _)| *seq);
    let mut parts: Vec<Vec<(EventId, Vector)>> = Vec::new();
    let (mut open, mut n_blocks, mut n_rows) = (None, 0, 0);
    for (seq, row) in sorted {
        let block = blocks.range(..=seq).next_back().map(|(first, rows)| (*first, *rows));
        if block.is_none() || block != open {
            let size = block.map_or(0, |(_, rows)| rows);
            if parts.is_empty() || n_blocks == BLOCKS_AT_ONCE || n_rows + size > BLOCK_ROWS as u64 {
                parts.push(Vec::new());
                (n_blocks, n_rows) = (0, 0);
            }
            (open, n_blocks, n_rows) = (block, n_blocks + 1, n_rows + size);
        }
        if let Some(part) = parts.last_mut() {
            part.push(row.clone());
        }
    }
    Ok(parts)
}
