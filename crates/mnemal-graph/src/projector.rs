//! Steps the fold along the log and commits its rows with the cursor.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, Decision, EntityFilter, EntityId, ErrorKind, Event, EventFilter, EventId, EventKind,
    EventStore, Extraction, Extractor, FactFilter, GraphDelta, GraphStore, Layer, MentionFilter, MentionRow,
    NewEvent, Producer, Progress, Projector, Result, Role, SessionId, Utterance, Within,
};

use crate::fold::{Fold, Pending, Reading};
use crate::names::Names;

/// Counts up with every change of what the fold makes of the same extractions.
const VERSION: u32 = 2;
/// Events a page when the log is folded from its begin.
///
/// Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Events of the conversation with which one is read. Source: EXTRACTION 3.
const BEFORE: usize = 8;
/// Rows from which on a transaction is closed, so that it stays short. Source: own measurement, 5 ms.
const ROWS: usize = 200;
/// Facts that are kept in memory between steps. Source: own choice, some tens of megabytes.
const MOST_FACTS: usize = 50_000;
/// Conversations whose last events are kept in memory. Source: own choice.
const MOST_SESSIONS: usize = 256;

/// Folds what people and agents say into entities and facts.
///
/// A step reads each event with the events before it and the names known then, and commits rows and cursor in small
/// transactions. A step that sees a forget folds the log anew in memory and writes the difference, so that the rows are what
/// the log would give without the forgotten events.
#[derive(Debug)]
pub struct GraphProjector {
    events: Arc<dyn EventStore>,
    graph: Arc<dyn GraphStore>,
    extractor: Arc<dyn Extractor>,
    /// What the last step knew, as long as nobody else has moved the cursor.
    known: Mutex<Option<(Cursor, Knowledge)>>,
}

/// What is kept between steps.
#[derive(Debug)]
struct Knowledge {
    fold: Fold,
    recent: HashMap<SessionId, VecDeque<Event>>,
    /// Whether the recent events of a conversation that is not here are known to be none.
    is_from_start: bool,
}

impl Knowledge {
    fn whole() -> Self {
        Self { fold: Fold::whole(), recent: HashMap::new(), is_from_start: true }
    }
}

impl GraphProjector {
    /// Folds this log into these rows, read by this extractor.
    pub fn new(
        events: Arc<dyn EventStore>,
        graph: Arc<dyn GraphStore>,
        extractor: Arc<dyn Extractor>,
    ) -> Self {
        Self { events, graph, extractor, known: Mutex::new(None) }
    }

    /// Returns what is written on every row: the extractor and the fold, each with its version.
    pub fn producer(&self) -> Producer {
        let reader = self.extractor.producer();
        Producer { id: format!("graph {} {}", reader.id, reader.version), version: VERSION }
    }

    /// Takes what the last step knew, if it still is true.
    fn take(&self, cursor: Cursor) -> Option<Knowledge> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.filter(|(at, _)| *at == cursor).map(|(_, knowledge)| knowledge)
    }

    fn keep(&self, cursor: Cursor, knowledge: Knowledge) {
        if knowledge.fold.len() <= MOST_FACTS && knowledge.recent.len() <= MOST_SESSIONS {
            *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((cursor, knowledge));
        }
    }

    async fn knowledge(&self, cursor: Cursor) -> Result<Knowledge> {
        if let Some(known) = self.take(cursor) {
            return Ok(known);
        }
        if cursor == Cursor::START {
            return Ok(Knowledge::whole());
        }
        let names = Names::from_rows(self.graph.entities(&EntityFilter::all()).await?);
        Ok(Knowledge { fold: Fold::from_names(names), recent: HashMap::new(), is_from_start: false })
    }

    /// Folds one event; `producer` is asked once a step.
    async fn fold(&self, known: &mut Knowledge, event: &Event, producer: &Producer) -> Result<()> {
        if event.role == Role::Decision {
            return self.decide(known, event, producer).await;
        }
        let Some(kept) = readable(event) else { return Ok(()) };
        if !known.is_from_start && !known.recent.contains_key(&kept.session) {
            known.recent.insert(kept.session.clone(), self.before(event, kept).await?);
        }
        let recent = known.recent.entry(kept.session.clone()).or_default();
        let extraction: Extraction = {
            let before: &[Event] = recent.make_contiguous();
            self.extractor.extract(&Utterance { event, before, known: known.fold.names.gazetteer() })
        };
        recent.push_back(event.clone());
        if recent.len() > BEFORE {
            recent.pop_front();
        }
        let reading = Reading { event, kept, extraction: &extraction, producer };
        let (is_new, unknown) = known.fold.unknown_company(reading);
        self.load_company(&mut known.fold, is_new.then_some(&kept.session), &unknown, event).await?;
        let pending = known.fold.resolve(reading);
        self.weigh(known, reading, pending).await
    }

    /// Folds what a person decided about the graph.
    async fn decide(&self, known: &mut Knowledge, event: &Event, producer: &Producer) -> Result<()> {
        let Some(kept) = event.kept().filter(|_| event.quarantined.is_none()) else { return Ok(()) };
        let mut pending = known.fold.decide(event, kept);
        if let Some(undone) = pending.undone() {
            let filter = FactFilter { sources: Within::Only(vec![undone]), ..FactFilter::all() };
            pending.concern(self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject));
            pending.concern(known.fold.names.all_joined_by(undone));
        }
        let extraction = Extraction::default();
        self.weigh(known, Reading { event, kept, extraction: &extraction, producer }, pending).await
    }

    /// Loads what a reading concerns, and weighs it.
    async fn weigh(&self, known: &mut Knowledge, reading: Reading<'_>, pending: Pending) -> Result<()> {
        let missing = known.fold.unknown_subjects(&pending.subjects());
        if !missing.is_empty() {
            let filter = FactFilter { subjects: Within::Only(missing.clone()), ..FactFilter::all() };
            known.fold.know_facts(&missing, self.graph.believed(&filter).await?);
        }
        self.load_joined(&mut known.fold, &pending.joined()).await?;
        known.fold.weigh(reading, &pending);
        Ok(())
    }

    /// Loads what leads to entities that are taken for others from now on: the facts of those subjects.
    async fn load_joined(&self, fold: &mut Fold, joined: &[EntityId]) -> Result<()> {
        if joined.is_empty() {
            return Ok(());
        }
        let filter = FactFilter { objects: Within::Only(joined.to_vec()), ..FactFilter::all() };
        let subjects = self.graph.believed(&filter).await?.into_iter().map(|fact| fact.subject).collect();
        let missing = fold.unknown_subjects(&subjects);
        if !missing.is_empty() {
            let filter = FactFilter { subjects: Within::Only(missing.clone()), ..FactFilter::all() };
            fold.know_facts(&missing, self.graph.believed(&filter).await?);
        }
        Ok(())
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
            let rows: Vec<MentionRow> = self.graph.mentions(&filter).await?;
            fold.know_session(session.clone(), &rows);
        }
        for id in entities {
            let filter = MentionFilter { entities: Within::Only(vec![*id]), ..MentionFilter::all() };
            let rows = self.graph.mentions(&filter).await?;
            let events: Vec<EventId> =
                rows.iter().map(|row| row.source.event).filter(|of| *of != event.id).collect();
            let filter = MentionFilter { events: Within::Only(events), ..MentionFilter::all() };
            let with = self.graph.mentions(&filter).await?.into_iter().map(|row| row.entity);
            fold.know_company(*id, with);
        }
        Ok(())
    }

    /// Returns the events of the same conversation just before, oldest first.
    async fn before(&self, event: &Event, kept: &NewEvent) -> Result<VecDeque<Event>> {
        let filter = EventFilter { session: Within::Only(kept.session.clone()), ..EventFilter::live() };
        let (mut before, mut after) = (VecDeque::new(), Cursor::START);
        loop {
            let page = self.events.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last().map(|last| last.seq) else { return Ok(before) };
            before.extend(
                page.into_iter().filter(|earlier| earlier.seq < event.seq && readable(earlier).is_some()),
            );
            before.drain(..before.len().saturating_sub(BEFORE));
            if last >= event.seq {
                return Ok(before);
            }
            after = Cursor(Some(last));
        }
    }

    /// Returns what leads from the stored rows to what the log gives up to `end` without what is forgotten.
    async fn refold(&self, end: Cursor) -> Result<(GraphDelta, Knowledge)> {
        let (all, mut forgotten, mut after) = (EventFilter::all(), BTreeSet::new(), Cursor::START);
        let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
        loop {
            let page = self.events.scan(&decisions, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let until_end = page.iter().filter(|event| Cursor(Some(event.seq)) <= end);
            forgotten.extend(until_end.filter_map(forgotten_by).flatten().copied());
        }
        let (mut known, producer) = (Knowledge::whole(), self.producer());
        after = Cursor::START;
        while after < end {
            let page = self.events.scan(&all, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in page.iter().filter(|event| Cursor(Some(event.seq)) <= end) {
                if !forgotten.contains(&event.id) {
                    self.fold(&mut known, event, &producer).await?;
                }
            }
        }
        let whole = known.fold.take_delta();
        Ok((self.difference(whole).await?, known))
    }

    /// Compares all rows with the stored ones.
    async fn difference(&self, whole: GraphDelta) -> Result<GraphDelta> {
        let mut entities: BTreeMap<_, _> = by(self.graph.entities(&EntityFilter::all()).await?, |row| row.id);
        let mut facts: BTreeMap<_, _> = by(self.graph.history(&FactFilter::all()).await?, |row| row.id);
        let mut mentions: BTreeMap<_, _> =
            by(self.graph.mentions(&MentionFilter::all()).await?, |row| (row.source.event, row.entity));
        let mut delta = whole;
        delta.entities.retain(|row| entities.remove(&row.id).as_ref() != Some(row));
        delta.facts.retain(|row| facts.remove(&row.id).as_ref() != Some(row));
        delta.mentions.retain(|row| mentions.remove(&(row.source.event, row.entity)).as_ref() != Some(row));
        delta.remove_entities = entities.into_keys().collect();
        delta.remove_facts = facts.into_keys().collect();
        delta.remove_mentions = mentions.into_keys().collect();
        Ok(delta)
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.events.head().await?);
        Ok(Progress { consumed, cursor, behind })
    }
}

#[async_trait]
impl Projector for GraphProjector {
    fn layer(&self) -> Layer {
        Layer::Graph
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let (expect, head) = (self.graph.cursor().await?, self.events.head().await?);
        if expect >= head {
            return Ok(Progress { consumed: 0, cursor: expect, behind: 0 });
        }
        let page = self.events.scan(&EventFilter::all(), expect, limit).await?;
        let Some(last) = page.last() else { return self.progress(0, expect).await };
        let (delta, known, next) = if page.iter().any(|event| forgotten_by(event).is_some()) {
            let next = Cursor(Some(last.seq));
            let (delta, known) = self.refold(next).await?;
            (delta, known, next)
        } else {
            let (mut known, producer, mut next) = (self.knowledge(expect).await?, self.producer(), expect);
            for event in &page {
                self.fold(&mut known, event, &producer).await?;
                next = Cursor(Some(event.seq));
                if known.fold.pending_rows() >= ROWS {
                    break;
                }
            }
            (known.fold.take_delta(), known, next)
        };
        match self.graph.apply(&delta, &Advance { expect, next, dead: Vec::new() }).await {
            Ok(()) => {
                self.keep(next, known);
                self.progress(expect.behind(next), next).await
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.progress(0, self.graph.cursor().await?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&self) -> Result<()> {
        self.take(Cursor::START);
        self.graph.reset().await
    }
}

/// Returns what an event says, if it may say anything: what people and agents say, and files; no tools, and nothing that a
/// rule holds back.
fn readable(event: &Event) -> Option<&NewEvent> {
    let is_speech = matches!(event.role, Role::User | Role::Assistant | Role::Document);
    event.kept().filter(|_| is_speech && event.quarantined.is_none())
}

fn forgotten_by(event: &Event) -> Option<&Vec<EventId>> {
    match event.kept().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Forget(forget))) => Some(&forget.events),
        _ => None,
    }
}

fn by<K: Ord, R>(rows: Vec<R>, key: impl Fn(&R) -> K) -> BTreeMap<K, R> {
    rows.into_iter().map(|row| (key(&row), row)).collect()
}
