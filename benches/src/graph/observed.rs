//! The parts of a projection, each with what it cost.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::events::Cursor;
use mnemal::extract::Extraction;
use mnemal::graph::{Entity, EntityFilter, MentionFilter};
use mnemal::ports::Extractor;
use mnemal::types::EntityId;
use mnemal::{AsOf, Fact, FactFilter, Result};
use mnemal_core::{
    Advance, DeadLetter, Edition, Error, GraphDelta, GraphStore, MentionRow, Producer, Projection, Utterance,
};
use mnemal_extract::RuleExtractor;
use mnemal_store::SqliteStore;

use crate::cpu::{Watch, named_cpu, thread_cpu};

/// The thread of the connection that writes.
const WRITER: &str = "mnemal-writer";

/// The cost of the parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Of the extractor.
    pub(super) reading: Duration,
    /// Of looking rows up.
    pub(super) loading: Duration,
    /// Of each write transaction.
    pub(super) writes: Vec<Duration>,
    /// Most rows of a write transaction, those of sources included.
    pub(super) most_rows: usize,
    /// Rows of facts that were written.
    pub(super) facts: usize,
}

/// A store and an extractor that are watched. Nothing else may run in the process meanwhile.
#[derive(Debug)]
pub(super) struct WatchedParts {
    store: Arc<SqliteStore>,
    extractor: RuleExtractor,
    tally: Mutex<Tally>,
}

impl WatchedParts {
    pub(super) fn new(store: Arc<SqliteStore>) -> Self {
        Self { store, extractor: RuleExtractor::new(), tally: Mutex::default() }
    }

    /// Returns the counts, and resets them.
    pub(super) fn take(&self) -> Tally {
        std::mem::take(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, what: impl FnOnce(&mut Tally)) {
        what(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn loaded<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let watch = started()?;
        let answer = work.await;
        let cpu = watch.stop().map_err(no_clock)?.cpu;
        self.note(|tally| tally.loading += cpu);
        answer
    }
}

fn started() -> Result<Watch> {
    Watch::start().map_err(no_clock)
}

/// Returns how many rows a delta writes, those of sources and of names included.
fn rows(delta: &GraphDelta) -> usize {
    let facts: usize = delta.facts.iter().map(|fact| 1 + fact.supports.len()).sum();
    let entities: usize =
        delta.entities.iter().map(|entity| 1 + entity.names.len() + entity.sources.len()).sum();
    facts + entities + delta.mentions.len()
}

fn no_clock(error: anyhow::Error) -> Error {
    Error::internal("no clock of processor time").because(std::io::Error::other(error))
}

impl Extractor for WatchedParts {
    fn producer(&self) -> Producer {
        self.extractor.producer()
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let before = thread_cpu();
        let found = self.extractor.extract(utterance);
        if let (Ok(before), Ok(after)) = (before, thread_cpu()) {
            self.note(|tally| tally.reading += after.saturating_sub(before));
        }
        found
    }
}

#[async_trait]
impl Projection<GraphDelta> for WatchedParts {
    async fn cursor(&self) -> Result<Cursor> {
        Projection::<GraphDelta>::cursor(self.store.as_ref()).await
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        let (writer, own) = (named_cpu(WRITER).map_err(no_clock)?, thread_cpu().map_err(no_clock)?);
        let done = self.store.apply(delta, advance).await;
        // What a transaction waits for: this thread, which prepares it, and the one that writes. What goes on beside them, as
        // taking the write-ahead log into the file does, keeps nobody waiting.
        let own = thread_cpu().map_err(no_clock)?.saturating_sub(own);
        let cpu = own + named_cpu(WRITER).map_err(no_clock)?.saturating_sub(writer);
        self.note(|tally| {
            tally.writes.push(cpu);
            tally.facts += delta.facts.len();
            tally.most_rows = tally.most_rows.max(rows(delta));
        });
        done
    }

    async fn reset(&self) -> Result<()> {
        Projection::<GraphDelta>::reset(self.store.as_ref()).await
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        Projection::<GraphDelta>::dead_letters(self.store.as_ref(), limit).await
    }
}

#[async_trait]
impl GraphStore for WatchedParts {
    async fn edition(&self) -> Result<Edition> {
        self.loaded(self.store.edition()).await
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        self.loaded(self.store.entities(filter)).await
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        self.loaded(self.store.facts(filter, as_of)).await
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        self.loaded(self.store.strongest(of, most, as_of)).await
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.loaded(GraphStore::history(self.store.as_ref(), filter)).await
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.loaded(self.store.believed(filter)).await
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        self.loaded(self.store.mentions(filter)).await
    }
}
