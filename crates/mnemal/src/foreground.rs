//! Foreground calls in progress: background work gives way to them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Idle time of foreground calls before background work continues.
///
/// Source: own choice; consecutive calls follow within it.
const PAUSE: Duration = Duration::from_millis(10);
/// Number of such waits after which it continues anyway, for one step.
///
/// Source: own choice; with 100 ms between steps of 20 ms, all workers together leave nine tenths of two processors to foreground
/// calls.
const PAUSES: u32 = 10;

/// The foreground calls in progress, and the queue of background work.
#[derive(Debug)]
pub(crate) struct ForegroundCalls {
    calls: AtomicUsize,
    /// When the last call ended.
    last: Mutex<Option<Instant>>,
    /// One piece of background work at a time, in order of arrival.
    turn: Semaphore,
}

impl Default for ForegroundCalls {
    fn default() -> Self {
        Self { calls: AtomicUsize::default(), last: Mutex::default(), turn: Semaphore::new(1) }
    }
}

/// The permit of one piece of background work; dropping it releases the turn.
pub(crate) type WorkSlot<'s> = SemaphorePermit<'s>;

/// Guard of a foreground call in progress.
#[derive(Debug)]
pub(crate) struct ForegroundGuard<'s>(&'s ForegroundCalls);

impl ForegroundCalls {
    /// Registers the start of a foreground call.
    pub(crate) fn serve(&self) -> ForegroundGuard<'_> {
        self.calls.fetch_add(1, Ordering::AcqRel);
        ForegroundGuard(self)
    }

    /// Waits for the turn of this piece of background work, and then until no foreground call has been in progress for 10 ms, at
    /// most 100 ms: constant load slows background work down but does not stop it. The turn lasts until the permit is dropped; a
    /// piece is short, waits only for the store, and takes no second turn.
    pub(crate) async fn piece(&self) -> Option<WorkSlot<'_>> {
        // Purely in-memory steps never wait, and would keep their runtime thread from the store's writer.
        tokio::task::yield_now().await;
        // The semaphore is never closed.
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

impl Drop for ForegroundGuard<'_> {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn waits(served: &ForegroundCalls) -> Duration {
        let begun = Instant::now();
        drop(served.piece().await);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn background_work_waits_for_who_is_served_and_not_for_ever() {
        let served = ForegroundCalls::default();
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
        let served = ForegroundCalls::default();
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
