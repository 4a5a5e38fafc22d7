//! Event intake: extracts from one event, resolves its claims, loads the affected rows, and weighs them.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mnemal_core::{
    ClaimSpans, EntityId, Error, ErrorKind, Event, EventFilter, EventId, EventKind, EventStore, Extraction,
    Extractor, FactFilter, GraphStore, IndexStore, MentionFilter, NewEvent, Operation, OperationKind,
    Producer, Result, Role, SessionId, Slot, Utterance, Within,
};

use super::knowledge::{BEFORE, GraphNote, Knowledge, note_of, readable};
use crate::fold::{ExtractedEvent, Fold, PendingClaims};
use crate::model_claims;

/// The reason why an event is not in the rows.
#[derive(Debug)]
pub(super) enum IntakeError {
    /// A database error; the event can be read later.
    Store(Error),
    /// The extractor panicked; the state is unchanged, except that the event was recorded.
    Unread,
    /// The fold panicked; the state is not to be trusted.
    Broken,
}

impl From<Error> for IntakeError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// The extractor and the stores that intake needs.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) events: Arc<dyn EventStore>,
    pub(super) graph: Arc<dyn GraphStore>,
    pub(super) extractor: Arc<dyn Extractor>,
    /// Where the mark says that something was erased.
    pub(super) marks: Slot<dyn IndexStore>,
}

impl Reader {
    /// Returns the number of erasures of the log, 0 where no mark says it; `None` where the mark cannot be read.
    pub(super) async fn forgets(&self) -> Option<u64> {
        match &self.marks {
            Slot::Filled(marks) => marks.mark().await.ok().map(|mark| mark.forgets),
            Slot::Empty => Some(0),
        }
    }

    /// Processes one event; an event in `broken` is only recorded in its session.
    pub(super) async fn take_in(
        &self,
        known: &mut Knowledge,
        event: &Event,
        producer: &Producer,
        broken: &BTreeSet<EventId>,
    ) -> Result<(), IntakeError> {
        let is_broken = broken.contains(&event.id);
        if let Some(note) = note_of(event) {
            return if is_broken { Ok(()) } else { self.note(known, (event, &note), producer).await };
        }
        if event.role == Role::Decision {
            return if is_broken { Ok(()) } else { self.decide(known, event, producer).await };
        }
        let Some(kept) = readable(event) else { return Ok(()) };
        if known.lacks(&kept.session) {
            let recent = self.recent_events(event, kept).await?;
            known.know_recent(&kept.session, recent);
        }
        let read = if is_broken { Some(Extraction::default()) } else { self.read(known, event, kept) };
        known.hear(event, &kept.session);
        let extraction = read.ok_or(IntakeError::Unread)?;
        let reading = ExtractedEvent { event, kept, extraction: &extraction, producer };
        let (is_new, unknown) = catch_panic(|| known.fold.unknown_company(reading))?;
        self.load_company(&mut known.fold, is_new.then_some(&kept.session), &unknown, event).await?;
        let pending = catch_panic(|| known.fold.resolve(reading))?;
        self.weigh(known, reading, pending).await
    }

    /// Processes a note: its mentions and claims. A new version ends what only the earlier versions say.
    async fn note(
        &self,
        known: &mut Knowledge,
        (event, note): (&Event, &GraphNote),
        producer: &Producer,
    ) -> Result<(), IntakeError> {
        let names = known.fold.names.gazetteer();
        let utterance = Utterance { event, before: &[], known: names };
        let extraction =
            catch_panic(|| self.extractor.extract(&utterance)).map_err(|_| IntakeError::Unread)?;
        let reading = ExtractedEvent { event, kept: &note.kept, extraction: &extraction, producer };
        let (is_new, unknown) = catch_panic(|| known.fold.unknown_company(reading))?;
        self.load_company(&mut known.fold, is_new.then_some(&note.kept.session), &unknown, event).await?;
        let earlier = if note.has_key { known.fold.named_in(&note.kept.session) } else { BTreeSet::new() };
        let mut pending = catch_panic(|| known.fold.resolve(reading))?;
        if !earlier.is_empty() {
            pending.concern(earlier);
            pending.replace(&note.kept.session);
        }
        self.weigh(known, reading, pending).await
    }

    /// Extracts from an event with the preceding ones and the known names; `None` on a panic.
    fn read(&self, known: &mut Knowledge, event: &Event, kept: &NewEvent) -> Option<Extraction> {
        let (before, names) = known.scene(&kept.session);
        catch_panic(|| self.extractor.extract(&Utterance { event, before, known: names.gazetteer() })).ok()
    }

    /// Whether an unread event can be read now.
    pub(super) async fn can_be_read(&self, known: &Knowledge, id: EventId) -> Result<bool> {
        let Some(event) = self.events.get(&[id]).await?.pop() else { return Ok(false) };
        let gazetteer = known.fold.names.gazetteer();
        let mut before = match readable(&event) {
            Some(kept) => self.recent_events(&event, kept).await?,
            None if note_of(&event).is_some() => VecDeque::new(),
            None => return Ok(false),
        };
        let before: &[Event] = before.make_contiguous();
        let read = || self.extractor.extract(&Utterance { event: &event, before, known: gazetteer });
        Ok(catch_panic(read).is_ok())
    }

    /// Folds a person's decision about the graph.
    async fn decide(
        &self,
        known: &mut Knowledge,
        event: &Event,
        producer: &Producer,
    ) -> Result<(), IntakeError> {
        let Some(kept) = event.body().filter(|_| event.quarantined.is_none()) else { return Ok(()) };
        if let Some(found) = found_by(kept) {
            return self.find(known, (event, kept), found, producer).await;
        }
        let mut pending = catch_panic(|| known.fold.decide(event, kept, producer))?;
        if let Some(undone) = pending.undone {
            let taken_back = match self.events.get(&[undone]).await {
                Ok(mut found) => found.pop(),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(error.into()),
            };
            let turn = taken_back.as_ref().and_then(Event::body).and_then(found_by).map(|(turn, _)| turn);
            if let Some(turn) = turn {
                pending.take_back_found_in(turn);
            }
            let sources = [undone].into_iter().chain(turn).collect();
            let filter = FactFilter { sources: Within::Only(sources), ..FactFilter::all() };
            pending.concern(self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject));
        }
        let withdrawn = pending.withdrawn_from();
        if !withdrawn.is_empty() {
            let filter = FactFilter { sources: Within::Only(withdrawn), ..FactFilter::all() };
            pending.concern(self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject));
        }
        if let Some(predicate) = known.fold.ruled_predicate(&pending).filter(|_| !known.fold.is_whole()) {
            let filter = FactFilter { predicates: Within::Only(vec![predicate]), ..FactFilter::all() };
            pending.concern(self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject));
        }
        let extraction = Extraction::default();
        self.weigh(known, ExtractedEvent { event, kept, extraction: &extraction, producer }, pending).await
    }

    /// Folds a model's findings in a turn; findings that its words do not support, or that the turn no longer holds, are
    /// dropped.
    async fn find(
        &self,
        known: &mut Knowledge,
        (operation, decided): (&Event, &NewEvent),
        (turn, claims): (EventId, &[ClaimSpans]),
        producer: &Producer,
    ) -> Result<(), IntakeError> {
        let Some(mut turn) = self.events.get(&[turn]).await?.pop() else { return Ok(()) };
        if turn.seq >= operation.seq {
            return Ok(());
        }
        // The claim was made at the time of the turn, and is known since the operation.
        turn.recorded_at = operation.recorded_at;
        let Some(kept) = readable(&turn) else { return Ok(()) };
        let names = known.fold.names.gazetteer();
        let utterance = Utterance { event: &turn, before: &[], known: names };
        let extraction = catch_panic(|| model_claims::read(&utterance, claims))?;
        if extraction.facts.is_empty() {
            return Ok(());
        }
        let reading = ExtractedEvent { event: &turn, kept, extraction: &extraction, producer };
        let (is_new, unknown) = catch_panic(|| known.fold.unknown_company(reading))?;
        self.load_company(&mut known.fold, is_new.then_some(&kept.session), &unknown, &turn).await?;
        let pending = catch_panic(|| known.fold.resolve_found(reading))?;
        let nothing = Extraction::default();
        let by = ExtractedEvent { event: operation, kept: decided, extraction: &nothing, producer };
        self.weigh(known, by, pending).await
    }

    /// Loads the rows that a reading affects, and weighs it.
    async fn weigh(
        &self,
        known: &mut Knowledge,
        reading: ExtractedEvent<'_>,
        mut pending: PendingClaims,
    ) -> Result<(), IntakeError> {
        catch_panic(|| known.fold.shift(reading.event, &mut pending))?;
        self.load_facts(&mut known.fold, &pending.subjects()).await?;
        self.load_leading(&mut known.fold, &pending.objects()).await?;
        catch_panic(|| known.fold.weigh(reading, &pending))
    }

    /// Loads the believed facts of subjects.
    async fn load_facts(&self, fold: &mut Fold, subjects: &BTreeSet<EntityId>) -> Result<()> {
        let missing = fold.unknown_subjects(subjects);
        if !missing.is_empty() {
            let filter = FactFilter { subjects: Within::Only(missing.clone()), ..FactFilter::all() };
            fold.know_facts(&missing, self.graph.believed(&filter).await?);
        }
        Ok(())
    }

    /// Loads the subjects with facts that lead to entities.
    async fn load_leading(&self, fold: &mut Fold, objects: &[EntityId]) -> Result<()> {
        if objects.is_empty() || fold.is_whole() {
            return Ok(());
        }
        let filter = FactFilter { objects: Within::Only(objects.to_vec()), ..FactFilter::all() };
        let subjects = self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject).collect();
        self.load_facts(fold, &subjects).await
    }

    async fn load_company(
        &self,
        fold: &mut Fold,
        session: Option<&SessionId>,
        entities: &[EntityId],
        event: &Event,
    ) -> Result<()> {
        if let Some(session) = session {
            let filter = MentionFilter { session: Within::Only(session.clone()), ..MentionFilter::all() };
            fold.know_session(session.clone(), &self.graph.mentions(&filter).await?);
        }
        if entities.is_empty() {
            return Ok(());
        }
        let filter = MentionFilter { entities: Within::Only(entities.to_vec()), ..MentionFilter::all() };
        let mut named = self.graph.mentions(&filter).await?;
        named.retain(|row| row.source.event != event.id);
        let events: BTreeSet<EventId> = named.iter().map(|row| row.source.event).collect();
        let filter =
            MentionFilter { events: Within::Only(events.into_iter().collect()), ..MentionFilter::all() };
        let with = self.graph.mentions(&filter).await?;
        fold.know_company(entities, &named, &with);
        Ok(())
    }

    /// Returns the preceding events of the session, oldest first. Scans backward from the head, because mostly the newest
    /// events are read.
    async fn recent_events(&self, event: &Event, kept: &NewEvent) -> Result<VecDeque<Event>> {
        let filter = EventFilter { session: Within::Only(kept.session.clone()), ..EventFilter::live() };
        let mut limit = NonZeroUsize::MIN.saturating_add(2 * BEFORE);
        loop {
            let page = self.events.latest(&filter, limit).await?;
            let is_all = page.len() < limit.get();
            let earlier = page.into_iter().filter(|of| of.seq < event.seq && readable(of).is_some());
            let mut before: VecDeque<Event> = earlier.take(BEFORE).collect();
            if is_all || before.len() == BEFORE {
                before.make_contiguous().sort_by_key(|of| of.seq);
                return Ok(before);
            }
            limit = limit.saturating_mul(NonZeroUsize::MIN.saturating_add(3));
        }
    }
}

/// Returns the turn of a model finding and its claims.
fn found_by(kept: &NewEvent) -> Option<(EventId, &[ClaimSpans])> {
    match &kept.kind {
        EventKind::Operation(Operation { kind: OperationKind::Claim { turn, claims }, .. }) => {
            Some((*turn, claims))
        }
        _ => None,
    }
}

/// Runs code that may panic on foreign data; the panic message is not passed on, because it may hold user content.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, IntakeError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| IntakeError::Broken)
}
