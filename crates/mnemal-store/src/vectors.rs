//! Late vectors: vectors added after their events.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mnemal_core::{EventId, ModelId, Result, Seq, Vector};

use crate::admit::{self, Dimensions};
use crate::append::stored_models;
use crate::block::set_vector;
use crate::codec::{decode, encode};
use crate::erase::spots;
use crate::sql::{Step, Transaction, Work};
use crate::{removal, statement};

/// Adds vectors of one model to indexed events.
#[derive(Debug)]
pub(crate) struct PutVectors {
    pub(crate) model: ModelId,
    pub(crate) rows: Vec<(EventId, Vector)>,
}

#[async_trait]
impl Work for PutVectors {
    fn kind(&self) -> &'static str {
        "vectors"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut dimensions = Dimensions::new();
        if let Some(known) = stored_models(transaction).await?.remove(&self.model) {
            dimensions.insert(self.model.clone(), known);
        }
        for (_, vector) in &self.rows {
            admit::agree(&mut dimensions, &self.model, vector)?;
        }
        let spots = spots(self.rows.iter().map(|(id, _)| *id), transaction).await?;
        let mut places: BTreeMap<Seq, &Vector> = BTreeMap::new();
        let mut stored = 0;
        for (id, vector) in &self.rows {
            if let Some(spot) = spots.get(id).filter(|spot| spot.indexed && !spot.erased) {
                places.insert(spot.seq, vector);
                stored += 1;
            }
        }
        if stored == 0 {
            return Ok(0);
        }
        let values = dimensions.get(&self.model).copied().unwrap_or_default();
        let args = vec![self.model.as_str().into(), values.into()];
        transaction.run(Step::new(statement::INSERT_MODEL, args)).await?;
        rewrite_blocks(&self.model, &places, transaction).await?;
        transaction.run(Step::rows(statement::MORE_VECTORS, Vec::new(), 1)).await?;
        Ok(stored)
    }
}

/// Rewrites every block that holds one of these rows.
async fn rewrite_blocks(
    model: &ModelId,
    places: &BTreeMap<Seq, &Vector>,
    transaction: &mut dyn Transaction,
) -> Result<()> {
    let mut next = places.keys().next().copied();
    while let Some(seq) = next {
        let mut found = transaction.rows(statement::BLOCK_OF, vec![seq.0.into()]).await?;
        let Some(row) = found.first_mut() else { break };
        let (first, last) = (row.int()?, row.count()?);
        let mut block = decode(&row.blob()?)?;
        for number in 0..block.len() {
            if let Some(vector) = block.seqs.get(number).and_then(|seq| places.get(seq)) {
                set_vector(&mut block, number, model, vector);
            }
        }
        let args = vec![first.into(), last.into(), block.len().into(), encode(&block).into()];
        transaction.run(Step::rows(removal::REWRITE_BLOCK, args, 1)).await?;
        next = places.range(Seq(last.max(seq.0) + 1)..).next().map(|(seq, _)| *seq);
    }
    Ok(())
}
