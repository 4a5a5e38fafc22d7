//! Settings of working memory.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_working::WorkingSettings as Limits;
use serde::{Deserialize, Serialize};

/// Settings of working memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkingSettings {
    /// Default time to live of an entry, in minutes, at most 7 days.
    pub ttl_minutes: u32,
    /// Maximum number of entries of a namespace.
    pub max_entries_per_namespace: usize,
    /// Interval between two sweeps of expired entries, in minutes.
    pub sweep_minutes: u32,
}

/// Source: RockBot, whose working memory is swept hourly.
const SWEEP_MINUTES: u32 = 60;
/// Source: own choice, 7 days; longer content belongs in a note.
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
    /// Returns the limits of the layer.
    pub(crate) fn limits(&self) -> Limits {
        let room = NonZeroUsize::new(self.max_entries_per_namespace).unwrap_or(NonZeroUsize::MIN);
        Limits { ttl: minutes(self.ttl_minutes), room }
    }

    /// Returns the interval between two sweeps.
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
