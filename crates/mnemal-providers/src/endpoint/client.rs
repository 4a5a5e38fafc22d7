//! Endpoint client: retries until there is an answer or the error is permanent.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mnemal_core::{BackgroundPermit, Error, ErrorKind, Result, TokenCount};

use super::address::Address;
use super::connection::{Connector, Reply, Request};
use super::retry::{self, Pauses};

/// An API key; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(pub(super) String);

impl ApiKey {
    /// Takes a key, without surrounding white space.
    ///
    /// # Errors
    /// `Invalid` when it is empty or holds characters that are not allowed in HTTP headers.
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

/// A request to an endpoint.
#[derive(Debug)]
pub(super) struct EndpointRequest<'a> {
    /// A JSON document.
    pub(super) body: &'a [u8],
    /// Tokens that one request is paid with.
    pub(super) tokens: TokenCount,
    /// Most bytes of the answer.
    pub(super) largest_answer: usize,
    /// Handling of an unusable answer.
    pub(super) nonsense: UnusableAnswer,
}

/// Handling of an unusable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusableAnswer {
    /// The request is repeated, twice at most.
    AskAgain,
    /// It is an error: the caller tells the model what was wrong.
    Report,
}

/// Data of the endpoint common to all requests.
#[derive(Debug)]
pub(super) struct Client {
    address: Address,
    connector: Connector,
    key: Option<ApiKey>,
    timeout: Duration,
    pauses: Pauses,
    /// The endpoint refused the key.
    denied: AtomicBool,
}

impl Client {
    pub(super) fn new(address: Address, key: Option<ApiKey>, timeout: Duration, seed: u64) -> Self {
        let (connector, pauses) = (Connector::default(), Pauses::new(seed));
        Self { address, connector, key, timeout, pauses, denied: AtomicBool::new(false) }
    }

    /// Whether the endpoint has refused the key.
    pub(super) fn is_denied(&self) -> bool {
        self.denied.load(Ordering::Relaxed)
    }

    /// Sends requests until `read` accepts an answer; each request is paid for.
    pub(super) async fn ask<T>(
        &self,
        permit: &mut BackgroundPermit,
        question: &EndpointRequest<'_>,
        read: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<T> {
        if self.is_denied() {
            return Err(Error::invalid(format!("the endpoint at {} has refused the key", self.address)));
        }
        let mut attempts = self.pauses.attempts();
        let mut last = None;
        loop {
            if let Err(spent) = permit.pay(question.tokens) {
                return Err(last.unwrap_or(spent));
            }
            let (failure, wait) = match self.send(question).await {
                Ok(reply) if reply.status == 200 => match read(&reply.body) {
                    Ok(answer) => return Ok(answer),
                    Err(failure) if question.nonsense == UnusableAnswer::Report => (failure, None),
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

    async fn send(&self, question: &EndpointRequest<'_>) -> Result<Reply> {
        let request = Request {
            address: &self.address,
            key: self.key.as_ref(),
            body: question.body,
            largest_answer: question.largest_answer,
        };
        match tokio::time::timeout(self.timeout, self.connector.post(&request)).await {
            Ok(reply) => reply,
            Err(_late) => {
                let what = format!("the endpoint at {} is late", self.address);
                Err(Error::new(ErrorKind::Unavailable, what).because(mnemal_core::Elapsed(self.timeout)))
            }
        }
    }

    /// The error for a status other than success; a refused key is remembered.
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

#[expect(clippy::disallowed_methods, reason = "the pause before a repetition; tests pause tokio's time")]
async fn pause(wait: Duration) {
    tokio::time::sleep(wait).await;
}
