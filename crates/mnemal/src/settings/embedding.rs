//! Settings of embedders.

use std::time::Duration;

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// What makes vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// Which kind of embedder.
    pub provider: EmbeddingProvider,
    /// Its model, as the provider names it.
    ///
    /// In process: nothing for the built-in table; `minilm` or `bge-small` for a transformer in the folder of models;
    /// `minilm:FOLDER` or `bge-small:FOLDER` for any file of that family; a folder with a file that is known by its hash.
    pub model: String,
    /// The folder of models; the command line takes `models` in the data directory.
    pub models: String,
    /// Most time for the vector of a question that is made in process, in milliseconds; without one, recall is by words.
    pub query_deadline_ms: u64,
    /// Where an endpoint is, with or without `/v1`.
    pub base_url: String,
    /// The variable of the environment that holds the endpoint's key; it is read only while an endpoint is the provider.
    pub api_key_env: String,
    /// Most characters of one text that are sent to an endpoint.
    pub max_input_chars: usize,
    /// Texts of one request to an endpoint.
    pub batch: usize,
    /// Most time for one request to an endpoint, in seconds.
    pub timeout_secs: u64,
}

/// Which kind of embedder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingProvider {
    /// In process; the only kind that reading uses by itself.
    #[default]
    Local,
    /// An endpoint that speaks as OpenAI does: in the background, beside the one in process, and for a question only when it
    /// is asked for.
    OpenaiCompatible,
    /// None: recall is by words.
    None,
}

/// Source: RECALL 7.3; a transformer needs 6 to 15 ms for a question.
const QUERY_DEADLINE_MS: u64 = 30;
/// Source: SURFACES 4.2.
const MAX_INPUT_CHARS: usize = 30_000;
/// Source: SURFACES 4.2.
const BATCH: usize = 32;
/// Most texts of one request. Source: what OpenAI's own endpoint takes.
const LARGEST_BATCH: usize = 2_048;
/// Source: RELIABILITY 11, row 3.
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
    /// Returns the most time for the vector of a question that is made in process.
    pub fn query_deadline(&self) -> Duration {
        Duration::from_millis(self.query_deadline_ms)
    }

    /// Returns the most time for one request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    /// Checks the deadline, and what an endpoint needs.
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
