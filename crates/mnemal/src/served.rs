//! Foreground requests, to which background work yields.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// How long nobody must have been served before background work goes on.
///
/// Source: own choice; calls that follow on one another come sooner.
const PAUSE: Duration = Duration::from_millis(10);
/// Pauses after which it goes on nevertheless, for one step.
///
/// Source: own choice; with 100 ms between steps of 20 ms all workers together leave nine tenths of two processors to who is
/// served.
const PAUSES: u32 = 10;

/// The calls that somebody waits for, and whose turn it is among those that nobody waits for.
#[derive(Debug)]
pub(crate) struct Served {
    calls: AtomicUsize,
    /// When the last one ended.
    last: Mutex<Option<Instant>>,
    /// One piece of background work at a time, in the order in which they asked.
    turn: Semaphore,
}

impl Default for Served {
    fn default() -> Self {
        Self { calls: AtomicUsize::default(), last: Mutex::default(), turn: Semaphore::new(1) }
    }
}

/// The turn of one piece of background work, as long as it lives.
pub(crate) type Piece<'s> = SemaphorePermit<'s>;

/// A call that somebody waits for, as long as it lives.
#[derive(Debug)]
pub(crate) struct Serving<'s>(&'s Served);

impl Served {
    /// Notes that a call begins.
    pub(crate) fn serve(&self) -> Serving<'_> {
        self.calls.fetch_add(1, Ordering::AcqRel);
        Serving(self)
    }

    /// Waits for the turn of this piece of background work, and then while somebody is served and for 10 ms after, 100 ms at
    /// most: talk without end slows background work down and does not stop it. The turn lasts as long as what it returns lives;
    /// a piece is short, waits for nothing but the store, and takes no second turn.
    pub(crate) async fn piece(&self) -> Option<Piece<'_>> {
        // Steps over memory alone never wait, and would keep their thread of the runtime from the store's writer.
        tokio::task::yield_now().await;
        // Nobody closes it.
        let turn = self.turn.acquire().await.ok();
        for _ in 0..PAUSES {
            if self.is_quiet() {
                break;
            }
            let _paused = tokio::time::timeout(PAUSE, std::future::pending::<()>()).await;
        }
        turn
    }

    fn is_quiet(&self) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.calls.load(Ordering::Acquire) == 0 && last.is_none_or(|at| at.elapsed() >= PAUSE)
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn waits(served: &Served) -> Duration {
        let begun = Instant::now();
        drop(served.piece().await);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn background_work_waits_for_who_is_served_and_not_for_ever() {
        let served = Served::default();
        assert_eq!(waits(&served).await, Duration::ZERO, "nobody was ever served");
        let serving = served.serve();
        assert_eq!(waits(&served).await, PAUSE * PAUSES, "a call without end");
        drop(serving);
        assert_eq!(waits(&served).await, PAUSE, "another call may follow");
        assert_eq!(waits(&served).await, Duration::ZERO);
        let (first, second) = (served.serve(), served.serve());
        drop(first);
        assert_eq!(waits(&served).await, PAUSE * PAUSES, "one of two has ended");
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn one_piece_of_background_work_runs_at_a_time_however_many_wait() {
        let served = Served::default();
        let _serving = served.serve();
        let begun = Instant::now();
        let work = || async {
            let piece = served.piece().await;
            let at = begun.elapsed();
            tokio::time::advance(Duration::from_millis(5)).await;
            drop(piece);
            at
        };
        let (one, other) = tokio::join!(work(), work());
        let step = PAUSE * PAUSES;
        assert_eq!((one.min(other), one.max(other)), (step, 2 * step + Duration::from_millis(5)));
    }
}
