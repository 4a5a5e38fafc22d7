//! Settings of extraction.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_dream::Pace;
use mnemal_extract::RuleExtractor;
use serde::{Deserialize, Serialize};

/// What is read in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractSettings {
    /// Whether names and claims are read in the log; without it there is no graph. Default yes.
    pub enabled: bool,
    /// What happens to rows that another version of the program would read otherwise.
    pub switch: Switch,
    /// Seconds between two steps of background work, 1 to 86,400. Default 60.
    #[serde(alias = "interval_seconds")]
    pub interval_secs: u32,
    /// Turns that a language model, where there is one, is asked about in one cycle, 1 to 1,000; the rules read what there is.
    /// Default 20.
    #[serde(alias = "batch_size")]
    pub batch: NonZeroUsize,
    /// Whether a step waits while somebody talks: when something was said within 10 s for three intervals and at least three
    /// minutes, when something was said within a minute for two, each step once. Default yes.
    #[serde(alias = "activity_backoff")]
    pub backoff_when_active: bool,
    /// Rules whose claims are left out, by their ids, as `mnemal extract` names them; `correction` for what is taken back. Default
    /// none.
    ///
    /// To leave out another set is to be another version of what reads the log: what is known stays until somebody agrees
    /// ([`Switch`]), and is then as if the log had never been read by these rules. An extractor of the host
    /// ([`Builder::with_extractor`](crate::Builder::with_extractor)) is not concerned.
    pub disabled_rules: Vec<String>,
    /// The file of a trained reader that votes with the rules on what is a fact. Default none; needs the feature `reader`.
    ///
    /// Another file is another version of what reads the log, as with [`disabled_rules`](Self::disabled_rules).
    pub reader: String,
}

/// Source: NB-25, `extract.interval_secs`.
const INTERVAL_SECS: u32 = 60;
/// Source: own choice; a day, which is how often the notes are audited.
const LONGEST_INTERVAL: u32 = 86_400;
/// Source: NB-25, `extract.batch`.
const BATCH: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");
/// Source: own choice; the caps of a cycle end far below.
const MOST_BATCH: usize = 1_000;
/// Source: NB-26, `extract.backoff_when_active`.
const BACKOFF_WHEN_ACTIVE: bool = true;

impl Default for ExtractSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            switch: Switch::Ask,
            interval_secs: INTERVAL_SECS,
            batch: BATCH,
            backoff_when_active: BACKOFF_WHEN_ACTIVE,
            disabled_rules: Vec::new(),
            reader: String::new(),
        }
    }
}

impl ExtractSettings {
    /// Returns how often background work steps, the rest of its pace as it is by default.
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

/// What happens to rows of the graph when another version of what reads the log would make others of them.
///
/// New events are read by the new version in both cases, and rows that say the same are exchanged in both.
/// Source: NX-02.7, `extract.switch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// The difference is shown and kept, and the rows stay until somebody makes them anew.
    #[default]
    Ask,
    /// Upkeep exchanges them.
    Auto,
}
