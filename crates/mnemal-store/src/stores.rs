//! The storage parts that an engine is wired with.

use std::sync::Arc;

use mnemal_core::{
    EventStore, GraphStore, IndexStore, LearningStore, LeaseStore, ReceiptStore, Slot, Upkeep, WorkingStore,
};

/// One slot a storage port; a store fills what it has.
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
    /// What was shown to whom.
    pub receipts: Slot<dyn ReceiptStore>,
    /// Scratch entries until their time.
    pub working: Slot<dyn WorkingStore>,
    /// Whose turn background work is.
    pub leases: Slot<dyn LeaseStore>,
    /// Checks, scrubbing, backup.
    pub upkeep: Slot<dyn Upkeep>,
}

impl Stores {
    /// Returns a record in which every slot is empty.
    pub fn none() -> Self {
        Self {
            events: Slot::Empty,
            index: Slot::Empty,
            learnings: Slot::Empty,
            graph: Slot::Empty,
            receipts: Slot::Empty,
            working: Slot::Empty,
            leases: Slot::Empty,
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
            + ReceiptStore
            + WorkingStore
            + LeaseStore
            + Upkeep,
    {
        Self {
            events: Slot::Filled(Arc::<S>::clone(&store)),
            index: Slot::Filled(Arc::<S>::clone(&store)),
            learnings: Slot::Filled(Arc::<S>::clone(&store)),
            graph: Slot::Filled(Arc::<S>::clone(&store)),
            receipts: Slot::Filled(Arc::<S>::clone(&store)),
            working: Slot::Filled(Arc::<S>::clone(&store)),
            leases: Slot::Filled(Arc::<S>::clone(&store)),
            upkeep: Slot::Filled(store),
        }
    }
}
