//! Takes in what an importer read, batch by batch; doing it again changes nothing.

use std::collections::HashSet;

use mnemal_core::{
    Degraded, Document, Error, ErrorKind, EventId, EventStore, Gaps, InstallationKey, NewEvent, Result,
};

use super::{Ack, EventLog, LeftOut};
use crate::document::{self, DocumentOptions};
use crate::import::ImportBatch;
use crate::limit;

/// Chunks of a document that one transaction stores, and bytes of their texts. Source: ADR 108, so that it stays below 5 ms.
const CHUNKS: usize = 12;
const CHUNK_BYTES: usize = 64 * 1024;

/// What became of a batch of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Events that were written.
    pub stored: u64,
    /// Events that were known already.
    pub duplicates: u64,
    /// Events whose text was erased here earlier.
    pub forgotten: u64,
    /// Events without text.
    pub empty: u64,
    /// Secrets that were replaced.
    pub redactions: u64,
    /// Written events that a rule holds back.
    pub quarantined: u64,
    /// Events that could not be stored, with the reason.
    pub refused: Vec<Refused>,
}

/// An event of an import that could not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its idempotency key, or its id where it has no key.
    pub record: String,
    /// Why, without content.
    pub why: String,
}

impl Taken {
    /// Adds what became of another batch.
    pub fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.duplicates += other.duplicates;
        self.forgotten += other.forgotten;
        self.empty += other.empty;
        self.redactions += other.redactions;
        self.quarantined += other.quarantined;
        self.refused.extend(other.refused);
    }

    /// Returns what was added since an earlier state of this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            stored: self.stored.saturating_sub(earlier.stored),
            duplicates: self.duplicates.saturating_sub(earlier.duplicates),
            forgotten: self.forgotten.saturating_sub(earlier.forgotten),
            empty: self.empty.saturating_sub(earlier.empty),
            redactions: self.redactions.saturating_sub(earlier.redactions),
            quarantined: self.quarantined.saturating_sub(earlier.quarantined),
            refused: self.refused.get(earlier.refused.len()..).unwrap_or_default().to_vec(),
        }
    }

    pub(super) fn count(&mut self, fate: &Result<Ack, LeftOut>) {
        match fate {
            Ok(ack) if ack.duplicate => self.duplicates += 1,
            Ok(ack) => {
                self.stored += 1;
                self.redactions += u64::from(ack.redactions);
                self.quarantined += u64::from(ack.quarantined.is_some());
            }
            Err(LeftOut::Empty) => self.empty += 1,
            Err(LeftOut::Forgotten) => self.forgotten += 1,
        }
    }
}

/// Returns the id of an imported event, which follows from its key, so that a later record can name it as its parent
/// without a question to the store.
pub(crate) fn imported_id(key: &InstallationKey, idempotency_key: &str) -> EventId {
    let mut first = [0; 16];
    for (to, from) in first.iter_mut().zip(key.hash("imported event", &[idempotency_key.as_bytes()])) {
        *to = from;
    }
    EventId(u128::from_be_bytes(first))
}

impl EventLog {
    /// Stores a batch of an import through the same pipeline as [`append`](Self::append).
    ///
    /// A record that is known is counted and not written; one that cannot be stored is reported, and the others are
    /// stored. A parent that was not stored is left out of the event.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; `Conflict` when a record of our own export has an id that is
    /// known here with another body.
    pub async fn take(&self, batch: ImportBatch) -> Result<Degraded<Taken>> {
        let mut gaps = Gaps::default();
        let mut taken = Taken::default();
        if let Some(exact) = batch.exact {
            self.restore(exact, &mut taken, &mut gaps).await?;
        }
        if !batch.events.is_empty() {
            let most = limit::LARGEST_BATCH.min(self.parts.store.capabilities().largest_batch).max(1);
            let mut rest = batch.events;
            while !rest.is_empty() {
                let later = rest.split_off(most.min(rest.len()));
                self.take_new(rest, &mut taken, &mut gaps).await?;
                rest = later;
            }
        }
        Ok(gaps.attach(taken))
    }

    /// Stores a document, cut into chunks, through the same pipeline as [`append`](Self::append); doing it again, or a file
    /// with the same bytes and another name, changes nothing, and neither does the end of the process in between.
    ///
    /// The chunks are stored in their order, up to 12 at once, each batch all or none, so that nobody waits long behind one.
    ///
    /// # Errors
    /// `Invalid` for a secret whose rule blocks, a name that holds a secret, or more chunks than the options allow, before
    /// anything is stored; `Unavailable` when the store does not answer: call again.
    pub async fn take_document(
        &self,
        document: &Document,
        options: &DocumentOptions,
    ) -> Result<Degraded<Taken>> {
        let mut gaps = Gaps::default();
        let mut taken = Taken::default();
        let (passages, redactions) = document::cleaned(document, &self.cleaner)?;
        let events = document::events(document, &passages, options, &self.parts.key)?;
        self.cleaner.check_names(events.get(..1).unwrap_or_default())?;
        let mut rest = self.unknown(events, &mut taken).await?;
        while !rest.is_empty() {
            let most = self.room(&rest);
            let later = rest.split_off(most);
            self.take_new(rest, &mut taken, &mut gaps).await?;
            rest = later;
        }
        if taken.stored > 0 {
            taken.redactions += u64::from(redactions);
        }
        Ok(gaps.attach(taken))
    }

    /// Returns the events whose keys are not known; the others are counted.
    async fn unknown(&self, events: Vec<NewEvent>, taken: &mut Taken) -> Result<Vec<NewEvent>> {
        let id_of = |event: &NewEvent| {
            let key = event.idempotency_key.as_deref().unwrap_or_default();
            imported_id(&self.parts.key, key)
        };
        let store = self.parts.store.as_ref();
        // Chunks are stored in their order: without the first there is none, and one question is enough.
        let first: Vec<EventId> = events.first().map(id_of).into_iter().collect();
        if known(store, first).await?.is_empty() {
            return Ok(events);
        }
        let known = known(store, events.iter().map(id_of).collect()).await?;
        let (old, new): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|event| known.contains(&id_of(event)));
        taken.duplicates += old.len() as u64;
        Ok(new)
    }

    /// Returns how many of some events fit into one batch, at least one.
    fn room(&self, events: &[NewEvent]) -> usize {
        let most = CHUNKS.min(self.parts.store.capabilities().largest_batch).min(events.len());
        let mut bytes = 0;
        let fit = events.iter().take(most).take_while(|event| {
            bytes += event.content.len() + limit::metadata_bytes(&event.metadata);
            bytes <= CHUNK_BYTES
        });
        fit.count().max(1)
    }

    async fn take_new(&self, events: Vec<NewEvent>, taken: &mut Taken, gaps: &mut Gaps) -> Result<()> {
        match self.take_some(events.clone(), gaps).await {
            Ok(fates) => fates.iter().for_each(|fate| taken.count(fate)),
            Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict) => {
                for event in events {
                    let record = event.idempotency_key.clone().unwrap_or_default();
                    match self.take_some(vec![event], gaps).await {
                        Ok(fates) => fates.iter().for_each(|fate| taken.count(fate)),
                        // The record was imported before newer rules changed what is stored of it.
                        Err(error) if error.kind() == ErrorKind::Conflict => taken.duplicates += 1,
                        Err(error) if error.kind() == ErrorKind::Invalid => {
                            taken.refused.push(Refused { record, why: error.what().to_owned() });
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn take_some(&self, events: Vec<NewEvent>, gaps: &mut Gaps) -> Result<Vec<Result<Ack, LeftOut>>> {
        limit::check(&events, self.parts.store.capabilities().largest_batch)?;
        let mut drafts = self.arrive(events, gaps).await?;
        let id_of = |event: &NewEvent| {
            event.idempotency_key.as_deref().map(|known| imported_id(&self.parts.key, known))
        };
        let coming: HashSet<EventId> =
            drafts.iter().flatten().filter_map(|draft| id_of(&draft.event)).collect();
        let parents = drafts.iter().flatten().filter_map(|draft| draft.event.parent);
        let asked: Vec<EventId> = parents.filter(|parent| !coming.contains(parent)).collect();
        let known = known(self.parts.store.as_ref(), asked).await?;
        for draft in drafts.iter_mut().flatten() {
            let event = &mut draft.event;
            event.parent = event.parent.filter(|parent| coming.contains(parent) || known.contains(parent));
        }
        self.store(drafts, gaps, &id_of).await
    }
}

/// Returns which of some events are in the log; one question when all of them are.
pub(super) async fn known(store: &dyn EventStore, mut ids: Vec<EventId>) -> Result<HashSet<EventId>> {
    ids.sort_unstable();
    ids.dedup();
    let mut known = HashSet::new();
    let mut asked = vec![ids];
    while let Some(mut ids) = asked.pop() {
        if ids.is_empty() {
            continue;
        }
        match store.get(&ids).await {
            Ok(_) => known.extend(ids),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if ids.len() > 1 {
                    let rest = ids.split_off(ids.len() / 2);
                    asked.extend([ids, rest]);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(known)
}

/// Says that an id of an export is taken by another event.
pub(super) fn other_body(id: EventId) -> Error {
    Error::new(ErrorKind::Conflict, format!("cannot restore event {id}: it is known here with another body"))
}
