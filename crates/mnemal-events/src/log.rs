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
use crate::echo::Shown;
use crate::grave::Graves;
use crate::limit::{self, LONGEST_INDEXED};

mod arrive;
mod closure;
mod document;
mod pace;
mod raise;
mod rehearse;
mod release;
mod restore;
mod take;
mod thread;

pub use arrive::LeftOut;
pub use pace::{BURST, HourlyLimits};
pub use raise::Raised;
pub use rehearse::{Quality, Rehearsal, Whose};
pub use release::Released;
pub use restore::{Exact, ExactRecord};
pub(crate) use take::imported_id;
pub use take::{Refused, Taken};
pub use thread::Thread;

use arrive::Draft;
use pace::Pace;

/// What a log is put together from.
#[derive(Debug)]
pub struct EventLogParts {
    /// Where events live.
    pub store: Arc<dyn EventStore>,
    /// The mark of the same space: tells when tombstones must be read again. Without it they are read at every append.
    pub marks: Slot<dyn IndexStore>,
    /// What makes events findable.
    pub indexer: Slot<dyn Indexer>,
    /// What sessions were shown; without it nothing is known as an echo.
    pub receipts: Slot<dyn ReceiptStore>,
    /// The time of arrival.
    pub clock: Arc<dyn Clock>,
    /// The ids of new events.
    pub ids: Arc<dyn IdSource>,
    /// Keys fingerprints, tombstones and hashes of bodies.
    pub key: InstallationKey,
    /// What is kept out.
    pub settings: LogSettings,
}

/// What is kept out of the log.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// The rules for secrets, with their modes.
    pub secrets: Arc<SecretRules>,
    /// The tag whose content is never stored, `private` unless the operator says otherwise.
    pub private_tag: String,
    /// How much a conversation stores in an hour before the next is held back.
    pub hourly: HourlyLimits,
}

impl Default for LogSettings {
    fn default() -> Self {
        let secrets = Arc::new(SecretRules::built_in());
        Self { secrets, private_tag: PRIVATE_TAG.to_owned(), hourly: HourlyLimits::default() }
    }
}

/// What is erased, with the forget generation at which it was read.
type Buried = Option<(u64, Arc<Graves>)>;

/// The log of one space; clones share what they know.
#[derive(Clone, Debug)]
pub struct EventLog {
    parts: Arc<EventLogParts>,
    cleaner: Arc<Cleaner>,
    shown: Arc<Shown>,
    graves: Arc<Mutex<Buried>>,
    pace: Arc<Pace>,
    /// Whether the limits of the hour hold.
    is_limited: bool,
    /// Logs of other spaces, whose events a session may have been shown.
    elsewhere: Vec<Arc<dyn EventStore>>,
}

/// How safe an acknowledged event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Disk,
    /// It survives as long as the process, or the machine, runs.
    Process,
    /// It was dropped: memory is switched off.
    Dropped,
}

/// What became of an event that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Its id; of the first one when the call is a repetition.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// How safe it is.
    pub durability: Durability,
    /// Whether the idempotency key was known and nothing was written.
    pub duplicate: bool,
    /// Secrets that were replaced in it.
    pub redactions: u32,
    /// The rule that holds it back from recall and contexts.
    pub quarantined: Option<RuleId>,
}

impl EventLog {
    /// Puts a log together. Costs nothing: neither store nor rules are touched.
    pub fn new(parts: EventLogParts) -> Self {
        let cleaner = Arc::new(Cleaner::new(parts.settings.clone(), parts.key.clone()));
        let (shown, graves, pace) = (Arc::default(), Arc::default(), Arc::default());
        let (is_limited, elsewhere) = (true, Vec::new());
        Self { parts: Arc::new(parts), cleaner, shown, graves, pace, is_limited, elsewhere }
    }

    /// Returns the same log, which holds nothing back because much came within an hour: for what an application keeps in a
    /// store of its own.
    #[must_use]
    pub fn without_hourly_limits(&self) -> Self {
        Self { is_limited: false, ..self.clone() }
    }

    /// Returns the same log, which looks for what sessions were shown in these logs of other spaces too. They are read
    /// for that alone; one that does not answer has shown nothing.
    #[must_use]
    pub fn with_elsewhere(&self, elsewhere: Vec<Arc<dyn EventStore>>) -> Self {
        Self { elsewhere, ..self.clone() }
    }

    /// Returns a text as it may leave the process: without our own blocks and private parts, with placeholders for secrets.
    ///
    /// # Errors
    /// `Invalid` for a secret whose rule blocks.
    pub fn outgoing(&self, text: &str) -> Result<String> {
        let mut text = text.to_owned();
        self.cleaner.clean_text("a text for a model", &mut text)?;
        Ok(text)
    }

    /// Stores what happened, all or none, and answers in the order of the call.
    ///
    /// Before anything is written our own blocks and private parts are cut, secrets are replaced, erased sentences are
    /// cut unless the user says them again, what is below level user is screened, what the session was shown is marked as
    /// echo, and what is more than a session may store in an hour is held back. An event of which no text is left is not stored, which is no error.
    /// When it returns, the events can be recalled; a gap of layer `lexical` says that they cannot.
    /// A dropped future leaves open whether the events were written: call again with the same idempotency keys.
    ///
    /// # Errors
    /// `Invalid` for a breach of a limit, a name that holds a secret, a secret whose rule blocks, or an unknown parent;
    /// `Conflict` for a known idempotency key with another body; `Unavailable` when the store does not answer.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Result<Ack, LeftOut>>>> {
        let mut gaps = Gaps::default();
        let drafts = self.drafts(events, &mut gaps).await?;
        let acks = self.stored(drafts, &mut gaps).await?;
        Ok(gaps.attach(acks))
    }

    /// Does the same as [`append`](Self::append), but an event of which no text is left is an error, and then none is stored.
    ///
    /// # Errors
    /// As [`append`](Self::append); `Invalid` for such an event, with its place where there are several.
    pub async fn append_whole(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Ack>>> {
        let several = events.len() > 1;
        let left = |(place, why): (usize, LeftOut)| {
            let of = if several { format!("events[{place}]: ") } else { String::new() };
            Error::invalid(format!("{of}nothing of the event is left to store: {}", why.as_str()))
        };
        let mut gaps = Gaps::default();
        let drafts = self.drafts(events, &mut gaps).await?;
        let missing =
            drafts.iter().enumerate().find_map(|(place, draft)| Some((place, *draft.as_ref().err()?)));
        if let Some(missing) = missing {
            return Err(left(missing));
        }
        let acks = self.stored(drafts, &mut gaps).await?.into_iter().enumerate();
        let acks = acks.map(|(place, ack)| ack.map_err(|why| left((place, why)))).collect::<Result<_>>()?;
        Ok(gaps.attach(acks))
    }

    /// Prepares events as they will be stored.
    async fn drafts(&self, events: Vec<NewEvent>, gaps: &mut Gaps) -> Result<Vec<Result<Draft, LeftOut>>> {
        limit::check(&events, self.parts.store.capabilities().largest_batch)?;
        self.arrive(events, gaps).await
    }

    /// Stores what is prepared, and holds back what is more than a session may store.
    async fn stored(
        &self,
        mut drafts: Vec<Result<Draft, LeftOut>>,
        gaps: &mut Gaps,
    ) -> Result<Vec<Result<Ack, LeftOut>>> {
        self.hold_bursts(&mut drafts).await?;
        let mut acks = self.store(drafts, gaps, &|_| None).await?;
        self.tell_as_stored(&mut acks).await?;
        Ok(acks)
    }

    /// Indexes and writes what is left of a batch; `id_of` gives the ids that are not made here.
    async fn store(
        &self,
        drafts: Vec<Result<Draft, LeftOut>>,
        gaps: &mut Gaps,
        id_of: &(dyn Fn(&NewEvent) -> Option<EventId> + Sync),
    ) -> Result<Vec<Result<Ack, LeftOut>>> {
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
                body_hash: self.body_hash(&event)?,
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

    /// Makes index entries; text behind the limit is hidden from the indexer for that long.
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

    /// Returns the keyed hash of what makes two calls the same call: everything but times, ids, parent and origin.
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

    /// Returns the tombstones of the space, read again only when something was forgotten since.
    async fn graves(&self) -> Result<Arc<Graves>> {
        let mark = match self.parts.marks.part() {
            Ok(marks) => Some(marks.mark().await?.forgets),
            Err(_) => None,
        };
        let known = self.graves.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, graves)) = known
            && mark == Some(at)
        {
            return Ok(graves);
        }
        let graves = Arc::new(Graves::new(self.parts.store.tombstones().await?.iter()));
        if let Some(mark) = mark {
            *self.graves.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark, Arc::clone(&graves)));
        }
        Ok(graves)
    }

    /// Takes over tombstones of another installation or of an older copy, so that what they erased does not come in.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn adopt(&self, tombstones: &[mnemal_core::Tombstone]) -> Result<()> {
        self.parts.store.adopt(tombstones).await?;
        *self.graves.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Returns an event, erased ones without their body.
    ///
    /// # Errors
    /// `NotFound` for an unknown id.
    pub async fn get(&self, id: EventId) -> Result<Event> {
        let mut events = self.parts.store.get(&[id]).await?;
        events.pop().ok_or_else(|| Error::not_found(format!("no event {id}")))
    }

    /// Returns up to `limit` events behind `after` that pass the filter, by position, oldest first.
    ///
    /// # Errors
    /// As [`EventStore::scan`].
    pub async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.parts.store.scan(filter, after, limit).await
    }

    /// Returns the newest `limit` events that pass the filter, oldest of them first, ready for replay.
    ///
    /// # Errors
    /// As [`EventStore::latest`].
    pub async fn recent(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        let mut events = self.parts.store.latest(filter, limit).await?;
        events.reverse();
        Ok(events)
    }

    /// Returns the newest `limit` conversations with living events, newest first.
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
