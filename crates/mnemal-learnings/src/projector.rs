//! Learnings projector: runs the fold along the log and commits its rows with the cursor.

mod refold;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Advance, Cursor, DeadLetter, Decision, ErrorKind, Event, EventFilter, EventId, EventKind, EventStore,
    IndexStore, Layer, LearningDelta, LearningFilter, LearningStore, Operation, Progress, Projector, Result,
    Seq, Slot, Within, is_window_full, read_ahead,
};

use crate::fold::{Fold, decision};
use crate::read::{self, BEFORE};
use crate::rows::Rows;
use crate::supersession::Inference;
use crate::{task, verdict};

/// Approximate limit of rows per transaction, sources included, which keeps it short. Source: ADR 9.
const ROWS: usize = 12;
/// Events of the first transaction. Source: own choice; in chat one turn in four states a preference.
const FIRST_PACE: usize = 16;
/// Transactions for which the log is read at once. Source: as for the graph, whose fold reads the same log.
const AHEAD: usize = 8;
/// Reason of a dead letter; a panic message may hold user content, so it is not stored.
const BROKEN: &str = "the fold panicked";

/// Folds decisions into notes, the user's stated preferences into learnings, tool results into tallies, and the host's task
/// observations into notes that are active while a task is open.
///
/// A step costs its events and the rows that they affect. A step with a forget, or the undo of a decision or an operation,
/// reads all decisions and tool results up to its end, with observed tasks also all documents and observations, and the
/// messages within 64 positions after the forgotten ones, so that the rows equal those of a log without them: an older
/// version is active again, and a row without a live source is removed.
#[derive(Debug)]
pub struct LearningProjector {
    events: Arc<dyn EventStore>,
    store: Arc<dyn LearningStore>,
    /// Where the mark says that something was erased.
    marks: Slot<dyn IndexStore>,
    /// The fold of the last step, valid while no other process has moved the cursor.
    known: Mutex<Option<(Cursor, Fold)>>,
    /// The part of the log around the last step, valid as long as the fold is.
    log: Mutex<Option<LogWindow>>,
    /// Events of the next transaction.
    pace: AtomicUsize,
    /// Whether learnings are derived, in addition to stored notes.
    learns: bool,
    /// Whether inferred preferences can be active.
    inference: Inference,
}

impl LearningProjector {
    /// Folds this log into these rows.
    pub fn new(events: Arc<dyn EventStore>, store: Arc<dyn LearningStore>) -> Self {
        Self {
            events,
            store,
            marks: Slot::Empty,
            known: Mutex::new(None),
            log: Mutex::new(None),
            pace: AtomicUsize::new(FIRST_PACE),
            learns: true,
            inference: Inference::On,
        }
    }

    /// Uses the mark of the index to notice an erasure: what was read before it is read again, and no erased text is folded. Without
    /// it a text that was read may be folded until the forget decision in the log is reached, which folds its rows anew.
    #[must_use]
    pub fn with_marks(self, marks: Slot<dyn IndexStore>) -> Self {
        Self { marks, ..self }
    }

    /// Folds only stored notes and decisions about them; nothing is learned from messages and tool results. Existing
    /// learnings stay until the rows are rebuilt.
    #[must_use]
    pub fn of_notes_alone(self) -> Self {
        Self { learns: false, ..self }
    }

    /// Sets whether an inferred preference can be active. Active ones stay until the same topic comes up again, or the rows
    /// are rebuilt.
    #[must_use]
    pub fn with_inference(self, inference: Inference) -> Self {
        Self { inference, ..self }
    }

    fn empty(&self) -> Fold {
        let mut fold = Fold::default();
        fold.rows.infer(self.inference);
        fold
    }

    /// Whether an event could be learned from, but learning is off.
    fn leaves_out(&self, event: &Event) -> bool {
        !self.learns && (read::is_read(event) || is_result(event))
    }

    fn keep(&self, known: Option<(Cursor, Fold)>) -> Option<(Cursor, Fold)> {
        std::mem::replace(&mut *self.known.lock().unwrap_or_else(PoisonError::into_inner), known)
    }

    /// Sets the size of the next transaction by the rows of this one, at most doubling it.
    fn walk_on(&self, events: u64, delta: &LearningDelta) {
        let sources: usize = delta.put.iter().map(|row| row.sources.len()).sum();
        let rows = delta.put.len() + delta.remove.len() + sources;
        let events = usize::try_from(events).unwrap_or(usize::MAX / ROWS).min(usize::MAX / ROWS);
        let pace = (events * ROWS / rows.max(1)).min(2 * events);
        self.pace.store(pace, Ordering::Relaxed);
    }

    async fn fold(&self, cursor: Cursor) -> Result<Fold> {
        match self.keep(None).filter(|(at, _)| *at == cursor) {
            Some((_, fold)) => Ok(fold),
            None if cursor == Cursor::START => Ok(self.empty()),
            None => {
                let keyed = LearningFilter { keyed: Within::Only(true), ..LearningFilter::all() };
                let mut rows = Rows::from_stored(self.store.all(&keyed).await?);
                rows.infer(self.inference);
                Ok(Fold { rows, ..Fold::default() })
            }
        }
    }

    /// Loads the notes without a key that a page's operations and decisions concern.
    async fn look_at_named(&self, rows: &mut Rows, batch: &[Event]) -> Result<()> {
        let operations = batch.iter().filter_map(operation).flat_map(|one| one.kind.names());
        let decisions = batch.iter().filter_map(decision).flat_map(verdict::concerned);
        let named: Vec<EventId> = operations.chain(decisions).collect();
        if !named.is_empty() {
            let filter = LearningFilter { sources: Within::Only(named), ..LearningFilter::all() };
            self.store.all(&filter).await?.into_iter().for_each(|row| rows.look_at(row));
        }
        Ok(())
    }

    /// Returns the number of erasures of the log, 0 where no mark says it; `None` where the mark cannot be read.
    async fn forgets(&self) -> Option<u64> {
        match &self.marks {
            Slot::Filled(marks) => marks.mark().await.ok().map(|mark| mark.forgets),
            Slot::Empty => Some(0),
        }
    }

    /// Returns the part of the log at the cursor: the rest of the last step, completed from the log. The commit detects
    /// whether another process has moved the cursor meanwhile.
    async fn look_ahead(&self, limit: NonZeroUsize) -> Result<LogWindow> {
        let forgets = self.forgets().await;
        let kept = self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        let kept = kept.filter(|kept| forgets.is_some() && kept.forgets == forgets);
        if kept.is_none() {
            // The fold may hold words of an erased event too; the rows of the store do not.
            self.keep(None);
        }
        let mut log = match kept {
            Some(kept) if !kept.ahead.is_empty() => kept,
            kept => {
                let (at, head) = (self.store.cursor().await?, self.events.head().await?);
                let before = kept.filter(|kept| kept.at == at).and_then(|kept| kept.before);
                LogWindow { at, head, forgets, before, ahead: Vec::new() }
            }
        };
        let wanted = limit.min(NonZeroUsize::MIN.saturating_add(self.pace.load(Ordering::Relaxed)));
        let read = log.read();
        if read < log.head && log.ahead.len() < wanted.get() {
            let wanted = limit.min(wanted.saturating_mul(NonZeroUsize::MIN.saturating_add(AHEAD - 1)));
            read_ahead(self.events.as_ref(), &mut log.ahead, read, wanted).await?;
            // What was appended meanwhile may have come along.
            log.head = log.head.max(log.read());
        }
        Ok(log)
    }

    /// Returns the events right before a position, oldest first.
    async fn preceding_events(&self, cursor: Cursor) -> Result<Vec<Event>> {
        let Some(limit) = NonZeroUsize::new(BEFORE) else { return Ok(Vec::new()) };
        let after = cursor.count().saturating_sub(BEFORE as u64);
        let after = Cursor((after > 0).then_some(Seq(after)));
        let mut events = self.events.scan(&EventFilter::all(), after, limit).await?;
        events.retain(|event| Cursor(Some(event.seq)) <= cursor);
        Ok(events)
    }

    /// Folds a page; returns the fold with the changes, if there are any.
    async fn delta(&self, log: &mut LogWindow, batch: &[Event], end: Cursor) -> Result<PageResult> {
        let expect = log.at;
        if batch.iter().any(takes_back) {
            return self.refold(batch, end).await;
        }
        if !batch.iter().any(is_folded) {
            return Ok(PageResult::default());
        }
        let looks_back = |event: &Event| read::is_read(event) || is_result(event);
        if log.before.is_none() && batch.iter().any(looks_back) {
            log.before = Some(self.preceding_events(expect).await?);
        }
        let before = log.before.as_deref().unwrap_or_default();
        let mut fold = self.fold(expect).await?;
        self.look_at_named(&mut fold.rows, batch).await?;
        let stretch: Vec<&Event> = before.iter().chain(batch).collect();
        let mut dead = Vec::new();
        for (place, event) in (before.len()..).zip(batch).filter(|(_, event)| !self.leaves_out(event)) {
            dead.extend(taken_in(&mut fold, event, &scene(&stretch, place)));
        }
        let delta = fold.rows.take_delta();
        fold.rows.let_go();
        Ok(PageResult { fold: Some(fold), delta, dead })
    }

    async fn progress(&self, consumed: u64, cursor: Cursor) -> Result<Progress> {
        let behind = cursor.behind(self.events.head().await?);
        Ok(Progress { consumed, cursor, behind })
    }
}

/// The part of the log around the cursor.
#[derive(Debug)]
struct LogWindow {
    at: Cursor,
    /// The head of the log when it was read.
    head: Cursor,
    /// The erasures of the log when it was read; with others, or unknown ones, the texts here may be erased.
    forgets: Option<u64>,
    /// The last [`BEFORE`] events up to the cursor, oldest first, where a step needed them and they are not too long to be held.
    before: Option<Vec<Event>>,
    /// The next events, oldest first.
    ahead: Vec<Event>,
}

impl LogWindow {
    /// Returns up to where the log was read.
    fn read(&self) -> Cursor {
        self.ahead.last().map_or(self.at, |event| Cursor(Some(event.seq)))
    }

    /// Takes the next events, at most this many.
    fn take(&mut self, most: usize) -> Vec<Event> {
        let rest = self.ahead.split_off(most.min(self.ahead.len()));
        std::mem::replace(&mut self.ahead, rest)
    }

    /// Drops all events.
    fn let_go(&mut self) {
        self.ahead.clear();
        self.before = None;
    }

    /// Advances over a batch.
    fn go_on(&mut self, batch: Vec<Event>, to: Cursor) {
        self.at = to;
        if let Some(before) = &mut self.before {
            before.extend(batch);
            before.drain(..before.len().saturating_sub(BEFORE));
        }
        self.before.take_if(|before| is_window_full(before));
    }
}

/// The result of a page.
#[derive(Debug, Default)]
struct PageResult {
    fold: Option<Fold>,
    delta: LearningDelta,
    dead: Vec<DeadLetter>,
}

#[async_trait]
impl Projector for LearningProjector {
    fn layer(&self) -> Layer {
        Layer::Learnings
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        let mut log = self.look_ahead(limit).await?;
        let expect = log.at;
        if log.ahead.is_empty() {
            return Ok(Progress { consumed: 0, cursor: expect, behind: expect.behind(log.head) });
        }
        let batch = log.take(limit.get().min(1 + self.pace.load(Ordering::Relaxed)));
        let next = Cursor(batch.last().map(|event| event.seq)).max(expect);
        let PageResult { fold, delta, dead } = self.delta(&mut log, &batch, next).await?;
        match self.store.apply(&delta, &Advance { expect, next, dead, ..Advance::default() }).await {
            Ok(()) => {
                let consumed = expect.behind(next);
                self.walk_on(consumed, &delta);
                let fold =
                    fold.or_else(|| self.keep(None).filter(|(at, _)| *at == expect).map(|(_, fold)| fold));
                self.keep(fold.map(|fold| (next, fold)));
                // What is left after an erasure is read again.
                let is_kept = !batch.iter().any(takes_back);
                log.go_on(batch, next);
                if !is_kept {
                    log.let_go();
                }
                let (is_over, behind) = (log.ahead.is_empty(), next.behind(log.head));
                *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(log);
                if is_over {
                    return self.progress(consumed, next).await;
                }
                Ok(Progress { consumed, cursor: next, behind })
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.progress(0, self.store.cursor().await?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&self) -> Result<()> {
        self.keep(None);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.store.reset().await
    }
}

/// Folds one event; a failure is a dead letter.
fn taken_in(fold: &mut Fold, event: &Event, before: &[&Event]) -> Option<DeadLetter> {
    let letter = |why: &str| DeadLetter { event: event.id, why: why.to_owned() };
    match catch_unwind(AssertUnwindSafe(|| fold.apply(event, before))) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(letter(error.what())),
        Err(_) => Some(letter(BROKEN)),
    }
}

/// Returns the live events before an index, without those that one of them forgets.
fn scene<'a>(stretch: &[&'a Event], place: usize) -> Vec<&'a Event> {
    let before = stretch.get(place.saturating_sub(BEFORE)..place).unwrap_or_default();
    let gone: BTreeSet<EventId> =
        before.iter().filter_map(|event| forgotten(event)).flatten().copied().collect();
    before.iter().copied().filter(|event| event.body().is_some() && !gone.contains(&event.id)).collect()
}

/// Whether an event can change a row.
fn is_folded(event: &Event) -> bool {
    let is_folded = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::UserMessage
                | EventKind::ToolResult { .. }
                | EventKind::Decision(_)
                | EventKind::Operation(_)
        )
    };
    event.body().is_some_and(|kept| is_folded(&kept.kind) || task::is_step(kept))
}

/// Whether an event is a tool result.
fn is_result(event: &Event) -> bool {
    event.body().is_some_and(|kept| matches!(kept.kind, EventKind::ToolResult { .. }))
}

/// Returns the operation of a live event.
fn operation(event: &Event) -> Option<&Operation> {
    match &event.body()?.kind {
        EventKind::Operation(operation) => Some(operation),
        _ => None,
    }
}

/// Whether an event undoes others.
fn takes_back(event: &Event) -> bool {
    matches!(decision(event), Some(Decision::Forget(_) | Decision::Undo { .. }))
}

fn forgotten(event: &Event) -> Option<&Vec<EventId>> {
    match decision(event) {
        Some(Decision::Forget(forget)) => Some(&forget.events),
        _ => None,
    }
}
