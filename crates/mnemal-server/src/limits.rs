//! Rate limits of callers, and the size limit of a memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum length of a memory, in bytes. Source: the indexed length of an event, so that recall finds all of it.
pub(crate) const LONGEST_MEMORY: usize = 32 * 1_024;
/// Number of remembered callers; beyond it, the least recently active ones are dropped. Source: own default, a megabyte.
const REMEMBERED: usize = 10_000;

/// A token bucket for each caller: a request takes one token, and they refill at a steady rate.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Duration,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: f64::from(per_second), burst: f64::from(burst), buckets: Mutex::default() }
    }

    /// Takes a token of a caller, or returns the time until one is available.
    pub(crate) fn take(&self, caller: &str, now: Duration) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(caller) && buckets.len() >= REMEMBERED {
            // A caller with a full bucket loses nothing when it is dropped.
            let full = |bucket: &Bucket| self.filled(*bucket, now) >= self.burst;
            buckets.retain(|_, bucket| !full(bucket));
        }
        let bucket = buckets.entry(caller.to_owned()).or_insert(Bucket { tokens: self.burst, at: now });
        let tokens = self.filled(*bucket, now);
        let is_let = tokens >= 1.0;
        *bucket = Bucket { tokens: if is_let { tokens - 1.0 } else { tokens }, at: now };
        if is_let { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - tokens) / self.per_second)) }
    }

    fn filled(&self, bucket: Bucket, now: Duration) -> f64 {
        let since = now.saturating_sub(bucket.at).as_secs_f64();
        (bucket.tokens + since * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_then_a_steady_rate_and_others_are_not_touched() {
        let limit = RateLimit::new(2, 3);
        let at = Duration::from_millis;
        for _ in 0..3 {
            assert_eq!(limit.take("a", at(0)), Ok(()));
        }
        assert_eq!(limit.take("a", at(0)), Err(at(500)));
        assert_eq!(limit.take("b", at(0)), Ok(()));
        assert_eq!(limit.take("a", at(499)).map_err(|wait| wait < at(2)), Err(true));
        assert_eq!(limit.take("a", at(500)), Ok(()));
        assert!(limit.take("a", at(500)).is_err());
        for _ in 0..3 {
            assert_eq!(limit.take("a", at(60_000)), Ok(()), "the bucket is full again and no fuller");
        }
        assert!(limit.take("a", at(60_000)).is_err());
    }
}
