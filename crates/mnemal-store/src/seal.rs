//! Sealing: merging runs of small index blocks, so that a load reads a few large ones.

use async_trait::async_trait;
use mnemal_core::{BLOCK_ROWS, Result};

use crate::block::merge;
use crate::codec::{decode, encode};
use crate::sql::{Step, Transaction, Work};
use crate::{removal, statement};

/// A block with fewer rows is merged with its neighbors.
///
/// Source: half of a full block, so that every merge at least doubles its input and rows are rewritten rarely.
pub(crate) const SMALL: usize = BLOCK_ROWS / 2;

/// Most blocks that one transaction merges.
///
/// Source: ADR 9, so that it stays below 5 ms; the resulting blocks are still small, and are merged with one another later.
const AT_ONCE: usize = 128;

/// Most bytes that blocks of many terms may have together to be merged, 2 MiB.
///
/// Source: own choice; a full block of chat has 0.2 MB, with a vector of 1,536 dimensions per row 1.8 MB, and a merge takes
/// some five times the bytes in memory, which must not slow down an import of long texts.
const HEAVY: usize = 2 << 20;

/// A block with this many bytes is not merged. Source: as [`SMALL`].
const LIGHT: usize = HEAVY / 2;

/// Merges the first run of small blocks; returns how many blocks were replaced, 0 without a run.
#[derive(Debug)]
pub(crate) struct Seal;

#[async_trait]
impl Work for Seal {
    fn kind(&self) -> &'static str {
        "seal"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut sizes = Vec::new();
        for mut row in transaction.rows(statement::BLOCK_WEIGHTS, Vec::new()).await? {
            let first = row.count()?;
            let mut size = || row.count().map(|size| usize::try_from(size).unwrap_or(usize::MAX));
            sizes.push(BlockSize { first, rows: size()?, bytes: size()? });
        }
        match runs(&sizes).first() {
            Some(run) => seal(*run, transaction).await,
            None => Ok(0),
        }
    }
}

/// First position of the first and of the last block.
type BlockRun = (u64, u64);

/// The size of an unread block.
#[derive(Clone, Copy, Debug)]
struct BlockSize {
    first: u64,
    rows: usize,
    bytes: usize,
}

/// Neighbors that are merged together.
#[derive(Clone, Copy, Debug)]
struct OpenRun {
    run: BlockRun,
    rows: usize,
    bytes: usize,
    blocks: usize,
}

impl OpenRun {
    fn with(self, size: &BlockSize) -> Option<Self> {
        let (rows, bytes, blocks) = (self.rows + size.rows, self.bytes + size.bytes, self.blocks + 1);
        let fits = rows <= BLOCK_ROWS && bytes <= HEAVY && blocks <= AT_ONCE;
        fits.then_some(Self { run: (self.run.0, size.first), rows, bytes, blocks })
    }
}

/// Finds small neighbors that fit into one block; runs of a single block are skipped.
fn runs(sizes: &[BlockSize]) -> Vec<BlockRun> {
    let mut runs = Vec::new();
    let mut open: Option<OpenRun> = None;
    for size in sizes {
        let is_small = size.rows < SMALL && size.bytes < LIGHT;
        if is_small && let Some(more) = open.and_then(|open| open.with(size)) {
            open = Some(more);
            continue;
        }
        runs.extend(open.map(|open| open.run));
        let BlockSize { first, rows, bytes } = *size;
        open = is_small.then_some(OpenRun { run: (first, first), rows, bytes, blocks: 1 });
    }
    runs.extend(open.map(|open| open.run));
    runs.retain(|(start, end)| start < end);
    runs
}

async fn seal((start, end): BlockRun, transaction: &mut dyn Transaction) -> Result<u64> {
    let range = || vec![start.into(), end.into()];
    let mut blocks = Vec::new();
    for mut row in transaction.rows(statement::BLOCK_RANGE, range()).await? {
        row.int()?;
        blocks.push(decode(&row.blob()?)?);
    }
    let merged = merge(&blocks);
    let last = merged.seqs.last().map_or(end, |seq| seq.0);
    let replaced = blocks.len() as u64;
    transaction.run(Step::rows(removal::DELETE_BLOCKS, range(), replaced)).await?;
    let args = vec![start.into(), last.into(), merged.len().into(), encode(&merged).into()];
    transaction.run(Step::rows(statement::INSERT_BLOCK, args, 1)).await?;
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(sizes: &[(u64, usize)], bytes: usize) -> Vec<BlockSize> {
        sizes.iter().map(|(first, rows)| BlockSize { first: *first, rows: *rows, bytes }).collect()
    }

    #[test]
    fn runs_are_neighbours_that_fit_together() {
        let runs = |of: &[(u64, usize)]| runs(&sizes(of, 9));
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[(1, 1)]), []);
        assert_eq!(runs(&[(1, 1), (2, 1), (3, 1_000), (1_003, 1), (1_004, 511)]), [(1, 2), (1_003, 1_004)]);
        assert_eq!(runs(&[(1, 500), (501, 500), (1_001, 500), (1_501, 3)]), [(1, 501), (1_001, 1_501)]);
        let ones: Vec<(u64, usize)> = (1..=300).map(|first| (first, 1)).collect();
        assert_eq!(runs(&ones), [(1, 128), (129, 256), (257, 300)], "few blocks at once");
    }

    #[test]
    fn blocks_of_long_texts_are_merged_up_to_a_weight() {
        let fours: Vec<(u64, usize)> = (0..8).map(|number| (4 * number + 1, 4)).collect();
        assert_eq!(runs(&sizes(&fours, HEAVY / 4)), [(1, 13), (17, 29)]);
        assert_eq!(runs(&sizes(&fours, LIGHT)), [], "what is heavy stays");
        let mut mixed = sizes(&fours, 9);
        for heavy in &mut mixed[3..5] {
            heavy.bytes = LIGHT;
        }
        assert_eq!(runs(&mixed), [(1, 9), (21, 29)]);
    }
}
