//! Where time and ids come from, so that a test can say both.

use std::fmt::Debug;
use std::time::Duration;

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the wall-clock time; it may jump in both directions.
    fn now(&self) -> Timestamp;

    /// Returns the time since an arbitrary start; it never goes back.
    fn monotonic(&self) -> Duration;
}

/// Makes time-ordered 128-bit ids.
pub trait IdSource: Debug + Send + Sync + 'static {
    /// Returns an id that was never returned before; larger for a later `at`, except within a millisecond.
    fn next(&self, at: Timestamp) -> u128;
}
