//! Summaries.

use std::num::NonZeroUsize;

use mnemal_core::{Error, Result};
use mnemal_summaries::{CYCLE, STALE};
use serde::{Deserialize, Serialize};

/// Summaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SummarySettings {
    /// Whether there are summaries.
    pub enabled: bool,
    /// From how many events on that are not in its text a summary is called stale.
    pub staleness_threshold: u64,
    /// Most leaves of the tree that one step makes anew.
    pub max_refresh_batch: usize,
    /// Whose words the text of a summary is in.
    pub summarizer: SummaryBy,
}

/// Whose words the text of a summary is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// Those of the people and agents: sentences that were said.
    Extractive,
    /// Those of the language model, where one is configured and has written a text of these sentences; else sentences that were
    /// said. Source: NB-47, the default.
    #[default]
    Llm,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            staleness_threshold: STALE,
            max_refresh_batch: CYCLE.get(),
            summarizer: SummaryBy::Llm,
        }
    }
}

impl SummarySettings {
    /// Returns how many leaves a step makes at most.
    pub(crate) fn at_once(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.max_refresh_batch).unwrap_or(NonZeroUsize::MIN)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.staleness_threshold == 0 || self.max_refresh_batch == 0 {
            return Err(Error::invalid(
                "summaries.staleness_threshold and summaries.max_refresh_batch must be at least 1",
            ));
        }
        Ok(())
    }
}
