//! The language model, if there is one.

use std::time::Duration;

use mnemal_core::{Error, Result, TokenCount};
use mnemal_providers::ModelCaps;
use serde::{Deserialize, Serialize};

/// The language model, if there is one; nothing needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// Which kind of model.
    pub provider: LlmProvider,
    /// Its name, as the endpoint knows it.
    pub model: String,
    /// Where the endpoint is, with or without `/v1`.
    pub base_url: String,
    /// The variable of the environment that holds the endpoint's key; it is read only while an endpoint is the provider.
    pub api_key_env: String,
    /// Most time for one request, in seconds.
    pub timeout_secs: u64,
    /// Most requests of a space in any 60 minutes, repetitions included.
    pub max_requests_per_hour: u32,
    /// Most tokens of a space in any 24 hours, both ways.
    pub max_tokens_per_day: u32,
    /// A folder with instructions in the place of the built-in ones: `extract.md`, `merge.md`, `node.md`, `judge.md`,
    /// `appraise.md`. A file that is not there leaves the built-in instructions.
    pub instructions: String,
}

/// Which kind of language model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// None: nothing is asked, whatever the environment holds.
    #[default]
    None,
    /// An endpoint that speaks as OpenAI does, in the background only.
    OpenaiCompatible,
}

/// Source: SURFACES 4.2; RELIABILITY 11, row 3.
const TIMEOUT_SECS: u64 = 60;
/// Source: SURFACES 4.2; AD-61.
const MAX_REQUESTS_PER_HOUR: u32 = 60;
/// Source: SURFACES 4.2; AD-61.
const MAX_TOKENS_PER_DAY: u32 = 200_000;

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            provider: LlmProvider::None,
            model: String::new(),
            base_url: String::new(),
            api_key_env: String::new(),
            timeout_secs: TIMEOUT_SECS,
            max_requests_per_hour: MAX_REQUESTS_PER_HOUR,
            max_tokens_per_day: MAX_TOKENS_PER_DAY,
            instructions: String::new(),
        }
    }
}

impl LlmSettings {
    /// Returns the most time for one request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// Returns the most that a space may spend.
    pub(crate) fn caps(&self) -> ModelCaps {
        ModelCaps {
            requests_per_hour: self.max_requests_per_hour,
            tokens_per_day: TokenCount(self.max_tokens_per_day),
        }
    }

    /// Checks what an endpoint needs.
    pub(super) fn check(&self) -> Result<()> {
        if self.provider == LlmProvider::None {
            return Ok(());
        }
        if self.base_url.trim().is_empty() || self.model.trim().is_empty() {
            return Err(Error::invalid("llm.base_url and llm.model must name an endpoint and its model"));
        }
        if self.timeout_secs == 0 {
            return Err(Error::invalid("llm.timeout_secs must be at least 1"));
        }
        Ok(())
    }
}
