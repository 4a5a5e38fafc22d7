//! Fault-injecting wrappers of ports.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AppendOutcome, AsOf, ContextRequest, ContextSource, Cursor, DeadLetter, Degraded, Edition,
    Embedder, Entity, EntityFilter, EntityId, ErasedNode, Error, ErrorKind, Event, EventCaps, EventFilter,
    EventId, EventStore, Fact, FactFilter, Fragment, GraphDelta, GraphStore, IndexBlock, IndexMark,
    IndexStore, Inventory, KeyPrefix, Layer, Learning, LearningDelta, LearningFilter, LearningStore,
    LogEntry, MentionFilter, MentionRow, ModelId, NodePath, NoteKey, Projection, Receipt, ReceiptId,
    ReceiptStore, Reranker, Result, SeenRecords, Seq, SessionId, SessionSummary, SummaryDelta, SummaryNode,
    SummaryStore, Timestamp, Tombstone, Vector, WorkingEntry, WorkingKey, WorkingStore,
};

/// A kind of misbehavior.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every call answers with this error.
    Failing(ErrorKind),
    /// No call ever answers.
    Hanging,
    /// Every call panics.
    Panicking,
    /// It answers from the state before the first event: an index loads nothing, a projection is at its start.
    Stale,
}

/// A port with a fault. Writes pass through; reads misbehave.
#[derive(Debug)]
pub struct Faulty<P: ?Sized> {
    part: Arc<P>,
    fault: Fault,
}

impl<P: ?Sized> Faulty<P> {
    /// Wraps a port.
    pub fn new(part: Arc<P>, fault: Fault) -> Self {
        Self { part, fault }
    }

    async fn misbehave(&self) -> Result<()> {
        match self.fault {
            Fault::Failing(kind) => Err(Error::new(kind, "injected failure")),
            Fault::Hanging => pending().await,
            #[expect(clippy::panic, reason = "a part that panics is what this fault is")]
            Fault::Panicking => panic!("injected panic"),
            Fault::Stale => Ok(()),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<SummaryDelta> for Faulty<dyn SummaryStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.misbehave().await?;
        if self.fault == Fault::Stale { Ok(Cursor::START) } else { self.part.cursor().await }
    }

    async fn apply(&self, delta: &SummaryDelta, advance: &Advance) -> Result<()> {
        if self.fault == Fault::Stale {
            return Err(Error::new(ErrorKind::Conflict, "injected: another process is folding"));
        }
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.misbehave().await?;
        self.part.dead_letters(limit).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl SummaryStore for Faulty<dyn SummaryStore> {
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>> {
        self.misbehave().await?;
        self.part.nodes(paths).await
    }

    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>> {
        self.misbehave().await?;
        self.part.children(path, limit).await
    }

    async fn erased_nodes(&self, limit: NonZeroUsize) -> Result<Vec<ErasedNode>> {
        self.misbehave().await?;
        self.part.erased_nodes(limit).await
    }

    async fn all(&self) -> Result<Vec<SummaryNode>> {
        self.misbehave().await?;
        self.part.all().await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Embedder for Faulty<dyn Embedder> {
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
        self.misbehave().await?;
        self.part.embed(texts).await
    }

    async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>> {
        self.misbehave().await?;
        self.part.embed_query(query).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Reranker for Faulty<dyn Reranker> {
    fn model(&self) -> &ModelId {
        self.part.model()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        self.misbehave().await?;
        self.part.rerank(query, texts).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl IndexStore for Faulty<dyn IndexStore> {
    async fn mark(&self) -> Result<IndexMark> {
        self.misbehave().await?;
        if self.fault == Fault::Stale { Ok(IndexMark::default()) } else { self.part.mark().await }
    }

    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        self.misbehave().await?;
        if self.fault == Fault::Stale { Ok(Vec::new()) } else { self.part.load(after, limit).await }
    }

    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        self.part.put_vectors(model, rows).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl EventStore for Faulty<dyn EventStore> {
    fn capabilities(&self) -> EventCaps {
        self.part.capabilities()
    }

    async fn head(&self) -> Result<Cursor> {
        self.misbehave().await?;
        self.part.head().await
    }

    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
        self.part.append(batch).await
    }

    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        self.misbehave().await?;
        self.part.get(ids).await
    }

    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        self.misbehave().await?;
        self.part.get_at(places).await
    }

    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.misbehave().await?;
        self.part.scan(filter, after, limit).await
    }

    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.misbehave().await?;
        self.part.latest(filter, limit).await
    }

    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.misbehave().await?;
        self.part.sessions(limit).await
    }

    async fn count_sessions(&self, most: NonZeroUsize) -> Result<u64> {
        self.misbehave().await?;
        self.part.count_sessions(most).await
    }

    async fn count_quarantined(&self, after: Cursor, through: Cursor) -> Result<u64> {
        self.misbehave().await?;
        self.part.count_quarantined(after, through).await
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

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<LearningDelta> for Faulty<dyn LearningStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.misbehave().await?;
        if self.fault == Fault::Stale { Ok(Cursor::START) } else { self.part.cursor().await }
    }

    async fn apply(&self, delta: &LearningDelta, advance: &Advance) -> Result<()> {
        if self.fault == Fault::Stale {
            return Err(Error::new(ErrorKind::Conflict, "injected: another process is folding"));
        }
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.misbehave().await?;
        self.part.dead_letters(limit).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LearningStore for Faulty<dyn LearningStore> {
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>> {
        self.misbehave().await?;
        self.part.active(filter, as_of).await
    }

    async fn all(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        self.misbehave().await?;
        self.part.all(filter).await
    }

    async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        self.misbehave().await?;
        self.part.history(key).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<GraphDelta> for Faulty<dyn GraphStore> {
    async fn cursor(&self) -> Result<Cursor> {
        self.misbehave().await?;
        if self.fault == Fault::Stale { Ok(Cursor::START) } else { self.part.cursor().await }
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        if self.fault == Fault::Stale {
            return Err(Error::new(ErrorKind::Conflict, "injected: another process is folding"));
        }
        self.part.apply(delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        self.part.reset().await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        self.misbehave().await?;
        self.part.dead_letters(limit).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl GraphStore for Faulty<dyn GraphStore> {
    async fn edition(&self) -> Result<Edition> {
        self.misbehave().await?;
        self.part.edition().await
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        self.misbehave().await?;
        self.part.entities(filter).await
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        self.misbehave().await?;
        self.part.facts(filter, as_of).await
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        self.misbehave().await?;
        self.part.strongest(of, most, as_of).await
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.misbehave().await?;
        self.part.history(filter).await
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.misbehave().await?;
        self.part.believed(filter).await
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        self.misbehave().await?;
        self.part.mentions(filter).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ReceiptStore for Faulty<dyn ReceiptStore> {
    async fn put(&self, receipt: &Receipt) -> Result<()> {
        self.misbehave().await?;
        self.part.put(receipt).await
    }

    async fn get(&self, id: ReceiptId) -> Result<Receipt> {
        self.misbehave().await?;
        self.part.get(id).await
    }

    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        self.misbehave().await?;
        self.part.latest(limit).await
    }

    async fn between(&self, since: Timestamp, until: Timestamp, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        self.misbehave().await?;
        self.part.between(since, until, limit).await
    }

    async fn seen(&self, session: &SessionId) -> Result<SeenRecords> {
        self.misbehave().await?;
        self.part.seen(session).await
    }

    async fn clear_seen(&self, session: &SessionId) -> Result<()> {
        self.misbehave().await?;
        self.part.clear_seen(session).await
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
impl WorkingStore for Faulty<dyn WorkingStore> {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        self.part.put(key, entry, room).await
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        self.misbehave().await?;
        self.part.get(key).await
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        self.misbehave().await?;
        self.part.list(prefixes).await
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        self.part.remove(prefix).await
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        self.part.sweep(at).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ContextSource for Faulty<dyn ContextSource> {
    fn layer(&self) -> Layer {
        self.part.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        self.misbehave().await?;
        self.part.fragments(request).await
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        self.misbehave().await?;
        self.part.inventories(request).await
    }
}
