//! Settings of embedding.

use std::time::Duration;

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Settings of embedding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// The kind of embedder.
    pub provider: EmbeddingProvider,
    /// The model, as the provider names it.
    ///
    /// In process: empty for the built-in table; `minilm` or `bge-small` for a transformer in the models folder; `minilm:FOLDER`
    /// or `bge-small:FOLDER` for any file of that family; a folder with a file that is recognized by its hash.
    pub model: String,
    /// The models folder; the command line uses `models` in the data directory.
    pub models: String,
    /// Time limit of the in-process vector of a question, in milliseconds; after it, recall is lexical.
    pub query_deadline_ms: u64,
    /// Address of the endpoint, with or without `/v1`.
    pub base_url: String,
    /// Environment variable with the endpoint's key; it is read only with an endpoint as the provider.
    pub api_key_env: String,
    /// Maximum number of characters of one text sent to an endpoint.
    pub max_input_chars: usize,
    /// Number of texts per request to an endpoint.
    pub batch: usize,
    /// Time limit of one request to an endpoint, in seconds.
    pub timeout_secs: u64,
}

/// The kind of embedder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingProvider {
    /// In process; the only kind that reads use by themselves.
    #[default]
    Local,
    /// An OpenAI-compatible endpoint: used in the background, in addition to the in-process embedder, and for a question only on
    /// explicit request.
    OpenaiCompatible,
    /// None: recall is lexical.
    None,
}

/// Source: own default; a transformer needs 6 to 15 ms for a question.
const QUERY_DEADLINE_MS: u64 = 30;
/// Source: RockBot, `MaxInputChars`.
const MAX_INPUT_CHARS: usize = 30_000;
/// Source: own default.
const BATCH: usize = 32;
/// Maximum number of texts of one request. Source: what OpenAI's own endpoint accepts.
const LARGEST_BATCH: usize = 2_048;
/// Source: own default; a hanging request is aborted after a minute.
const TIMEOUT_SECS: u64 = 60;

impl Default for EmbeddingSettings {
    fn default() -> Self {
        Self {
            provider: EmbeddingProvider::Local,
            model: String::new(),
            models: String::new(),
            query_deadline_ms: QUERY_DEADLINE_MS,
            base_url: String::new(),
            api_key_env: String::new(),
            max_input_chars: MAX_INPUT_CHARS,
            batch: BATCH,
            timeout_secs: TIMEOUT_SECS,
        }
    }
}

impl EmbeddingSettings {
    /// Returns the time limit of the in-process vector of a question.
    pub fn query_deadline(&self) -> Duration {
        Duration::from_millis(self.query_deadline_ms)
    }

    /// Returns the time limit of one request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// Validates the deadline, and the endpoint settings.
    pub(super) fn check(&self) -> Result<()> {
        if self.query_deadline_ms == 0 {
            return Err(Error::invalid("embedding.query_deadline_ms must be at least 1"));
        }
        if self.provider != EmbeddingProvider::OpenaiCompatible {
            return Ok(());
        }
        if self.base_url.trim().is_empty() || self.model.trim().is_empty() {
            return Err(Error::invalid(
                "embedding.base_url and embedding.model must name an endpoint and its model",
            ));
        }
        if !(1..=LARGEST_BATCH).contains(&self.batch) {
            return Err(Error::invalid(format!("embedding.batch must lie in 1 to {LARGEST_BATCH}")));
        }
        if self.timeout_secs == 0 || self.max_input_chars == 0 {
            return Err(Error::invalid(
                "embedding.timeout_secs and embedding.max_input_chars must be at least 1",
            ));
        }
        Ok(())
    }
}
