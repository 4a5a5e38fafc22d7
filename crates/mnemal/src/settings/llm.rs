//! Settings of the optional language model.

use std::time::Duration;

use mnemal_core::{Error, Result, TokenCount};
use mnemal_providers::ModelCaps;
use serde::{Deserialize, Serialize};

/// Settings of the optional language model; nothing requires one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// The provider of the endpoint.
    pub provider: LlmProvider,
    /// The model's name at the endpoint.
    pub model: String,
    /// Address of the endpoint, with or without `/v1`; empty for the provider's default address.
    pub base_url: String,
    /// Environment variable with the endpoint's key; empty for the provider's default. It is read only with an endpoint as the
    /// provider.
    pub api_key_env: String,
    /// Time limit of one request, in seconds.
    pub timeout_secs: u64,
    /// Maximum number of requests of a space in any 60 minutes, retries included.
    pub max_requests_per_hour: u32,
    /// Maximum number of tokens of a space in any 24 hours, prompt and completion together.
    pub max_tokens_per_day: u32,
    /// Folder with instructions that replace the built-in ones: `extract.md`, `merge.md`, `node.md`, `judge.md`, `appraise.md`,
    /// `insight.md`, `digest.md`, `summarize.md`. A missing file keeps the built-in instructions.
    pub instructions: String,
}

/// The provider of the language model. Each offers a chat completions API compatible with OpenAI's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// None: no model is called, whatever the environment contains.
    #[default]
    None,
    /// Any endpoint; `base_url` is its address.
    OpenaiCompatible,
    /// OpenAI.
    Openai,
    /// Anthropic's OpenAI-compatible API.
    Anthropic,
    /// Ollama on this machine.
    Ollama,
    /// `llama-server` of llama.cpp on this machine.
    #[serde(alias = "llama.cpp")]
    LlamaCpp,
    /// LM Studio on this machine.
    LmStudio,
    /// vLLM on this machine.
    Vllm,
}

impl LlmProvider {
    /// Returns a provider's default address and key variable; empty where there is none. Source: each provider's own
    /// documentation of its default address, read in November 2026.
    fn preset(self) -> (&'static str, &'static str) {
        match self {
            Self::None | Self::OpenaiCompatible => ("", ""),
            Self::Openai => ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            Self::Anthropic => ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
            Self::Ollama => ("http://localhost:11434/v1", ""),
            Self::LlamaCpp => ("http://localhost:8080/v1", ""),
            Self::LmStudio => ("http://localhost:1234/v1", ""),
            Self::Vllm => ("http://localhost:8000/v1", ""),
        }
    }
}

/// Source: own default; a hanging request is aborted after a minute.
const TIMEOUT_SECS: u64 = 60;
/// Source: own default, which bounds the cost of background work: one request a minute.
const MAX_REQUESTS_PER_HOUR: u32 = 60;
/// Source: own default, which bounds the cost of background work.
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
    /// Whether an endpoint is configured.
    pub fn is_asked(&self) -> bool {
        self.provider != LlmProvider::None
    }

    /// Returns the address of the endpoint: the configured one, else the provider's.
    pub fn base_url(&self) -> &str {
        if self.base_url.trim().is_empty() { self.provider.preset().0 } else { &self.base_url }
    }

    /// Returns the name of the environment variable with the endpoint's key; empty if none is needed.
    pub fn key_variable(&self) -> &str {
        if self.api_key_env.is_empty() { self.provider.preset().1 } else { &self.api_key_env }
    }

    /// Returns the time limit of one request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// Returns the caps of a space.
    pub(crate) fn caps(&self) -> ModelCaps {
        ModelCaps {
            requests_per_hour: self.max_requests_per_hour,
            tokens_per_day: TokenCount(self.max_tokens_per_day),
        }
    }

    /// Validates the endpoint settings.
    pub(super) fn check(&self) -> Result<()> {
        if !self.is_asked() {
            return Ok(());
        }
        if self.base_url().trim().is_empty() || self.model.trim().is_empty() {
            return Err(Error::invalid("llm.base_url and llm.model must name an endpoint and its model"));
        }
        if self.timeout_secs == 0 {
            return Err(Error::invalid("llm.timeout_secs must be at least 1"));
        }
        Ok(())
    }
}
