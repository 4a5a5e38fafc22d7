//! Sources of time and ids, replaceable in tests.

use std::fmt::Debug;
use std::time::Duration;

use crate::Timestamp;

/// A clock.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the wall-clock time; it may jump in both directions.
    fn now(&self) -> Timestamp;

    /// Returns the time since an arbitrary start; it never goes back.
    fn monotonic(&self) -> Duration;
}

/// A source of time-ordered 128-bit ids.
pub trait IdSource: Debug + Send + Sync + 'static {
    /// Returns a new unique id; larger for a later `at`, except within a millisecond.
    fn next(&self, at: Timestamp) -> u128;
}
