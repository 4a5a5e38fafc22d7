//! Steady clock: a wall clock whose jumps expire no entry early.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{Clock, Timestamp};

/// Largest forward jump that is accepted at once: the machine slept, or its clock was corrected. Source: RB-41, up to a day.
const BELIEVED: Duration = Duration::from_hours(24);
/// Time for which the clock must run steadily after any other jump before it is trusted. Source: RB-41, one stable
/// interval.
const STABLE: Duration = Duration::from_mins(10);
/// Tolerance between two readings of one jump. Source: own choice; far above the slewing of a clock.
const TOLERANCE: Duration = Duration::from_secs(5);

/// The time for expiry: that of the wall clock, as long as it does not jump.
///
/// After a jump back, or one of more than a day forward, the time follows the monotonic clock until the wall clock has run
/// steadily for ten minutes. Only then is it trusted again, and until then no entry should be swept.
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    course: Mutex<ClockState>,
}

/// The wall time at monotonic zero, in microseconds, and the candidate since a jump.
#[derive(Clone, Copy, Debug)]
struct ClockState {
    believed: i128,
    doubted: Option<SuspectedJump>,
}

#[derive(Clone, Copy, Debug)]
struct SuspectedJump {
    origin: i128,
    since: Duration,
}

impl SteadyClock {
    /// Starts from the current time.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let believed = origin(clock.now(), clock.monotonic());
        Self { clock, course: Mutex::new(ClockState { believed, doubted: None }) }
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        self.read().0
    }

    /// Whether the wall clock is currently trusted.
    pub fn is_believed(&self) -> bool {
        self.read().1
    }

    fn read(&self) -> (Timestamp, bool) {
        let (wall, elapsed) = (self.clock.now(), self.clock.monotonic());
        let mut course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
        course.follow(origin(wall, elapsed), elapsed);
        let micros = course.believed + micros(elapsed);
        let now = i64::try_from(micros).map_or(Timestamp::MAX, |micros| Timestamp::EPOCH.plus_micros(micros));
        (now, course.doubted.is_none())
    }
}

impl fmt::Debug for SteadyClock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SteadyClock").field("course", &self.course).finish_non_exhaustive()
    }
}

impl ClockState {
    fn follow(&mut self, shown: i128, elapsed: Duration) {
        let ahead = shown - self.believed;
        if (-micros(TOLERANCE)..=micros(BELIEVED)).contains(&ahead) {
            // A lag within the tolerance is ignored: time never goes back.
            *self = Self { believed: self.believed.max(shown), doubted: None };
            return;
        }
        match self.doubted {
            Some(doubted) if (shown - doubted.origin).abs() <= micros(TOLERANCE) => {
                if elapsed.saturating_sub(doubted.since) >= STABLE {
                    *self = Self { believed: shown, doubted: None };
                }
            }
            _ => self.doubted = Some(SuspectedJump { origin: shown, since: elapsed }),
        }
    }
}

fn origin(wall: Timestamp, elapsed: Duration) -> i128 {
    i128::from(wall.as_micros()) - micros(elapsed)
}

fn micros(time: Duration) -> i128 {
    i128::try_from(time.as_micros()).unwrap_or(i128::MAX)
}
