//! Leases: which process does work that needs only one.

use std::time::Duration;

use crate::{Error, LeaseName, OwnerId, Result, Timestamp};

/// Longest time to live of a lease.
///
/// Source: own default, ADR 7; a later expiry can only come from a wrong clock.
const LONGEST_TTL: Duration = Duration::from_hours(1);

/// The right to do some work until a moment. It avoids duplicate effort and protects nothing: cursors guarantee correctness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The work.
    pub name: LeaseName,
    /// The holder.
    pub owner: OwnerId,
    /// Incremented with every acquisition, from 1; distinguishes this turn from a later one of the same owner.
    pub turn: u64,
    /// Exclusive end.
    pub until: Timestamp,
}

/// Outcome of an acquisition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// The caller holds the lease now.
    Acquired {
        /// The lease; release it when the work is done.
        lease: Lease,
        /// The previous holder that let it expire without a release: it crashed or hung.
        left_by: Option<OwnerId>,
    },
    /// Another owner holds it.
    Held(Lease),
}

impl Lease {
    /// Whether it is valid at a moment. One that expires more than an hour later is not: no lease lasts that long, so a clock
    /// was set back since.
    pub fn holds_at(&self, at: Timestamp) -> bool {
        let left = self.until.as_micros() - at.as_micros();
        left > 0 && left <= micros(LONGEST_TTL)
    }

    /// Returns the end of a lease that is acquired or renewed at a moment.
    ///
    /// # Errors
    /// `Invalid` for a zero duration, or for more than an hour.
    pub fn end(at: Timestamp, ttl: Duration) -> Result<Timestamp> {
        if ttl < Duration::from_micros(1) || ttl > LONGEST_TTL {
            return Err(Error::invalid(format!("a lease lasts 1 µs to {} s", LONGEST_TTL.as_secs())));
        }
        Ok(at.plus_micros(micros(ttl)))
    }

    /// Returns the latest possible end of a lease acquired at or before a moment.
    pub fn latest_end(at: Timestamp) -> Timestamp {
        at.plus_micros(micros(LONGEST_TTL))
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(until: i64) -> Lease {
        Lease {
            name: LeaseName::new("background").unwrap(),
            owner: OwnerId::new("a").unwrap(),
            turn: 1,
            until: Timestamp::EPOCH.plus_micros(until),
        }
    }

    // proves: D12 (a lease ends at its microsecond, and no wrong clock keeps it for ever)
    #[test]
    fn a_lease_ends_at_its_microsecond_and_not_days_later() {
        let at = Timestamp::EPOCH.plus_micros(100);
        assert!(lease(101).holds_at(at));
        assert!(!lease(100).holds_at(at));
        assert!(lease(100 + 3_600_000_000).holds_at(at));
        assert!(!lease(101 + 3_600_000_000).holds_at(at));
    }

    #[test]
    fn a_lease_lasts_a_microsecond_to_an_hour() {
        let end = |ttl| Lease::end(Timestamp::EPOCH, ttl).map(Timestamp::as_micros);
        assert_eq!(end(Duration::from_secs(30)).unwrap(), 30_000_000);
        assert!(end(Duration::ZERO).is_err() && end(Duration::from_secs(3_601)).is_err());
    }
}
