//! Working memory.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_working::WorkingSettings as Limits;
use serde::{Deserialize, Serialize};

/// Working memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkingSettings {
    /// How long an entry lives that names no time, in minutes, at most 7 days.
    pub ttl_minutes: u32,
    /// Most entries of a namespace.
    pub max_entries_per_namespace: usize,
    /// Minutes from one sweep of expired entries to the next.
    pub sweep_minutes: u32,
}

/// Source: RB-40.
const SWEEP_MINUTES: u32 = 60;
/// Source: RB-35.
const MOST_MINUTES: u32 = 7 * 24 * 60;

impl Default for WorkingSettings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            ttl_minutes: u32::try_from(limits.ttl.as_secs() / 60).unwrap_or(1),
            max_entries_per_namespace: limits.room.get(),
            sweep_minutes: SWEEP_MINUTES,
        }
    }
}

impl WorkingSettings {
    /// Returns what the layer keeps to.
    pub(crate) fn limits(&self) -> Limits {
        let room = NonZeroUsize::new(self.max_entries_per_namespace).unwrap_or(NonZeroUsize::MIN);
        Limits { ttl: minutes(self.ttl_minutes), room }
    }

    /// Returns the time from one sweep to the next.
    pub(crate) fn sweep_every(&self) -> Duration {
        minutes(self.sweep_minutes)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(1..=MOST_MINUTES).contains(&self.ttl_minutes) {
            return Err(Error::invalid(format!("working.ttl_minutes must lie in 1 to {MOST_MINUTES}")));
        }
        if self.max_entries_per_namespace == 0 || self.sweep_minutes == 0 {
            return Err(Error::invalid(
                "working.max_entries_per_namespace and working.sweep_minutes must be at least 1",
            ));
        }
        Ok(())
    }
}

fn minutes(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 60)
}
