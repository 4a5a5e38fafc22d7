//! The storage parts that an engine is wired with.

use std::sync::Arc;

use mnemal_core::{
    CompletionCache, EventStore, GraphStore, IndexStore, LearningStore, LeaseStore, LedgerStore,
    ReceiptStore, Slot, SummaryStore, Upkeep, WorkingStore,
};

/// One slot per storage port; a store fills those that it implements.
#[derive(Clone, Debug)]
pub struct Stores {
    /// The log.
    pub events: Slot<dyn EventStore>,
    /// The stored form of the recall index.
    pub index: Slot<dyn IndexStore>,
    /// Notes and other learnings.
    pub learnings: Slot<dyn LearningStore>,
    /// Entities and facts.
    pub graph: Slot<dyn GraphStore>,
    /// The summary tree.
    pub summaries: Slot<dyn SummaryStore>,
    /// Receipts and shown records.
    pub receipts: Slot<dyn ReceiptStore>,
    /// Working memory.
    pub working: Slot<dyn WorkingStore>,
    /// Cached answers of language models.
    pub completions: Slot<dyn CompletionCache>,
    /// Leases of background work.
    pub leases: Slot<dyn LeaseStore>,
    /// The ledger of background work.
    pub ledger: Slot<dyn LedgerStore>,
    /// Checks, scrubbing, backup.
    pub upkeep: Slot<dyn Upkeep>,
}

impl Stores {
    /// Returns a record with every slot empty.
    pub fn none() -> Self {
        Self {
            events: Slot::Empty,
            index: Slot::Empty,
            learnings: Slot::Empty,
            graph: Slot::Empty,
            summaries: Slot::Empty,
            receipts: Slot::Empty,
            working: Slot::Empty,
            completions: Slot::Empty,
            leases: Slot::Empty,
            ledger: Slot::Empty,
            upkeep: Slot::Empty,
        }
    }

    /// Fills every slot with one store that has all ports.
    pub fn all<S>(store: Arc<S>) -> Self
    where
        S: EventStore
            + IndexStore
            + LearningStore
            + GraphStore
            + SummaryStore
            + ReceiptStore
            + WorkingStore
            + CompletionCache
            + LeaseStore
            + LedgerStore
            + Upkeep,
    {
        Self {
            events: Slot::Filled(Arc::<S>::clone(&store)),
            index: Slot::Filled(Arc::<S>::clone(&store)),
            learnings: Slot::Filled(Arc::<S>::clone(&store)),
            graph: Slot::Filled(Arc::<S>::clone(&store)),
            summaries: Slot::Filled(Arc::<S>::clone(&store)),
            receipts: Slot::Filled(Arc::<S>::clone(&store)),
            working: Slot::Filled(Arc::<S>::clone(&store)),
            completions: Slot::Filled(Arc::<S>::clone(&store)),
            leases: Slot::Filled(Arc::<S>::clone(&store)),
            ledger: Slot::Filled(Arc::<S>::clone(&store)),
            upkeep: Slot::Filled(store),
        }
    }
}
