//! Merges runs of small index blocks, so that a load reads few large ones.

use async_trait::async_trait;
use mnemal_core::{BLOCK_ROWS, Result};

use crate::block::merge;
use crate::codec::{decode, encode};
use crate::sql::{Step, Transaction, Work};
use crate::{removal, statement};

/// A block with fewer rows is merged with its neighbours.
///
/// Source: half of a full block, so that every merge at least doubles what it touches and rows are rewritten rarely.
pub(crate) const SMALL: usize = BLOCK_ROWS / 2;

/// Most blocks that one transaction merges.
///
/// Source: ADR 108, so that it stays below 5 ms; the blocks that come out are small still, and are merged with one another later.
const AT_ONCE: usize = 128;

/// Merges the first run of small blocks; answers how many blocks were replaced, none when there is no run.
#[derive(Debug)]
pub(crate) struct Seal;

#[async_trait]
impl Work for Seal {
    fn kind(&self) -> &'static str {
        "seal"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut sizes = Vec::new();
        for mut row in transaction.rows(statement::BLOCK_SIZES, Vec::new()).await? {
            sizes.push((row.count()?, usize::try_from(row.count()?).unwrap_or(usize::MAX)));
        }
        match runs(&sizes).first() {
            Some(run) => seal(*run, transaction).await,
            None => Ok(0),
        }
    }
}

/// First position of the first and of the last block.
type Run = (u64, u64);

/// Finds neighbours that are small and fit into one block together; runs of one block are left out.
fn runs(sizes: &[(u64, usize)]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut open: Option<(Run, usize, usize)> = None;
    for (first, rows) in sizes {
        let fits = |sum: usize, blocks: usize| *rows < SMALL && sum + rows <= BLOCK_ROWS && blocks < AT_ONCE;
        open = match open {
            Some(((start, _), sum, blocks)) if fits(sum, blocks) => {
                Some(((start, *first), sum + rows, blocks + 1))
            }
            other => {
                runs.extend(other.map(|(run, ..)| run));
                (*rows < SMALL).then_some(((*first, *first), *rows, 1))
            }
        };
    }
    runs.extend(open.map(|(run, ..)| run));
    runs.retain(|(start, end)| start < end);
    runs
}

async fn seal((start, end): Run, transaction: &mut dyn Transaction) -> Result<u64> {
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

    #[test]
    fn runs_are_neighbours_that_fit_together() {
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[(1, 1)]), []);
        assert_eq!(runs(&[(1, 1), (2, 1), (3, 1_000), (1_003, 1), (1_004, 511)]), [(1, 2), (1_003, 1_004)]);
        assert_eq!(runs(&[(1, 500), (501, 500), (1_001, 500), (1_501, 3)]), [(1, 501), (1_001, 1_501)]);
        let ones: Vec<(u64, usize)> = (1..=300).map(|first| (first, 1)).collect();
        assert_eq!(runs(&ones), [(1, 128), (129, 256), (257, 300)], "few blocks at once");
    }
}
