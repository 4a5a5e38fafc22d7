//! Limits and intervals of background work.

use std::time::Duration;

/// Least time between two scheduled cycles. Source: GB-32, 30 minutes.
const INTERVAL: Duration = Duration::from_mins(30);
/// Longest time for which an unchanged pass is skipped. Source: RockBot `DreamPassLedger.cs`, 7 days.
const FORCED: Duration = Duration::from_hours(7 * 24);
/// Retention of a cycle's ledger line. Source: own default; a month can be reviewed.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// Limits and intervals of background work.
#[derive(Clone, Debug, PartialEq)]
pub struct DreamSettings {
    /// Least time between two scheduled cycles. Default 30 minutes, GB.
    pub interval: Duration,
    /// Longest time for which a pass over unchanged notes is skipped. Default 7 days, `RockBot`.
    pub forced: Duration,
    /// Retention of a cycle's ledger line. Default 30 days.
    pub kept: Duration,
    /// Share of the live notes that one cycle may change, 0 to 1. Default 0.02.
    pub share: f64,
    /// Notes that one cycle may change regardless of the share. Default 1.
    pub least: usize,
    /// Most notes that one cycle may change. Default 50.
    pub most: usize,
}

impl Default for DreamSettings {
    fn default() -> Self {
        Self { interval: INTERVAL, forced: FORCED, kept: KEPT, share: SHARE, least: LEAST, most: MOST }
    }
}

/// Source: AD-61, at most 2 % of the live rows.
const SHARE: f64 = 0.02;
/// Source: AD-61, at least one row.
const LEAST: usize = 1;
/// Source: AD-61, at most 50 rows.
const MOST: usize = 50;

impl DreamSettings {
    /// Returns how many of the live notes one cycle may change.
    pub(crate) fn budget(&self, live: usize) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "a count of notes")]
        let share = live as f64 * self.share;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most a count of notes"
        )]
        let share = share.max(0.0) as usize;
        share.max(self.least).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-61 (2 %, at least 1, at most 50)
    #[test]
    fn one_cycle_changes_a_fiftieth_of_the_notes_at_least_one_and_at_most_fifty() {
        let budget = |live| DreamSettings::default().budget(live);
        assert_eq!(
            [0, 1, 99, 100, 149, 150, 2_500, 2_600, 1_000_000].map(budget),
            [1, 1, 1, 2, 2, 3, 50, 50, 50]
        );
    }
}
