//! Retry policy: when to retry and after which pause.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Most attempts. Source: own choice.
const ATTEMPTS: u32 = 5;
/// Most attempts for an unusable answer. Source: own choice, two retries.
const NONSENSE: u32 = 3;
/// Upper bound of the first pause; each further one doubles it. Source: own choice.
const FIRST: Duration = Duration::from_secs(1);
/// Upper bound of every pause, before jitter. Source: own choice.
const LONGEST: Duration = Duration::from_mins(5);
/// Longest `Retry-After` that is honored. Source: own choice.
const LONGEST_TOLD: Duration = Duration::from_hours(1);

/// Whether a status is temporary.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

/// Draws the lengths of pauses with jitter, so that clients that failed together do not return together.
#[derive(Debug)]
pub(super) struct Pauses(AtomicU64);

impl Pauses {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(super) fn attempts(&self) -> Attempts<'_> {
        Attempts { pauses: self, failed: 0, nonsense: 0 }
    }

    /// Draws evenly from zero to `most`. Source: `SplitMix64`, Steele, Lea and Flood 2014.
    fn draw(&self, most: Duration) -> Duration {
        let mut bits = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        most.mul_f64((bits >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// The attempts of one call. Each method returns the pause before the next attempt; `None` if there is none.
#[derive(Debug)]
pub(super) struct Attempts<'a> {
    pauses: &'a Pauses,
    failed: u32,
    nonsense: u32,
}

impl Attempts<'_> {
    /// After a temporary failure.
    pub(super) fn after_failure(&mut self) -> Option<Duration> {
        self.failed += 1;
        let most = FIRST.saturating_mul(2_u32.saturating_pow(self.failed - 1)).min(LONGEST);
        (self.failed < ATTEMPTS).then(|| self.pauses.draw(most))
    }

    /// After an unusable answer.
    pub(super) fn after_nonsense(&mut self) -> Option<Duration> {
        self.nonsense += 1;
        if self.nonsense < NONSENSE { self.after_failure() } else { None }
    }

    /// After a status other than success. A requested wait is no attempt.
    pub(super) fn after_status(&mut self, status: u16, told: Option<Duration>) -> Option<Duration> {
        match told.filter(|told| !told.is_zero()) {
            _ if !is_passing(status) => None,
            Some(told) => Some(told.min(LONGEST_TOLD)),
            None => self.after_failure(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_five_attempts() {
        let pauses = Pauses::new(7);
        let mut attempts = pauses.attempts();
        for most in [1, 2, 4, 8] {
            assert!(attempts.after_failure().unwrap() <= Duration::from_secs(most));
        }
        assert_eq!(attempts.after_failure(), None);
        let drawn: Vec<Duration> = (0..1_000).map(|_| pauses.draw(FIRST)).collect();
        let mean = drawn.iter().sum::<Duration>() / 1_000;
        assert!(drawn.iter().all(|pause| *pause <= FIRST));
        assert!((Duration::from_millis(450)..Duration::from_millis(550)).contains(&mean), "{mean:?}");
    }

    #[test]
    fn a_wait_that_was_asked_for_is_no_attempt_and_ends_after_an_hour() {
        let pauses = Pauses::new(7);
        let mut attempts = pauses.attempts();
        for _ in 0..20 {
            assert_eq!(
                attempts.after_status(429, Some(Duration::from_secs(7))),
                Some(Duration::from_secs(7))
            );
        }
        let day = Duration::from_hours(24);
        assert_eq!(attempts.after_status(503, Some(day)), Some(LONGEST_TOLD));
        assert_eq!(attempts.after_status(400, Some(day)), None, "it would be refused again");
        assert!((1..ATTEMPTS).all(|_| attempts.after_status(429, Some(Duration::ZERO)).is_some()));
        assert_eq!(attempts.after_status(500, None), None);
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_asked_for_twice_more() {
        let pauses = Pauses::new(7);
        let mut attempts = pauses.attempts();
        assert!(attempts.after_nonsense().is_some() && attempts.after_nonsense().is_some());
        assert_eq!(attempts.after_nonsense(), None);
    }
}
