//! How long write transactions take, by what they are about.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the write transactions of one kind took, from the wish for the write lock to the answer of
/// the commit, which with [`Durability::Disk`](super::Durability) waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteTimes {
    /// What they are about: `append`, `graph`, `vectors` and so on.
    pub kind: &'static str,
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub total: Duration,
    /// The longest one.
    pub longest: Duration,
    /// How many took more than [`ASKED`](Self::ASKED).
    pub long: u64,
}

impl WriteTimes {
    /// What no transaction of background work shall take longer than. Source: issue 8, 5 ms.
    pub const ASKED: Duration = Duration::from_millis(5);
}

/// What the writer notes.
#[derive(Debug, Default)]
pub(super) struct Took(Mutex<BTreeMap<&'static str, WriteTimes>>);

impl Took {
    pub(super) fn note(&self, kind: &'static str, time: Duration) {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let none = WriteTimes { kind, count: 0, total: Duration::ZERO, longest: Duration::ZERO, long: 0 };
        let of = kinds.entry(kind).or_insert(none);
        of.count += 1;
        of.total = of.total.saturating_add(time);
        of.longest = of.longest.max(time);
        of.long += u64::from(time > WriteTimes::ASKED);
    }

    /// Returns what was noted since it was asked last, by kind.
    pub(super) fn take(&self) -> Vec<WriteTimes> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect()
    }
}
