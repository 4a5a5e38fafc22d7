//! Schedule of background work.

use std::time::Duration;

/// Time before the first step. Source: BA-16, 10 s after start.
const FIRST: Duration = Duration::from_secs(10);
/// Time between two steps. Source: NB-25, the extraction interval of nanobot.
const EVERY: Duration = Duration::from_mins(1);
/// Time between two polls of the inbox. Source: GA-09, a file is noticed within 5 s.
const LOOK: Duration = Duration::from_secs(5);
/// Longest idle time without a step. Source: own default; a third of the interval of a cycle.
const IDLE: Duration = Duration::from_mins(10);
/// Time granted to a running step at shutdown. Source: GA-26, exit within 10 s.
const GRACE: Duration = Duration::from_secs(8);
/// Time since the last message within which a user counts as active. Source: NB-26, back-off while the user chats.
const TALKS: Duration = Duration::from_secs(10);
/// Time since the last message within which a user may continue. Source: NB-26, back-off while the user chats.
const PAUSES: Duration = Duration::from_mins(1);
/// Back-off for an active user: intervals and least time. Source: NB-26, back-off while the user chats.
const TALKING: (u32, Duration) = (3, Duration::from_mins(3));
/// Back-off for a pausing user, in intervals. Source: NB-26, back-off while the user chats.
const PAUSING: u32 = 2;
/// Delay after the first failure; it doubles. Source: own default, from 1 s to 5 min with full jitter.
const RETRY: Duration = Duration::from_secs(1);
/// Longest delay between two attempts. Source: own default, as [`RETRY`].
const RETRY_MOST: Duration = Duration::from_mins(5);
/// Random variation of a delay, as one part in this many. Source: own choice; two processes do not stay in step.
const JITTER: u64 = 10;

/// Pace of background work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time before the first step. Default 10 s.
    pub first: Duration,
    /// Time between two steps. Default 60 s.
    pub every: Duration,
    /// Time between two polls of the inbox. Default 5 s.
    pub look: Duration,
    /// Longest idle time without a step. Default 10 minutes.
    pub idle: Duration,
    /// Time granted to a running step at shutdown. Default 8 s.
    pub grace: Duration,
    /// Whether a step is deferred while a user is active. Default yes.
    pub backs_off: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { first: FIRST, every: EVERY, look: LOOK, idle: IDLE, grace: GRACE, backs_off: true }
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Done, or another process has the turn.
    Done,
    /// Done, with more work left: the next step is due immediately.
    More,
    /// Failed, in whole or in part.
    Failed,
}

/// Time of the next step. Pure: the time is an argument, and random numbers come from its own seed.
#[derive(Clone, Debug)]
pub struct Schedule {
    pace: Pace,
    dice: u64,
    due: Duration,
    failures: u32,
    is_put_off: bool,
}

impl Schedule {
    /// Starts at a moment of a monotonic clock. Schedules with different seeds draw different delays.
    pub fn new(pace: Pace, seed: u64, now: Duration) -> Self {
        let mut schedule = Self { dice: seed, due: now, failures: 0, is_put_off: false, pace };
        schedule.due = now + schedule.about(schedule.pace.first);
        schedule
    }

    /// Returns the time until the next step; zero if it is due.
    pub fn wait(&self, now: Duration) -> Duration {
        self.due.saturating_sub(now)
    }

    /// Defers a due step while a user is active; returns whether it did. It defers each step at most once, so that
    /// continuous activity does not starve the work, and never if the pace disables back-off.
    ///
    /// `quiet` is the time since the last message; `None` if there was none.
    pub fn put_off(&mut self, now: Duration, quiet: Option<Duration>) -> bool {
        let every = self.pace.every;
        let wait = match quiet {
            _ if self.is_put_off || !self.pace.backs_off => return false,
            Some(quiet) if quiet < TALKS => (every * TALKING.0).max(TALKING.1),
            Some(quiet) if quiet < PAUSES => every * PAUSING,
            _ => return false,
        };
        self.is_put_off = true;
        self.due = now + self.about(wait);
        true
    }

    /// Records the result of a step. After consecutive failures the next one comes at a random moment within a doubling
    /// delay.
    pub fn record(&mut self, now: Duration, stepped: StepOutcome) {
        self.is_put_off = false;
        let wait = match stepped {
            StepOutcome::Done => {
                self.failures = 0;
                self.about(self.pace.every)
            }
            StepOutcome::More => {
                self.failures = 0;
                Duration::ZERO
            }
            StepOutcome::Failed => {
                let most = RETRY.saturating_mul(2_u32.saturating_pow(self.failures)).min(RETRY_MOST);
                self.failures = self.failures.saturating_add(1);
                Duration::from_micros(self.below(micros(most).saturating_add(1)))
            }
        };
        self.due = now + wait;
    }

    /// Returns the time varied by up to a tenth.
    fn about(&mut self, time: Duration) -> Duration {
        let part = micros(time) / JITTER;
        let drawn = self.below(2 * part + 1);
        Duration::from_micros(micros(time) - part + drawn)
    }

    /// Draws a number below another, which is not zero. `SplitMix64`, Steele, Lea and Flood 2014; the bias does not matter
    /// here.
    fn below(&mut self, most: u64) -> u64 {
        self.dice = self.dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut drawn = self.dice;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (drawn ^ (drawn >> 31)) % most.max(1)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_hours(1);

    fn schedule(seed: u64) -> Schedule {
        Schedule::new(Pace::default(), seed, NOW)
    }

    fn is_about(time: Duration, seconds: u64) -> bool {
        let time = time.as_millis();
        let about = u128::from(seconds) * 1_000;
        (about * 9 / 10..=about * 11 / 10).contains(&time)
    }

    #[test]
    fn steps_come_about_every_minute_and_processes_do_not_stay_in_step() {
        let mut waits = Vec::new();
        for seed in 0..20 {
            let mut one = schedule(seed);
            assert!(is_about(one.wait(NOW), 10), "{one:?}");
            one.record(NOW, StepOutcome::Done);
            assert!(is_about(one.wait(NOW), 60), "{one:?}");
            waits.push(one.wait(NOW));
        }
        waits.sort_unstable();
        waits.dedup();
        assert!(waits.len() > 15, "{waits:?}");
    }

    #[test]
    fn where_more_is_left_the_next_step_is_due_at_once() {
        let mut schedule = schedule(5);
        let now = Duration::from_mins(2);
        schedule.record(now, StepOutcome::More);
        assert_eq!(schedule.wait(now), Duration::ZERO);
        schedule.record(now, StepOutcome::Done);
        assert!(is_about(schedule.wait(now), 60));
    }

    #[test]
    fn talk_puts_a_step_off_once() {
        for (quiet, wait) in [(0, Some(180)), (9, Some(180)), (10, Some(120)), (59, Some(120)), (60, None)] {
            let mut one = schedule(7);
            let is_put_off = one.put_off(NOW, Some(Duration::from_secs(quiet)));
            assert_eq!(is_put_off, wait.is_some(), "{quiet} s");
            if let Some(wait) = wait {
                assert!(is_about(one.wait(NOW), wait), "{quiet} s: {one:?}");
                assert!(!one.put_off(NOW, Some(Duration::ZERO)), "talk without end");
                one.record(NOW, StepOutcome::Done);
                assert!(one.put_off(NOW, Some(Duration::ZERO)), "the next step again");
            }
        }
        assert!(!schedule(7).put_off(NOW, None));
    }

    #[test]
    fn of_other_paces_talk_puts_a_step_off_by_as_many_intervals_or_not_at_all() {
        let (talks, pauses) = (Duration::from_secs(3), Duration::from_secs(30));
        for (every, talking, pausing) in [(10, 180, 20), (300, 900, 600)] {
            let pace = Pace { every: Duration::from_secs(every), ..Pace::default() };
            let mut one = Schedule::new(pace.clone(), 7, NOW);
            assert!(one.put_off(NOW, Some(talks)) && is_about(one.wait(NOW), talking), "{one:?}");
            one.record(NOW, StepOutcome::Done);
            assert!(is_about(one.wait(NOW), every), "{one:?}");
            assert!(one.put_off(NOW, Some(pauses)) && is_about(one.wait(NOW), pausing), "{one:?}");
            let mut never = Schedule::new(Pace { backs_off: false, ..pace }, 7, NOW);
            assert!(!never.put_off(NOW, Some(talks)) && !never.put_off(NOW, Some(pauses)));
        }
    }

    #[test]
    fn failures_in_a_row_wait_longer_up_to_five_minutes_and_success_forgets_them() {
        let mut longest = [Duration::ZERO; 12];
        for seed in 0..200 {
            let mut one = schedule(seed);
            for (failure, longest) in longest.iter_mut().enumerate() {
                one.record(NOW, StepOutcome::Failed);
                let most = Duration::from_secs(2_u64.pow(u32::try_from(failure).unwrap())).min(RETRY_MOST);
                assert!(one.wait(NOW) <= most, "failure {failure}: {one:?}");
                *longest = (*longest).max(one.wait(NOW));
            }
            one.record(NOW, StepOutcome::Done);
            one.record(NOW, StepOutcome::Failed);
            assert!(one.wait(NOW) <= RETRY);
        }
        assert!(longest[3] > Duration::from_secs(6) && longest[11] > Duration::from_mins(4), "{longest:?}");
    }
}
