//! The event log: the ingest pipeline and its read methods.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{
    Clock, Cursor, Degraded, Error, Event, EventFilter, EventId, EventStore, Gap, GapCause, Gaps, IdSource,
    IndexEntry, IndexStore, Indexer, InstallationKey, Layer, LogEntry, NewEvent, ReceiptStore, Result,
    RuleId, Seq, SessionSummary, Slot,
};
use mnemal_extract::{PRIVATE_TAG, SecretRules};

use crate::clean::Cleaner;
use crate::echo::ShownTexts;
use crate::limit::{self, LONGEST_INDEXED};
use crate::tombstone_filter::TombstoneFilter;

mod closure;
mod document;
mod dry_run;
mod import_batch;
mod ingest_quota;
mod pipeline;
mod promotion;
mod release;
mod restore;
mod thread;

pub use dry_run::{Attribution, ImportPreview, RecordQuality};
pub(crate) use import_batch::imported_id;
pub use import_batch::{ImportOutcome, RejectedRecord};
pub use ingest_quota::{BURST, HourlyLimits};
pub use pipeline::SkipReason;
pub use promotion::Promotion;
pub use release::ReleaseOutcome;
pub use restore::{RestoreBatch, RestoreRecord};
pub use thread::Thread;

use ingest_quota::IngestQuota;
use pipeline::Draft;

/// The parts of a log.
#[derive(Debug)]
pub struct EventLogParts {
    /// The event store.
    pub store: Arc<dyn EventStore>,
    /// The index of the same space, whose mark shows when tombstones must be reloaded. Without it they are read at every
    /// append.
    pub marks: Slot<dyn IndexStore>,
    /// The indexer.
    pub indexer: Slot<dyn Indexer>,
    /// The receipts, for echo detection; without them no text is marked as an echo.
    pub receipts: Slot<dyn ReceiptStore>,
    /// The clock for arrival times.
    pub clock: Arc<dyn Clock>,
    /// The id source for new events.
    pub ids: Arc<dyn IdSource>,
    /// The key for fingerprints, tombstones and body hashes.
    pub key: InstallationKey,
    /// The settings.
    pub settings: LogSettings,
}

/// Settings for secrets, private passages and quotas.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// The secret rules, with their modes.
    pub secrets: Arc<SecretRules>,
    /// The tag of private passages, `private` by default.
    pub private_tag: String,
    /// The ingest quota of a conversation and hour.
    pub hourly: HourlyLimits,
}

impl Default for LogSettings {
    fn default() -> Self {
        let secrets = Arc::new(SecretRules::built_in());
        Self { secrets, private_tag: PRIVATE_TAG.to_owned(), hourly: HourlyLimits::default() }
    }
}

/// The tombstones, with the forget generation at which they were read.
type CachedTombstones = Option<(u64, Arc<TombstoneFilter>)>;

/// The log of one space; clones share their caches.
#[derive(Clone, Debug)]
pub struct EventLog {
    parts: Arc<EventLogParts>,
    cleaner: Arc<Cleaner>,
    shown: Arc<ShownTexts>,
    tombstones: Arc<Mutex<CachedTombstones>>,
    quota: Arc<IngestQuota>,
    /// Whether the hourly quota applies.
    is_limited: bool,
    /// Logs of other spaces, whose events a session may have been shown.
    elsewhere: Vec<Arc<dyn EventStore>>,
}

/// The durability of an acknowledged event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Disk,
    /// It survives the end of the process, or of the machine's uptime, at most.
    Process,
    /// It was dropped: memory is switched off.
    Dropped,
}

/// The acknowledgment of a stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Its id; that of the first call when this one is a retry.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// Its durability.
    pub durability: Durability,
    /// Whether the idempotency key was known and nothing was written.
    pub duplicate: bool,
    /// Secrets that were replaced in it.
    pub redactions: u32,
    /// The rule that quarantined it.
    pub quarantined: Option<RuleId>,
}

impl EventLog {
    /// Makes a log from its parts. Costs nothing: neither store nor rules are touched.
    pub fn new(parts: EventLogParts) -> Self {
        let cleaner = Arc::new(Cleaner::new(parts.settings.clone(), parts.key.clone()));
        let (shown, tombstones, quota) = (Arc::default(), Arc::default(), Arc::default());
        let (is_limited, elsewhere) = (true, Vec::new());
        Self { parts: Arc::new(parts), cleaner, shown, tombstones, quota, is_limited, elsewhere }
    }

    /// Returns the same log without the hourly quota: for data that an application keeps in its own store.
    #[must_use]
    pub fn without_hourly_limits(&self) -> Self {
        Self { is_limited: false, ..self.clone() }
    }

    /// Returns the same log, with echo detection for events of other spaces too. Those logs are read for nothing else; one that
    /// does not answer is skipped.
    #[must_use]
    pub fn with_elsewhere(&self, elsewhere: Vec<Arc<dyn EventStore>>) -> Self {
        Self { elsewhere, ..self.clone() }
    }

    /// Returns a text that may leave the process: without injected blocks and private passages, and with placeholders for
    /// secrets.
    ///
    /// # Errors
    /// `Invalid` for a secret whose rule is in mode `block`.
    pub fn outgoing(&self, text: &str) -> Result<String> {
        let mut text = text.to_owned();
        self.cleaner.clean_text("a text for a model", &mut text)?;
        Ok(text)
    }

    /// Stores events, all or none, and answers in the order of the call.
    ///
    /// The pipeline removes injected blocks and private passages, replaces secrets, removes erased sentences unless the user
    /// repeats them, screens everything below level user, marks echoes of what the session was shown, and quarantines what
    /// exceeds the hourly quota. An event without remaining text is not stored, which is no error. After the return the events
    /// can be recalled; a gap of layer `lexical` says that they cannot. A dropped future leaves open whether the events were
    /// written: call again with the same idempotency keys.
    ///
    /// # Errors
    /// `Invalid` for a violated limit, a name that holds a secret, a secret whose rule is in mode `block`, or an unknown
    /// parent; `Conflict` for a known idempotency key with another body; `Unavailable` when the store does not answer.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Result<Ack, SkipReason>>>> {
        let mut gaps = Gaps::default();
        let drafts = self.prepare(events, &mut gaps).await?;
        let acks = self.commit(drafts, &mut gaps).await?;
        Ok(gaps.attach(acks))
    }

    /// Does the same as [`append`](Self::append), but an event without remaining text is an error, and then none is stored.
    ///
    /// # Errors
    /// As [`append`](Self::append); `Invalid` for such an event, with its position in a batch of several.
    pub async fn append_whole(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Ack>>> {
        let several = events.len() > 1;
        let left = |(place, why): (usize, SkipReason)| {
            let of = if several { format!("events[{place}]: ") } else { String::new() };
            Error::invalid(format!("{of}nothing of the event is left to store: {}", why.as_str()))
        };
        let mut gaps = Gaps::default();
        let drafts = self.prepare(events, &mut gaps).await?;
        let missing =
            drafts.iter().enumerate().find_map(|(place, draft)| Some((place, *draft.as_ref().err()?)));
        if let Some(missing) = missing {
            return Err(left(missing));
        }
        let acks = self.commit(drafts, &mut gaps).await?.into_iter().enumerate();
        let acks = acks.map(|(place, ack)| ack.map_err(|why| left((place, why)))).collect::<Result<_>>()?;
        Ok(gaps.attach(acks))
    }

    /// Prepares events for storage.
    async fn prepare(
        &self,
        events: Vec<NewEvent>,
        gaps: &mut Gaps,
    ) -> Result<Vec<Result<Draft, SkipReason>>> {
        limit::check(&events, self.parts.store.capabilities().largest_batch)?;
        self.run_pipeline(events, gaps).await
    }

    /// Stores prepared events, and quarantines the excess over the quota.
    async fn commit(
        &self,
        mut drafts: Vec<Result<Draft, SkipReason>>,
        gaps: &mut Gaps,
    ) -> Result<Vec<Result<Ack, SkipReason>>> {
        self.quarantine_bursts(&mut drafts).await?;
        let mut acks = self.write(drafts, gaps, &|_| None).await?;
        self.report_as_stored(&mut acks).await?;
        Ok(acks)
    }

    /// Indexes and writes the remaining events of a batch; `id_of` gives ids that are already known.
    async fn write(
        &self,
        drafts: Vec<Result<Draft, SkipReason>>,
        gaps: &mut Gaps,
        id_of: &(dyn Fn(&NewEvent) -> Option<EventId> + Sync),
    ) -> Result<Vec<Result<Ack, SkipReason>>> {
        let now = self.parts.clock.now();
        let mut fates = Vec::with_capacity(drafts.len());
        let (mut events, mut findings) = (Vec::new(), Vec::new());
        for draft in drafts {
            match draft {
                Ok(draft) => {
                    events.push(draft.event);
                    findings.push(draft.finding);
                    fates.push(None);
                }
                Err(left) => fates.push(Some(left)),
            }
        }
        let indexed = self.index(&mut events, gaps).await;
        let mut entries = Vec::with_capacity(events.len());
        for ((event, finding), index) in events.into_iter().zip(&findings).zip(indexed) {
            entries.push(LogEntry {
                id: id_of(&event).unwrap_or_else(|| EventId(self.parts.ids.next(now))),
                recorded_at: now,
                body_hash: finding.body_hash,
                index: if finding.quarantined.is_some() { None } else { index },
                quarantined: finding.quarantined.clone(),
                echo: finding.echo.clone(),
                event,
            });
        }
        let appended =
            if entries.is_empty() { Vec::new() } else { self.parts.store.append(&entries).await? };
        let durability = self.durability();
        let mut acks = appended.into_iter().zip(findings).map(|(appended, finding)| Ack {
            id: appended.id,
            seq: appended.seq,
            durability,
            duplicate: !appended.fresh,
            redactions: finding.redactions,
            quarantined: finding.quarantined,
        });
        let short = || Error::internal("the store answered fewer entries than it was given");
        fates
            .into_iter()
            .map(|fate| fate.map_or_else(|| acks.next().ok_or_else(short).map(Ok), |left| Ok(Err(left))))
            .collect()
    }

    /// Makes index entries; text beyond the index limit is hidden from the indexer.
    async fn index(&self, events: &mut [NewEvent], gaps: &mut Gaps) -> Vec<Option<IndexEntry>> {
        if events.is_empty() {
            return Vec::new();
        }
        let mut tails = Vec::new();
        for (place, event) in events.iter_mut().enumerate() {
            if event.content.len() > LONGEST_INDEXED {
                let cut = event.content.floor_char_boundary(LONGEST_INDEXED);
                tails.push((place, event.content.split_off(cut)));
            }
        }
        let made = match self.parts.indexer.part() {
            Ok(indexer) => indexer.index(events).await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        for (place, tail) in tails {
            if let Some(event) = events.get_mut(place) {
                event.content.push_str(&tail);
            }
        }
        match made {
            Ok(made) if made.len() == events.len() => return made.into_iter().map(Some).collect(),
            Ok(_) => gaps.add(Gap {
                layer: Layer::Lexical,
                cause: GapCause::Failed(mnemal_core::ErrorKind::Internal),
            }),
            Err(cause) => gaps.add(Gap { layer: Layer::Lexical, cause }),
        }
        vec![None; events.len()]
    }

    /// Returns the keyed hash that identifies a call: everything but times, ids, parent and origin.
    fn body_hash(&self, event: &NewEvent) -> Result<[u8; 32]> {
        let kind = crate::export::kind_bytes(&event.kind)?;
        let mut parts: Vec<&[u8]> = vec![
            &kind,
            event.content.as_bytes(),
            event.session.as_str().as_bytes(),
            event.channel.as_str().as_bytes(),
            event.speaker.as_ref().map_or(&b""[..], |speaker| speaker.as_str().as_bytes()),
        ];
        for (key, value) in event.metadata.iter().filter(|(key, _)| *key != crate::import::TIME_INFERRED) {
            parts.extend([key.as_bytes(), value.as_bytes()]);
        }
        Ok(self.parts.key.hash("body", &parts))
    }

    fn durability(&self) -> Durability {
        if self.parts.store.capabilities().durable { Durability::Disk } else { Durability::Process }
    }

    /// Returns the tombstones of the space, reloaded only after a forget.
    async fn tombstones(&self) -> Result<Arc<TombstoneFilter>> {
        let mark = match self.parts.marks.part() {
            Ok(marks) => Some(marks.mark().await?.forgets),
            Err(_) => None,
        };
        let known = self.tombstones.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, tombstones)) = known
            && mark == Some(at)
        {
            return Ok(tombstones);
        }
        let tombstones = Arc::new(TombstoneFilter::new(self.parts.store.tombstones().await?.iter()));
        if let Some(mark) = mark {
            *self.tombstones.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((mark, Arc::clone(&tombstones)));
        }
        Ok(tombstones)
    }

    /// Adopts tombstones of another installation or of an older copy, so that erased texts are not imported.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn adopt(&self, tombstones: &[mnemal_core::Tombstone]) -> Result<()> {
        self.parts.store.adopt(tombstones).await?;
        *self.tombstones.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Returns an event; an erased one without its body.
    ///
    /// # Errors
    /// `NotFound` for an unknown id.
    pub async fn get(&self, id: EventId) -> Result<Event> {
        let mut events = self.parts.store.get(&[id]).await?;
        events.pop().ok_or_else(|| Error::not_found(format!("no event {id}")))
    }

    /// Returns up to `limit` events after `after` that pass the filter, by position, oldest first.
    ///
    /// # Errors
    /// As [`EventStore::scan`].
    pub async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.parts.store.scan(filter, after, limit).await
    }

    /// Returns the newest `limit` events that pass the filter, in chronological order for a replay.
    ///
    /// # Errors
    /// As [`EventStore::latest`].
    pub async fn recent(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        let mut events = self.parts.store.latest(filter, limit).await?;
        events.reverse();
        Ok(events)
    }

    /// Returns the newest `limit` conversations with remaining events, newest first.
    ///
    /// # Errors
    /// As [`EventStore::sessions`].
    pub async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.parts.store.sessions(limit).await
    }

    /// Returns the last position.
    ///
    /// # Errors
    /// As [`EventStore::head`].
    pub async fn head(&self) -> Result<Cursor> {
        self.parts.store.head().await
    }
}
