//! Idempotent import of a reader's batches.

use std::collections::HashSet;

use mnemal_core::{Degraded, Error, ErrorKind, EventId, EventStore, Gaps, InstallationKey, NewEvent, Result};

use super::{Ack, EventLog, SkipReason};
use crate::import::ImportBatch;
use crate::limit;

/// Result of an import batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOutcome {
    /// Events that were written.
    pub stored: u64,
    /// Events that were already known.
    pub duplicates: u64,
    /// Events whose text was erased here earlier.
    pub forgotten: u64,
    /// Events without text.
    pub empty: u64,
    /// Secrets that were replaced.
    pub redactions: u64,
    /// Stored events that a rule quarantined.
    pub quarantined: u64,
    /// Events that could not be stored, with the reason.
    pub refused: Vec<RejectedRecord>,
    /// Chunks of older versions of a document that are gone from it; they should be removed.
    pub outdated: Vec<EventId>,
    /// The name of the file that holds the document's text, if it is another one with the same bytes.
    pub same_as: Option<String>,
}

/// An event of an import that could not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRecord {
    /// Its idempotency key, or its id where it has no key.
    pub record: String,
    /// The reason, without content.
    pub why: String,
}

impl ImportOutcome {
    /// Adds the result of another batch.
    pub fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.duplicates += other.duplicates;
        self.forgotten += other.forgotten;
        self.empty += other.empty;
        self.redactions += other.redactions;
        self.quarantined += other.quarantined;
        self.refused.extend(other.refused);
        self.outdated.extend(other.outdated);
        self.same_as = other.same_as.or(self.same_as.take());
    }

    /// Returns the difference to an earlier state.
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
            outdated: self.outdated.get(earlier.outdated.len()..).unwrap_or_default().to_vec(),
            same_as: self.same_as.clone(),
        }
    }

    pub(super) fn count(&mut self, fate: &Result<Ack, SkipReason>) {
        match fate {
            Ok(ack) if ack.duplicate => self.duplicates += 1,
            Ok(ack) => {
                self.stored += 1;
                self.redactions += u64::from(ack.redactions);
                self.quarantined += u64::from(ack.quarantined.is_some());
            }
            Err(SkipReason::Empty) => self.empty += 1,
            Err(SkipReason::Forgotten) => self.forgotten += 1,
        }
    }
}

/// Returns the id of an imported event, derived from its key, so that a later record can name it as its parent without a query.
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
    /// A known record is counted and not written; one that cannot be stored is reported, and the others are stored. An unknown
    /// parent is removed from the event.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; `Conflict` when a record of our own export has an id that is known here
    /// with another body.
    pub async fn import(&self, batch: ImportBatch) -> Result<Degraded<ImportOutcome>> {
        let mut gaps = Gaps::default();
        let mut taken = ImportOutcome::default();
        if let Some(exact) = batch.exact {
            self.restore(exact, &mut taken, &mut gaps).await?;
        }
        if !batch.events.is_empty() {
            let most = limit::LARGEST_BATCH.min(self.parts.store.capabilities().largest_batch).max(1);
            let mut rest = batch.events;
            while !rest.is_empty() {
                let later = rest.split_off(most.min(rest.len()));
                self.import_new(rest, &mut taken, &mut gaps).await?;
                rest = later;
            }
        }
        Ok(gaps.attach(taken))
    }

    pub(super) async fn import_new(
        &self,
        events: Vec<NewEvent>,
        taken: &mut ImportOutcome,
        gaps: &mut Gaps,
    ) -> Result<()> {
        match self.import_some(events.clone(), gaps).await {
            Ok(fates) => fates.iter().for_each(|fate| taken.count(fate)),
            Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict) => {
                for event in events {
                    let record = event.idempotency_key.clone().unwrap_or_default();
                    match self.import_some(vec![event], gaps).await {
                        Ok(fates) => fates.iter().for_each(|fate| taken.count(fate)),
                        // The record was imported before newer rules changed what is stored of it.
                        Err(error) if error.kind() == ErrorKind::Conflict => taken.duplicates += 1,
                        Err(error) if error.kind() == ErrorKind::Invalid => {
                            taken.refused.push(RejectedRecord { record, why: error.what().to_owned() });
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn import_some(
        &self,
        events: Vec<NewEvent>,
        gaps: &mut Gaps,
    ) -> Result<Vec<Result<Ack, SkipReason>>> {
        limit::check(&events, self.parts.store.capabilities().largest_batch)?;
        let mut drafts = self.run_pipeline(events, gaps).await?;
        let id_of = |event: &NewEvent| {
            event.idempotency_key.as_deref().map(|known| imported_id(&self.parts.key, known))
        };
        let coming: HashSet<EventId> =
            drafts.iter().flatten().filter_map(|draft| id_of(&draft.event)).collect();
        let parents = drafts.iter().flatten().filter_map(|draft| draft.event.parent);
        let asked: Vec<EventId> = parents.filter(|parent| !coming.contains(parent)).collect();
        let known = existing_ids(self.parts.store.as_ref(), asked).await?;
        for draft in drafts.iter_mut().flatten() {
            let event = &mut draft.event;
            event.parent = event.parent.filter(|parent| coming.contains(parent) || known.contains(parent));
        }
        self.write(drafts, gaps, &id_of).await
    }
}

/// Returns which of some events are in the log; one query if all of them are.
pub(super) async fn existing_ids(store: &dyn EventStore, mut ids: Vec<EventId>) -> Result<HashSet<EventId>> {
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

/// Makes the error for an export id that belongs to another event here.
pub(super) fn other_body(id: EventId) -> Error {
    Error::new(ErrorKind::Conflict, format!("cannot restore event {id}: it is known here with another body"))
}
