//! Cases of `Clock` and `IdSource`.

use std::collections::HashSet;

use mnemal_core::{Clock, IdSource, Result, Timestamp};

/// Deadlines can rely on it.
pub async fn the_monotonic_time_never_goes_back(clock: &impl Clock) -> Result<()> {
    let times: Vec<_> = (0..1_000).map(|_| clock.monotonic()).collect();
    assert!(times.is_sorted());
    assert!(clock.now() > Timestamp::EPOCH);
    Ok(())
}

/// An id names one thing.
pub async fn ids_are_never_repeated(ids: &impl IdSource) -> Result<()> {
    let at = Timestamp::EPOCH.plus_micros(1_772_355_600_000_000);
    let many: HashSet<u128> = (0..10_000).map(|_| ids.next(at)).collect();
    assert_eq!(many.len(), 10_000);
    Ok(())
}

/// Ids sort by time, up to a millisecond.
pub async fn ids_of_a_later_time_are_larger(ids: &impl IdSource) -> Result<()> {
    let at = |seconds: i64| Timestamp::EPOCH.plus_micros(seconds * 1_000_000);
    let made: Vec<u128> = (1..200).map(|seconds| ids.next(at(seconds))).collect();
    assert!(made.is_sorted_by(|one, two| one < two));
    Ok(())
}
