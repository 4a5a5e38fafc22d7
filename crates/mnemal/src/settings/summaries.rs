//! Settings of summaries.

use std::num::NonZeroUsize;

use mnemal_core::{Error, Result};
use mnemal_summaries::{CYCLE, STALE};
use serde::{Deserialize, Serialize};

/// Settings of summaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SummarySettings {
    /// Whether summaries are made.
    pub enabled: bool,
    /// Number of events missing from a summary's text from which it is reported as stale.
    pub staleness_threshold: u64,
    /// Maximum number of leaves that one step rebuilds.
    pub max_refresh_batch: usize,
    /// Author of summary texts.
    pub summarizer: SummaryBy,
}

/// Author of a summary's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// Extractive: sentences that people and agents said.
    Extractive,
    /// A configured language model, for nodes with a text written from such sentences; extracted sentences otherwise. Source:
    /// nanobot v2, the value `llm`.
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
    /// Returns the maximum number of leaves that a step rebuilds.
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
