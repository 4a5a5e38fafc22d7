//! Restore from our own export: same ids, same times, erased events stay erased.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mnemal_core::{
    ChannelId, Decision, Error, ErrorKind, Event, EventId, EventKind, Gaps, LogEntry, Metadata, NewEvent,
    NoteKey, Origin, Result, Role, RuleId, SessionId, Span, Timestamp, Tombstone, ToolName, Zone,
};

use super::EventLog;
use super::import_batch::{ImportOutcome, RejectedRecord, existing_ids, other_body};
use crate::limit;
use crate::tombstone_filter::{TextCheck, TombstoneFilter};

/// One record of our own export.
#[derive(Clone, Debug, PartialEq)]
pub enum RestoreRecord {
    /// An event that is not erased.
    Event {
        /// Its id.
        id: EventId,
        /// Time of arrival at the engine.
        recorded_at: Timestamp,
        /// The event.
        event: Box<NewEvent>,
        /// The rule that quarantined it.
        quarantined: Option<RuleId>,
        /// Spans that repeat what the session was shown.
        echo: Vec<Span>,
    },
    /// An erased event.
    Erased {
        /// Time of arrival at the engine.
        recorded_at: Timestamp,
        /// The role of its author.
        role: Role,
        /// Its tombstone, which has its id.
        tombstone: Tombstone,
    },
    /// A tombstone of an event that is not in the export.
    Tombstone(Tombstone),
}

/// Records of our own export, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestoreBatch {
    /// The records.
    pub records: Vec<RestoreRecord>,
    /// The events that the export itself marks as erased: their tombstones do not block its other events, which existed next to
    /// them.
    pub forgotten: Arc<HashSet<EventId>>,
}

impl EventLog {
    /// Appends entries with their own ids and times, to restore our export.
    ///
    /// Known events are skipped. Events whose text was erased here stay erased. Texts are cleaned again. On an empty log the
    /// result equals the exported log.
    ///
    /// # Errors
    /// `Conflict` when an id is known with another body; `Invalid` for an event that violates a limit; `Unavailable` when the
    /// store does not answer.
    pub async fn append_entries(&self, exact: RestoreBatch) -> Result<mnemal_core::Degraded<ImportOutcome>> {
        let mut gaps = Gaps::default();
        let mut taken = ImportOutcome::default();
        self.restore(exact, &mut taken, &mut gaps).await?;
        Ok(gaps.attach(taken))
    }

    pub(super) async fn restore(
        &self,
        exact: RestoreBatch,
        taken: &mut ImportOutcome,
        gaps: &mut Gaps,
    ) -> Result<()> {
        let (erased_here, tombstones) = self.tombstones_besides(&exact.forgotten).await?;
        let (mut entries, mut erased, mut adopted): (Vec<LogEntry>, _, _) =
            (Vec::new(), Vec::new(), Vec::new());
        let mut places: HashMap<EventId, usize> = HashMap::new();
        for record in exact.records {
            match record {
                RestoreRecord::Event { id, recorded_at, event, quarantined, echo } => {
                    let (mut entry, redactions) = self.entry(id, recorded_at, *event)?;
                    taken.redactions += u64::from(redactions);
                    entry.body_hash = self.body_hash(&entry.event)?;
                    let blocked = tombstones.pass(&mut entry.event, &self.parts.key) == TextCheck::Blocked;
                    if blocked || erased_here.contains(&id) {
                        taken.forgotten += 1;
                        continue;
                    }
                    entry.echo =
                        echo.into_iter().filter(|span| span.of(&entry.event.content).is_some()).collect();
                    entry.quarantined = quarantined;
                    // A file may hold a record twice.
                    match places.get(&id).and_then(|place| entries.get(*place)) {
                        Some(twin) if twin.body_hash == entry.body_hash => taken.duplicates += 1,
                        Some(_) => {
                            let why = other_body(id).what().to_owned();
                            taken.refused.push(RejectedRecord { record: id.to_string(), why });
                        }
                        None => {
                            places.insert(id, entries.len());
                            entries.push(entry);
                        }
                    }
                }
                RestoreRecord::Erased { recorded_at, role, tombstone } => {
                    entries.push(stub(tombstone.event, recorded_at, role)?);
                    erased.push(tombstone);
                }
                RestoreRecord::Tombstone(tombstone) => adopted.push(tombstone),
            }
        }
        self.write_entries(entries, &tombstones, (taken, gaps)).await?;
        if !erased.is_empty() {
            self.parts.store.erase(&erased).await?;
        }
        if !adopted.is_empty() {
            self.adopt(&adopted).await?;
        }
        Ok(())
    }

    /// Returns the erasures of this log that are not in the export: ids, and texts.
    async fn tombstones_besides(
        &self,
        forgotten: &HashSet<EventId>,
    ) -> Result<(HashSet<EventId>, TombstoneFilter)> {
        let mut tombstones = self.parts.store.tombstones().await?;
        tombstones.retain(|tombstone| !forgotten.contains(&tombstone.event));
        let ids = tombstones.iter().map(|tombstone| tombstone.event).collect();
        Ok((ids, TombstoneFilter::new(tombstones.iter())))
    }

    /// Checks and cleans an event; its links, findings and hash are added later.
    fn entry(&self, id: EventId, recorded_at: Timestamp, event: NewEvent) -> Result<(LogEntry, u32)> {
        let mut entry = bare(id, recorded_at, event);
        let checked = limit::check(std::slice::from_ref(&entry.event), 1)
            .and_then(|()| self.cleaner.check_names(std::slice::from_ref(&entry.event)))
            .and_then(|()| self.cleaner.clean(&mut entry.event));
        let redactions =
            checked.map_err(|why| Error::new(why.kind(), format!("cannot restore event {id}: {why}")))?;
        Ok((entry, redactions))
    }

    async fn write_entries(
        &self,
        mut entries: Vec<LogEntry>,
        tombstones: &TombstoneFilter,
        (taken, gaps): (&mut ImportOutcome, &mut Gaps),
    ) -> Result<()> {
        let coming: HashSet<EventId> = entries.iter().map(|entry| entry.id).collect();
        let parents = entries.iter().filter_map(|entry| entry.event.parent);
        let asked = parents.filter(|parent| !coming.contains(parent)).collect();
        let parents = existing_ids(self.parts.store.as_ref(), asked).await?;
        for entry in &mut entries {
            let parent = &mut entry.event.parent;
            *parent = parent.filter(|parent| coming.contains(parent) || parents.contains(parent));
        }
        self.index_entries(&mut entries, gaps).await;
        if entries.is_empty() {
            return Ok(());
        }
        match self.parts.store.append(&entries).await {
            Ok(appended) => taken.stored += appended.iter().filter(|appended| appended.fresh).count() as u64,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                let ids = entries.iter().map(|entry| entry.id).collect();
                let known = existing_ids(self.parts.store.as_ref(), ids).await?;
                let (old, new): (Vec<_>, Vec<_>) =
                    entries.into_iter().partition(|entry| known.contains(&entry.id));
                self.compare(&old, tombstones).await?;
                taken.duplicates += old.len() as u64;
                if !new.is_empty() {
                    taken.stored += self.parts.store.append(&new).await?.len() as u64;
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn index_entries(&self, entries: &mut [LogEntry], gaps: &mut Gaps) {
        let mut events: Vec<NewEvent> = entries.iter().map(|entry| entry.event.clone()).collect();
        for (entry, index) in entries.iter_mut().zip(self.index(&mut events, gaps).await) {
            let hidden = entry.quarantined.is_some() || is_stub(entry);
            entry.index = if hidden { None } else { index };
        }
    }

    /// Checks that entries are the stored ones, both without what was erased since.
    async fn compare(&self, old: &[LogEntry], tombstones: &TombstoneFilter) -> Result<()> {
        let ids: Vec<EventId> = old.iter().map(|entry| entry.id).collect();
        let stored: Vec<Event> = self.parts.store.get(&ids).await?;
        for (entry, stored) in old.iter().zip(&stored) {
            let same = match stored.body() {
                Some(_) if is_stub(entry) => true,
                Some(kept) => {
                    let mut kept = kept.clone();
                    let _blocked = tombstones.pass(&mut kept, &self.parts.key);
                    self.body_hash(&kept)? == self.body_hash(&entry.event)?
                }
                None => true,
            };
            if !same {
                return Err(other_body(entry.id));
            }
        }
        Ok(())
    }
}

fn bare(id: EventId, recorded_at: Timestamp, event: NewEvent) -> LogEntry {
    LogEntry { id, recorded_at, event, index: None, quarantined: None, echo: Vec::new(), body_hash: [0; 32] }
}

/// Session and channel name of an event that is erased in the next step.
const ERASED: &str = "erased";

fn is_stub(entry: &LogEntry) -> bool {
    entry.event.session.as_str() == ERASED && entry.event.content.is_empty()
}

/// Makes an event without content that is erased as soon as it is stored, so that it keeps its position in the log.
fn stub(id: EventId, recorded_at: Timestamp, role: Role) -> Result<LogEntry> {
    let kind = match role {
        Role::Assistant => EventKind::AssistantMessage,
        Role::Tool => EventKind::ToolResult { tool: ToolName::new(ERASED)?, ok: true },
        Role::Document => EventKind::Observation,
        Role::Decision => EventKind::Decision(Decision::Archive(NoteKey::new(ERASED)?.into())),
        _ => EventKind::UserMessage,
    };
    let event = NewEvent {
        kind,
        content: String::new(),
        session: SessionId::new(ERASED)?,
        channel: ChannelId::new(ERASED)?,
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: recorded_at,
        zone: Zone::utc(),
        origin: Origin::Import,
        idempotency_key: None,
        metadata: Metadata::new(),
    };
    Ok(bare(id, recorded_at, event))
}
