//! Settings of conversation compression.

use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_summaries::compress::Triggers;
use serde::{Deserialize, Serialize};

use super::SummaryBy;

/// Consecutive failures of a model after which turns are stored verbatim. Source: PicoBot, `compress.max_failures`.
const MAX_FAILURES: u32 = 3;

/// Settings of conversation compression, for hosts that leave it to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompressSettings {
    /// User turns that trigger compression.
    pub turn_threshold: u64,
    /// Idle minutes that trigger compression.
    pub idle_minutes: u64,
    /// Whether a background worker compresses a session as soon as a trigger applies; otherwise only explicit calls compress.
    pub automatic: bool,
    /// Context window of the host's model, in tokens; without it the window is no trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u32>,
    /// Share of the window that a session may take, 0 to 1.
    pub window_fraction: f64,
    /// Consecutive failures of a model, per session, after which turns are stored verbatim.
    pub max_failures: u32,
    /// Author of timeline entries: a configured language model, or extracted sentences.
    pub summarizer: SummaryBy,
}

impl Default for CompressSettings {
    fn default() -> Self {
        let Triggers { window_fraction, turns, idle } = Triggers::default();
        Self {
            turn_threshold: turns,
            idle_minutes: idle.as_secs() / 60,
            automatic: true,
            window_tokens: None,
            window_fraction,
            max_failures: MAX_FAILURES,
            summarizer: SummaryBy::Llm,
        }
    }
}

impl CompressSettings {
    /// Returns the compression triggers.
    pub(crate) fn triggers(&self) -> Triggers {
        Triggers {
            window_fraction: self.window_fraction,
            turns: self.turn_threshold,
            idle: Duration::from_secs(self.idle_minutes.saturating_mul(60)),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.window_fraction) {
            return Err(Error::invalid("compress.window_fraction must lie in 0 to 1"));
        }
        if self.turn_threshold == 0 || self.idle_minutes == 0 || self.max_failures == 0 {
            return Err(Error::invalid(
                "compress.turn_threshold, compress.idle_minutes and compress.max_failures must be at least 1",
            ));
        }
        Ok(())
    }
}
