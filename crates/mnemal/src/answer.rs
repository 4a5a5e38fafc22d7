//! Read calls: `recall` and `context` request builders, each one query of one layer.

use std::future::{Future, IntoFuture};
use std::num::NonZeroUsize;
use std::pin::Pin;

use futures_util::future::join;
use mnemal_context::{Assembler, Context, Format};
use mnemal_core::{
    AsOf, ChannelId, ContextRequest, Cursor, Degraded, EventFilter, Gap, GapCause, Gaps, Layer, ModelId,
    RepeatPolicy, Result, Role, Section, SessionId, Timestamp, TokenCount, ToolName, Within, Zone,
};
use mnemal_recall::{
    Boosts, Cutoff, Diversity, Expand, Mode, RERANKED, RecallRequest, RecallResult, UsedMode, rerank,
};

use crate::embedding::EmbeddedQuestion;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::secondary::merged;
use crate::span::Operation;
use crate::status::stale;
use crate::user::both;

#[cfg(feature = "sqlite")]
use mnemal_store::with_read_snapshot;

/// Fallback for builds without SQLite: runs the work without a shared read snapshot.
#[cfg(not(feature = "sqlite"))]
fn with_read_snapshot<W>(work: W) -> W {
    work
}

/// A pending search; awaiting it runs the query.
#[derive(Debug)]
#[must_use = "nothing is searched until it is awaited"]
pub struct RecallCall {
    memory: Memory,
    request: RecallRequest,
    asked: Gaps,
    look: RankingPasses,
}

/// Factor by which the candidate set grows when too many hits were recorded after the belief time. Source: own choice.
const DEEPER: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
/// Upper bound of that candidate set. Source: own choice; a million events are scanned within some seconds.
const DEEPEST: NonZeroUsize = NonZeroUsize::new(1_000_000).expect("a million is not zero");

/// Number of ranking passes over the hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RankingPasses {
    Once,
    /// The best hits are scored a second time, by the reranker.
    Twice,
}

impl RecallCall {
    pub(crate) fn new(memory: Memory, query: String) -> Self {
        let filter = EventFilter {
            session: memory.scope.session.clone(),
            user: memory.scope.user.clone(),
            agent: memory.scope.agent.clone(),
            ..EventFilter::live()
        };
        let limit = at_least_one(memory.engine.settings().recall.limit);
        let request = RecallRequest { filter, limit, ..RecallRequest::new(query) };
        Self { memory, request, asked: Gaps::default(), look: RankingPasses::Once }
    }

    /// Sets the maximum number of hits; at least one.
    pub fn limit(mut self, limit: usize) -> Self {
        self.request.limit = at_least_one(limit);
        self
    }

    /// Searches notes only and returns at most `recall.inject_limit` of them: the notes that a host injects for a user turn.
    pub fn notes_for_a_turn(mut self) -> Self {
        self.request.filter.roles = Within::Only(vec![Role::Decision]);
        self.request.limit = at_least_one(self.memory.engine.settings().recall.inject_limit);
        self
    }

    /// Narrows the search by this filter, which replaces the session and agent of the scope. A memory of one user stays limited
    /// to that user.
    pub fn filter(mut self, filter: EventFilter) -> Self {
        let own = both(&self.memory.scope.user, &filter.user);
        // Two users cannot be combined: the intersection of their records is empty.
        let user = own.unwrap_or_else(|| self.memory.scope.user.clone());
        self.request.filter = EventFilter { user, ..filter };
        self
    }

    /// Keeps only events at or after this moment.
    pub fn since(mut self, since: Timestamp) -> Self {
        self.request.filter.since = Some(since);
        self
    }

    /// Keeps only events before this moment.
    pub fn until(mut self, until: Timestamp) -> Self {
        self.request.filter.until = Some(until);
        self
    }

    /// Chooses the retrieval arms.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.request.mode = mode;
        self
    }

    /// Raises the weight of single arms.
    pub fn boosts(mut self, boosts: Boosts) -> Self {
        self.request.boosts = boosts;
        self
    }

    /// Sets the time zone of the asker, in which "yesterday" and "on Friday" are resolved; UTC without it.
    pub fn zone(mut self, zone: Zone) -> Self {
        self.request.zone = zone;
        self
    }

    /// Sets the diversification of hits, applied in each queried space separately.
    pub fn diversity(mut self, diversity: Diversity) -> Self {
        self.request.diversity = diversity;
        self
    }

    /// Sets the score cutoff of the ranking, applied in each queried space separately.
    pub fn cutoff(mut self, cutoff: Cutoff) -> Self {
        self.request.cutoff = cutoff;
        self
    }

    /// Drops hits below this score.
    pub fn min_score(mut self, score: f32) -> Self {
        self.request.min_score = Some(score);
        self
    }

    /// Passes a vector of the query, with the model that made it.
    pub fn query_vector(mut self, model: ModelId, values: Vec<f32>) -> Self {
        self.request.query_vector = Some((model, values));
        self
    }

    /// Passes the answer of [`embed_query`](crate::areas::AdminHandle::embed_query). When it holds no vector, the in-process embedder makes one, and
    /// the answer carries the gap.
    pub fn embedded(mut self, asked: Degraded<Option<EmbeddedQuestion>>) -> Self {
        self.request.query_vector = self.asked.merge(asked).map(|asked| (asked.model, asked.vector));
        self
    }

    /// Reranks the 20 best hits; the answer then takes its hits in the reranker's order.
    ///
    /// Scores and their signals stay unchanged; [`Hit::reranked`](crate::Hit::reranked) holds the new rank. Without a reranker,
    /// or when it fails or needs more than half a second, the answer has a gap of `rerank` and keeps the first order.
    pub fn reranked(mut self) -> Self {
        self.look = RankingPasses::Twice;
        self
    }

    /// Answers as of a moment (bi-temporal): keeps only hits that had been recorded at the belief time, and only notes that held.
    /// Ranking statistics are those of today.
    pub fn as_of(mut self, as_of: AsOf) -> Self {
        self.request.as_of = Some(as_of);
        self
    }

    /// Adds the messages before and after each hit; they are not ranked.
    pub fn with_neighbors(mut self) -> Self {
        self.request.expand = Expand::Neighbors;
        self
    }

    async fn run(mut self) -> Result<Degraded<RecallResult>> {
        let served = self.memory.engine.clone();
        let _serving = served.serves();
        let as_of = *self.request.as_of.get_or_insert_with(|| AsOf::present(self.memory.engine.now()));
        let limit = self.request.limit;
        if self.look == RankingPasses::Twice {
            self.request.limit = limit.max(RERANKED);
        }
        let wanted = self.request.limit;
        let (mut found, mut gaps) = loop {
            let (own, others) =
                join(self.memory.engine.recalled(&self.request), self.memory.secondary.recall(&self.request))
                    .await;
            let mut gaps = self.asked.clone();
            let (own, others) = (gaps.merge(own?), gaps.merge(others));
            let mut found = merged(own, others, &self.request);
            let is_all = found.hits.len() < self.request.limit.get();
            // An event recorded later was not known at the belief time. It is ranked with the others, so more candidates are
            // needed.
            found.hits.retain(|hit| hit.event.recorded_at <= as_of.belief);
            found.withheld.retain(|ended| ended.hit.event.recorded_at <= as_of.belief);
            if is_all || found.hits.len() >= wanted.get() || self.request.limit >= DEEPEST {
                found.hits.truncate(wanted.get());
                break (found, gaps);
            }
            self.request.limit = self.request.limit.saturating_mul(DEEPER).min(DEEPEST);
        };
        if self.look == RankingPasses::Twice {
            let reranker = self.memory.engine.answering().reranker.part();
            let looked = match reranker {
                Ok(reranker) => {
                    rerank(&mut found.hits, &self.request.query, reranker).await.map_err(GapCause::from)
                }
                Err(cause) => Err(cause),
            };
            gaps.keep(Layer::Rerank, looked);
            found.hits.truncate(limit.get());
        }
        Ok(gaps.attach(found))
    }
}

impl Engine {
    /// Searches this space only.
    pub(crate) async fn recalled(&self, request: &RecallRequest) -> Result<Degraded<RecallResult>> {
        let Some(recall) = self.parts().recall.clone() else {
            let gap = Gap { layer: Layer::Events, cause: GapCause::NotConfigured };
            let (hits, used, head) = (Vec::new(), UsedMode::Nothing, Cursor::START);
            let value = RecallResult { hits, withheld: Vec::new(), used, evidence: 0.0, head, model: None };
            return Ok(Degraded { value, gaps: vec![gap] });
        };
        let mut answer = recall.recall(request).await?;
        for gap in self.unsaid(&answer).await {
            if !answer.gaps.contains(&gap) {
                answer.gaps.push(gap);
            }
        }
        Ok(answer)
    }

    /// Loads the whole index into memory, in steps between which other tasks run. Until then, the first answers of a large space
    /// cover its newest events only, with a gap.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` when a block is damaged.
    pub async fn load(&self) -> Result<()> {
        match &self.parts().recall {
            Some(recall) => recall.load().await,
            None => Ok(()),
        }
    }

    /// Returns the gaps of an answer that recall itself cannot detect.
    ///
    /// Reads the database as little as possible: an index that answered has already read the head of the log, and the lag of the
    /// notes matters only when a note is among the hits.
    async fn unsaid(&self, answer: &Degraded<RecallResult>) -> Vec<Gap> {
        let was_searched = !matches!(answer.used, UsedMode::Substring | UsedMode::Nothing);
        if !was_searched || answer.gaps.iter().any(|gap| gap.layer == Layer::Lexical) {
            return self.staleness(was_searched.then_some(answer.head)).await;
        }
        let mut shown = answer.hits.iter().chain(answer.withheld.iter().map(|ended| &ended.hit));
        let has_note = shown.any(|hit| hit.event.role == Role::Decision);
        let mut gaps = if has_note { self.stale_notes(answer.head).await } else { Vec::new() };
        gaps.extend(self.damage());
        gaps
    }
}

impl IntoFuture for RecallCall {
    type Output = Result<Degraded<RecallResult>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let observed = self.memory.observed(Operation::Search).session(self.memory.scope.session.only());
        let observed = observed.query(&self.request.query);
        Box::pin(observed.run(with_read_snapshot(self.run()), |found, observed| {
            observed.records(found.hits.iter().map(|hit| hit.event.id));
            observed.texts(
                found.hits.iter().filter_map(|hit| hit.event.body()).map(|kept| kept.content.as_str()),
            );
            observed.gaps(&found.gaps);
        }))
    }
}

fn at_least_one(limit: usize) -> NonZeroUsize {
    NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN)
}

/// A pending context; awaiting it assembles the context.
#[derive(Debug)]
#[must_use = "nothing is assembled until it is awaited"]
pub struct ContextCall {
    memory: Memory,
    query: String,
    query_vector: Option<(ModelId, Vec<f32>)>,
    asked: Gaps,
    session: Option<SessionId>,
    channel: Within<ChannelId>,
    budget: TokenCount,
    sections: Within<Vec<Section>>,
    as_of: Option<AsOf>,
    injected: RepeatPolicy,
    tool: Option<ToolName>,
    lines: Option<usize>,
    line_tokens: Option<TokenCount>,
    format: Format,
    identity: Vec<String>,
}

impl ContextCall {
    pub(crate) fn new(memory: Memory, query: String) -> Self {
        let budget = TokenCount(memory.engine.settings().context.budget_tokens);
        let session = memory.scope.session.only().cloned();
        Self {
            memory,
            query,
            query_vector: None,
            asked: Gaps::default(),
            session,
            channel: Within::All,
            budget,
            sections: Within::All,
            as_of: None,
            injected: RepeatPolicy::Repeat,
            tool: None,
            lines: None,
            line_tokens: None,
            format: Format::default(),
            identity: Vec::new(),
        }
    }

    /// Sets the token budget, a hard limit.
    pub fn budget(mut self, tokens: u32) -> Self {
        self.budget = TokenCount(tokens);
        self
    }

    /// Sets the session that will receive the context. Its own turns are already in its window and are not recalled into it.
    /// Without a session, every session counts as another one.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the channel, which is preferred; records of other channels are not excluded.
    pub fn channel(mut self, channel: ChannelId) -> Self {
        self.channel = Within::Only(channel);
        self
    }

    /// Sets the sections to include.
    pub fn sections(mut self, sections: Vec<Section>) -> Self {
        self.sections = Within::Only(sections);
        self
    }

    /// Skips records that the session was shown before.
    pub fn skip_injected(mut self) -> Self {
        self.injected = RepeatPolicy::Skip;
        self
    }

    /// Sets the tool that is about to be used; learnings about this tool come first.
    pub fn tool(mut self, tool: ToolName) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Sets the maximum number of recalled and recent lines. Lines that apply to every question do not count.
    pub fn lines(mut self, most: usize) -> Self {
        self.lines = Some(most);
        self
    }

    /// Sets the maximum length of one line, in tokens.
    pub fn line_tokens(mut self, most: u32) -> Self {
        self.line_tokens = Some(TokenCount(most));
        self
    }

    /// Adds a text about the identity of the agent or the user, such as the host's own file. It comes first in the identity
    /// section, after the text of the settings, within the section's token share. It is not stored.
    pub fn identity(mut self, text: impl Into<String>) -> Self {
        self.identity.push(text.into());
        self
    }

    /// Sets the output format of lines.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Passes a vector of the query, with the model that made it.
    pub fn query_vector(mut self, model: ModelId, values: Vec<f32>) -> Self {
        self.query_vector = Some((model, values));
        self
    }

    /// Passes the answer of [`embed_query`](crate::areas::AdminHandle::embed_query). When it holds no vector, the in-process embedder makes one, and
    /// the context carries the gap.
    pub fn embedded(mut self, asked: Degraded<Option<EmbeddedQuestion>>) -> Self {
        self.query_vector = self.asked.merge(asked).map(|asked| (asked.model, asked.vector));
        self
    }

    /// Assembles the context as of a moment (bi-temporal).
    pub fn as_of(mut self, as_of: AsOf) -> Self {
        self.as_of = Some(as_of);
        self
    }

    fn request(&self) -> ContextRequest {
        let query = Some(self.query.trim()).filter(|query| !query.is_empty());
        ContextRequest {
            query: query.map(str::to_owned),
            query_vector: self.query_vector.clone(),
            session: self.session.clone().unwrap_or_else(SessionId::nobody),
            channel: self.channel.clone(),
            user: self.memory.scope.user.clone(),
            agent: self.memory.scope.agent.clone(),
            budget: self.budget,
            sections: self.sections.clone(),
            as_of: self.as_of.unwrap_or_else(|| AsOf::present(self.memory.engine.now())),
            injected: self.injected,
            tool: self.tool.clone(),
            lines: self.lines,
        }
    }

    /// Assembles the context, then stores its receipt; the answer never depends on that write.
    async fn run(self) -> Result<Degraded<Context>> {
        let served = self.memory.engine.clone();
        let _serving = served.serves();
        let engine = &self.memory.engine;
        if !engine.parts().assembles {
            return self.empty().await;
        }
        let request = self.request();
        let mut gaps = self.asked;
        let head = match engine.answering().events.part() {
            Ok(events) => events.head().await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        let head: Cursor = gaps.keep(Layer::Events, head);
        let (notes, (graph, lacking)) = (engine.fold_soon(head).await, engine.fold_graph_soon(head).await);
        for gap in lacking {
            gaps.add(gap);
        }
        let mut parts = engine.parts().context.clone();
        parts.settings.format = self.format;
        parts.settings.identity.extend(self.identity);
        parts.sources.extend(self.memory.secondary.sources());
        for gap in self.memory.secondary.gaps() {
            gaps.add(*gap);
        }
        parts.settings.item_tokens = self.line_tokens.unwrap_or(parts.settings.item_tokens);
        let mut context = gaps.merge(Assembler::new(parts).assemble(&request, head).await?);
        context.receipt.seal = Some(context.receipt.sealed(&engine.parts().key));
        let stale =
            engine.stale_notes_at(notes, head).await.into_iter().chain(stale(Layer::Graph, graph, head));
        for gap in stale.chain(engine.damage()) {
            gaps.add(gap);
        }
        let stored = match engine.answering().receipts.part() {
            Ok(receipts) => receipts.put(&context.receipt).await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        gaps.keep(Layer::Receipts, stored);
        Ok(gaps.attach(context))
    }

    /// Answers for an engine that assembles no contexts: an empty context with that gap; nothing is stored.
    async fn empty(&self) -> Result<Degraded<Context>> {
        let mut parts = self.memory.engine.parts().context.clone();
        parts.sources.clear();
        parts.settings.identity.clear();
        let mut answer = Assembler::new(parts).assemble(&self.request(), Cursor::START).await?;
        answer.gaps = vec![Gap { layer: Layer::Context, cause: GapCause::NotConfigured }];
        answer.value.receipt.gaps.clone_from(&answer.gaps);
        Ok(answer)
    }
}

impl IntoFuture for ContextCall {
    type Output = Result<Degraded<Context>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let observed = self.memory.observed(Operation::Search).session(self.session.as_ref());
        let observed = observed.query(&self.query);
        Box::pin(observed.run(with_read_snapshot(self.run()), |context, observed| {
            observed.count(context.receipt.lines.len());
            observed.texts(std::iter::once(context.text.as_str()));
            observed.gaps(&context.gaps);
        }))
    }
}
