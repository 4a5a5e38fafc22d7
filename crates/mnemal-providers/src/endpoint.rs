//! Embeddings of any endpoint that speaks `POST /v1/embeddings` as OpenAI does, in the background only.

mod address;
mod answer;
mod connection;
mod retry;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{BackgroundEmbedder, BackgroundPermit, Error, ErrorKind, ModelId, Result, TokenCount};
use serde::Serialize;

use self::address::Address;
use self::connection::{Connector, Reply, Request};
use self::retry::Pauses;

/// What stands before the model's name in the name of its vectors, so that no endpoint can pass for a model in process.
const PREFIX: &str = "endpoint:";
/// Bytes of text that make about one token. Source: FEATURES RB-15, 30,000 characters are about 7,500 tokens.
const BYTES_A_TOKEN: usize = 4;

/// A key that is sent to an endpoint and shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key, without the white space around it.
    ///
    /// # Errors
    /// `Invalid` when it is empty or holds what no HTTP header may hold.
    pub fn new(key: &str) -> Result<Self> {
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid("the key of an endpoint must be visible ASCII characters"));
        }
        Ok(Self(key.to_owned()))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

/// Where an endpoint is and how it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSettings {
    /// `http://` or `https://`, a host, perhaps a port and a path; with or without `/v1`.
    pub base_url: String,
    /// Name of the model, as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub api_key: Option<ApiKey>,
    /// Most time for one request, from the look-up of the name to the last byte of the answer.
    pub timeout: Duration,
    /// Most characters of one text that are sent.
    pub max_input_chars: usize,
    /// What the lengths of the pauses before repetitions are drawn with.
    pub seed: u64,
}

/// Asks an OpenAI-compatible endpoint for vectors.
///
/// A request that fails for now (no connection, no answer in time, 429, 5xx) is repeated up to four times after pauses of 1 s
/// doubled to 5 min, with full jitter; what `Retry-After` says is waited for, at most an hour, and is no attempt. An answer
/// that is no whole list of vectors for the texts is asked for twice more. After 401 or 403 the endpoint is not asked again.
/// Redirects are not followed, and link-local, shared, multicast and unspecified addresses are refused in every spelling.
#[derive(Debug)]
pub struct EndpointEmbedder {
    model: ModelId,
    settings: EndpointSettings,
    address: Address,
    connector: Connector,
    pauses: Pauses,
    /// Values a vector, as the first answer had.
    dimensions: OnceLock<usize>,
    /// The endpoint refused the key.
    denied: AtomicBool,
}

/// What is asked of an endpoint.
#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

impl EndpointEmbedder {
    /// Reads the settings. Opens no connection.
    ///
    /// # Errors
    /// `Invalid` for an address that is none, or holds credentials, a query or a fragment; for a model without a name; for a
    /// timeout or a length of zero.
    pub fn new(settings: EndpointSettings) -> Result<Self> {
        if settings.timeout.is_zero() || settings.max_input_chars == 0 {
            return Err(Error::invalid("an endpoint needs a timeout and a length of texts above 0"));
        }
        if settings.model.trim().is_empty() {
            return Err(Error::invalid("an endpoint needs the name of a model"));
        }
        Ok(Self {
            model: ModelId::new(format!("{PREFIX}{}", settings.model.trim()))?,
            address: Address::read(&settings.base_url)?,
            connector: Connector::default(),
            pauses: Pauses::new(settings.seed),
            dimensions: OnceLock::new(),
            denied: AtomicBool::new(false),
            settings,
        })
    }

    /// Asks until there is an answer, or no use in asking.
    async fn ask(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let question = Question { model: self.settings.model.trim(), input: texts };
        let body = serde_json::to_vec(&question)
            .map_err(|cause| Error::internal("cannot write a request").because(cause))?;
        let tokens = TokenCount(u32::try_from(body.len().div_ceil(BYTES_A_TOKEN)).unwrap_or(u32::MAX));
        let mut attempts = self.pauses.attempts();
        let mut last = None;
        loop {
            if let Err(spent) = permit.pay(tokens) {
                return Err(last.unwrap_or(spent));
            }
            let (failure, wait) = match self.send(&body, texts.len()).await {
                Ok(reply) if reply.status == 200 => match self.read(&reply.body, texts.len()) {
                    Ok(vectors) => return Ok(vectors),
                    Err(failure) => (failure, attempts.after_nonsense()),
                },
                Ok(reply) => {
                    let wait = attempts.after_status(reply.status, reply.retry_after);
                    (self.refusal(reply.status), wait)
                }
                Err(failure) if failure.kind() == ErrorKind::Unavailable => {
                    (failure, attempts.after_failure())
                }
                Err(failure) => (failure, None),
            };
            let Some(wait) = wait else { return Err(failure) };
            pause(wait).await;
            last = Some(failure);
        }
    }

    async fn send(&self, body: &[u8], texts: usize) -> Result<Reply> {
        let request = Request {
            address: &self.address,
            key: self.settings.api_key.as_ref(),
            body,
            largest_answer: answer::largest(texts),
        };
        match tokio::time::timeout(self.settings.timeout, self.connector.post(&request)).await {
            Ok(reply) => reply,
            Err(_late) => {
                let what = format!("the endpoint at {} is late", self.address);
                Err(Error::new(ErrorKind::Unavailable, what)
                    .because(mnemal_core::Elapsed(self.settings.timeout)))
            }
        }
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

    /// The error of a status that is no success; one that refuses the key is remembered.
    fn refusal(&self, status: u16) -> Error {
        let kind = match status {
            401 | 403 => {
                self.denied.store(true, Ordering::Relaxed);
                ErrorKind::Invalid
            }
            _ if retry::is_passing(status) => ErrorKind::Unavailable,
            400..=499 => ErrorKind::Invalid,
            _ => ErrorKind::Unsupported,
        };
        Error::new(kind, format!("the endpoint at {} answers with status {status}", self.address))
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
        if self.denied.load(Ordering::Relaxed) {
            let what = format!("the endpoint at {} has refused the key", self.address);
            return Err(Error::invalid(what));
        }
        let cut: Vec<&str> = texts.iter().map(|text| cut(text, self.settings.max_input_chars)).collect();
        self.ask(permit, &cut).await
    }
}

/// The beginning of a text, at most so many characters.
fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[expect(clippy::disallowed_methods, reason = "the pause before a repetition; tests pause tokio's time")]
async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}

#[cfg(test)]
mod tests {
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
        assert_eq!((cut("äöüß", 3), cut("ab", 3), cut("", 3)), ("äöü", "ab", ""));
    }
}
