//! Background work that goes on: one space, or every always-on space, until the host says that it is enough.

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
use mnemal_dream::{Pace, Schedule, Stepped};

use crate::compress::Conversations;
use crate::engine::Engine;
#[cfg(feature = "sqlite")]
use crate::spaces::{AlwaysOn, Spaces};
use crate::upkeep::Tended;

#[cfg(feature = "sqlite")]
/// Time between two looks for spaces that became always-on. Source: own default.
const SPACES: Duration = Duration::from_mins(1);
/// Most time for files of the inbox before other work has its turn. Source: own default, as in a step of upkeep.
const INBOX: Duration = Duration::from_secs(5);

/// Time after which what the inbox told of is looked at again. Source: GA-09, how long a file must be quiet.
const QUIET: Duration = Duration::from_secs(2);

/// What background work did until it was ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attended {
    /// Steps that were done.
    pub steps: u64,
    /// Steps that were put off because somebody talked.
    pub put_off: u64,
    /// Steps that failed, as a whole or in parts.
    pub failed: u64,
    /// Operations that cycles carried out.
    pub dreamt: u64,
    /// Events that were written of files of the inbox.
    pub ingested: u64,
    /// Cycles in which a model was asked.
    pub asked: u64,
    /// Whether a step was cut off, because it did not come to an end in its grace.
    pub cut: bool,
}

impl Attended {
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
    /// Does the background work of this space until `stop` is ready: a step of [`tend`](Self::tend) about every minute, and one
    /// after the other while the graph or the summaries have more to read, a look at the inbox every five seconds and when it says that something came, and the passes that ask a model every six hours, without the rest waiting for them. Conversations are compressed
    /// when they are due.
    ///
    /// The host starts it and joins it; it spawns nothing. A step is put off while somebody talks, at most once; where nothing
    /// happens there is one in ten minutes. What fails is done again later, and later still. How often cycles run is known from
    /// the space's ledger, so that a process that starts again and again does no more than one that stays, and of several
    /// processes one has its turn at a time. When `stop` is ready, a step that runs has eight seconds to come to its end; what
    /// is cut off then is done again by whoever comes next.
    ///
    /// A dropped future leaves the turn of its step to run out after 30 s.
    pub async fn attend(&self, owner: &OwnerId, pace: &Pace, stop: impl Future<Output = ()>) -> Attended {
        let stop = stop.shared();
        let tended = Box::pin(self.attend_upkeep(owner, pace, stop.clone()));
        let talked = Box::pin(self.attend_conversations(pace, stop.clone()));
        let asked = Box::pin(self.attend_model(owner, pace, stop));
        let ((mut attended, talked), asked) = join(join(tended, talked), asked).await;
        attended.add(&asked);
        attended.add(&talked);
        attended
    }

    /// Compresses conversations when they are due; a model that is asked keeps no other work waiting.
    async fn attend_conversations<S: Future<Output = ()>>(&self, pace: &Pace, stop: Shared<S>) -> Attended {
        let (mut attended, mut known) = (Attended::default(), Conversations::default());
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

    async fn attend_upkeep<S: Future<Output = ()>>(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> Attended {
        let (clock, mut attended) = (&self.parts().clock, Attended::default());
        let mut schedule = Schedule::new(pace.clone(), seed(owner), clock.monotonic());
        let (mut idle, mut unread) = (Idle::default(), None);
        let mut news = News::Awaited;
        loop {
            let mut wait = schedule.wait(clock.monotonic());
            if self.has_inbox() {
                wait = wait.min(if news == News::Told { QUIET } else { pace.look });
            }
            news = match select(pin!(is_over(&stop, wait)), pin!(self.told(news))).await {
                Either::Left((true, _)) => return attended,
                Either::Left((false, _)) => News::Awaited,
                Either::Right(((), _)) => News::Told,
            };
            let now = clock.monotonic();
            let head = match self.stores().events.part() {
                Ok(events) => events.head().await.ok(),
                Err(_) => None,
            };
            let is_due = schedule.wait(now) == Duration::ZERO;
            let is_idle = is_due && idle.is(now, head, pace.idle);
            if is_idle {
                schedule.stepped(now, Stepped::Done);
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
            let Some(stepped) = Box::pin(within(&stop, pace.grace, self.tend(owner))).await else {
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
                (false, _) => Stepped::Failed,
                (true, true) => Stepped::More,
                (true, false) => Stepped::Done,
            };
            schedule.stepped(clock.monotonic(), outcome);
        }
    }

    /// Waits until the inbox says that something came; for ever where it just said so, or says nothing.
    async fn told(&self, news: News) {
        match self.parts().inbox.part() {
            Ok(inbox) if news == News::Awaited => inbox.changed().await,
            _ => std::future::pending().await,
        }
    }

    async fn attend_model<S: Future<Output = ()>>(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> Attended {
        let (clock, mut attended) = (&self.parts().clock, Attended::default());
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
            let mut stepped = if cycles.is_ok() { Stepped::Done } else { Stepped::Failed };
            for cycle in cycles.unwrap_or_default().into_iter().filter(|cycle| cycle.idle.is_none()) {
                attended.asked += 1;
                attended.dreamt += cycle.accepted().count() as u64;
                if !cycle.failed.is_empty() {
                    stepped = Stepped::Failed;
                }
            }
            attended.failed += u64::from(stepped == Stepped::Failed);
            schedule.stepped(clock.monotonic(), stepped);
        }
    }
}

#[cfg(feature = "sqlite")]
impl Spaces {
    /// Does the background work of every always-on space until `stop` is ready, each as [`Engine::attend`] does. A space that
    /// becomes always-on has its worker within a minute, and one that is not any more loses it within a minute.
    ///
    /// A space that cannot be opened now is tried again every minute. Each of these spaces stays open.
    ///
    /// # Errors
    /// `Unavailable` when the folder of the spaces cannot be read at the beginning.
    pub async fn attend(
        &self,
        owner: &OwnerId,
        pace: &Pace,
        stop: impl Future<Output = ()>,
    ) -> Result<Attended> {
        let stop = stop.shared();
        let (mut attended, mut busy) = (Attended::default(), BTreeSet::new());
        let mut workers = FuturesUnordered::new();
        let mut wanted = self.always_on()?;
        loop {
            for space in wanted {
                if busy.insert(space.clone()) {
                    workers.push(self.attend_one(space, owner, pace, stop.clone()));
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
            wanted = self.always_on().unwrap_or_default();
        }
        while let Some((_, done)) = workers.next().await {
            attended.add(&done);
        }
        Ok(attended)
    }

    async fn attend_one<S: Future<Output = ()>>(
        &self,
        space: SpaceId,
        owner: &OwnerId,
        pace: &Pace,
        stop: Shared<S>,
    ) -> (SpaceId, Attended) {
        let Ok(memory) = self.open(&space).await else {
            return (space, Attended { failed: 1, ..Attended::default() });
        };
        memory.engine().look_for_insights(AlwaysOn::Yes);
        let is_off = async { while !is_over(&stop, SPACES).await && self.is_always_on(&space) {} };
        let attended = memory.engine().attend(owner, pace, is_off).await;
        memory.engine().look_for_insights(AlwaysOn::No);
        (space, attended)
    }
}

/// Whether the inbox just said that something came; then it is looked at, and once more when files have been quiet for long
/// enough to be read, and what it says in between is not waited for: a thousand files are a few looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Awaited,
    Told,
}

/// What is known of a space in which nothing happens.
#[derive(Debug, Default)]
struct Idle {
    /// When a step last was done, and the end of the log that it found; `None` when it did something.
    last: Option<(Duration, Option<Cursor>)>,
}

impl Idle {
    /// Whether nothing was written since a step that found nothing to do, which is not long ago.
    fn is(&self, now: Duration, head: Option<Cursor>, longest: Duration) -> bool {
        self.last
            .is_some_and(|(at, found)| found.is_some() && found == head && now.saturating_sub(at) < longest)
    }

    fn note(&mut self, now: Duration, found: Option<Cursor>) {
        self.last = Some((now, found));
    }
}

/// Whether a step found nothing to do.
fn is_nothing(tended: &Tended) -> bool {
    *tended == Tended { held_by: tended.held_by.clone(), ..Tended::default() }
}

/// Waits; returns whether the work is over before that.
async fn is_over<S: Future<Output = ()>>(stop: &Shared<S>, wait: Duration) -> bool {
    tokio::time::timeout(wait, stop.clone()).await.is_ok()
}

/// Does a step; `None` when the work is over and the step does not come to its end within a grace.
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

/// Draws a seed from a name that each process makes for itself.
fn seed(owner: &OwnerId) -> u64 {
    // FNV-1a, 64 bits; only times depend on it.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    owner.as_str().bytes().fold(0xCBF2_9CE4_8422_2325, step)
}
