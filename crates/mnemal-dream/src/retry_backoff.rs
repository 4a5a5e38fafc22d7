//! Retry backoff for note groups that a pass asked about without a result.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{
    EventId, LedgerKind, LedgerLine, LedgerStore, Result, SkippedGroup, Slot, Timestamp, named_id,
};

/// Time until the first retry of a group; each further one doubles. Source: RockBot #571, 7 days.
const FIRST: Duration = Duration::from_hours(7 * 24);
/// Longest time between two retries of a group. Source: RockBot #571, 56 days.
const LONGEST: Duration = Duration::from_hours(56 * 24);
/// An upper bound for the groups of a ledger. Source: own default.
const LINES: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");
/// Ledger number: how often the group was skipped.
const TIMES: &str = "times";

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupState {
    /// Not asked about yet.
    New,
    /// Due for a retry, for this long.
    Reopened(Duration),
    /// Not due yet.
    Closed,
}

/// The groups that one pass skipped.
#[derive(Debug, Default)]
pub(crate) struct RetryBackoff(BTreeMap<String, LedgerLine>);

impl RetryBackoff {
    /// Reads the groups of a pass. Without a ledger every group is new.
    pub(crate) async fn read(ledger: &Slot<dyn LedgerStore>, pass: &str) -> Result<Self> {
        let Slot::Filled(ledger) = ledger else { return Ok(Self::default()) };
        let lines = ledger.lines(LedgerKind::Left, LINES).await?.into_iter();
        let own = lines.filter(|line| line.key.split_once(':').is_some_and(|(of, _)| of == pass));
        Ok(Self(own.map(|line| (line.key.clone(), line)).collect()))
    }

    /// Returns the state of a group. A rewritten note has another id, so its groups are new.
    pub(crate) fn state(&self, pass: &str, notes: &[EventId], now: Timestamp) -> GroupState {
        let Some(line) = self.0.get(&key(pass, notes)) else { return GroupState::New };
        // A time in the future comes from a wrong clock.
        let due = if line.at <= now { line.at.plus_micros(micros(pause(times(line)))) } else { now };
        match u64::try_from(now.as_micros() - due.as_micros()) {
            Ok(late) => GroupState::Reopened(Duration::from_micros(late)),
            Err(_) => GroupState::Closed,
        }
    }

    /// Returns the ledger line of a group skipped once more.
    pub(crate) fn line(&self, pass: &str, left: &SkippedGroup, at: Timestamp) -> LedgerLine {
        let key = key(pass, &left.notes);
        let times = self.0.get(&key).map_or(0, times).saturating_add(1);
        let counts = BTreeMap::from([(TIMES.to_owned(), times)]);
        LedgerLine {
            kind: LedgerKind::Left,
            hash: group(&left.notes),
            key,
            at,
            counts,
            note: left.why.clone(),
        }
    }
}

/// Returns the delay of a group skipped this often.
fn pause(times: u64) -> Duration {
    let doublings = u32::try_from(times.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST)
}

fn times(line: &LedgerLine) -> u64 {
    line.counts.get(TIMES).copied().unwrap_or(1)
}

fn key(pass: &str, notes: &[EventId]) -> String {
    format!("{pass}:{:032x}", group(notes))
}

/// Identifies a group by its notes, in any order.
fn group(notes: &[EventId]) -> u128 {
    let mut names: Vec<String> = notes.iter().map(ToString::to_string).collect();
    names.sort_unstable();
    let parts: Vec<&str> = names.iter().map(String::as_str).collect();
    named_id("dream/group", &parts)
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_offers_doubles_up_to_eight_weeks() {
        let days = |times| pause(times).as_secs() / 86_400;
        assert_eq!([1, 2, 3, 4, 5, 500].map(days), [7, 14, 28, 56, 56, 56]);
    }
}
