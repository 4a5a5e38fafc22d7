//! The real clock and the real source of ids, the defaults of the injected ports.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mnemal_core::{Clock, IdSource, Timestamp};

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one real clock")]
        let start = Instant::now();
        Self { start }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the one real clock")]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
        Timestamp::EPOCH.plus_micros(micros)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Ids of 48 bits of milliseconds and 80 random bits, like UUID version 7 without its fixed bits.
///
/// Within a millisecond the random part increments from a random start, so ids of one process are ordered.
#[derive(Debug, Default)]
pub struct RandomIds {
    last: Mutex<u128>,
}

/// Random bits below the milliseconds. Source: RFC 9562, 5.7, with its six fixed bits used as random ones.
const RANDOM_BITS: u32 = 80;

impl IdSource for RandomIds {
    fn next(&self, at: Timestamp) -> u128 {
        let millis = u128::try_from(at.as_micros() / 1_000).unwrap_or_default();
        let mut random = [0; 16];
        // Without a source of randomness, ids are still unique within the process: they increment from the last one.
        let _ = getrandom::fill(&mut random);
        let fresh = (millis << RANDOM_BITS) | (u128::from_be_bytes(random) >> (128 - RANDOM_BITS));
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let same_millisecond = fresh >> RANDOM_BITS == *last >> RANDOM_BITS;
        *last = if same_millisecond { last.wrapping_add(1) } else { fresh };
        *last
    }
}

/// Returns 32 random bytes.
///
/// # Errors
/// `Unavailable` when the operating system has no source of randomness.
pub(crate) fn random_key() -> mnemal_core::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|cause| {
        mnemal_core::Error::new(mnemal_core::ErrorKind::Unavailable, "cannot draw random bytes")
            .because(cause.to_string())
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_in_time_and_differ_within_a_millisecond() {
        let ids = RandomIds::default();
        let early = Timestamp::from_micros(1_000_000).unwrap();
        let many: Vec<u128> = (0..1_000).map(|_| ids.next(early)).collect();
        assert!(many.is_sorted_by(|one, two| one < two));
        assert!(ids.next(early.plus_micros(1_000)) > many[999]);
    }

    #[test]
    fn keys_are_not_all_alike() {
        assert_ne!(random_key().unwrap(), random_key().unwrap());
    }
}
