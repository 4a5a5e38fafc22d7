//! The recall index.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use mnemal_core::{BLOCK_ROWS, Cursor, EventId, IndexBlock, IndexMark, IndexStore, ModelId, Result, Vector};

use super::{MemoryStore, StoredEvent};
use crate::admit::{self, Dimensions};
use crate::block::{IndexRow, pack};

#[async_trait]
impl IndexStore for MemoryStore {
    async fn mark(&self) -> Result<IndexMark> {
        let state = self.state();
        Ok(IndexMark { head: state.head(), forgets: state.forgets, vectors: state.vectors })
    }

    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        let state = self.state();
        let wanted = limit.get().div_ceil(BLOCK_ROWS).saturating_mul(BLOCK_ROWS);
        let rows: Vec<IndexRow<'_>> = state.behind(after).iter().filter_map(row).take(wanted).collect();
        Ok(rows.chunks(BLOCK_ROWS).map(pack).collect())
    }

    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        let mut state = self.state();
        let mut dimensions = Dimensions::new();
        for (_, vector) in rows {
            admit::agree(&mut dimensions, model, vector)?;
        }
        for (model, found) in &dimensions {
            admit::same(model, *state.dimensions.get(model).unwrap_or(found), *found)?;
        }
        let mut stored = 0;
        for (id, vector) in rows {
            let place = state.places.get(id).copied();
            let event = place.and_then(|place| state.events.get_mut(place));
            if let Some(index) = event.and_then(|event| event.index.as_mut()) {
                index.vectors.retain(|(known, _)| known != model);
                index.vectors.push((model.clone(), vector.clone()));
                stored += 1;
            }
        }
        if stored > 0 {
            state.dimensions.extend(dimensions);
            state.vectors += 1;
        }
        Ok(stored)
    }
}

fn row(stored: &StoredEvent) -> Option<IndexRow<'_>> {
    let (event, index) = (stored.event.body()?, stored.index.as_ref()?);
    Some(IndexRow { id: stored.event.id, seq: stored.event.seq, event, index })
}
