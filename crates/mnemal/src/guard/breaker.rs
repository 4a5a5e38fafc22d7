//! Circuit breaker: pauses a part that keeps failing.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Consecutive failures that open the breaker. Source: own choice; fewer can be chance.
const FAILURES: u32 = 5;
/// First pause. Source: own choice, long enough for a restart of the part.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// Longest pause; each further failure doubles the pause up to it. Source: own choice, so that a recovered part is found within
/// ten minutes.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// Counts consecutive failures and pauses the part; after a pause one call tries again.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    closed_until: Option<Duration>,
    pause: Duration,
}

impl Breaker {
    /// Whether a call is admitted at this time of the monotonic clock.
    pub(super) fn admits(&self, now: Duration) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed_until.is_none_or(|until| now >= until)
    }

    /// Records a success.
    pub(super) fn succeeded(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = BreakerState::default();
    }

    /// Records a failure.
    pub(super) fn failed(&self, now: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures += 1;
        if state.failures >= FAILURES {
            state.pause =
                if state.pause.is_zero() { FIRST_PAUSE } else { (state.pause * 2).min(LONGEST_PAUSE) };
            state.closed_until = Some(now + state.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-38
    #[test]
    fn five_failures_pause_a_part_and_each_further_one_doubles_the_pause() {
        let breaker = Breaker::default();
        let mut now = Duration::ZERO;
        for _ in 0..4 {
            breaker.failed(now);
            assert!(breaker.admits(now));
        }
        for pause in [30, 60, 120, 240, 480, 600, 600] {
            breaker.failed(now);
            let almost = Duration::from_millis(pause * 1_000 - 1);
            assert!(!breaker.admits(now + almost));
            now += Duration::from_secs(pause);
            assert!(breaker.admits(now));
        }
        breaker.succeeded();
        breaker.failed(now);
        assert!(breaker.admits(now));
    }
}
