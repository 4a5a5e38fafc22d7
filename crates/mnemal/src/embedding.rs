//! Embeddings: coverage by model, backfill, and the one call that sends a question to an endpoint.

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

use crate::areas::AdminHandle;
use crate::engine::{Engine, missing};
use crate::guard::GuardedPort;

/// The embedder that makes the vectors of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedBy {
    /// The in-process embedder.
    InProcess,
    /// The endpoint, or another background embedder.
    Background,
}

/// The vector of a question, with the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddedQuestion {
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
    /// The embedder that can make more of them, if this engine has it.
    pub by: Option<EmbeddedBy>,
    /// Number of events with such a vector.
    pub vectors: u64,
    /// Number of events with a text but without a vector of this model.
    pub behind: u64,
    /// Whether coverage is high enough for recall to use it: at most 20 events, or one in 20, lack a vector.
    pub serves: bool,
}

/// Log position up to which this process has attempted vectors, by model, so that texts without one are not retried forever.
#[derive(Debug, Default)]
pub(crate) struct BackfillCursors(Mutex<BTreeMap<ModelId, Cursor>>);

impl BackfillCursors {
    fn upto(&self, model: &ModelId) -> Cursor {
        let tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tried.get(model).copied().unwrap_or(Cursor::START)
    }

    fn reached(&self, model: &ModelId, cursor: Cursor) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone(), cursor);
    }

    /// Clears it, after index rows were rebuilt.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl AdminHandle<'_> {
    /// Asks the endpoint for the vector of a question, for a following read: pass the answer to
    /// [`RecallCall::embedded`](crate::recall::RecallCall::embedded) or [`ContextCall::embedded`](crate::context::ContextCall::embedded).
    ///
    /// This is the only call by which a question leaves the process; secrets and private parts are removed first. It sends one
    /// request and returns by the deadline. It returns a gap instead of a vector when there is no endpoint, when the endpoint
    /// fails, is late or paused after failures, or when its model covers too few events of this space (`Stale`), in which case it
    /// is not even asked. The read then uses the in-process embedder.
    pub async fn embed_query(self, text: &str, deadline: Duration) -> Degraded<Option<EmbeddedQuestion>> {
        match self.memory.engine.query_vector(text, deadline).await {
            Ok(vector) => Degraded::whole(Some(vector)),
            Err(cause) => Degraded { value: None, gaps: vec![Gap { layer: Layer::Vector, cause }] },
        }
    }
}

impl Engine {
    /// Returns the vector generations that the space holds or this engine could make, by model.
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

    /// Returns the model of one of the embedders, if there is one.
    pub fn model(&self, by: EmbeddedBy) -> Option<&ModelId> {
        match by {
            EmbeddedBy::InProcess => self.parts().embedder.part().ok().map(Embedder::model),
            EmbeddedBy::Background => self.parts().background.as_ref().map(GuardedPort::model),
        }
    }

    async fn query_vector(&self, text: &str, deadline: Duration) -> Result<EmbeddedQuestion, GapCause> {
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
        // The wait is inside the guard, so that an endpoint that is always late is paused.
        let left = until.saturating_duration_since(Instant::now());
        let answer = background.embed_within(left, &mut permit, &[text.as_str()]).await;
        self.parts().tally.embedded(answer.as_ref().err());
        let answer = answer.map_err(|error| match GapCause::from(error) {
            GapCause::TimedOut(_) => GapCause::TimedOut(deadline),
            other => other,
        })?;
        let vector = answer.into_iter().next();
        let vector = vector.ok_or_else(|| Error::internal("an embedder answered nothing for a text"))?;
        Ok(EmbeddedQuestion { model: model.clone(), vector })
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
