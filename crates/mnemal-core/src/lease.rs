//! Leases: whose turn it is to do what one process is enough for.

use std::time::Duration;

use crate::{Error, LeaseName, OwnerId, Result, Timestamp};

/// Longest time to live of a lease.
///
/// Source: own default, ADR 7; what runs out later than this can only come from a clock that was wrong.
const LONGEST_TTL: Duration = Duration::from_hours(1);

/// The right to do some work until a moment. It saves work and guards nothing: cursors keep truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The work.
    pub name: LeaseName,
    /// Who may do it.
    pub owner: OwnerId,
    /// Counts up whenever the lease is taken, from 1; tells this turn from a later one of the same owner.
    pub turn: u64,
    /// First moment at which it no longer holds.
    pub until: Timestamp,
}

/// What asking for a lease came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is the asker's now.
    Taken {
        /// The lease; release it when the work is done.
        lease: Lease,
        /// Who had it before and let it run out without releasing it: that owner came to an unclean end, or stood still.
        left_by: Option<OwnerId>,
    },
    /// Somebody has it.
    Held(Lease),
}

impl Lease {
    /// Whether it holds at a moment. One that runs out more than an hour later does not: no lease is given for so long, so
    /// a clock went back since.
    pub fn holds_at(&self, at: Timestamp) -> bool {
        let left = self.until.as_micros() - at.as_micros();
        left > 0 && left <= micros(LONGEST_TTL)
    }

    /// Returns the end of a lease that is taken or renewed at a moment.
    ///
    /// # Errors
    /// `Invalid` for no time at all, or for more than an hour.
    pub fn end(at: Timestamp, ttl: Duration) -> Result<Timestamp> {
        if ttl < Duration::from_micros(1) || ttl > LONGEST_TTL {
            return Err(Error::invalid(format!("a lease lasts 1 µs to {} s", LONGEST_TTL.as_secs())));
        }
        Ok(at.plus_micros(micros(ttl)))
    }

    /// Returns the latest end that a lease can have which was taken at or before a moment.
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
