//! Settings of the compression of conversations.

use std::time::Duration;

use mnemal_core::{Error, Result};
use mnemal_summaries::compress::Triggers;
use serde::{Deserialize, Serialize};

use super::SummaryBy;

/// Failures of a model in a row after which what was said is kept as it was. Source: PB-51, `compress.max_failures`.
const MAX_FAILURES: u32 = 3;

/// When conversations are compressed, by hosts that leave it to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompressSettings {
    /// Turns of the user that may wait.
    pub turn_threshold: u64,
    /// Minutes of silence after which what waits is compressed.
    pub idle_minutes: u64,
    /// Whether a conversation is compressed as soon as a trigger asks for it, by whatever process attends to its space; else only when
    /// somebody asks.
    pub automatic: bool,
    /// Tokens of the window of the host's model; without it the window is no trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u32>,
    /// Share of the window that a conversation may take, 0 to 1.
    pub window_fraction: f64,
    /// Failures of a model in a row, for one conversation, after which what was said is kept as it was.
    pub max_failures: u32,
    /// Whose words an entry of the timeline is in: those of the language model where one is configured, or sentences that were said.
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
    /// Returns when a conversation is compressed.
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
