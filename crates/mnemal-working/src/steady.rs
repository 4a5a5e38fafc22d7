//! A wall clock whose jumps end nobody's entry early.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{Clock, Timestamp};

/// A jump forward up to here is believed at once: the machine slept, or its clock was put right. Source: RB-41.
const BELIEVED: Duration = Duration::from_hours(24);
/// For how long the clock must go on as it does after any other jump, before that is believed. Source: RB-41.
const STABLE: Duration = Duration::from_mins(10);
/// What two readings may differ by and still tell of one jump. Source: own choice; far above what a clock is slewed by.
const TOLERANCE: Duration = Duration::from_secs(5);

/// The time by which entries expire: that of the wall clock, as long as it does not jump.
///
/// After a jump back, or one of more than a day forward, the time goes on as the monotonic clock says, until the wall clock has
/// kept its new course for ten minutes. Only then is it believed, and until then nothing should be swept.
pub struct SteadyClock {
    clock: Arc<dyn Clock>,
    course: Mutex<Course>,
}

/// What the wall clock showed at monotonic zero, in microseconds, and what it seems to show since a jump.
#[derive(Clone, Copy, Debug)]
struct Course {
    believed: i128,
    doubted: Option<Doubted>,
}

#[derive(Clone, Copy, Debug)]
struct Doubted {
    origin: i128,
    since: Duration,
}

impl SteadyClock {
    /// Starts from what the clock shows now.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let believed = origin(clock.now(), clock.monotonic());
        Self { clock, course: Mutex::new(Course { believed, doubted: None }) }
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        self.look().0
    }

    /// Whether the wall clock is believed at present.
    pub fn is_believed(&self) -> bool {
        self.look().1
    }

    fn look(&self) -> (Timestamp, bool) {
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

impl Course {
    fn follow(&mut self, shown: i128, elapsed: Duration) {
        let ahead = shown - self.believed;
        if (-micros(TOLERANCE)..=micros(BELIEVED)).contains(&ahead) {
            // What the clock lags by within the tolerance is not followed: time goes on, it never goes back.
            *self = Self { believed: self.believed.max(shown), doubted: None };
            return;
        }
        match self.doubted {
            Some(doubted) if (shown - doubted.origin).abs() <= micros(TOLERANCE) => {
                if elapsed.saturating_sub(doubted.since) >= STABLE {
                    *self = Self { believed: shown, doubted: None };
                }
            }
            _ => self.doubted = Some(Doubted { origin: shown, since: elapsed }),
        }
    }
}

fn origin(wall: Timestamp, elapsed: Duration) -> i128 {
    i128::from(wall.as_micros()) - micros(elapsed)
}

fn micros(time: Duration) -> i128 {
    i128::try_from(time.as_micros()).unwrap_or(i128::MAX)
}
