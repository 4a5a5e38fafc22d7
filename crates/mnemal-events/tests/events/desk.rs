//! A log over the reference store, and events to put into it.

use std::sync::{Arc, LazyLock};

use mnemal_core::{
    ChannelId, Degraded, Error, Event, EventFilter, EventId, EventKind, EventStore, InstallationKey,
    Metadata, NewEvent, Origin, Result, SessionId, Slot, Timestamp, Zone,
};
use mnemal_events::{
    Ack, EventLog, EventLogParts, Format, ImportBatch, ImportOptions, ImportOutcome, Importer, LogSettings,
    SkipReason, SkippedLine,
};
use mnemal_extract::SecretRules;
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds, TermIndexer, block_on};

pub(crate) const MANY: std::num::NonZeroUsize = std::num::NonZeroUsize::new(10_000).unwrap();

/// Compiled once: making a desk is then cheap.
pub(crate) static RULES: LazyLock<Arc<SecretRules>> = LazyLock::new(Arc::default);

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) log: EventLog,
}

pub(crate) fn key() -> InstallationKey {
    InstallationKey::new([7; 32])
}

pub(crate) fn parts(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>) -> EventLogParts {
    EventLogParts {
        store: Arc::clone(store) as Arc<dyn EventStore>,
        marks: Slot::Filled(Arc::clone(store) as Arc<dyn mnemal_core::IndexStore>),
        indexer: Slot::Filled(Arc::new(TermIndexer)),
        receipts: Slot::Filled(Arc::clone(store) as Arc<dyn mnemal_core::ReceiptStore>),
        clock: Arc::clone(clock) as Arc<dyn mnemal_core::Clock>,
        ids: Arc::new(SeededIds::new(3)),
        key: key(),
        settings: LogSettings { secrets: Arc::clone(&RULES), ..LogSettings::default() },
    }
}

pub(crate) fn desk() -> Desk {
    desk_with(|_| {})
}

pub(crate) fn desk_with(change: impl FnOnce(&mut EventLogParts)) -> Desk {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let mut parts = parts(&store, &clock);
    change(&mut parts);
    Desk { log: EventLog::new(parts), store, clock }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000).unwrap()
}

pub(crate) fn said(session: &str, content: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::UserMessage,
        content: content.to_owned(),
        session: SessionId::new(session).unwrap(),
        channel: ChannelId::new("test").unwrap(),
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: at(1_772_355_000),
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: None,
        metadata: Metadata::new(),
    }
}

pub(crate) fn by(origin: Origin, session: &str, content: &str) -> NewEvent {
    NewEvent { origin, kind: EventKind::AssistantMessage, ..said(session, content) }
}

impl Desk {
    pub(crate) fn append(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Result<Ack, SkipReason>>>> {
        block_on(self.log.append(events))
    }

    pub(crate) fn one(&self, event: NewEvent) -> Ack {
        self.fate(event).unwrap()
    }

    pub(crate) fn fate(&self, event: NewEvent) -> Result<Ack, SkipReason> {
        self.append(vec![event]).unwrap().value.pop().unwrap()
    }

    pub(crate) fn invalid(&self, event: NewEvent) -> String {
        let error = self.append(vec![event]).unwrap_err();
        assert_eq!(error.kind(), mnemal_core::ErrorKind::Invalid, "{error}");
        error.what().to_owned()
    }

    pub(crate) fn get(&self, id: EventId) -> Event {
        block_on(self.log.get(id)).unwrap()
    }

    pub(crate) fn text(&self, id: EventId) -> String {
        self.get(id).body().unwrap().content.clone()
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        block_on(self.log.scan(&EventFilter::all(), mnemal_core::Cursor::START, MANY)).unwrap()
    }

    /// Every byte that the log keeps of its events, as one text.
    pub(crate) fn bytes(&self) -> String {
        format!("{:?}", self.all())
    }

    /// Imports a text and says what became of it, and what was skipped.
    pub(crate) fn import(
        &self,
        text: &[u8],
        format: Format,
        options: &ImportOptions,
    ) -> (ImportOutcome, Vec<SkippedLine>) {
        let (mut taken, mut skipped) = (ImportOutcome::default(), Vec::new());
        for batch in batches(text, format, options) {
            let batch = batch.unwrap();
            skipped.extend(batch.skipped.clone());
            taken.add(block_on(self.log.import(batch)).unwrap().value);
        }
        (taken, skipped)
    }
}

/// Reads a text to its end; the last item is the error, if there is one.
pub(crate) fn batches(
    text: &[u8],
    format: Format,
    options: &ImportOptions,
) -> Vec<Result<ImportBatch, Error>> {
    let mut importer = match Importer::new(text, format, options.clone(), key()) {
        Ok(importer) => importer,
        Err(error) => return vec![Err(error)],
    };
    let mut batches = Vec::new();
    loop {
        match importer.next_batch() {
            Ok(None) => return batches,
            Ok(Some(batch)) => batches.push(Ok(batch)),
            Err(error) => {
                batches.push(Err(error));
                assert!(matches!(importer.next_batch(), Ok(None)), "nothing comes after an error");
                return batches;
            }
        }
    }
}

pub(crate) fn options() -> ImportOptions {
    ImportOptions::new("file.jsonl", at(1_800_000_000))
}

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(path).unwrap()
}
