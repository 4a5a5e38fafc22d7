//! Background worker: continuous maintenance of one space, or of all always-on spaces, until the host stops it.

#[cfg(feature = "sqlite")]
use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, FutureExt as _, Shared, join, select};
#[cfg(feature = "sqlite")]
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use mnemal_core::{Cursor, OwnerId};
#[cfg(feature = "sqlite")]
use mnemal_core::{Result, SpaceId};
use mnemal_dream::{Pace, Schedule, StepOutcome};

use crate::compress::Conversations;
use crate::engine::Engine;
#[cfg(feature = "sqlite")]
use crate::spaces::{AlwaysOn, Spaces};
use crate::upkeep::MaintenanceReport;

#[cfg(feature = "sqlite")]
/// Interval of the scan for spaces that became always-on. Source: own default.
const SPACES: Duration = Duration::from_mins(1);
/// Maximum time per step for files of the inbox, before other work runs. Source: own default, as in a step of upkeep.
const INBOX: Duration = Duration::from_secs(5);

/// Delay after an inbox notification before the second scan. Source: the 2 s for which a file must be unchanged before it is
/// read.
const QUIET: Duration = Duration::from_secs(2);

/// Totals of a background worker, from its start to its stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackgroundReport {
    /// Steps that ran.
    pub steps: u64,
    /// Steps that were postponed because a conversation was active.
    pub put_off: u64,
    /// Steps that failed, entirely or in part.
    pub failed: u64,
    /// Operations that consolidation cycles performed.
    pub dreamt: u64,
    /// Events that were written from inbox files.
    pub ingested: u64,
    /// Consolidation cycles that asked a model.
    pub asked: u64,
    /// Whether a step was aborted because it did not finish within its grace period.
    pub cut: bool,
}

impl BackgroundReport {
    fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.put_off += other.put_off;
        self.failed += other.failed;
        self.dreamt += other.dreamt;
        self.ingested += other.ingested;
        self.asked += other.asked;
        self.cut |= other.cut;
    }
}

impl Engine {
    /// Runs the background work of this space until `stop` is ready. It runs a step of [`maintain`](Self::maintain) about once a minute,
    /// and without a pause while the graph or the summaries are behind the log. It scans the inbox every five seconds and on each
    /// notification. Passes that ask a model run every six hours, and other work does not wait for them. Conversations are
    /// compressed when they are due, and the vector index is kept up to date, if it is one that is built.
    ///
    /// The host spawns and joins this future; it spawns nothing itself. A step is postponed at most once while a conversation is
    /// active; an idle space gets one step in ten minutes. Failed work is retried with growing delays. The schedule of cycles is
    /// read from the space's ledger, so restarts do not add cycles, and a lease lets one process work at a time. When `stop` is
    /// ready, a running step has eight seconds to finish; work that is aborted then is repeated by the next worker.
    ///
    /// Dropping the future leaves the lease of its step to expire after 30 s.
    pub async fn run_background(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: impl Future<Output = ()>,
    ) -> BackgroundReport {
        let stop = stop.shared();
        let tended = Box::pin(self.run_maintenance(owner, pace, stop.clone()));
        let talked = Box::pin(self.run_compression(pace, stop.clone()));
        let indexed = Box::pin(self.run_vector_index(pace, stop.clone()));
        let asked = Box::pin(self.run_model_passes(owner, pace, stop));
        let ((mut attended, talked), (asked, indexed)) =
            join(join(tended, talked), join(asked, indexed)).await;
        attended.add(&asked);
        attended.add(&indexed);
        attended.add(&talked);
        attended
    }

    /// Compresses conversations when they are due; other work does not wait for a model that is asked.
    async fn run_compression<S: Future<Output = ()>>(
        &self,
        pace: &Pace,
        stop: Shared<S>,
    ) -> BackgroundReport {
        let (mut attended, mut known) = (BackgroundReport::default(), Conversations::default());
        while !is_over(&stop, pace.every).await {
            match within(&stop, pace.grace, Box::pin(self.compress_due(&mut known))).await {
                Some(Ok(_)) => {}
                Some(Err(_)) => attended.failed += 1,
                None => {
                    attended.cut = true;
                    break;
                }
            }
        }
        attended
    }

    async fn run_maintenance<S: Future<Output = ()>>(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> BackgroundReport {
        let (clock, mut attended) = (&self.parts().clock, BackgroundReport::default());
        let mut schedule = Schedule::new(pace.clone(), seed(owner), clock.monotonic());
        let (mut idle, mut unread) = (IdleState::default(), None);
        let mut news = InboxDebounce::Awaited;
        loop {
            let mut wait = schedule.wait(clock.monotonic());
            if self.has_inbox() {
                wait = wait.min(if news == InboxDebounce::Told { QUIET } else { pace.look });
            }
            news = match select(pin!(is_over(&stop, wait)), pin!(self.wait_for_inbox(news))).await {
                Either::Left((true, _)) => return attended,
                Either::Left((false, _)) => InboxDebounce::Awaited,
                Either::Right(((), _)) => InboxDebounce::Told,
            };
            let now = clock.monotonic();
            let head = match self.stores().events.part() {
                Ok(events) => events.head().await.ok(),
                Err(_) => None,
            };
            let is_due = schedule.wait(now) == Duration::ZERO;
            let is_idle = is_due && idle.is(now, head, pace.idle);
            if is_idle {
                schedule.record(now, StepOutcome::Done);
            }
            if is_idle && !self.has_inbox() {
                continue;
            }
            if is_idle || !is_due {
                let Some(taken) = within(&stop, pace.grace, Box::pin(self.take_inbox(INBOX))).await else {
                    attended.cut = true;
                    return attended;
                };
                attended.ingested += taken.map_or(0, |taken| taken.value.stored);
                continue;
            }
            let quiet = self.quiet().await.ok().flatten();
            if schedule.put_off(now, quiet) {
                attended.put_off += 1;
                continue;
            }
            let Some(stepped) = Box::pin(within(&stop, pace.grace, self.maintain(owner))).await else {
                attended.cut = true;
                return attended;
            };
            attended.steps += 1;
            let is_whole = match &stepped {
                Ok(tended) => {
                    attended.dreamt += tended.value.dreamt;
                    attended.ingested += tended.value.ingested;
                    tended.gaps.is_empty()
                }
                Err(_) => false,
            };
            if !is_whole {
                attended.failed += 1;
            }
            let tended = stepped.ok().filter(|_| is_whole).map(|tended| tended.value);
            let has_more = tended.as_ref().is_some_and(|tended| tended.has_more(unread));
            unread = tended.as_ref().map(|tended| tended.unread);
            idle.note(now, head.filter(|_| tended.as_ref().is_some_and(is_nothing)));
            let outcome = match (is_whole, has_more) {
                (false, _) => StepOutcome::Failed,
                (true, true) => StepOutcome::More,
                (true, false) => StepOutcome::Done,
            };
            schedule.record(clock.monotonic(), outcome);
        }
    }

    /// Waits for the next inbox notification; waits forever when one was just handled, or when the inbox sends none.
    async fn wait_for_inbox(&self, news: InboxDebounce) {
        match self.parts().inbox.part() {
            Ok(inbox) if news == InboxDebounce::Awaited => inbox.changed().await,
            _ => std::future::pending().await,
        }
    }

    async fn run_model_passes<S: Future<Output = ()>>(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> BackgroundReport {
        let (clock, mut attended) = (&self.parts().clock, BackgroundReport::default());
        if self.parts().model.is_none() {
            return attended;
        }
        let mut schedule = Schedule::new(pace.clone(), !seed(owner), clock.monotonic());
        loop {
            if is_over(&stop, schedule.wait(clock.monotonic())).await {
                return attended;
            }
            let Some(cycles) = within(&stop, pace.grace, self.dream_by_model(owner)).await else {
                attended.cut = true;
                return attended;
            };
            let mut stepped = if cycles.is_ok() { StepOutcome::Done } else { StepOutcome::Failed };
            for cycle in cycles.unwrap_or_default().into_iter().filter(|cycle| cycle.idle.is_none()) {
                attended.asked += 1;
                attended.dreamt += cycle.accepted().count() as u64;
                if !cycle.failed.is_empty() {
                    stepped = StepOutcome::Failed;
                }
            }
            attended.failed += u64::from(stepped == StepOutcome::Failed);
            schedule.record(clock.monotonic(), stepped);
        }
    }
}

#[cfg(feature = "sqlite")]
impl Spaces {
    /// Runs the background work of every always-on space until `stop` is ready, each as [`Engine::run_background`] does. Worker start and
    /// stop follow a change of the always-on setting within a minute.
    ///
    /// A space that cannot be opened is retried every minute. Each of these spaces stays open.
    ///
    /// # Errors
    /// `Unavailable` when the folder of the spaces cannot be read at the start.
    pub async fn run_background(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: impl Future<Output = ()>,
    ) -> Result<BackgroundReport> {
        let stop = stop.shared();
        let (mut attended, mut busy) = (BackgroundReport::default(), BTreeSet::new());
        let mut workers = FuturesUnordered::new();
        let mut wanted = self.always_on().await?;
        loop {
            for space in wanted {
                if busy.insert(space.clone()) {
                    workers.push(self.run_space(space, owner, pace, stop.clone()));
                }
            }
            let mut look = pin!(is_over(&stop, SPACES));
            let is_over = loop {
                match select(look.as_mut(), workers.next()).await {
                    Either::Left((is_over, _)) => break is_over,
                    Either::Right((Some((space, done)), _)) => {
                        busy.remove(&space);
                        attended.add(&done);
                    }
                    Either::Right((None, _)) => break look.await,
                }
            };
            if is_over {
                break;
            }
            wanted = self.always_on().await.unwrap_or_default();
        }
        while let Some((_, done)) = workers.next().await {
            attended.add(&done);
        }
        Ok(attended)
    }

    async fn run_space<S: Future<Output = ()>>(
        &self,
        space: SpaceId,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> (SpaceId, BackgroundReport) {
        let Ok(memory) = self.open(&space).await else {
            return (space, BackgroundReport { failed: 1, ..BackgroundReport::default() });
        };
        memory.admin().engine().look_for_insights(AlwaysOn::Yes);
        let is_off = async { while !is_over(&stop, SPACES).await && self.is_always_on(&space).await {} };
        let attended = memory.admin().engine().run_background(owner, pace, is_off).await;
        memory.admin().engine().look_for_insights(AlwaysOn::No);
        (space, attended)
    }
}

/// Debounce state of inbox notifications: the inbox is scanned at once, and once more after files have been unchanged long enough
/// to be read; notifications in between are ignored, so a thousand files cost a few scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InboxDebounce {
    Awaited,
    Told,
}

/// State of the idle detection of a space.
#[derive(Debug, Default)]
struct IdleState {
    /// Time of the last step and the head of the log that it saw; `None` when that step did some work.
    last: Option<(Duration, Option<Cursor>)>,
}

impl IdleState {
    /// Whether the log has not grown since a recent step that found no work.
    fn is(&self, now: Duration, head: Option<Cursor>, longest: Duration) -> bool {
        self.last
            .is_some_and(|(at, found)| found.is_some() && found == head && now.saturating_sub(at) < longest)
    }

    fn note(&mut self, now: Duration, found: Option<Cursor>) {
        self.last = Some((now, found));
    }
}

/// Whether a step found no work.
fn is_nothing(tended: &MaintenanceReport) -> bool {
    *tended == MaintenanceReport { held_by: tended.held_by.clone(), ..MaintenanceReport::default() }
}

/// Waits; returns whether `stop` became ready in that time.
pub(crate) async fn is_over<S: Future<Output = ()>>(stop: &Shared<S>, wait: Duration) -> bool {
    tokio::time::timeout(wait, stop.clone()).await.is_ok()
}

/// Runs a step; `None` when `stop` became ready and the step did not finish within its grace period.
async fn within<S: Future<Output = ()>, T>(
    stop: &Shared<S>,
    grace: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    match select(pin!(work), stop.clone()).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), work)) => tokio::time::timeout(grace, work).await.ok(),
    }
}

/// Derives a random seed from a name that each process generates for itself.
fn seed(owner: &OwnerId) -> u64 {
    // FNV-1a, 64 bits; used for the jitter of delays only.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    owner.as_str().bytes().fold(0xCBF2_9CE4_8422_2325, step)
}
