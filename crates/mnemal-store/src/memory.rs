//! In-memory reference store: every port over plain collections, as the port documentation requires.

mod graph;
mod index;
mod learning;
mod lease;
mod ledger;
mod log;
mod model;
mod receipt;
mod summary;
mod upkeep;
mod working;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mnemal_core::{
    Completion, Cursor, DeadLetter, Event, EventId, IndexEntry, Learning, LearningId, LeaseName, LedgerKind,
    LedgerLine, PromptHash, Receipt, ReceiptId, SeenRecord, Seq, SessionId, Timestamp, Tombstone,
    WorkingEntry, WorkingKey,
};

use crate::Stores;
use crate::admit::Dimensions;

/// An in-memory space; clones share it, and it is dropped with the last handle.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<SpaceState>>,
}

impl MemoryStore {
    /// Returns an empty space.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, SpaceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<MemoryStore> for Stores {
    fn from(store: MemoryStore) -> Self {
        Self::all(Arc::new(store))
    }
}

/// One event with its additional stored data.
#[derive(Debug)]
struct StoredEvent {
    event: Event,
    index: Option<IndexEntry>,
    body_hash: Option<[u8; 32]>,
}

/// The latest showing of a record to a session.
#[derive(Debug)]
struct Showing {
    item: SeenRecord,
    at: Timestamp,
}

#[derive(Debug, Default)]
struct SpaceState {
    /// By `seq`; position `n` holds `Seq(n + 1)`.
    events: Vec<StoredEvent>,
    places: HashMap<EventId, usize>,
    keys: HashMap<String, usize>,
    tombstones: BTreeMap<EventId, Tombstone>,
    dimensions: Dimensions,
    forgets: u64,
    vectors: u64,
    graph: graph::GraphRows,
    summaries: summary::SummaryRows,
    learnings: BTreeMap<LearningId, Learning>,
    cursor: Cursor,
    dead: BTreeMap<EventId, DeadLetter>,
    receipts: BTreeMap<ReceiptId, Receipt>,
    seen: BTreeMap<SessionId, BTreeMap<(mnemal_core::RecordRef, [u8; 16]), Showing>>,
    leases: BTreeMap<LeaseName, lease::LeaseState>,
    ledger: BTreeMap<(LedgerKind, String), LedgerLine>,
    working: BTreeMap<WorkingKey, WorkingEntry>,
    /// Answers of models, with their source events.
    completions: BTreeMap<PromptHash, (Completion, Vec<EventId>)>,
    /// Unfinished forget decisions, oldest first.
    forgetting: Vec<EventId>,
}

impl SpaceState {
    fn head(&self) -> Cursor {
        Cursor(self.events.last().map(|stored| stored.event.seq))
    }

    fn behind(&self, after: Cursor) -> &[StoredEvent] {
        let skipped = usize::try_from(after.count()).unwrap_or(usize::MAX).min(self.events.len());
        self.events.get(skipped..).unwrap_or_default()
    }

    fn next_seq(&self) -> Seq {
        Seq(self.head().count() + 1)
    }

    /// Whether any event is erased.
    fn has_erased(&self) -> bool {
        !self.tombstones.is_empty()
    }

    /// Whether the event is known and erased.
    fn is_erased(&self, event: EventId) -> bool {
        let stored = self.places.get(&event).and_then(|place| self.events.get(*place));
        stored.is_some_and(|stored| stored.event.body().is_none())
    }
}
