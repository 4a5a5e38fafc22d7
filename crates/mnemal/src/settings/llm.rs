//! The language model, if there is one.

use std::time::Duration;

use mnemal_core::{Error, Result, TokenCount};
use mnemal_providers::ModelCaps;
use serde::{Deserialize, Serialize};

/// The language model, if there is one; nothing needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// Which endpoint.
    pub provider: LlmProvider,
    /// The model's name, as the endpoint knows it.
    pub model: String,
    /// Where the endpoint is, with or without `/v1`; empty for the address of the provider.
    pub base_url: String,
    /// The variable of the environment that holds the endpoint's key; empty for that of the provider. It is read only while an
    /// endpoint is the provider.
    pub api_key_env: String,
    /// Most time for one request, in seconds.
    pub timeout_secs: u64,
    /// Most requests of a space in any 60 minutes, repetitions included.
    pub max_requests_per_hour: u32,
    /// Most tokens of a space in any 24 hours, both ways.
    pub max_tokens_per_day: u32,
    /// A folder with instructions in the place of the built-in ones: `extract.md`, `merge.md`, `node.md`, `judge.md`,
    /// `appraise.md`, `insight.md`, `digest.md`, `summarize.md`. A file that is not there leaves the built-in instructions.
    pub instructions: String,
}

/// Which endpoint answers as the language model. Each speaks as OpenAI's chat completions do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// None: nothing is asked, whatever the environment holds.
    #[default]
    None,
    /// Any endpoint; `base_url` says where.
    OpenaiCompatible,
    /// OpenAI.
    Openai,
    /// The route of Anthropic that speaks as OpenAI does.
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
    /// Returns the address of a provider and the variable that holds its key; empty where there is none. Source: each provider's own
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
    /// Whether an endpoint is configured.
    pub fn is_asked(&self) -> bool {
        self.provider != LlmProvider::None
    }

    /// Returns where the endpoint is: the address that is set, else that of the provider.
    pub fn base_url(&self) -> &str {
        if self.base_url.trim().is_empty() { self.provider.preset().0 } else { &self.base_url }
    }

    /// Returns the name of the variable that holds the endpoint's key; empty where none is needed.
    pub fn key_variable(&self) -> &str {
        if self.api_key_env.is_empty() { self.provider.preset().1 } else { &self.api_key_env }
    }

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
