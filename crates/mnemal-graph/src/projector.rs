//! Steps the fold along the log and commits its rows with the cursor.

mod difference;
mod knowledge;
mod reader;
mod shadow;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, DeadLetter, Decision, Difference, Edition, EntityFilter, Error, ErrorKind, Event,
    EventFilter, EventId, EventKind, EventStore, Extractor, GraphDelta, GraphStore, Layer, Producer,
    Progress, Projector, Result, Seq,
};

use self::knowledge::Knowledge;
use self::reader::{Reader, Trouble};
use self::shadow::Shadow;
use crate::cardinality::Cardinalities;
use crate::graph::own;
use crate::names::Names;

/// Counts up with every change of what the fold makes of the same extractions.
const VERSION: u32 = 6;
/// Events a page when decisions are looked through.
///
/// Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Rows, those of sources included, that a transaction shall not exceed, so that it stays short. Source: ADR 9.
const ROWS: usize = 16;
/// Events that the first transaction is taken to need. Source: own measurement, chat of 150 bytes a turn.
const FIRST_PACE: usize = 12;
/// Transactions for which the log is read at once. Source: own choice; reading it for each was a tenth of the time of a fold.
const AHEAD: usize = 8;
/// Most dead letters that are looked at. Source: own choice.
const MANY: NonZeroUsize = NonZeroUsize::new(1_000).expect("many is some");
/// Why there are dead letters; what a panic says may be content, so it is not kept.
const UNREAD: &str = "the extractor panicked";
const BROKEN: &str = "the fold panicked";

/// Folds what people and agents say into entities and facts.
///
/// A step reads each event with the events before it and the names known then, and commits rows and cursor in small
/// transactions. An event over which the extractor or the fold panics becomes a dead letter; one that could not be read is tried
/// again 16, 64, 256, 1,024 and 4,096 events later.
///
/// After a forget, after a try that succeeds, and when the extractor or the fold is another version, the rows are not what the
/// log gives: what rests on a forgotten event went with its erase, and the rest is renewed ([`renew`](Self::renew)) while the old
/// rows answer. Where only the version is another, it can be weighed first ([`weigh`](Self::weigh)), and the rows stay until
/// somebody agrees; new events are read by the new version meanwhile.
#[derive(Debug)]
pub struct GraphProjector {
    reader: Reader,
    /// What the last step knew, as long as nobody else has moved the cursor.
    known: Mutex<Option<Kept>>,
    /// Rows that shall take the place of the stored ones, or were compared with them.
    shadow: Mutex<Option<Shadow>>,
    /// Events that the last transaction took.
    pace: AtomicUsize,
    /// Folded names under which the user speaks.
    owner: Arc<BTreeSet<String>>,
}

/// What a step leaves for the next one.
#[derive(Debug)]
struct Kept {
    knowledge: Knowledge,
    ahead: Ahead,
}

/// A place in the log, and what stands behind it.
#[derive(Debug)]
struct Ahead {
    /// Where the rows stand.
    at: Cursor,
    /// Where the log ended when it was read.
    head: Cursor,
    /// The next events, oldest first. One that is erased after it was read leaves no rows, and by the decision that asked for
    /// it, which stands behind it in the log, the rows are renewed.
    events: Vec<Event>,
}

impl Ahead {
    /// Knows a place and where the log ends, and nothing of what is between.
    fn nothing(at: Cursor, head: Cursor) -> Self {
        Self { at, head, events: Vec::new() }
    }

    /// Returns up to where the log was read.
    fn read(&self) -> Cursor {
        self.events.last().map_or(self.at, |event| Cursor(Some(event.seq)))
    }

    /// Goes on to a place.
    fn go_on(&mut self, to: Cursor) {
        self.at = to;
        let taken = self.events.partition_point(|event| Cursor(Some(event.seq)) <= to);
        self.events.drain(..taken);
    }
}

/// How far rows are that shall take the place of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Renewal {
    /// Events that must still be read, and compared; 0 when nothing is left to do.
    pub behind: u64,
    /// What was found to differ, once everything is compared.
    pub difference: Option<Difference>,
}

/// What a page of events came to.
#[derive(Debug)]
struct Folded {
    known: Knowledge,
    next: Cursor,
    dead: Vec<DeadLetter>,
    /// Whether one of the events forgets others.
    forgets: bool,
}

impl GraphProjector {
    /// Folds this log into these rows, read by this extractor.
    pub fn new(
        events: Arc<dyn EventStore>,
        graph: Arc<dyn GraphStore>,
        extractor: Arc<dyn Extractor>,
    ) -> Self {
        let reader = Reader { events, graph, extractor };
        Self {
            reader,
            known: Mutex::new(None),
            shadow: Mutex::new(None),
            pace: AtomicUsize::new(FIRST_PACE),
            owner: Arc::default(),
        }
    }

    /// Says under which names the user speaks, beside none and labels as `user`. Rows that were made before stay as they are until
    /// they are made anew.
    #[must_use]
    pub fn of_owner<N: AsRef<str>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let owner = names.into_iter().map(|name| mnemal_text::fold(name.as_ref())).collect();
        Self { owner: Arc::new(owner), ..self }
    }

    /// Knows nobody yet but under which names the user speaks.
    fn names(&self) -> Names {
        Names::default().of_owner(Arc::clone(&self.owner))
    }

    /// Returns what is written on every row: the extractor and the fold, each with its version.
    pub fn producer(&self) -> Producer {
        let reader = self.reader.extractor.producer();
        Producer { id: format!("graph {} {}", reader.id, reader.version), version: VERSION }
    }

    /// Takes what the last step knew, if it still is true.
    fn take(&self, cursor: Cursor) -> Option<Knowledge> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.filter(|kept| kept.ahead.at == cursor).map(|kept| kept.knowledge)
    }

    fn keep(&self, mut knowledge: Knowledge, ahead: Ahead) {
        knowledge.trim();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Kept { knowledge, ahead });
    }

    /// Returns where the rows stand and what stands behind that in the log: what the last step has left of it, with what is read
    /// now. Whoever writes finds out whether somebody else has moved the cursor meanwhile.
    async fn ahead(&self, limit: NonZeroUsize) -> Result<Ahead> {
        let mut ahead = match self.left() {
            Some(left) => left,
            None => Ahead::nothing(self.reader.graph.cursor().await?, self.reader.events.head().await?),
        };
        let (at, pace) = (ahead.read(), self.pace.load(Ordering::Relaxed));
        // A transaction takes about as many events as the last one, and shall not end where a page does.
        if at < ahead.head && ahead.events.len() < limit.get().min(2 * pace) {
            let wanted = limit.min(NonZeroUsize::MIN.saturating_add(AHEAD * pace));
            ahead.events.extend(self.reader.events.scan(&EventFilter::all(), at, wanted).await?);
        }
        Ok(ahead)
    }

    /// Takes the events that the last step has left.
    fn left(&self) -> Option<Ahead> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = &mut known.as_mut()?.ahead;
        let nothing = Ahead::nothing(ahead.at, ahead.at);
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

    /// Folds events; over again without those that it cannot fold.
    async fn fold(&self, expect: Cursor, page: &[Event]) -> Result<Folded> {
        let mut broken = BTreeSet::new();
        loop {
            let known = self.knowledge(expect).await?;
            match self.fold_once(known, page, &broken).await {
                Ok(folded) => return Ok(folded),
                Err((event, Trouble::Broken | Trouble::Unread)) if broken.insert(event) => {}
                Err((_, Trouble::Store(error))) => return Err(error),
                Err(_) => return Err(Error::internal("the fold of nothing panicked")),
            }
        }
    }

    async fn fold_once(
        &self,
        mut known: Knowledge,
        page: &[Event],
        broken: &BTreeSet<EventId>,
    ) -> Result<Folded, (EventId, Trouble)> {
        let producer = self.producer();
        let (mut next, mut dead, mut forgets) = (Cursor::START, Vec::new(), false);
        let mut rows = 0;
        for event in page {
            let letter = |why: &str| DeadLetter { event: event.id, why: why.to_owned() };
            match self.reader.take_in(&mut known, event, &producer, broken).await {
                Ok(()) if broken.contains(&event.id) => dead.push(letter(BROKEN)),
                Ok(()) => {}
                Err(Trouble::Unread) => {
                    dead.push(letter(UNREAD));
                    known.unread.push((event.id, event.seq));
                }
                Err(trouble) => return Err((event.id, trouble)),
            }
            forgets |= forgotten_by(event).is_some();
            next = Cursor(Some(event.seq));
            // Nobody waits for this, and an append that waits for this processor would wait for its whole slice.
            std::thread::yield_now();
            // What an event brings is known when it is folded, and the next one is taken to bring as much.
            let before = std::mem::replace(&mut rows, known.fold.pending_rows());
            if rows + rows.saturating_sub(before) > ROWS {
                break;
            }
        }
        Ok(Folded { known, next, dead, forgets })
    }

    /// Returns what the rows are from now on, where that changes.
    async fn edition(&self, expect: Cursor, folded: &mut Folded) -> Result<Option<Edition>> {
        let is_due = folded.forgets || self.can_read_more(expect, folded).await?;
        let is_ruled = folded.known.fold.held.take_changed();
        let predicates = folded.known.fold.held.rows();
        if is_due {
            let Edition { producer, difference, .. } = self.reader.graph.edition().await?;
            // What another version could read is no reason to exchange the rows of the one before.
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

    /// Tries some of the events again that could not be read.
    async fn can_read_more(&self, expect: Cursor, folded: &Folded) -> Result<bool> {
        for event in folded.known.to_try(expect.count(), folded.next.count()) {
            if self.reader.can_be_read(&folded.known, event).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the rows are not what the log gives: something was forgotten, can be read by now, or is read otherwise.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn is_due(&self) -> Result<bool> {
        let graph = &self.reader.graph;
        let is_made = graph.edition().await?.producer == Some(self.producer());
        Ok(!is_made && graph.cursor().await? > Cursor::START)
    }

    /// Whether nothing but another version of what reads the log makes the rows others than it gives.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn is_read_otherwise(&self) -> Result<bool> {
        let graph = &self.reader.graph;
        let made_by = graph.edition().await?.producer;
        Ok(made_by.is_some_and(|known| known != self.producer()) && graph.cursor().await? > Cursor::START)
    }

    /// Goes on with comparing the rows with those that this version would make, and keeps the difference beside them; no row
    /// changes. Nothing is left to do when `behind` is 0; once the difference is kept, further calls return it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; the next call begins anew.
    pub async fn weigh(&self, limit: NonZeroUsize) -> Result<Renewal> {
        let graph = &self.reader.graph;
        let Edition { producer, difference, predicates } = graph.edition().await?;
        let known = difference.filter(|difference| difference.by == Some(self.producer()));
        if known.is_some() || !self.is_read_otherwise().await? {
            return Ok(Renewal { behind: 0, difference: known });
        }
        let cursor = graph.cursor().await?;
        let (mut shadow, mut renewal) = self.shadowed(limit, cursor).await?;
        let Some(difference) = renewal.difference.clone() else {
            self.keep_shadow(shadow);
            return Ok(renewal);
        };
        let edition = Some(Edition { producer, difference: Some(difference), predicates });
        let delta = GraphDelta { edition, ..GraphDelta::default() };
        match graph.apply(&delta, &Advance { expect: cursor, next: cursor, ..Advance::default() }).await {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Conflict => {
                renewal = Renewal { behind: 1, difference: None };
                shadow.compare_again();
                self.keep_shadow(shadow);
            }
            Err(error) => return Err(error),
        }
        Ok(renewal)
    }

    /// Says that the rows are to be made anew, whatever they are.
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

    /// Goes on with making the rows anew where they are not what the log gives: reads or compares up to `limit` events, or
    /// exchanges the rows of a few in one small transaction. Until everything is read and the difference is stored, the old
    /// rows stay. Nothing is left to do when `behind` is 0.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; the next call begins anew.
    pub async fn renew(&self, limit: NonZeroUsize) -> Result<Renewal> {
        if !self.is_due().await? {
            self.take_shadow();
            return Ok(Renewal::default());
        }
        let cursor = self.reader.graph.cursor().await?;
        let (mut shadow, mut renewal) = self.shadowed(limit, cursor).await?;
        if renewal.difference.is_none() {
            self.keep_shadow(shadow);
            return Ok(renewal);
        }
        match shadow.exchange(&self.reader).await {
            Ok(true) => {
                let (end, known) = shadow.into_known();
                self.keep(known, Ahead::nothing(end, end));
            }
            Ok(false) => {
                renewal.behind = 1;
                self.keep_shadow(shadow);
            }
            // Somebody else has moved the cursor: the next call goes on from there.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                renewal.behind = 1;
                shadow.compare_again();
                self.keep_shadow(shadow);
            }
            Err(error) => return Err(error),
        }
        Ok(renewal)
    }

    /// Goes on with comparing the rows with those that the log gives up to their cursor, and changes nothing; the difference is
    /// there when `behind` is 0.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub async fn compare(&self, limit: NonZeroUsize) -> Result<Renewal> {
        let cursor = self.reader.graph.cursor().await?;
        let (shadow, renewal) = self.shadowed(limit, cursor).await?;
        if renewal.difference.is_none() {
            self.keep_shadow(shadow);
        }
        Ok(renewal)
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.reader.events.head().await?);
        Ok(Progress { consumed, cursor, behind })
    }

    /// Goes on with the shadow up to a position; returns its difference when it is compared.
    async fn shadowed(&self, limit: NonZeroUsize, end: Cursor) -> Result<(Shadow, Renewal)> {
        let mut shadow = match self.take_shadow().filter(|shadow| shadow.is_of(&self.producer())) {
            Some(shadow) => shadow,
            None => Shadow::start(&self.reader, self.producer(), BTreeSet::new(), self.names()).await?,
        };
        let difference = shadow.go_on(&self.reader, limit, end).await?.cloned();
        let behind = shadow.behind(end);
        Ok((shadow, Renewal { behind, difference }))
    }
}

#[async_trait]
impl Projector for GraphProjector {
    fn layer(&self) -> Layer {
        Layer::Graph
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let graph = &self.reader.graph;
        let mut ahead = self.ahead(limit).await?;
        let expect = ahead.at;
        if ahead.events.is_empty() {
            return Ok(Progress { consumed: 0, cursor: expect, behind: expect.behind(ahead.head) });
        }
        let page = ahead.events.get(..limit.get()).unwrap_or(&ahead.events);
        let mut folded = self.fold(expect, page).await?;
        let mut delta = folded.known.fold.take_delta();
        delta.edition = self.edition(expect, &mut folded).await?;
        let Folded { known, next, dead, .. } = folded;
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
    match event.kept().map(|kept| &kept.kind) {
        Some(EventKind::Decision(Decision::Forget(forget))) => Some(&forget.events),
        _ => None,
    }
}
