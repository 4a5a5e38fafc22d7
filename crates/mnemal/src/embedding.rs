//! Vectors of a model: how far they go, how they are filled in, and the one call that asks an endpoint about a question.

mod fill;
mod local;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{
    BackgroundPermit, Cursor, Degraded, Embedder, Error, Gap, GapCause, Layer, ModelId, Result, TokenCount,
};
use mnemal_recall::{Coverage, Recall};
use tokio::time::{Instant, timeout_at};

pub use self::fill::{Backlog, Estimate};
pub(crate) use self::local::Local;

use crate::engine::{Engine, missing};
use crate::guard::Guarded;
use crate::memory::Memory;

/// What makes the vectors of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedBy {
    /// The embedder in process.
    InProcess,
    /// The endpoint, or whatever else was given as the background embedder.
    Background,
}

/// The vector of a question, and the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    /// The model.
    pub model: ModelId,
    /// The values, of length 1.
    pub vector: Vec<f32>,
}

/// The vectors of one model in a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The model.
    pub model: ModelId,
    /// What makes more of them, if this engine has it.
    pub by: Option<EmbeddedBy>,
    /// Events that have one.
    pub vectors: u64,
    /// Events that have a text and no vector of this model.
    pub behind: u64,
    /// Whether so few lack one that a question's vector of this model is compared with them: at most 20, or one in 20.
    pub serves: bool,
}

/// Up to where this process has tried to make the vectors of each model, so that what has none is not tried for ever.
#[derive(Debug, Default)]
pub(crate) struct Tried(Mutex<BTreeMap<ModelId, Cursor>>);

impl Tried {
    fn upto(&self, model: &ModelId) -> Cursor {
        let tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tried.get(model).copied().unwrap_or(Cursor::START)
    }

    fn reached(&self, model: &ModelId, cursor: Cursor) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone(), cursor);
    }

    /// Forgets everything, after index rows were made anew.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Memory {
    /// Asks the endpoint for the vector of a question, for a read that comes after: hand the answer to
    /// [`RecallCall::embedded`](crate::RecallCall::embedded) or [`ContextCall::embedded`](crate::ContextCall::embedded).
    ///
    /// This is the one call by which a question leaves the process; secrets and private parts are taken out before. It sends
    /// one request and returns by the deadline. Without a vector there is a gap, and the read goes on with the embedder in
    /// process: when there is no endpoint, when it fails, is late or paused after failures, and as long as its model has
    /// too few vectors of this space (`Stale`), for which it is not even asked.
    pub async fn embed_query(&self, text: &str, deadline: Duration) -> Degraded<Option<QueryVector>> {
        match self.engine.query_vector(text, deadline).await {
            Ok(vector) => Degraded::whole(Some(vector)),
            Err(cause) => Degraded { value: None, gaps: vec![Gap { layer: Layer::Vector, cause }] },
        }
    }
}

impl Engine {
    /// Returns the generations of vectors that the space holds, and those that this engine could make, by model.
    ///
    /// # Errors
    /// `Unsupported` without a log or an index, `Unavailable` when the store does not answer.
    pub async fn generations(&self) -> Result<Vec<Generation>> {
        let coverage = self.searcher()?.coverage().await?;
        let made = [EmbeddedBy::InProcess, EmbeddedBy::Background]
            .into_iter()
            .filter_map(|by| Some((self.model(by)?.clone(), by)))
            .collect::<BTreeMap<ModelId, EmbeddedBy>>();
        let mut models: Vec<&ModelId> = coverage.models.keys().chain(made.keys()).collect();
        models.sort_unstable();
        models.dedup();
        Ok(models.into_iter().map(|model| generation(model, made.get(model).copied(), &coverage)).collect())
    }

    /// Returns the model that one of the embedders makes vectors of, if it is there.
    pub fn model(&self, by: EmbeddedBy) -> Option<&ModelId> {
        match by {
            EmbeddedBy::InProcess => self.parts().embedder.part().ok().map(Embedder::model),
            EmbeddedBy::Background => self.parts().background.as_ref().map(Guarded::model),
        }
    }

    async fn query_vector(&self, text: &str, deadline: Duration) -> Result<QueryVector, GapCause> {
        let background = self.parts().background.as_ref().ok_or(GapCause::NotConfigured)?;
        let model = background.model();
        let late = |_| GapCause::TimedOut(deadline);
        let until = Instant::now() + deadline;
        let coverage = timeout_at(until, self.searcher()?.coverage()).await.map_err(late)??;
        if !coverage.is_served_by(model) {
            return Err(GapCause::Stale { behind: coverage.behind(model) });
        }
        let text = self.log()?.outgoing(text)?;
        let mut permit = BackgroundPermit::issue(1, TokenCount(u32::MAX));
        // Within the guard, so that an endpoint that is always late is paused.
        let left = until.saturating_duration_since(Instant::now());
        let answer = background.embed_within(left, &mut permit, &[text.as_str()]).await;
        self.parts().tally.embedded(answer.as_ref().err());
        let answer = answer.map_err(|error| match GapCause::from(error) {
            GapCause::TimedOut(_) => GapCause::TimedOut(deadline),
            other => other,
        })?;
        let vector = answer.into_iter().next();
        let vector = vector.ok_or_else(|| Error::internal("an embedder answered nothing for a text"))?;
        Ok(QueryVector { model: model.clone(), vector })
    }

    fn searcher(&self) -> Result<&Recall> {
        self.parts().recall.as_deref().ok_or_else(|| missing("recall"))
    }
}

fn generation(model: &ModelId, by: Option<EmbeddedBy>, coverage: &Coverage) -> Generation {
    Generation {
        by,
        vectors: coverage.models.get(model).copied().unwrap_or_default(),
        behind: coverage.behind(model),
        serves: coverage.is_served_by(model),
        model: model.clone(),
    }
}
