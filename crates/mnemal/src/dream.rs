//! What the engine itself does about memory: cycles, their book, and which operation builds on what.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Book, Cursor, Decision, Error, ErrorKind, Event, EventFilter, EventId, EventKind, GapCause, Gaps, Layer,
    LeaseName, LedgerLine, NewEvent, Operation, OwnerId, Pass, Result, Role, Slot, Turn, Within,
};
use mnemal_dream::{
    Copies, Cycle, DreamParts, Dreamer, Ended, Insights, Journal, NearCopies, Run, Spellings, Written,
};

use crate::engine::{Engine, missing};
use crate::memory::Memory;
use crate::settings::DreamSchedule;
use crate::upkeep::{BACKGROUND, RENEWAL, TTL};

/// Events a page. Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// How long nothing must have been said before changes that nobody asked for. Source: NB-26, 60 s.
const QUIET: Duration = Duration::from_mins(1);

impl Engine {
    /// Runs one cycle now, or says what it would do: what is asked for does not wait for its time, and what had stopped is
    /// looked at again. Nothing is deleted, and everything can be taken back by [`Memory::undoing`].
    /// A language model that is configured is asked too, also by a dry run; cycles that nobody asked for do not wait for one.
    ///
    /// # Errors
    /// `Conflict` when another process does background work now; `Unsupported` without notes or a log.
    pub async fn dream(&self, owner: &OwnerId, run: Run) -> Result<Cycle> {
        let _gaps = self.fold_within(RENEWAL).await;
        let dreamer = self.dreamer(self.model_passes())?;
        let leases = match self.stores().leases.part() {
            Ok(leases) if run != Run::Dry => leases,
            _ => return dreamer.cycle(run).await,
        };
        match leases.acquire(&LeaseName::new(BACKGROUND)?, owner, self.now(), TTL).await? {
            Turn::Held(lease) => Err(Error::new(
                ErrorKind::Conflict,
                format!("{} does background work now; try again", lease.owner),
            )),
            Turn::Taken { lease, .. } => {
                let cycle = dreamer.cycle(run).await;
                leases.release(lease).await?;
                cycle
            }
        }
    }

    /// Returns a dreamer over this space with the passes that need no model, and these behind them.
    ///
    /// # Errors
    /// `Unsupported` without notes or a log.
    pub fn dreamer(&self, more: Vec<Arc<dyn Pass>>) -> Result<Dreamer> {
        let stores = self.stores();
        let Slot::Filled(learnings) = &stores.learnings else { return Err(missing("notes")) };
        let Slot::Filled(events) = &stores.events else { return Err(missing("a log")) };
        let rows = || Arc::clone(learnings);
        let clock = Arc::clone(&self.parts().clock);
        let mut passes: Vec<Arc<dyn Pass>> = vec![
            Arc::new(Copies::new(rows())),
            Arc::new(NearCopies::new(rows())),
            Arc::new(Ended::new(rows(), Arc::clone(&clock))),
            Arc::new(Spellings::new(rows())),
        ];
        if self.settings().dream.insights {
            passes.push(Arc::new(Insights::new(rows())));
        }
        passes.extend(more);
        Ok(Dreamer::new(DreamParts {
            events: Arc::clone(events),
            learnings: rows(),
            ledger: stores.ledger.clone(),
            journal: Arc::new(Pen(self.clone())),
            clock,
            passes,
            settings: self.settings().dream.limits(),
        }))
    }

    /// Returns the lines of a book of background work, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn dream_book(&self, book: Book) -> Result<Vec<LedgerLine>> {
        self.dreamer(Vec::new())?.book(book).await
    }

    /// Runs a cycle if it is time and nobody talks; returns how many operations it carried out.
    pub(crate) async fn dream_if_due(&self) -> Result<u64, GapCause> {
        let Ok(dreamer) = self.dreamer(Vec::new()) else { return Ok(0) };
        if self.settings().dream.schedule == DreamSchedule::Off || !self.is_quiet().await? {
            return Ok(0);
        }
        let cycle = dreamer.cycle(Run::Due).await?;
        Ok(cycle.accepted().count() as u64)
    }

    /// Whether nobody has said anything for a while.
    async fn is_quiet(&self) -> Result<bool> {
        let said =
            EventFilter { roles: Within::Only(vec![Role::User, Role::Assistant]), ..EventFilter::all() };
        let last = self.events()?.latest(&said, NonZeroUsize::MIN).await?;
        let quiet = i64::try_from(QUIET.as_micros()).unwrap_or(i64::MAX);
        Ok(last.first().is_none_or(|event| event.recorded_at.plus_micros(quiet) <= self.now()))
    }
}

/// Writes operations into the log of an engine, and has them folded.
#[derive(Debug)]
struct Pen(Engine);

#[async_trait]
impl Journal for Pen {
    async fn write(&self, events: Vec<NewEvent>) -> Result<Vec<Written>> {
        let acks = self.0.log()?.append(events).await?.value;
        let mut gaps = Gaps::default();
        self.0.fold_within(RENEWAL).await.into_iter().for_each(|gap| gaps.add(gap));
        let written = acks.into_iter().map(|ack| match ack {
            Ok(ack) => Written { event: Some(ack.id), held_back: ack.quarantined.is_some() },
            Err(_) => Written { event: None, held_back: true },
        });
        match gaps.attach(()).gaps.into_iter().find(|gap| gap.layer == Layer::Learnings) {
            Some(gap) => {
                Err(Error::new(ErrorKind::Unavailable, format!("the notes have not caught up ({gap})")))
            }
            None => Ok(written.collect()),
        }
    }
}

/// Returns the operations that hold and name a note which this one changed or made, oldest first.
pub(crate) async fn built_on(memory: &Memory, of: &Event, operation: &Operation) -> Result<Vec<EventId>> {
    let mut touched: BTreeSet<EventId> = operation.deed.changes().into_iter().collect();
    touched.insert(of.id);
    let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
    let (mut built, mut undone) = (Vec::new(), BTreeSet::new());
    let mut after = Cursor(Some(of.seq));
    loop {
        let page = memory.scan(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        for event in &page {
            match event.kept().map(|kept| &kept.kind) {
                Some(EventKind::Operation(later))
                    if later.deed.names().iter().any(|note| touched.contains(note)) =>
                {
                    built.push(event.id);
                }
                Some(EventKind::Decision(Decision::Undo { decision })) => {
                    undone.insert(*decision);
                }
                _ => {}
            }
        }
    }
    built.retain(|event| !undone.contains(event));
    Ok(built)
}
