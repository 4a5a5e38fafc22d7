//! Who is served now, so that background work gives way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long nobody must have been served before background work goes on.
///
/// Source: own choice; calls that follow on one another come sooner.
const PAUSE: Duration = Duration::from_millis(10);
/// Pauses after which it goes on nevertheless, for one step.
///
/// Source: own choice; with 100 ms between steps of 5 ms four workers leave nine tenths of two processors to who is served.
const PAUSES: u32 = 10;

/// The calls that somebody waits for.
#[derive(Debug, Default)]
pub(crate) struct Served {
    calls: AtomicUsize,
    /// When the last one ended.
    last: Mutex<Option<Instant>>,
}

/// A call that somebody waits for, as long as it lives.
#[derive(Debug)]
pub(crate) struct Serving<'s>(&'s Served);

impl Served {
    /// Notes that a call begins.
    pub(crate) fn serve(&self) -> Serving<'_> {
        self.calls.fetch_add(1, Ordering::AcqRel);
        Serving(self)
    }

    /// Waits while somebody is served and for 10 ms after, 100 ms at most: talk without end slows background work down and
    /// does not stop it. Does not wait where nobody was served lately.
    pub(crate) async fn give_way(&self) {
        // Steps over memory alone never wait, and would keep their thread of the runtime from the store's writer.
        tokio::task::yield_now().await;
        for _ in 0..PAUSES {
            if self.is_quiet() {
                return;
            }
            let _paused = tokio::time::timeout(PAUSE, std::future::pending::<()>()).await;
        }
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
        served.give_way().await;
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
}
