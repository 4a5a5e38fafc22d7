//! Rebuild of a range of the index.

use async_trait::async_trait;
use mnemal_core::{BLOCK_ROWS, Error, ErrorKind, Event, IndexEntry, Result, Seq};

use crate::append::stored_models;
use crate::block::{IndexRow, pack};
use crate::codec::encode;
use crate::erase::spots;
use crate::sql::{Step, Transaction, Work};
use crate::{removal, statement};

/// Replaces the index rows between two positions.
#[derive(Debug)]
pub(crate) struct Reindex {
    pub(crate) stretch: (Seq, Seq),
    /// Ascending, inside the range.
    pub(crate) rows: Vec<(Event, IndexEntry)>,
}

#[async_trait]
impl Work for Reindex {
    fn kind(&self) -> &'static str {
        "reindex"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let (first, last) = self.stretch;
        let mut before =
            transaction.rows(statement::BLOCK_OF, vec![first.0.saturating_sub(1).into()]).await?;
        if let Some(row) = before.first_mut() {
            let (_, end) = (row.int()?, row.count()?);
            if end >= first.0 {
                return Err(Error::new(ErrorKind::Conflict, "the index was sealed in between"));
            }
        }
        let spots = spots(self.rows.iter().map(|(event, _)| event.id), transaction).await?;
        let lives = |event: &Event| spots.get(&event.id).is_some_and(|spot| spot.indexed && !spot.erased);
        self.rows.retain(|(event, _)| lives(event));
        self.admit_models(transaction).await?;
        transaction.run(Step::new(removal::DELETE_BLOCKS, vec![first.0.into(), last.0.into()])).await?;
        let rows: Vec<IndexRow<'_>> = self
            .rows
            .iter()
            .filter_map(|(event, index)| {
                event.body().map(|kept| IndexRow { id: event.id, seq: event.seq, event: kept, index })
            })
            .collect();
        for chunk in rows.chunks(BLOCK_ROWS) {
            let place = |row: Option<&IndexRow<'_>>| row.map_or(0, |row| row.seq.0);
            let (from, to) = (place(chunk.first()), place(chunk.last()));
            let args = vec![from.into(), to.into(), chunk.len().into(), encode(&pack(chunk)).into()];
            transaction.run(Step::rows(statement::INSERT_BLOCK, args, 1)).await?;
        }
        transaction.run(Step::rows(statement::MORE_VECTORS, Vec::new(), 1)).await?;
        Ok(rows.len() as u64)
    }
}

impl Reindex {
    /// Skips vectors with other dimensions than stored for their model, and stores new models.
    async fn admit_models(&mut self, transaction: &mut dyn Transaction) -> Result<()> {
        let mut models = stored_models(transaction).await?;
        for (_, index) in &mut self.rows {
            index.vectors.retain(|(model, vector)| {
                let values = vector.codes().len();
                *models.entry(model.clone()).or_insert(values) == values
            });
        }
        for (model, values) in &models {
            let args = vec![model.as_str().into(), (*values).into()];
            transaction.run(Step::new(statement::INSERT_MODEL, args)).await?;
        }
        Ok(())
    }
}
