//! Reads on their way: each builder makes one request and asks one layer.

use std::future::{Future, IntoFuture};
use std::num::NonZeroUsize;
use std::pin::Pin;

use futures_util::future::join;
use mnemal_context::{Assembler, Context, Format};
use mnemal_core::{
    AsOf, ChannelId, ContextRequest, Cursor, Degraded, EventFilter, Gap, GapCause, Gaps, Injected, Layer,
    ModelId, Result, Role, Section, SessionId, Timestamp, TokenCount, ToolName, Within, Zone,
};
use mnemal_recall::{
    Boosts, Depth, Expand, Mode, RERANKED, RecallRequest, Recalled, Spread, UsedMode, rerank,
};

use crate::embedding::QueryVector;
use crate::engine::Engine;
use crate::memory::Memory;
use crate::secondary::merged;
use crate::span::Operation;
use crate::user::both;

#[cfg(feature = "sqlite")]
use mnemal_store::at_one_look;

/// Without SQLite no store looks whether what it keeps still holds.
#[cfg(not(feature = "sqlite"))]
fn at_one_look<W>(work: W) -> W {
    work
}

/// A search on its way; awaiting it answers.
#[derive(Debug)]
#[must_use = "nothing is searched until it is awaited"]
pub struct RecallCall {
    memory: Memory,
    request: RecallRequest,
    asked: Gaps,
    look: Look,
}

/// How many times as many hits are looked at where too many of them were not known at the belief time. Source: own choice.
const DEEPER: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
/// Most hits that are looked at for that. Source: own choice; a million events are looked at within some seconds.
const DEEPEST: NonZeroUsize = NonZeroUsize::new(1_000_000).expect("a million is not zero");

/// How often hits are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Once,
    /// The best ones by the reranker too.
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
        Self { memory, request, asked: Gaps::default(), look: Look::Once }
    }

    /// Sets the most hits; at least one.
    pub fn limit(mut self, limit: usize) -> Self {
        self.request.limit = at_least_one(limit);
        self
    }

    /// Searches notes alone, at most `recall.inject_limit` of them: what a turn is offered for what its user says.
    pub fn notes_for_a_turn(mut self) -> Self {
        self.request.filter.roles = Within::Only(vec![Role::Decision]);
        self.request.limit = at_least_one(self.memory.engine.settings().recall.inject_limit);
        self
    }

    /// Narrows the search, in place of what the scope said of conversation and agent; within the memory of one user it stays
    /// there.
    pub fn filter(mut self, filter: EventFilter) -> Self {
        let own = both(&self.memory.scope.user, &filter.user);
        // What is of two users is of nobody: what is found is nothing of the other's.
        let user = own.unwrap_or_else(|| self.memory.scope.user.clone());
        self.request.filter = EventFilter { user, ..filter };
        self
    }

    /// Leaves out what happened before; the moment itself passes.
    pub fn since(mut self, since: Timestamp) -> Self {
        self.request.filter.since = Some(since);
        self
    }

    /// Leaves out what happened at this moment or later.
    pub fn until(mut self, until: Timestamp) -> Self {
        self.request.filter.until = Some(until);
        self
    }

    /// Chooses the arms.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.request.mode = mode;
        self
    }

    /// Lets arms count more than they do by themselves.
    pub fn boosts(mut self, boosts: Boosts) -> Self {
        self.request.boosts = boosts;
        self
    }

    /// Says where the asker is, for "yesterday" and "on Friday"; without it they are read in UTC.
    pub fn zone(mut self, zone: Zone) -> Self {
        self.request.zone = zone;
        self
    }

    /// Chooses how hits are taken from the ranking. In each space that is asked, by itself.
    pub fn spread(mut self, spread: Spread) -> Self {
        self.request.spread = spread;
        self
    }

    /// Chooses how far down the ranking hits are taken. In each space that is asked, by itself.
    pub fn depth(mut self, depth: Depth) -> Self {
        self.request.depth = depth;
        self
    }

    /// Leaves out hits of a lower score.
    pub fn min_score(mut self, score: f32) -> Self {
        self.request.min_score = Some(score);
        self
    }

    /// Hands in the query's own vector with its model.
    pub fn query_vector(mut self, model: ModelId, values: Vec<f32>) -> Self {
        self.request.query_vector = Some((model, values));
        self
    }

    /// Hands in what [`embed_query`](Memory::embed_query) answered; without a vector the embedder in process makes one, and
    /// the answer has the gap.
    pub fn embedded(mut self, asked: Degraded<Option<QueryVector>>) -> Self {
        self.request.query_vector = self.asked.merge(asked).map(|asked| (asked.model, asked.vector));
        self
    }

    /// Asks the reranker for a second look at the 20 best hits, of which the answer then has the best by its order.
    ///
    /// Scores, and what they are made of, stay as they are: [`Hit::reranked`](crate::Hit::reranked) tells the order apart.
    /// Without a reranker, or when it fails or takes more than half a second, there is a gap of `rerank`, and the hits stand
    /// in their first order.
    pub fn reranked(mut self) -> Self {
        self.look = Look::Twice;
        self
    }

    /// Says what counts, as known when: of what is found only what had been recorded at the belief time, and of the notes what
    /// held. The ranking knows the words of today.
    pub fn as_of(mut self, as_of: AsOf) -> Self {
        self.request.as_of = Some(as_of);
        self
    }

    /// Brings the messages before and after each hit along, outside the ranking.
    pub fn with_neighbours(mut self) -> Self {
        self.request.expand = Expand::Neighbours;
        self
    }

    async fn run(mut self) -> Result<Degraded<Recalled>> {
        let served = self.memory.engine.clone();
        let _serving = served.serves();
        let as_of = *self.request.as_of.get_or_insert_with(|| AsOf::present(self.memory.engine.now()));
        let limit = self.request.limit;
        if self.look == Look::Twice {
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
            // What was recorded later was not known then. It is ranked with the others, so that more must be looked at.
            found.hits.retain(|hit| hit.event.recorded_at <= as_of.belief);
            found.withheld.retain(|ended| ended.hit.event.recorded_at <= as_of.belief);
            if is_all || found.hits.len() >= wanted.get() || self.request.limit >= DEEPEST {
                found.hits.truncate(wanted.get());
                break (found, gaps);
            }
            self.request.limit = self.request.limit.saturating_mul(DEEPER).min(DEEPEST);
        };
        if self.look == Look::Twice {
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
    /// Answers from this space alone.
    pub(crate) async fn recalled(&self, request: &RecallRequest) -> Result<Degraded<Recalled>> {
        let Some(recall) = self.parts().recall.clone() else {
            let gap = Gap { layer: Layer::Events, cause: GapCause::NotConfigured };
            let (hits, used, head) = (Vec::new(), UsedMode::Nothing, Cursor::START);
            let value = Recalled { hits, withheld: Vec::new(), used, evidence: 0.0, head, model: None };
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

    /// Loads the whole index into memory, in steps between which other tasks run. Without it the first answers of a large
    /// space know its newest events only, and say so.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` when a block is damaged.
    pub async fn load(&self) -> Result<()> {
        match &self.parts().recall {
            Some(recall) => recall.load().await,
            None => Ok(()),
        }
    }

    /// Returns the gaps of an answer that recall cannot know of.
    ///
    /// Asks the database as little as can be: an index that answered has read the head of the log with its mark, and whether
    /// notes are behind matters where there is one among the hits.
    async fn unsaid(&self, answer: &Degraded<Recalled>) -> Vec<Gap> {
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
    type Output = Result<Degraded<Recalled>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let observed = self.memory.observed(Operation::Search).session(self.memory.scope.session.only());
        let observed = observed.query(&self.request.query);
        Box::pin(observed.run(at_one_look(self.run()), |found, observed| {
            observed.records(found.hits.iter().map(|hit| hit.event.id));
            observed.texts(
                found.hits.iter().filter_map(|hit| hit.event.kept()).map(|kept| kept.content.as_str()),
            );
            observed.gaps(&found.gaps);
        }))
    }
}

fn at_least_one(limit: usize) -> NonZeroUsize {
    NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN)
}

/// A context on its way; awaiting it assembles.
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
    injected: Injected,
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
            injected: Injected::Repeat,
            tool: None,
            lines: None,
            line_tokens: None,
            format: Format::default(),
            identity: Vec::new(),
        }
    }

    /// Sets the hard limit, in tokens.
    pub fn budget(mut self, tokens: u32) -> Self {
        self.budget = TokenCount(tokens);
        self
    }

    /// Sets the conversation that will be shown the context; its own turns are in its window already and are not recalled
    /// into it. Without it every conversation counts as another one.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the place, of which more is told; what was said elsewhere is not left out.
    pub fn channel(mut self, channel: ChannelId) -> Self {
        self.channel = Within::Only(channel);
        self
    }

    /// Sets the sections that are wanted.
    pub fn sections(mut self, sections: Vec<Section>) -> Self {
        self.sections = Within::Only(sections);
        self
    }

    /// Leaves out what the session was shown before.
    pub fn skip_injected(mut self) -> Self {
        self.injected = Injected::Skip;
        self
    }

    /// Sets the tool that is about to be used: what is known of how it fares comes first.
    pub fn tool(mut self, tool: ToolName) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Sets the most lines of what is recalled and what was said just now; what holds for every question is not counted.
    pub fn lines(mut self, most: usize) -> Self {
        self.lines = Some(most);
        self
    }

    /// Sets the longest text of one line, in tokens.
    pub fn line_tokens(mut self, most: u32) -> Self {
        self.line_tokens = Some(TokenCount(most));
        self
    }

    /// Hands in a text that says who the agent or the user is, such as the host's own file about it; it stands first, behind what
    /// the settings say, as far as the section's share goes. Nothing of it is stored.
    pub fn identity(mut self, text: impl Into<String>) -> Self {
        self.identity.push(text.into());
        self
    }

    /// Sets how lines are written.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Hands in the query's own vector with its model.
    pub fn query_vector(mut self, model: ModelId, values: Vec<f32>) -> Self {
        self.query_vector = Some((model, values));
        self
    }

    /// Hands in what [`embed_query`](Memory::embed_query) answered; without a vector the embedder in process makes one, and
    /// the context has the gap.
    pub fn embedded(mut self, asked: Degraded<Option<QueryVector>>) -> Self {
        self.query_vector = self.asked.merge(asked).map(|asked| (asked.model, asked.vector));
        self
    }

    /// Says what held, as known when.
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

    /// Assembles, then stores the receipt: the answer never depends on that write.
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
        let notes = engine.fold_soon(head).await;
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
            engine.stale_notes_at(notes, head).await.into_iter().chain(engine.stale_graph(head).await);
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

    /// Answers in an engine that assembles no contexts: with nothing but that gap, and nothing is stored.
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
        Box::pin(observed.run(at_one_look(self.run()), |context, observed| {
            observed.count(context.receipt.lines.len());
            observed.texts(std::iter::once(context.text.as_str()));
            observed.gaps(&context.gaps);
        }))
    }
}
