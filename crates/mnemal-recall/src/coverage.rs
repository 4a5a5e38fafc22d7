//! How far the vectors of each model go, and which events have none.

use std::collections::BTreeMap;

use mnemal_core::{Cursor, Error, EventId, ModelId, Result, Seq};

use crate::memory::{MemoryIndex, Placed};
use crate::recall::Recall;
use crate::state::Snapshot;

/// One part in so many events may lack a model's vector while the model is taken to cover the space.
///
/// Source: own choice; what came last has no vector of a slow model yet, and words find it.
const LACKING_PART: u64 = 20;
/// So many events may lack it in any case. Source: ARCHITECTURE 12.1, what an answer may be behind without saying so.
const LACKING: u64 = 20;

/// How far the vectors of each model go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Events that recall can find and that have a text.
    pub events: u64,
    /// Those of them that have a vector, by model.
    pub models: BTreeMap<ModelId, u64>,
}

impl Coverage {
    /// Returns how many events have no vector of the model.
    pub fn behind(&self, model: &ModelId) -> u64 {
        self.events.saturating_sub(self.models.get(model).copied().unwrap_or_default())
    }

    /// Whether a model may answer for the space: at most 20 events, or one in 20, have no vector of it.
    ///
    /// Until then another generation of vectors serves, and where there is none, words do.
    pub fn is_served_by(&self, model: &ModelId) -> bool {
        self.behind(model) <= LACKING.max(self.events / LACKING_PART)
    }
}

impl Recall {
    /// Counts the events with a vector, by model. Costs a load of the index in a process that has not searched yet.
    ///
    /// # Errors
    /// `Unsupported` without an index; whatever its store answers.
    pub async fn coverage(&self) -> Result<Coverage> {
        let snapshot = self.level().await?;
        let index = &snapshot.index;
        let events = index.columns.lengths.iter().filter(|length| **length > 0).count() as u64;
        Ok(Coverage { events, models: index.models().map(|(model, n)| (model.clone(), n)).collect() })
    }

    /// Returns the events behind a position that have a text and no vector of the model, oldest first.
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
        self.whole(store).await
    }
}

fn lacking<'a>(
    placed: &'a Placed,
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
    /// The models that have vectors, with their numbers.
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
