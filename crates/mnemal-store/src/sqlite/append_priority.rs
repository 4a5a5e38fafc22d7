//! Append priority: whether another append is about to arrive, so that a caller who appends one event after the other does not
//! queue behind other transactions each time.
//!
//! Other work is queued at once when the preceding transaction is done, and an append only after its caller has received the
//! acknowledgment of the previous one. So with a background worker at full speed every append would wait for a transaction that
//! began a moment before. While appends arrive in quick succession, the writer delays other work until the next one is due.

use std::time::Duration;

use tokio::time::Instant;

/// Time within which the next append of a series arrives, and for which other work waits.
///
/// Source: own measurement, ADR 9; a caller that appends in a loop takes a tenth of it, and timers are no finer than a half.
pub(super) const SOON: Duration = Duration::from_millis(2);
/// Quick appends that make a series. Source: own choice; a question, or a note with its fold, is not a series.
const ENOUGH: u32 = 2;
/// Time after which a series is over. Source: own choice.
const FORGOTTEN: Duration = Duration::from_millis(50);
/// Total time for which one piece of other work waits.
///
/// Source: own choice, ADR 9; under an endless stream of appends it still proceeds at up to a hundred pieces a second.
pub(super) const AT_MOST: Duration = Duration::from_millis(10);

/// A series of appends in quick succession.
#[derive(Debug, Default)]
pub(super) struct AppendSeries {
    /// Time of the last append.
    last: Option<Instant>,
    /// Whether nothing else was done since.
    is_direct: bool,
    /// Number of quick appends.
    soon: u32,
}

impl AppendSeries {
    /// Records the arrival of an append.
    pub(super) fn comes(&mut self, now: Instant) {
        let since = self.last.map(|last| now.saturating_duration_since(last));
        match since {
            Some(since) if since <= SOON && self.is_direct => self.soon = self.soon.saturating_add(1),
            // What else was done meanwhile hides when it came.
            Some(since) if since <= FORGOTTEN && !self.is_direct => {}
            _ => self.soon = 0,
        }
    }

    /// Records the end of an append.
    pub(super) fn record_end(&mut self, now: Instant) {
        self.last = Some(now);
        self.is_direct = true;
    }

    /// Records other work.
    pub(super) fn interrupted(&mut self) {
        self.is_direct = false;
    }

    /// Records that no append arrived while other work waited.
    pub(super) fn ends(&mut self) {
        self.soon = 0;
    }

    /// Returns the time until which other work waits for the next append; `None` if none is due.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let due = self.last? + SOON;
        (self.soon >= ENOUGH && self.is_direct && now < due).then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends that come after these milliseconds each, the first one included; says whether another is due right behind.
    fn is_due(pauses: &[u64]) -> bool {
        let (mut series, mut now) = (AppendSeries::default(), Instant::now());
        for pause in pauses {
            now += Duration::from_millis(*pause);
            series.comes(now);
            series.record_end(now);
        }
        series.due(now).is_some()
    }

    #[test]
    fn the_next_append_is_due_when_the_last_ones_came_one_soon_after_the_other() {
        assert!(!is_due(&[]) && !is_due(&[0]) && !is_due(&[0, 1]));
        assert!(is_due(&[0, 1, 1]) && is_due(&[9, 9, 0, 2]));
        assert!(!is_due(&[0, 1, 1, 3]), "the last one took its time");
    }

    #[test]
    fn it_is_due_for_a_moment_and_for_another_one_only_after_it_came() {
        let (mut series, start) = (AppendSeries::default(), Instant::now());
        for _ in 0..4 {
            series.comes(start);
            series.record_end(start);
        }
        assert_eq!(series.due(start), Some(start + SOON));
        assert_eq!(series.due(start + SOON), None);
        series.ends();
        assert_eq!(series.due(start), None, "nobody came");
    }

    #[test]
    fn what_is_done_in_between_neither_makes_a_series_nor_ends_it() {
        let (mut series, mut now) = (AppendSeries::default(), Instant::now());
        let mut append = |series: &mut AppendSeries, pause| {
            now += Duration::from_millis(pause);
            series.comes(now);
            series.record_end(now);
            series.due(now).is_some()
        };
        // A note, then the fold that its caller waits for, again and again.
        for _ in 0..9 {
            assert!(!append(&mut series, 1));
            series.interrupted();
        }
        assert!(!append(&mut series, 1) && !append(&mut series, 1) && append(&mut series, 1));
        series.interrupted();
        assert!(append(&mut series, 9), "a transaction of others was in the way");
        series.interrupted();
        assert!(!append(&mut series, 51), "that was long ago");
    }
}
