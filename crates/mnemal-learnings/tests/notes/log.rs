//! Test space with a log, notes and a projector, driven without a runtime.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::FutureExt as _;
use mnemal_core::{
    AsOf, Category, ChannelId, Decision, EventId, EventKind, EventStore as _, Forget, Importance, Learning,
    LearningFilter, LearningKind, LearningStore as _, LogEntry, NewEvent, NoteKey, Origin, Progress,
    Projector as _, Remember, Selector, SessionId, Slot, Timestamp, Tombstone, TombstoneHash, Zone,
};
use mnemal_learnings::{LearningProjector, Notes};
use mnemal_store::MemoryStore;

/// Runs a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the memory store never waits")
}

#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) projector: LearningProjector,
    pub(crate) notes: Notes,
    next: u32,
}

impl Space {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let projector = LearningProjector::new(store.clone(), store.clone());
        let projector = projector.with_marks(Slot::Filled(store.clone()));
        Self { notes: Notes::new(store.clone()), store, projector, next: 0 }
    }

    /// Appends an event and returns its id; nothing is folded.
    pub(crate) fn append(&mut self, kind: EventKind, content: &str, origin: Origin) -> EventId {
        self.append_with(kind, content, origin, |_| {})
    }

    pub(crate) fn append_with(
        &mut self,
        kind: EventKind,
        content: &str,
        origin: Origin,
        change: impl FnOnce(&mut LogEntry),
    ) -> EventId {
        self.next += 1;
        let mut entry = LogEntry {
            id: EventId(u128::from(self.next)),
            recorded_at: at(self.next),
            event: NewEvent {
                kind,
                content: content.to_owned(),
                session: SessionId::new("cli:1").unwrap(),
                channel: ChannelId::new("cli").unwrap(),
                parent: None,
                speaker: None,
                user: None,
                agent: None,
                occurred_at: at(self.next),
                zone: Zone::utc(),
                origin,
                idempotency_key: None,
                metadata: std::collections::BTreeMap::new(),
            },
            index: None,
            quarantined: None,
            echo: Vec::new(),
            body_hash: [0; 32],
        };
        change(&mut entry);
        now(self.store.append(&[entry])).unwrap()[0].id
    }

    pub(crate) fn remember(&mut self, key: &str, content: &str, origin: Origin) -> EventId {
        self.append(EventKind::Decision(Decision::Remember(remember(key))), content, origin)
    }

    pub(crate) fn archive(&mut self, of: &str, origin: Origin) -> EventId {
        self.append(EventKind::Decision(Decision::Archive(key(of).into())), "", origin)
    }

    /// Appends the decision to forget events.
    pub(crate) fn forget(&mut self, events: &[EventId]) -> EventId {
        let forget = Forget { selector: Selector::Events(events.to_vec()), events: events.to_vec() };
        self.append(EventKind::Decision(Decision::Forget(forget)), "", Origin::UserDirect)
    }

    pub(crate) fn erase(&self, events: &[EventId]) {
        let tombstone = |event: &EventId| Tombstone {
            event: *event,
            body: TombstoneHash([0; 16]),
            sentences: Vec::new(),
            at: at(self.next),
        };
        now(self.store.erase(&events.iter().map(tombstone).collect::<Vec<_>>())).unwrap();
    }

    pub(crate) fn step(&self, limit: usize) -> Progress {
        now(self.projector.step(NonZeroUsize::new(limit).unwrap())).unwrap()
    }

    /// Folds to the end of the log.
    pub(crate) fn catch_up(&self, limit: usize) {
        while self.step(limit).behind > 0 {}
    }

    pub(crate) fn rows(&self) -> Vec<Learning> {
        now(self.store.all(&LearningFilter::all())).unwrap()
    }

    /// Texts active at the end of time.
    pub(crate) fn active(&self) -> Vec<String> {
        let notes = now(self.notes.list(&LearningFilter::all(), AsOf::at(Timestamp::MAX))).unwrap();
        notes.into_iter().map(|note| note.content).collect()
    }

    /// Text, version and status of all versions of a key, newest first.
    pub(crate) fn history(&self, of: &str) -> Vec<(String, u32, &'static str)> {
        let rows = now(self.notes.history(&key(of))).unwrap_or_default();
        rows.into_iter().map(|row| (row.content, row.version, row.status.as_str())).collect()
    }
}

pub(crate) fn remember(of: &str) -> Remember {
    Remember {
        key: (!of.is_empty()).then(|| key(of)),
        kind: LearningKind::Note,
        category: Category::new("general").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    }
}

pub(crate) fn key(text: &str) -> NoteKey {
    NoteKey::new(text).unwrap()
}

/// This many seconds after 2026-01-01.
pub(crate) fn at(second: u32) -> Timestamp {
    Timestamp::EPOCH.plus_micros(1_767_225_600_000_000 + i64::from(second) * 1_000_000)
}
