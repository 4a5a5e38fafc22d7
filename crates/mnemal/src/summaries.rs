//! The summary tree, and compression of conversations.

pub use crate::areas::SummariesHandle;
pub use crate::compress::{
    CompressCall, CompressedSession, Conversations, Draft, Method, PromptTurn, TimelineEntry,
};
pub use mnemal_core::{ErasedNode, NodePath, SummaryDelta, SummaryLine, SummaryNode};
pub use mnemal_summaries::compress::CompressionReason;
pub use mnemal_summaries::{
    ModelSummary, ModelSummaryLine, Summaries, SummaryState, render as render_summary,
};

mod on_read;

use std::sync::Arc;

use mnemal_core::{AsOf, Degraded, Gap, GapCause, Gaps, Layer, Learning, Result, Slot};
use mnemal_learnings::ProfileHeading;
use mnemal_text::Language;

use self::on_read::KnowledgeView;
use crate::areas::PreferencesHandle;
use crate::engine::{Engine, missing};
use crate::memory::Memory;
use crate::status::STALE_EVENTS;

impl Memory {
    /// Makes a node from the newest events of the user whose memory this is.
    async fn summary_of_user(&self, path: &NodePath, as_of: Option<AsOf>) -> Result<SummaryState> {
        let Slot::Filled(store) = &self.engine.guarded().summaries else { return Err(missing("summaries")) };
        let summaries =
            Summaries::new(self.log_to_read()?, Arc::clone(store)).with_language(self.engine.language());
        summaries.get_as_of(path, as_of.unwrap_or_else(|| AsOf::present(self.engine.now()))).await
    }
}

impl SummariesHandle<'_> {
    /// Returns the reader of summaries, without waiting. A large lag behind the log is a gap.
    ///
    /// The summary tree of a space is made of all users' events: a memory of one user has none, and [`summary`](Self::get)
    /// makes its nodes from that user's events.
    ///
    /// # Errors
    /// `Unsupported` when the engine has no summaries or no log, and for a memory of one user.
    pub async fn reader(self) -> Result<Degraded<Summaries>> {
        self.memory.must_be_whole("the tree of summaries")?;
        let parts = self.memory.engine.guarded();
        let Slot::Filled(store) = &parts.summaries else { return Err(missing("summaries")) };
        let Slot::Filled(events) = &parts.events else { return Err(missing("a log")) };
        let behind = match (store.cursor().await, events.head().await) {
            (Ok(cursor), Ok(head)) => Ok(cursor.behind(head)),
            (Err(error), _) | (_, Err(error)) => Err(GapCause::from(error)),
        };
        let cause = match behind {
            Ok(behind) => (behind > STALE_EVENTS).then_some(GapCause::Stale { behind }),
            Err(cause) => Some(cause),
        };
        let gaps = cause.map(|cause| Gap { layer: Layer::Summaries, cause }).into_iter().collect();
        let summaries = Summaries::new(Arc::clone(events), Arc::clone(store))
            .with_language(self.memory.engine.language())
            .with_stale_from(self.memory.engine.settings().summaries.staleness_threshold);
        let summaries = match &self.memory.engine.parts().model_summaries {
            Some(model_summaries) => summaries.with_model_summaries(Arc::clone(model_summaries)),
            None => summaries,
        };
        Ok(Degraded { value: summaries, gaps })
    }

    /// Returns a summary node: stored nodes of sessions and times as they are; nodes of an entity, an entity kind, a topic or the
    /// preferences are made now, from the newest events that the graph links to it, or from the valid learnings.
    ///
    /// With `as_of`: events up to the world time, as known at the belief time (bi-temporal); without it, the present. The memory
    /// of one user has the root, channels and sessions, made now from that user's newest 300 events, and no time ranges.
    ///
    /// # Errors
    /// `NotFound` when the node has no events; `Invalid` for a time range as of the past; `Unsupported` without the layer that
    /// the node needs.
    pub async fn get(self, path: &NodePath, as_of: Option<AsOf>) -> Result<Degraded<SummaryState>> {
        let mut gaps = Gaps::default();
        if on_read::is_known(path) {
            let as_of = as_of.unwrap_or_else(|| AsOf::present(self.memory.engine.now()));
            let known = gaps.merge(KnowledgeView::new(self.memory, as_of).await?);
            return Ok(gaps.attach(known.node(path).await?));
        }
        if self.memory.only_user().is_some() {
            return Ok(gaps.attach(self.memory.summary_of_user(path, as_of).await?));
        }
        let summaries = gaps.merge(self.reader().await?);
        let standing = match as_of {
            None => summaries.get(path).await?,
            Some(as_of) => summaries.get_as_of(path, as_of).await?,
        };
        Ok(gaps.attach(standing))
    }

    /// Returns a stored node and the nodes below it, up to `depth` levels, as [`Summaries::tree`] does; for one user the node
    /// alone.
    ///
    /// # Errors
    /// As [`summary`](Self::get).
    pub async fn stored_tree(self, path: &NodePath, depth: usize) -> Result<Degraded<Vec<SummaryState>>> {
        if self.memory.only_user().is_some() {
            return Ok(self.get(path, None).await?.map(|node| vec![node]));
        }
        let mut gaps = Gaps::default();
        let found = gaps.merge(self.reader().await?).tree(path, depth).await?;
        Ok(gaps.attach(found))
    }

    /// Returns a node and the nodes below it, up to `depth` levels, each parent before its children. Below the root are the
    /// channels and months, newest first, then the entity kinds and the most frequent topics, then the preferences.
    ///
    /// # Errors
    /// As [`summary`](Self::get).
    pub async fn tree(self, path: &NodePath, depth: usize) -> Result<Degraded<Vec<SummaryState>>> {
        let mut gaps = Gaps::default();
        let present = AsOf::present(self.memory.engine.now());
        if on_read::is_known(path) {
            let known = gaps.merge(KnowledgeView::new(self.memory, present).await?);
            return Ok(gaps.attach(known.tree(path, depth).await?));
        }
        let mut found = match self.memory.only_user() {
            None => gaps.merge(self.reader().await?).tree(path, depth).await?,
            Some(_) => vec![self.memory.summary_of_user(path, None).await?],
        };
        if *path == NodePath::Root && depth > 0 {
            let known = gaps.merge(KnowledgeView::new(self.memory, present).await?);
            found.extend(known.below_root(depth).await?);
        }
        Ok(gaps.attach(found))
    }
}

impl PreferencesHandle<'_> {
    /// Returns the user's preference profile on one page: up to 15 sentences by heading, verbatim, from the valid learnings of
    /// greatest weight.
    ///
    /// # Errors
    /// `Unsupported` without learnings, `Unavailable` when the store does not answer.
    pub async fn profile(self, as_of: AsOf) -> Result<Vec<(ProfileHeading, Learning)>> {
        let rows = self.learnings(&mnemal_core::LearningFilter::all(), as_of).await?;
        let rows: Vec<Learning> = rows.into_iter().map(|row| row.item).collect();
        let page = mnemal_learnings::profile(&rows);
        Ok(page.into_iter().map(|(heading, row)| (heading, row.clone())).collect())
    }
}

impl Engine {
    /// Returns the dominant language of the space.
    pub(crate) fn language(&self) -> Language {
        Language::from_code(&self.settings().recall.language).unwrap_or(Language::English)
    }

    /// Returns the number of stored summaries.
    ///
    /// # Errors
    /// `Unsupported` without the layer, `Unavailable` when the store does not answer.
    pub async fn n_summaries(&self) -> Result<usize> {
        let store = self.guarded().summaries.part().map_err(|_| missing("summaries"))?;
        Ok(store.all().await?.len())
    }

    /// Folds the summaries for up to 200 ms; the remaining lag is a gap.
    ///
    /// # Errors
    /// `Unsupported` when the engine has no summaries.
    pub async fn refresh_summaries(&self) -> Result<Vec<Gap>> {
        if !self.guarded().summaries.is_filled() {
            return Err(missing("summaries"));
        }
        Ok(self.fold_summaries().await)
    }
}
