//! Vector coverage by model, and the events without a vector.

use std::collections::BTreeMap;

use mnemal_core::{Cursor, Error, EventId, ModelId, Result, Seq};

use crate::memory::{MemoryIndex, PlacedBlock};
use crate::recall::Recall;
use crate::state::Snapshot;

/// One event in this many may lack a model's vector while the model counts as covering the space.
///
/// Source: own choice; the newest events have no vector of a slow model yet, and the lexical arm finds them.
const LACKING_PART: u64 = 20;
/// This many events may lack a vector in any case. Source: own choice; a smaller delay need not be reported.
const LACKING: u64 = 20;

/// Number of vectors by model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Recallable events with text.
    pub events: u64,
    /// Those of them with a vector, by model.
    pub models: BTreeMap<ModelId, u64>,
}

impl Coverage {
    /// Returns how many events lack a vector of the model.
    pub fn behind(&self, model: &ModelId) -> u64 {
        self.events.saturating_sub(self.models.get(model).copied().unwrap_or_default())
    }

    /// Whether a model covers the space well enough to answer: at most 20 events, or one in 20, lack its vector.
    ///
    /// Until then another generation of vectors is used, and without one only the lexical arm.
    pub fn is_served_by(&self, model: &ModelId) -> bool {
        self.behind(model) <= LACKING.max(self.events / LACKING_PART)
    }
}

impl Recall {
    /// Counts the events with a vector, by model. Loads the index in a process that has not searched yet.
    ///
    /// # Errors
    /// `Unsupported` without an index; otherwise the store's error.
    pub async fn coverage(&self) -> Result<Coverage> {
        let snapshot = self.level().await?;
        let index = &snapshot.index;
        let events = index.columns.lengths.iter().filter(|length| **length > 0).count() as u64;
        Ok(Coverage { events, models: index.models().map(|(model, n)| (model.clone(), n)).collect() })
    }

    /// Returns the events after a position that have text and no vector of the model, oldest first.
    ///
    /// # Errors
    /// As for [`coverage`](Self::coverage).
    pub async fn without_vector(&self, model: &ModelId, after: Cursor) -> Result<Vec<(Seq, EventId)>> {
        let snapshot = self.level().await?;
        Ok(snapshot.index.blocks.iter().flat_map(|placed| lacking(placed, model, after)).collect())
    }

    async fn level(&self) -> Result<Snapshot> {
        let store = self.parts.index.part();
        let store = store.map_err(|_| {
            Error::new(mnemal_core::ErrorKind::Unsupported, "this engine was built without an index")
        })?;
        self.whole_index(store).await
    }
}

fn lacking<'a>(
    placed: &'a PlacedBlock,
    model: &'a ModelId,
    after: Cursor,
) -> impl Iterator<Item = (Seq, EventId)> + 'a {
    let block = &placed.block;
    let column = block.vectors.iter().find(|column| column.model == *model);
    let has = move |row: usize| column.and_then(|column| column.scales.get(row)).is_some_and(|s| *s > 0.0);
    let rows = block.seqs.iter().zip(&block.events).zip(&block.lengths).enumerate();
    rows.filter(move |(row, ((seq, _), length))| seq.0 > after.count() && **length > 0 && !has(*row))
        .map(|(_, ((seq, event), _))| (*seq, *event))
}

impl MemoryIndex {
    /// The models with vectors, with their counts.
    fn models(&self) -> impl Iterator<Item = (&ModelId, u64)> {
        self.vectors.iter().map(|(model, n)| (model, u64::from(*n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_serves_while_few_events_lack_its_vector() {
        let model = ModelId::new("m").unwrap();
        let covers = |events: u64, vectors: u64| {
            let models = BTreeMap::from([(model.clone(), vectors)]);
            Coverage { events, models }.is_served_by(&model)
        };
        assert!(covers(0, 0) && covers(20, 0), "too few events to make a difference");
        assert!(!covers(21, 0) && covers(21, 1));
        assert!(covers(1_000, 950) && !covers(1_000, 949));
        let nothing = Coverage { events: 30, models: BTreeMap::new() };
        assert_eq!((nothing.behind(&model), nothing.is_served_by(&model)), (30, false));
    }
}
