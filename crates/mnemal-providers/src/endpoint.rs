//! Client for OpenAI-compatible endpoints, in the background only: embeddings and chat completions.

mod address;
mod answer;
mod chat;
mod client;
mod connection;
mod retry;

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{BackgroundEmbedder, BackgroundPermit, Error, ModelId, Result};
use serde::Serialize;

use self::address::Address;
pub use self::chat::{ChatSettings, EndpointModel};
pub use self::client::ApiKey;
use self::client::{Client, EndpointRequest, UnusableAnswer};
use crate::model::tokens_of;

/// Prefix of the model's name, so that an endpoint's vectors are never taken for those of an in-process model.
const PREFIX: &str = "endpoint:";

/// Settings of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSettings {
    /// `http://` or `https://`, a host, optionally a port and a path; with or without `/v1`.
    pub base_url: String,
    /// Name of the model, as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<ApiKey>,
    /// Timeout of one request, from name resolution to the last byte of the response.
    pub timeout: Duration,
    /// Most characters sent of one text.
    pub max_input_chars: usize,
    /// Seed of the retry jitter.
    pub seed: u64,
}

/// An embedder behind an OpenAI-compatible endpoint.
///
/// A temporary failure (no connection, no response in time, 429, 5xx) is retried up to four times after pauses of 1 s doubled
/// to 5 min, with full jitter; `Retry-After` is honored, up to an hour, and does not count as an attempt. A response without a
/// complete list of vectors for the texts is requested twice more. After 401 or 403 the endpoint is not called again. Redirects
/// are not followed, and link-local, shared, multicast and unspecified addresses are refused in every spelling.
#[derive(Debug)]
pub struct EndpointEmbedder {
    model: ModelId,
    settings: EndpointSettings,
    client: Client,
    /// Dimension, from the first response.
    dimensions: OnceLock<usize>,
}

/// A request for vectors.
#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

impl EndpointEmbedder {
    /// Checks the settings. Opens no connection.
    ///
    /// # Errors
    /// `Invalid` for an invalid address, or one with credentials, a query or a fragment; for a model without a name; for a
    /// timeout or a length of zero.
    pub fn new(settings: EndpointSettings) -> Result<Self> {
        if settings.timeout.is_zero() || settings.max_input_chars == 0 {
            return Err(Error::invalid("an endpoint needs a timeout and a length of texts above 0"));
        }
        if settings.model.trim().is_empty() {
            return Err(Error::invalid("an endpoint needs the name of a model"));
        }
        let address = Address::read(&settings.base_url, "embeddings")?;
        let client = Client::new(address, settings.api_key.clone(), settings.timeout, settings.seed);
        let model = ModelId::new(format!("{PREFIX}{}", settings.model.trim()))?;
        Ok(Self { model, settings, client, dimensions: OnceLock::new() })
    }

    fn read(&self, body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>> {
        let vectors = answer::vectors(body, texts)?;
        let found = vectors.first().map_or(0, Vec::len);
        let known = *self.dimensions.get_or_init(|| found);
        if known == found {
            return Ok(vectors);
        }
        Err(answer::wrong(format!("vectors of {found} values, those before had {known}")))
    }
}

#[async_trait]
impl BackgroundEmbedder for EndpointEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn embed(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let cut: Vec<&str> = texts.iter().map(|text| prefix(text, self.settings.max_input_chars)).collect();
        let body = serde_json::to_vec(&EmbeddingRequest { model: self.settings.model.trim(), input: &cut })
            .map_err(|cause| Error::internal("cannot write a request").because(cause))?;
        let question = EndpointRequest {
            body: &body,
            tokens: tokens_of(body.len()),
            largest_answer: answer::largest(cut.len()),
            nonsense: UnusableAnswer::AskAgain,
        };
        self.client.ask(permit, &question, |body| self.read(body, cut.len())).await
    }
}

/// The beginning of a text, at most this many characters.
fn prefix(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use mnemal_core::ErrorKind;

    use super::*;

    fn settings() -> EndpointSettings {
        EndpointSettings {
            base_url: "http://127.0.0.1:9".to_owned(),
            model: "m".to_owned(),
            api_key: Some(ApiKey::new(" sk-hush-hush\n").unwrap()),
            timeout: Duration::from_mins(1),
            max_input_chars: 3,
            seed: 1,
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let embedder = EndpointEmbedder::new(settings()).unwrap();
        assert!(!format!("{embedder:?} {:#?}", settings()).contains("hush"));
        for wrong in ["", " ", "a b", "ä", "a\nb"] {
            assert!(
                !ApiKey::new(wrong).unwrap_err().to_string().contains(wrong.trim())
                    || wrong.trim().is_empty()
            );
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        type Change = fn(&mut EndpointSettings);
        let changes: [Change; 5] = [
            |settings| settings.model = " ".to_owned(),
            |settings| settings.timeout = Duration::ZERO,
            |settings| settings.max_input_chars = 0,
            |settings| settings.base_url = String::new(),
            |settings| settings.base_url = "http://ada:secret@host/v1".to_owned(),
        ];
        for change in changes {
            let mut wrong = settings();
            change(&mut wrong);
            let error = EndpointEmbedder::new(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!((prefix("äöüß", 3), prefix("ab", 3), prefix("", 3)), ("äöü", "ab", ""));
    }
}
