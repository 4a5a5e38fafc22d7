//! The ports of a file: each call goes to the one implementation over [`Sql`].

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Acquisition, Advance, AppendOutcome, AsOf, Completion, CompletionCache, Cursor, DeadLetter, Edition,
    Entity, EntityFilter, EntityId, ErasedNode, Event, EventCaps, EventFilter, EventId, EventStore, Fact,
    FactFilter, GraphDelta, GraphStore, IndexBlock, IndexMark, IndexStore, KeyPrefix, Learning,
    LearningDelta, LearningFilter, LearningStore, Lease, LeaseName, LeaseStore, LedgerKind, LedgerLine,
    LedgerStore, LogEntry, MentionFilter, MentionRow, ModelId, NodePath, NoteKey, OwnerId, Projection,
    PromptHash, Receipt, ReceiptId, ReceiptStore, Result, SeenRecords, Seq, SessionId, SessionSummary,
    SummaryDelta, SummaryNode, SummaryStore, Timestamp, Tombstone, Vector, Within, WorkingEntry, WorkingKey,
    WorkingStore, facts_as_of,
};

use crate::admit::LARGEST_BATCH;
use crate::backend::{Backend, SqlStore};
use crate::cache::{FactLookup, LearningRows, LearningSelection};
use crate::port::{graph, index, learning, lease, ledger, log, model, receipt, summary, working};
use crate::sql::Sql;

#[expect(private_bounds, reason = "its methods are private")]
impl<B: Backend> SqlStore<B> {
    fn sql(&self) -> &dyn Sql {
        self.inner.sql()
    }

    /// Returns the valid facts for these lookups from the cache; reads those that are missing.
    async fn cached_facts(&self, places: &[FactLookup], as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        let version = graph::version(self.sql()).await?;
        let mut found = Vec::new();
        let missing = self.inner.caches().facts.find(version, places, &mut found);
        if !missing.is_empty() {
            let read: Vec<Arc<Fact>> = graph::believed(self.sql(), &FactLookup::filter(&missing))
                .await?
                .into_iter()
                .map(Arc::new)
                .collect();
            found.extend(read.iter().cloned());
            self.inner.caches().facts.keep(version, &missing, &read);
        }
        // Equal ones stand side by side then.
        let mut found = facts_as_of(found, as_of);
        found.dedup_by_key(|fact| fact.id);
        Ok(found)
    }

    /// Returns entities from the cache, by id; reads those that are missing.
    async fn known_entities(&self, mut ids: Vec<EntityId>) -> Result<Vec<Arc<Entity>>> {
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let version = graph::version(self.sql()).await?;
        let mut found = Vec::with_capacity(ids.len());
        let missing = self.inner.caches().facts.find_entities(version, &ids, &mut found);
        if !missing.is_empty() {
            let filter = EntityFilter { ids: Within::Only(missing.clone()), ..EntityFilter::all() };
            let read = graph::entities(self.sql(), &filter).await?;
            self.inner.caches().facts.keep_entities(version, &missing, &read);
            found.extend(read);
            found.sort_unstable_by_key(|entity| entity.id);
        }
        Ok(found)
    }

    /// Returns learnings from the cache, or reads them.
    async fn cached_learnings(&self, which: LearningSelection) -> Result<LearningRows> {
        let version = learning::version(self.sql()).await?;
        if let Some(known) = self.inner.caches().learnings.at(version, which) {
            return Ok(known);
        }
        let every = LearningFilter::all();
        let read = match which {
            // Also those that will have ended by then: the moment is another one with each question.
            LearningSelection::Holding => {
                learning::active(self.sql(), &every, AsOf::present(Timestamp::EPOCH)).await?
            }
            LearningSelection::All => learning::all(self.sql(), &every).await?,
        };
        let rows = LearningRows::new(read);
        self.inner.caches().learnings.keep(version, which, rows.clone());
        Ok(rows)
    }
}

#[async_trait]
impl<B: Backend> EventStore for SqlStore<B> {
    fn capabilities(&self) -> EventCaps {
        EventCaps { durable: self.inner.is_durable(), shared: true, largest_batch: LARGEST_BATCH }
    }

    async fn head(&self) -> Result<Cursor> {
        self.inner.noted(log::head(self.sql()).await)
    }

    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
        log::append(self.sql(), batch).await
    }

    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        self.inner.noted(log::get(self.sql(), ids).await)
    }

    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        self.inner.noted(log::get_at(self.sql(), places).await)
    }

    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.inner.noted(log::scan(self.sql(), filter, after, limit).await)
    }

    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.inner.noted(self.inner.caches().newest.latest(self.sql(), filter, limit).await)
    }

    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.inner.noted(log::sessions(self.sql(), limit).await)
    }

    async fn count_sessions(&self, most: NonZeroUsize) -> Result<u64> {
        self.inner.noted(log::count_sessions(self.sql(), most).await)
    }

    async fn count_quarantined(&self, after: Cursor, through: Cursor) -> Result<u64> {
        self.inner.noted(log::count_quarantined(self.sql(), after, through).await)
    }

    async fn erase(&self, tombstones: &[Tombstone]) -> Result<u64> {
        let erased = log::erase(self.sql(), tombstones).await;
        self.inner.caches().clear();
        erased
    }

    async fn tombstones(&self) -> Result<Vec<Tombstone>> {
        self.inner.noted(log::tombstones(self.sql()).await)
    }

    async fn adopt(&self, tombstones: &[Tombstone]) -> Result<()> {
        log::adopt(self.sql(), tombstones).await
    }
}

#[async_trait]
impl<B: Backend> IndexStore for SqlStore<B> {
    async fn mark(&self) -> Result<IndexMark> {
        self.inner.noted(index::mark(self.sql()).await)
    }

    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        index::load(self.sql(), after, limit).await
    }

    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        index::put_vectors(self.sql(), model, rows).await
    }
}

#[async_trait]
impl<B: Backend> Projection<LearningDelta> for SqlStore<B> {
    async fn cursor(&self) -> Result<Cursor> {
        learning::cursor(self.sql()).await
    }

    async fn apply(&self, delta: &LearningDelta, advance: &Advance) -> Result<()> {
        learning::apply(self.sql(), delta, advance).await?;
        self.inner.caches().learnings.applied(delta, advance);
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        let reset = learning::reset(self.sql()).await;
        self.inner.caches().learnings.clear();
        reset
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        learning::dead_letters(self.sql(), limit).await
    }
}

#[async_trait]
impl<B: Backend> LearningStore for SqlStore<B> {
    async fn active(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Arc<[Arc<Learning>]>> {
        if !as_of.is_present() {
            let rows = learning::active(self.sql(), filter, as_of).await?;
            return Ok(rows.into_iter().map(Arc::new).collect());
        }
        let known = self.cached_learnings(LearningSelection::Holding).await?;
        if *filter == LearningFilter::all() && known.all_hold_at(as_of.world) {
            return Ok(known.all);
        }
        let holds =
            |row: &&Arc<Learning>| row.expires_at.is_none_or(|end| as_of.world < end) && filter.accepts(row);
        Ok(known.all.iter().filter(holds).cloned().collect())
    }

    async fn all(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        // Every answer with a note asks for few rows: those of its hits.
        let Within::Only(events) = &filter.sources else { return learning::all(self.sql(), filter).await };
        let known = self.cached_learnings(LearningSelection::All).await?;
        let rows = known.resting_on(events).filter(|row| filter.accepts(row));
        Ok(rows.map(|row| Learning::clone(row)).collect())
    }

    async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        learning::history(self.sql(), key).await
    }
}

#[async_trait]
impl<B: Backend> Projection<GraphDelta> for SqlStore<B> {
    async fn cursor(&self) -> Result<Cursor> {
        graph::cursor(self.sql()).await
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        graph::apply(self.sql(), delta, advance).await?;
        self.inner.caches().facts.applied(delta, advance);
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        let reset = graph::reset(self.sql()).await;
        self.inner.caches().facts.clear();
        reset
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        graph::dead_letters(self.sql(), limit).await
    }
}

#[async_trait]
impl<B: Backend> GraphStore for SqlStore<B> {
    async fn edition(&self) -> Result<Edition> {
        graph::edition(self.sql()).await
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        let EntityFilter { ids, keys, merged_into, kind } = filter;
        match (ids, keys, merged_into, kind) {
            (Within::Only(ids), Within::All, Within::All, Within::All) => {
                self.known_entities(ids.clone()).await
            }
            (Within::All, Within::Only(keys), Within::All, Within::All) => {
                let named = graph::named(self.sql(), keys).await?;
                let mut found = self.known_entities(named).await?;
                found.retain(|entity| filter.accepts(entity));
                Ok(found)
            }
            _ => graph::entities(self.sql(), filter).await,
        }
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        match FactLookup::of(filter).filter(|_| as_of.is_present()) {
            Some(places) => self.cached_facts(&places, as_of).await,
            None => graph::facts(self.sql(), filter, as_of).await,
        }
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        graph::strongest(self.sql(), of, most, as_of).await
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        graph::history(self.sql(), filter).await
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        graph::believed(self.sql(), filter).await
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        graph::mentions(self.sql(), filter).await
    }
}

#[async_trait]
impl<B: Backend> Projection<SummaryDelta> for SqlStore<B> {
    async fn cursor(&self) -> Result<Cursor> {
        summary::cursor(self.sql()).await
    }

    async fn apply(&self, delta: &SummaryDelta, advance: &Advance) -> Result<()> {
        summary::apply(self.sql(), delta, advance).await
    }

    async fn reset(&self) -> Result<()> {
        summary::reset(self.sql()).await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        summary::dead_letters(self.sql(), limit).await
    }
}

#[async_trait]
impl<B: Backend> SummaryStore for SqlStore<B> {
    async fn nodes(&self, paths: &[NodePath]) -> Result<Vec<SummaryNode>> {
        summary::nodes(self.sql(), paths).await
    }

    async fn children(&self, path: &NodePath, limit: NonZeroUsize) -> Result<Vec<SummaryNode>> {
        summary::children(self.sql(), path, limit).await
    }

    async fn erased_nodes(&self, limit: NonZeroUsize) -> Result<Vec<ErasedNode>> {
        summary::erased_nodes(self.sql(), limit).await
    }

    async fn all(&self) -> Result<Vec<SummaryNode>> {
        summary::all(self.sql()).await
    }
}

#[async_trait]
impl<B: Backend> ReceiptStore for SqlStore<B> {
    async fn put(&self, receipt: &Receipt) -> Result<()> {
        receipt::put(self.sql(), receipt).await
    }

    async fn get(&self, id: ReceiptId) -> Result<Receipt> {
        receipt::get(self.sql(), id).await
    }

    async fn latest(&self, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        receipt::latest(self.sql(), limit).await
    }

    async fn between(&self, since: Timestamp, until: Timestamp, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
        receipt::between(self.sql(), (since, until), limit).await
    }

    async fn seen(&self, session: &SessionId) -> Result<SeenRecords> {
        receipt::seen(self.sql(), session).await
    }

    async fn clear_seen(&self, session: &SessionId) -> Result<()> {
        receipt::clear_seen(self.sql(), session).await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64> {
        receipt::sweep(self.sql(), before).await
    }

    async fn erase(&self, sources: &[EventId]) -> Result<u64> {
        receipt::erase(self.sql(), sources).await
    }
}

#[async_trait]
impl<B: Backend> LeaseStore for SqlStore<B> {
    async fn acquire(
        &self,
        name: &LeaseName,
        owner: &OwnerId,
        at: Timestamp,
        ttl: Duration,
    ) -> Result<Acquisition> {
        lease::acquire(self.sql(), name, owner, at, ttl).await
    }

    async fn renew(&self, lease: &Lease, at: Timestamp, ttl: Duration) -> Result<Lease> {
        lease::renew(self.sql(), lease, at, ttl).await
    }

    async fn release(&self, lease: Lease) -> Result<()> {
        lease::release(self.sql(), &lease).await
    }

    async fn holder(&self, name: &LeaseName) -> Result<Option<Lease>> {
        lease::holder(self.sql(), name).await
    }
}

#[async_trait]
impl<B: Backend> LedgerStore for SqlStore<B> {
    async fn put(&self, lines: &[LedgerLine]) -> Result<()> {
        ledger::put(self.sql(), lines).await
    }

    async fn lines(&self, kind: LedgerKind, limit: NonZeroUsize) -> Result<Vec<LedgerLine>> {
        ledger::lines(self.sql(), kind, limit).await
    }

    async fn sweep(&self, kind: LedgerKind, before: Timestamp) -> Result<u64> {
        ledger::sweep(self.sql(), kind, before).await
    }
}

#[async_trait]
impl<B: Backend> WorkingStore for SqlStore<B> {
    async fn put(
        &self,
        key: &WorkingKey,
        entry: &WorkingEntry,
        room: NonZeroUsize,
    ) -> Result<Vec<(WorkingKey, Timestamp)>> {
        working::put(self.sql(), key, entry, room).await
    }

    async fn get(&self, key: &WorkingKey) -> Result<WorkingEntry> {
        working::get(self.sql(), key).await
    }

    async fn list(&self, prefixes: &[KeyPrefix]) -> Result<Vec<(WorkingKey, WorkingEntry)>> {
        working::list(self.sql(), prefixes).await
    }

    async fn remove(&self, prefix: &KeyPrefix) -> Result<u64> {
        working::remove(self.sql(), prefix).await
    }

    async fn sweep(&self, at: Timestamp) -> Result<u64> {
        working::sweep(self.sql(), at).await
    }
}

#[async_trait]
impl<B: Backend> CompletionCache for SqlStore<B> {
    async fn get(&self, prompt: PromptHash) -> Result<Completion> {
        model::get(self.sql(), prompt).await
    }

    async fn put(&self, prompt: PromptHash, completion: &Completion, sources: &[EventId]) -> Result<()> {
        model::put(self.sql(), prompt, completion, sources).await
    }

    async fn erase(&self, sources: &[EventId]) -> Result<u64> {
        model::erase(self.sql(), sources).await
    }
}
