//! Settings of extraction.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_dream::Pace;
use mnemal_extract::RuleExtractor;
use serde::{Deserialize, Serialize};

/// Settings of extraction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractSettings {
    /// Whether names and claims are extracted; without it there is no graph. Default yes.
    pub enabled: bool,
    /// Handling of rows that another version of the extractor would change.
    pub switch: UpgradePolicy,
    /// Interval between two steps of background work, in seconds, 1 to 86,400. Default 60.
    #[serde(alias = "interval_seconds")]
    pub interval_secs: u32,
    /// Turns that a language model, if there is one, reads per cycle, 1 to 1,000; the rules read all turns. Default 20.
    #[serde(alias = "batch_size")]
    pub batch: NonZeroUsize,
    /// Whether a step is delayed while a conversation is active, once per step: after a turn within the last 10 s by three
    /// intervals and at least three minutes, after a turn within the last minute by two intervals. Default yes.
    #[serde(alias = "activity_backoff")]
    pub backoff_when_active: bool,
    /// Rules whose claims are dropped, by their ids, as `mnemal extract` shows them; `correction` for retractions. Default none.
    ///
    /// Another set of disabled rules is another version of the extractor: existing rows stay until a person approves the change
    /// ([`UpgradePolicy`]), and then become what the log gives without these rules. An extractor of the host
    /// ([`Builder::with_extractor`](crate::Builder::with_extractor)) is not affected.
    pub disabled_rules: Vec<String>,
    /// File of a trained reader that votes with the rules on facts. Default none; needs the feature `reader`.
    ///
    /// Another file is another version of the extractor, as with [`disabled_rules`](Self::disabled_rules).
    pub reader: String,
}

/// Source: nanobot v2, `extract.interval_secs`.
const INTERVAL_SECS: u32 = 60;
/// Source: own choice; a day, the interval of the audit of notes.
const LONGEST_INTERVAL: u32 = 86_400;
/// Source: nanobot v2, `extract.batch`.
const BATCH: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");
/// Source: own choice; the caps of a cycle are far below.
const MOST_BATCH: usize = 1_000;
/// Source: nanobot v2, `extract.backoff_when_active`.
const BACKOFF_WHEN_ACTIVE: bool = true;

impl Default for ExtractSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            switch: UpgradePolicy::Ask,
            interval_secs: INTERVAL_SECS,
            batch: BATCH,
            backoff_when_active: BACKOFF_WHEN_ACTIVE,
            disabled_rules: Vec::new(),
            reader: String::new(),
        }
    }
}

impl ExtractSettings {
    /// Returns the pace of background work, with this interval and defaults otherwise.
    pub fn pace(&self) -> Pace {
        let every = Duration::from_secs(u64::from(self.interval_secs));
        let default = Pace::default();
        Pace { every, idle: default.idle.max(every), backs_off: self.backoff_when_active, ..default }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(1..=LONGEST_INTERVAL).contains(&self.interval_secs) {
            return Err(Error::invalid(format!("extract.interval_secs must lie in 1 to {LONGEST_INTERVAL}")));
        }
        if self.batch.get() > MOST_BATCH {
            return Err(Error::invalid(format!("extract.batch must be at most {MOST_BATCH}")));
        }
        if let Some(unknown) = self.disabled_rules.iter().find(|id| !RuleExtractor::has_rule(id)) {
            return Err(Error::invalid(format!("extract.disabled_rules: no rule is called {unknown:?}")));
        }
        Ok(())
    }
}

/// Handling of graph rows that another version of the extractor would change.
///
/// In both cases the new version reads new events, and rows with equal content are replaced. Source: own choice, so that an
/// upgrade changes no fact without notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpgradePolicy {
    /// The difference is stored and shown, and the rows stay until a person rebuilds them.
    #[default]
    Ask,
    /// Upkeep replaces them.
    Auto,
}
