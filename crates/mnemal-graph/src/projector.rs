//! Graph projector: runs the fold along the log and commits its rows with the cursor.

mod difference;
mod knowledge;
mod reader;
mod shadow;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, DeadLetter, Decision, Difference, Edition, EntityFilter, Error, ErrorKind, Event,
    EventId, EventKind, EventStore, Extractor, GraphDelta, GraphStore, IndexStore, Layer, Producer, Progress,
    Projector, Result, Seq, Slot, read_ahead,
};

use self::knowledge::Knowledge;
use self::reader::{IntakeError, Reader};
use self::shadow::Shadow;
use crate::cardinality::Cardinalities;
use crate::graph::own;
use crate::names::Names;

/// Incremented with every change of the fold's output for the same extractions.
const VERSION: u32 = 10;
/// Events per page when decisions are scanned.
///
/// Source: own default; the largest batch that an append accepts.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Most rows of a transaction, those of sources included, which keeps it short. Source: ADR 9; own measurement, a
/// transaction of 16 rows spent most of its time on the pages that it has in common with the next.
const ROWS: usize = 48;
/// Estimated events of the first transaction. Source: own measurement, chat of 150 bytes a turn.
const FIRST_PACE: usize = 24;
/// Transactions for which the log is read at once. Source: own choice; reading it for each took a tenth of the time of a
/// fold.
const AHEAD: usize = 8;
/// Most dead letters that are read. Source: own choice.
const MANY: NonZeroUsize = NonZeroUsize::new(1_000).expect("many is some");
/// Reason of a dead letter; a panic message may hold user content, so it is not stored.
const UNREAD: &str = "the extractor panicked";
const BROKEN: &str = "the fold panicked";

/// Folds user and agent messages into entities and facts.
///
/// A step extracts from each event with the preceding events and the names known at that point, and commits rows and cursor
/// in small transactions. An event on which the extractor or the fold panics becomes a dead letter; one that the extractor
/// could not read is retried 16, 64, 256, 1,024 and 4,096 events later.
///
/// After a forget, after a successful retry, and when the version of the extractor or the fold changes, the rows no longer
/// match the log. Rows that rest on a forgotten event are removed with its erasure, and the rest is rebuilt
/// ([`renew`](Self::renew)) while the old rows stay readable. If only the version changed, the difference can be previewed
/// first ([`weigh`](Self::weigh)), and the rows stay until the rebuild is approved; new events use the new version
/// meanwhile.
#[derive(Debug)]
pub struct GraphProjector {
    reader: Reader,
    /// The state after the last step, valid as long as no other process has moved the cursor.
    known: Mutex<Option<StepState>>,
    /// Rebuilt rows that will replace the stored ones, or were compared with them.
    shadow: Mutex<Option<Shadow>>,
    /// Events in the last transaction.
    pace: AtomicUsize,
    /// Folded speaker names of the user.
    owner: Arc<BTreeSet<String>>,
    /// Whether the rows were seen whole since the last forget that was folded here.
    is_whole: AtomicBool,
}

/// State that a step leaves for the next one.
#[derive(Debug)]
struct StepState {
    knowledge: Knowledge,
    ahead: Lookahead,
}

/// A position in the log, and the events that follow it.
#[derive(Debug)]
struct Lookahead {
    /// The cursor of the rows.
    at: Cursor,
    /// The head of the log when it was read.
    head: Cursor,
    /// The erasures of the log when it was read; with others, or unknown ones, the texts here, and in the fold, may be erased.
    forgets: Option<u64>,
    /// The next events, oldest first.
    events: Vec<Event>,
}

impl Lookahead {
    /// Knows a position and the head, and no events between them.
    fn nothing(at: Cursor, head: Cursor, forgets: Option<u64>) -> Self {
        Self { at, head, forgets, events: Vec::new() }
    }

    /// Returns up to where the log was read.
    fn read(&self) -> Cursor {
        self.events.last().map_or(self.at, |event| Cursor(Some(event.seq)))
    }

    /// Advances to a position.
    fn go_on(&mut self, to: Cursor) {
        self.at = to;
        let taken = self.events.partition_point(|event| Cursor(Some(event.seq)) <= to);
        self.events.drain(..taken);
    }
}

/// Progress of a rebuild or a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RebuildProgress {
    /// Events still to read and compare; 0 when it is complete.
    pub behind: u64,
    /// The difference, once everything is compared.
    pub difference: Option<Difference>,
}

/// The result of a page of events.
#[derive(Debug)]
struct PageResult {
    known: Knowledge,
    next: Cursor,
    dead: Vec<DeadLetter>,
    /// Whether one of the events is a forget.
    forgets: bool,
}

impl GraphProjector {
    /// Folds this log into these rows with this extractor.
    pub fn new(
        events: Arc<dyn EventStore>,
        graph: Arc<dyn GraphStore>,
        extractor: Arc<dyn Extractor>,
    ) -> Self {
        let reader = Reader { events, graph, extractor, marks: Slot::Empty };
        Self {
            reader,
            known: Mutex::new(None),
            shadow: Mutex::new(None),
            pace: AtomicUsize::new(FIRST_PACE),
            owner: Arc::default(),
            is_whole: AtomicBool::new(false),
        }
    }

    /// Sets the names under which the user speaks, in addition to no name and labels such as `user`. Existing rows stay as
    /// they are until they are rebuilt.
    #[must_use]
    pub fn of_owner<N: AsRef<str>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let owner = names.into_iter().map(|name| mnemal_text::fold(name.as_ref())).collect();
        Self { owner: Arc::new(owner), ..self }
    }

    /// Uses the mark of the index to notice an erasure: what was read before it is read again, and no erased text is folded. Without
    /// it a text that was read may be folded until the forget decision in the log is reached, which triggers a rebuild.
    #[must_use]
    pub fn with_marks(self, marks: Slot<dyn IndexStore>) -> Self {
        Self { reader: Reader { marks, ..self.reader }, ..self }
    }

    /// An empty name table with the user's speaker names.
    fn names(&self) -> Names {
        Names::default().of_owner(Arc::clone(&self.owner))
    }

    /// Returns the producer of the rows: the extractor and the fold, each with its version.
    pub fn producer(&self) -> Producer {
        let reader = self.reader.extractor.producer();
        Producer { id: format!("graph {} {}", reader.id, reader.version), version: VERSION }
    }

    /// Takes the state of the last step, if it is still valid.
    fn take(&self, cursor: Cursor) -> Option<Knowledge> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.filter(|kept| kept.ahead.at == cursor).map(|kept| kept.knowledge)
    }

    fn keep(&self, mut knowledge: Knowledge, ahead: Lookahead) {
        knowledge.trim();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(StepState { knowledge, ahead });
    }

    /// Returns the cursor of the rows and the events after it: the rest of the last step, completed from the log. The
    /// commit detects whether another process has moved the cursor meanwhile.
    async fn look_ahead(&self, limit: NonZeroUsize) -> Result<Lookahead> {
        let forgets = self.reader.forgets().await;
        self.drop_erased(forgets);
        let mut ahead = if let Some(left) = self.take_rest() {
            left
        } else {
            let (at, head) = (self.reader.graph.cursor().await?, self.reader.events.head().await?);
            Lookahead::nothing(at, head, forgets)
        };
        let (at, pace) = (ahead.read(), self.pace.load(Ordering::Relaxed));
        // A transaction takes about as many events as the last one, and need not end at a page border.
        if at < ahead.head && ahead.events.len() < limit.get().min(2 * pace) {
            let wanted = limit.min(NonZeroUsize::MIN.saturating_add(AHEAD * pace));
            read_ahead(self.reader.events.as_ref(), &mut ahead.events, at, wanted).await?;
            // What was appended meanwhile may have come along.
            ahead.head = ahead.head.max(ahead.read());
        }
        Ok(ahead)
    }

    /// Drops the state of the last step where something was erased since.
    fn drop_erased(&self, forgets: Option<u64>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.take_if(|known| forgets.is_none() || known.ahead.forgets != forgets);
    }

    /// Takes the remaining events of the last step.
    fn take_rest(&self) -> Option<Lookahead> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = &mut known.as_mut()?.ahead;
        let nothing = Lookahead::nothing(ahead.at, ahead.at, ahead.forgets);
        (!ahead.events.is_empty()).then(|| std::mem::replace(ahead, nothing))
    }

    fn take_shadow(&self) -> Option<Shadow> {
        self.shadow.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep_shadow(&self, shadow: Shadow) {
        *self.shadow.lock().unwrap_or_else(PoisonError::into_inner) = Some(shadow);
    }

    async fn knowledge(&self, cursor: Cursor) -> Result<Knowledge> {
        if let Some(known) = self.take(cursor) {
            return Ok(known);
        }
        if cursor == Cursor::START {
            return Ok(Knowledge::whole(self.names()));
        }
        let rows = own(self.reader.graph.entities(&EntityFilter::all()).await?);
        let names = Names::from_rows(rows).of_owner(Arc::clone(&self.owner));
        let held = Cardinalities::from_rows(self.reader.graph.edition().await?.predicates);
        Ok(Knowledge::from_names(names, held, self.unread().await?))
    }

    /// Returns the events that could not be read, with their positions.
    async fn unread(&self) -> Result<Vec<(EventId, Seq)>> {
        let letters = self.reader.graph.dead_letters(MANY).await?;
        let ids: Vec<EventId> =
            letters.into_iter().filter(|letter| letter.why == UNREAD).map(|letter| letter.event).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let events = self.reader.events.get(&ids).await?;
        Ok(events.into_iter().map(|event| (event.id, event.seq)).collect())
    }

    /// Folds events; starts again without an event on which the fold fails.
    async fn fold(&self, expect: Cursor, page: &[Event]) -> Result<PageResult> {
        let mut broken = BTreeSet::new();
        loop {
            let known = self.knowledge(expect).await?;
            match self.fold_once(known, page, &broken).await {
                Ok(folded) => return Ok(folded),
                Err((event, IntakeError::Broken | IntakeError::Unread)) if broken.insert(event) => {}
                Err((_, IntakeError::Store(error))) => return Err(error),
                Err(_) => return Err(Error::internal("the fold of nothing panicked")),
            }
        }
    }

    async fn fold_once(
        &self,
        mut known: Knowledge,
        page: &[Event],
        broken: &BTreeSet<EventId>,
    ) -> Result<PageResult, (EventId, IntakeError)> {
        let producer = self.producer();
        let (mut next, mut dead, mut forgets) = (Cursor::START, Vec::new(), false);
        let mut rows = 0;
        for event in page {
            let letter = |why: &str| DeadLetter { event: event.id, why: why.to_owned() };
            match self.reader.take_in(&mut known, event, &producer, broken).await {
                Ok(()) if broken.contains(&event.id) => dead.push(letter(BROKEN)),
                Ok(()) => {}
                Err(IntakeError::Unread) => {
                    dead.push(letter(UNREAD));
                    known.unread.push((event.id, event.seq));
                }
                Err(trouble) => return Err((event.id, trouble)),
            }
            forgets |= forgotten_by(event).is_some();
            next = Cursor(Some(event.seq));
            // This is background work, and an append that waits for this processor would wait for its whole time slice.
            std::thread::yield_now();
            // The rows of an event are counted after its fold, and the next event is assumed to bring as many.
            let before = std::mem::replace(&mut rows, known.fold.pending_rows());
            if rows + rows.saturating_sub(before) > ROWS {
                break;
            }
        }
        Ok(PageResult { known, next, dead, forgets })
    }

    /// Returns the new producer version of the rows, if it changes.
    async fn edition(&self, expect: Cursor, folded: &mut PageResult) -> Result<Option<Edition>> {
        let is_due = folded.forgets || self.can_read_more(expect, folded).await?;
        let is_ruled = folded.known.fold.held.take_changed();
        let predicates = folded.known.fold.held.rows();
        if is_due {
            self.is_whole.store(false, Ordering::Relaxed);
            let Edition { producer, difference, .. } = self.reader.graph.edition().await?;
            // A retry that the new version could read is no reason to replace the rows of the old one.
            let waits = producer.as_ref().is_some_and(|known| *known != self.producer()) && !folded.forgets;
            let producer = producer.filter(|_| waits);
            let edition = Edition { producer, difference, predicates: predicates.clone() };
            return Ok((!waits || is_ruled).then_some(edition));
        }
        if expect == Cursor::START {
            let producer = Some(self.producer());
            return Ok(Some(Edition { producer, difference: None, predicates: predicates.clone() }));
        }
        if !is_ruled {
            return Ok(None);
        }
        let known = self.reader.graph.edition().await?;
        Ok(Some(Edition { predicates: predicates.clone(), ..known }))
    }

    /// Retries some of the unread events; returns whether one of them can be read now.
    async fn can_read_more(&self, expect: Cursor, folded: &PageResult) -> Result<bool> {
        for event in folded.known.to_try(expect.count(), folded.next.count()) {
            if self.reader.can_be_read(&folded.known, event).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the rows do not match the log: an event was forgotten, can be read by now, or the version changed.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn is_due(&self) -> Result<bool> {
        let graph = &self.reader.graph;
        let is_made = graph.edition().await?.producer == Some(self.producer());
        Ok(!is_made && graph.cursor().await? > Cursor::START)
    }

    /// Whether rows lack that a forget removed with others, because the rebuild after it was interrupted. Once they are whole, a
    /// forget that another process folds is not noticed here; upkeep does.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn lacks_rows(&self) -> Result<bool> {
        if self.is_whole.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let lacks = self.is_due().await? && !self.is_read_otherwise().await?;
        self.is_whole.store(!lacks, Ordering::Relaxed);
        Ok(lacks)
    }

    /// Whether a changed version of the extractor or the fold is the only reason for a rebuild.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn is_read_otherwise(&self) -> Result<bool> {
        let graph = &self.reader.graph;
        let made_by = graph.edition().await?.producer;
        Ok(made_by.is_some_and(|known| known != self.producer()) && graph.cursor().await? > Cursor::START)
    }

    /// Continues the preview of a rebuild: compares the rows with those of the current version, and stores the difference
    /// next to them; the rows do not change. The preview is complete when `behind` is 0; further calls then return the same
    /// difference.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; the next call starts again.
    pub async fn weigh(&self, limit: NonZeroUsize) -> Result<RebuildProgress> {
        let graph = &self.reader.graph;
        let Edition { producer, difference, predicates } = graph.edition().await?;
        let known = difference.filter(|difference| difference.by == Some(self.producer()));
        if known.is_some() || !self.is_read_otherwise().await? {
            return Ok(RebuildProgress { behind: 0, difference: known });
        }
        let cursor = graph.cursor().await?;
        let (mut shadow, mut renewal) = self.advance_shadow(limit, cursor).await?;
        let Some(difference) = renewal.difference.clone() else {
            self.keep_shadow(shadow);
            return Ok(renewal);
        };
        let edition = Some(Edition { producer, difference: Some(difference), predicates });
        let delta = GraphDelta { edition, ..GraphDelta::default() };
        match graph.apply(&delta, &Advance { expect: cursor, next: cursor, ..Advance::default() }).await {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Conflict => {
                renewal = RebuildProgress { behind: 1, difference: None };
                shadow.compare_again();
                self.keep_shadow(shadow);
            }
            Err(error) => return Err(error),
        }
        Ok(renewal)
    }

    /// Marks the rows for a rebuild, whatever their state.
    ///
    /// # Errors
    /// `Conflict` when another process moves the cursor meanwhile, `Unavailable` when the database does not answer.
    pub async fn doubt(&self) -> Result<()> {
        let graph = &self.reader.graph;
        let (at, known) = (graph.cursor().await?, graph.edition().await?);
        let edition = Some(Edition { producer: None, ..known });
        let delta = GraphDelta { edition, ..GraphDelta::default() };
        graph.apply(&delta, &Advance { expect: at, next: at, ..Advance::default() }).await
    }

    /// Continues a rebuild of rows that do not match the log: reads or compares up to `limit` events, or replaces the rows
    /// of a few events in one small transaction. The old rows stay until everything is read and the difference is stored.
    /// The rebuild is complete when `behind` is 0.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; the next call starts again.
    pub async fn renew(&self, limit: NonZeroUsize) -> Result<RebuildProgress> {
        if !self.is_due().await? {
            self.take_shadow();
            return Ok(RebuildProgress::default());
        }
        let (cursor, forgets) = (self.reader.graph.cursor().await?, self.reader.forgets().await);
        let (mut shadow, mut renewal) = self.advance_shadow(limit, cursor).await?;
        if renewal.difference.is_none() {
            self.keep_shadow(shadow);
            return Ok(renewal);
        }
        match shadow.exchange(&self.reader).await {
            Ok(true) => {
                let (end, known) = shadow.into_known();
                self.keep(known, Lookahead::nothing(end, end, forgets));
            }
            Ok(false) => {
                renewal.behind = 1;
                self.keep_shadow(shadow);
            }
            // Another process has moved the cursor: the next call continues from there.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                renewal.behind = 1;
                shadow.compare_again();
                self.keep_shadow(shadow);
            }
            Err(error) => return Err(error),
        }
        Ok(renewal)
    }

    /// Continues a comparison of the rows with those that the log gives up to their cursor, without changes; the difference
    /// is available when `behind` is 0.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub async fn compare(&self, limit: NonZeroUsize) -> Result<RebuildProgress> {
        let cursor = self.reader.graph.cursor().await?;
        let (shadow, renewal) = self.advance_shadow(limit, cursor).await?;
        if renewal.difference.is_none() {
            self.keep_shadow(shadow);
        }
        Ok(renewal)
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.reader.events.head().await?);
        Ok(Progress { consumed, cursor, behind })
    }

    /// Advances the shadow to a position; returns its difference once it is compared.
    async fn advance_shadow(&self, limit: NonZeroUsize, end: Cursor) -> Result<(Shadow, RebuildProgress)> {
        let mut shadow = match self.take_shadow().filter(|shadow| shadow.is_of(&self.producer())) {
            Some(shadow) => shadow,
            None => Shadow::start(&self.reader, self.producer(), BTreeSet::new(), self.names()).await?,
        };
        let difference = shadow.go_on(&self.reader, limit, end).await?.cloned();
        let behind = shadow.behind(end);
        Ok((shadow, RebuildProgress { behind, difference }))
    }
}

#[async_trait]
impl Projector for GraphProjector {
    fn layer(&self) -> Layer {
        Layer::Graph
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let graph = &self.reader.graph;
        let mut ahead = self.look_ahead(limit).await?;
        let expect = ahead.at;
        if ahead.events.is_empty() {
            return Ok(Progress { consumed: 0, cursor: expect, behind: expect.behind(ahead.head) });
        }
        let page = ahead.events.get(..limit.get()).unwrap_or(&ahead.events);
        let mut folded = self.fold(expect, page).await?;
        let mut delta = folded.known.fold.take_delta();
        delta.edition = self.edition(expect, &mut folded).await?;
        let PageResult { known, next, dead, .. } = folded;
        match graph.apply(&delta, &Advance { expect, next, dead, ..Advance::default() }).await {
            Ok(()) => {
                let consumed = expect.behind(next);
                self.pace.store(usize::try_from(consumed).unwrap_or(usize::MAX / AHEAD), Ordering::Relaxed);
                ahead.go_on(next);
                let (is_over, behind) = (ahead.events.is_empty(), next.behind(ahead.head));
                self.keep(known, ahead);
                if is_over {
                    return self.progress(consumed, next).await;
                }
                Ok(Progress { consumed, cursor: next, behind })
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.progress(0, graph.cursor().await?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&self) -> Result<()> {
        self.take(Cursor::START);
        self.take_shadow();
        self.reader.graph.reset().await
    }
}

fn forgotten_by(event: &Event) -> Option<&Vec<EventId>> {
    match event.body().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Forget(forget))) => Some(&forget.events),
        _ => None,
    }
}
