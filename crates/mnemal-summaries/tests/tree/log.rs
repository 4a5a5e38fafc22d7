//! Test space with a log, a tree and a projector, driven without a runtime.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt as _;
use mnemal_core::{
    ChannelId, EventId, EventStore as _, NodePath, Projector as _, SummaryNode, SummaryStore as _, Timestamp,
};
use mnemal_store::MemoryStore;
use mnemal_summaries::{Summaries, SummaryProjector};
use mnemal_testkit::{Records, tombstone};
use mnemal_text::Language;

/// A hundred events per step.
pub(crate) const STEP: NonZeroUsize = NonZeroUsize::new(100).unwrap();
/// Microseconds in an hour.
pub(crate) const HOUR: i64 = 3_600_000_000;

/// Runs a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the memory store never waits")
}

#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) projector: SummaryProjector,
    pub(crate) summaries: Summaries,
    records: Records,
    /// Microseconds added to the time of messages.
    pub(crate) later: i64,
}

impl Space {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let projector = SummaryProjector::new(store.clone(), store.clone(), Language::English);
        let summaries = Summaries::new(store.clone(), store.clone());
        Self { store, projector, summaries, records: Records::new(1), later: 0 }
    }

    /// Appends a turn; nothing is folded. The channel is the part before the slash of the session.
    pub(crate) fn say(&mut self, session: &str, text: &str) -> EventId {
        let mut entry = self.records.turn(session, text).unwrap();
        entry.event.channel = ChannelId::new(session.split('/').next().unwrap()).unwrap();
        entry.event.occurred_at = entry.event.occurred_at.plus_micros(self.later);
        now(self.store.append(std::slice::from_ref(&entry))).unwrap();
        entry.id
    }

    pub(crate) fn erase(&self, event: EventId) {
        now(self.store.erase(&[tombstone(event, Timestamp::EPOCH)])).unwrap();
    }

    /// Steps until nothing is left to do.
    pub(crate) fn fold(&self) {
        self.fold_by(STEP);
    }

    pub(crate) fn fold_by(&self, step: NonZeroUsize) {
        while now(self.projector.step(step)).unwrap().behind > 0 {}
    }

    /// The nodes of a rebuild from the log into another store.
    pub(crate) fn anew(&self) -> Vec<SummaryNode> {
        let beside = Arc::new(MemoryStore::new());
        let projector = SummaryProjector::new(self.store.clone(), beside.clone(), Language::English);
        while now(projector.step(STEP)).unwrap().behind > 0 {}
        now(beside.all()).unwrap()
    }

    pub(crate) fn all(&self) -> Vec<SummaryNode> {
        now(self.store.all()).unwrap()
    }

    pub(crate) fn node(&self, path: &str) -> Option<SummaryNode> {
        now(self.store.nodes(&[path.parse::<NodePath>().unwrap()])).unwrap().pop()
    }

    pub(crate) fn lines(&self, path: &str) -> Vec<String> {
        self.node(path).map(|node| node.lines.into_iter().map(|line| line.text).collect()).unwrap_or_default()
    }
}
