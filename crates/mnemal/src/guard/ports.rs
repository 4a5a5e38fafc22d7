//! Guarded implementations of the ports: every method is forwarded.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AppendOutcome, AsOf, BackgroundEmbedder, BackgroundPermit, Completion, ContextRequest,
    ContextSource, Cursor, DeadLetter, Degraded, Edition, Embedder, Entity, EntityFilter, EntityId,
    ErasedNode, Event, EventCaps, EventFilter, EventId, EventStore, Fact, FactFilter, Fragment, GraphDelta,
    GraphStore, IndexBlock, IndexMark, IndexStore, Inventory, KeyPrefix, LanguageModel, Layer, Learning,
    LearningDelta, LearningFilter, LearningStore, LogEntry, MentionFilter, MentionRow, ModelId, NodePath,
    NoteKey, Progress, Projection, Projector, Prompt, Receipt, ReceiptId, ReceiptStore, Reranker, Result,
    SeenRecords, Seq, SessionId, SessionSummary, SummaryDelta, SummaryNode, SummaryStore, Timestamp,
    Tombstone, Vector, WorkingEntry, WorkingKey, WorkingStore,
};

use super::GuardedPort;
use crate::span::{Operation, OperationSpan};

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Embedder for GuardedPort<dyn Embedder> {
    fn model(&self) -> &ModelId {
        self.part.model()
    }

    fn dimensions(&self) -> usize {
        self.part.dimensions()
    }

    fn floor(&self) -> f32 {
        self.part.floor()
    }

    fn reads(&self, language: &str) -> bool {
        self.part.reads(language)
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        self.run("the embedder", self.part.embed(texts)).await
    }

    async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>> {
        self.run("the embedder", self.part.embed_query(query)).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Reranker for GuardedPort<dyn Reranker> {
    fn model(&self) -> &ModelId {
        self.part.model()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        self.run("the reranker", self.part.rerank(query, texts)).await
    }
}

/// A call outside the process has no common deadline: the caller sets it.
impl GuardedPort<dyn BackgroundEmbedder> {
    pub(crate) fn model(&self) -> &ModelId {
        self.part.model()
    }

    pub(crate) async fn embed_within(
        &self,
        deadline: Duration,
        permit: &mut BackgroundPermit,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>> {
        let observed = OperationSpan::new(Operation::Embeddings).model(self.model());
        let asked = self.run_within(deadline, "the endpoint", self.part.embed(permit, texts));
        observed.run(Box::pin(asked), |_, _| ()).await
    }
}

/// Time limit of one model request, with retries and pauses. Source: as for the texts of one request.
const PATIENCE: Duration = Duration::from_mins(6);

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LanguageModel for GuardedPort<dyn LanguageModel> {
    fn model(&self) -> &ModelId {
        self.part.model()
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        let observed = OperationSpan::new(Operation::Chat).model(self.model());
        let asked = self.run_within(PATIENCE, "the language model", self.part.complete(permit, prompt));
        observed.run(Box::pin(asked), |_, _| ()).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl IndexStore for GuardedPort<dyn IndexStore> {
    async fn mark(&self) -> Result<IndexMark> {
        self.run("the index", self.part.mark()).await
    }

    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        self.run("the index", self.part.load(after, limit)).await
    }

    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        self.part.put_vectors(model, rows).await
    }
}

/// Reads are guarded; writes are not: an append must not be aborted.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl EventStore for GuardedPort<dyn EventStore> {
    fn capabilities(&self) -> EventCaps {
        self.part.capabilities()
    }

    async fn head(&self) -> Result<Cursor> {
        self.run("the log", self.part.head()).await
    }

    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
        self.part.append(batch).await
    }

    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        self.run("the log", self.part.get(ids)).await
    }

    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        self.run("the log", self.part.get_at(places)).await
    }

    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.run("the log", self.part.scan(filter, after, limit)).await
    }

    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.run("the log", self.part.latest(filter, limit)).await
    }

    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.run("the log", self.part.sessions(limit)).await
    }

    async fn count_sessions(&self, most: NonZeroUsize) -> Result<u64> {
        self.run("the log", self.part.count_sessions(most)).await
    }

    async fn count_quarantined(&self, after: Cursor, through: Cursor) -> Result<u64> {
        self.run("the log", self.part.count_quarantined(after, through)).await
    }

    async fn erase(&self, tombstones: &[Tombstone]) -> Result<u64> {
        self.part.erase(tombstones).await
    }

    async fn tombstones(&self) -> Result<Vec<Tombstone>> {
        self.part.tombstones().await
    }

    async fn adopt(&self, tombstones: &[Tombstone]) -> Result<()> {
        self.part.adopt(tombstones).await
    }
}

/// Reads are guarded; folding is not: its transaction must not be aborted.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<LearningDelta> for GuardedPort<dyn LearningStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.run("the notes", self.part.cursor()).await
    }

    async fn apply(&self, delta: &LearningDelta, advance: &Advance) -> Result<()> {
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.run("the notes", self.part.dead_letters(limit)).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LearningStore for GuardedPort<dyn LearningStore> {
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>> {
        self.run("the notes", self.part.active(filter, as_of)).await
    }

    async fn all(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        self.run("the notes", self.part.all(filter)).await
    }

    async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        self.run("the notes", self.part.history(key)).await
    }
}

/// Reads are guarded; folding is not: its transaction must not be aborted.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<GraphDelta> for GuardedPort<dyn GraphStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.run("the graph", self.part.cursor()).await
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.run("the graph", self.part.dead_letters(limit)).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl GraphStore for GuardedPort<dyn GraphStore> {
    async fn edition(&self) -> Result<Edition> {
        self.run("the graph", self.part.edition()).await
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        self.run("the graph", self.part.entities(filter)).await
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        self.run("the graph", self.part.facts(filter, as_of)).await
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        self.run("the graph", self.part.strongest(of, most, as_of)).await
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.run("the graph", self.part.history(filter)).await
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.run("the graph", self.part.believed(filter)).await
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        self.run("the graph", self.part.mentions(filter)).await
    }
}

/// Reads are guarded; folding is not: its transaction must not be aborted.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<SummaryDelta> for GuardedPort<dyn SummaryStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.run("the summaries", self.part.cursor()).await
    }

    async fn apply(&self, delta: &SummaryDelta, advance: &Advance) -> Result<()> {
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.run("the summaries", self.part.dead_letters(limit)).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl SummaryStore for GuardedPort<dyn SummaryStore> {
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>> {
        self.run("the summaries", self.part.nodes(paths)).await
    }

    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>> {
        self.run("the summaries", self.part.children(path, limit)).await
    }

    async fn erased_nodes(&self, limit: NonZeroUsize) -> Result<Vec<ErasedNode>> {
        self.run("the summaries", self.part.erased_nodes(limit)).await
    }

    async fn all(&self) -> Result<Vec<SummaryNode>> {
        self.run("the summaries", self.part.all()).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ReceiptStore for GuardedPort<dyn ReceiptStore> {
    async fn put(&self, receipt: &Receipt) -> Result<()> {
        self.run("the receipts", self.part.put(receipt)).await
    }

    async fn get(&self, id: ReceiptId) -> Result<Receipt> {
        self.run("the receipts", self.part.get(id)).await
    }

    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        self.run("the receipts", self.part.latest(limit)).await
    }

    async fn between(&self, since: Timestamp, until: Timestamp, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        self.run("the receipts", self.part.between(since, until, limit)).await
    }

    async fn seen(&self, session: &SessionId) -> Result<SeenRecords> {
        self.run("the receipts", self.part.seen(session)).await
    }

    async fn clear_seen(&self, session: &SessionId) -> Result<()> {
        self.run("the receipts", self.part.clear_seen(session)).await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64> {
        self.part.sweep(before).await
    }

    async fn erase(&self, sources: &[EventId]) -> Result<u64> {
        self.part.erase(sources).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ContextSource for GuardedPort<dyn ContextSource> {
    fn layer(&self) -> Layer {
        self.part.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        self.run("a context source", self.part.fragments(request)).await
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        self.run("a context source", self.part.inventories(request)).await
    }
}

/// Steps of a host's projector are guarded, because appends and answers wait for them; a rebuild is not.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projector for GuardedPort<dyn Projector> {
    fn layer(&self) -> Layer {
        self.part.layer()
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        self.run("a projector", self.part.step(limit)).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }
}

/// Reads are guarded; writes are not: a transaction must not be aborted.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl WorkingStore for GuardedPort<dyn WorkingStore> {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        self.part.put(key, entry, room).await
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        self.run("working memory", self.part.get(key)).await
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        self.run("working memory", self.part.list(prefixes)).await
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        self.part.remove(prefix).await
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        self.part.sweep(at).await
    }
}
