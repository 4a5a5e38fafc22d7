//! Idempotent requests: a repeated request gets the first response again, and nothing is done twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::http::problem::Problem;
use crate::http::reply::{Content, Reply};

/// Number of remembered responses; the oldest are dropped first. Source: own default. Stored events are recognized by their
/// idempotency keys in the log, permanently; this covers other operations, and verbatim responses.
const REMEMBERED: usize = 10_000;
/// Maximum size of a remembered response, in bytes. Source: own default, ten megabytes for a thousand of them.
const LONGEST: usize = 10_000;

/// Responses to requests with an idempotency key.
#[derive(Debug, Default)]
pub(crate) struct IdempotencyCache(Mutex<CacheState>);

#[derive(Debug, Default)]
struct CacheState {
    answers: HashMap<RequestKey, CachedResponse>,
    order: VecDeque<RequestKey>,
}

/// The caller, the operation and the key of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey {
    pub(crate) caller: String,
    pub(crate) path: String,
    pub(crate) key: String,
}

#[derive(Debug)]
struct CachedResponse {
    body: [u8; 32],
    /// `None` while it is in progress.
    answer: Option<(StatusCode, &'static str, Bytes)>,
}

/// A request in progress; if it is dropped without a response, the next one may retry.
#[derive(Debug)]
pub(crate) struct PendingRequest<'r> {
    idempotency: &'r IdempotencyCache,
    asked: Option<RequestKey>,
}

impl IdempotencyCache {
    /// Starts a request, or returns its earlier response.
    ///
    /// # Errors
    /// `idempotency_mismatch` for another body, `conflict` while the first is in progress.
    pub(crate) fn begin(
        &self,
        asked: RequestKey,
        method: &str,
        body: &[u8],
    ) -> Result<Result<PendingRequest<'_>, Reply>, Problem> {
        let body: [u8; 32] =
            Sha256::new().chain_update(method).chain_update([0]).chain_update(body).finalize().into();
        let mut known = self.state();
        match known.answers.get(&asked) {
            Some(told) if told.body != body => {
                Err(Problem::new("idempotency_mismatch", "the idempotency key was used for another request"))
            }
            Some(CachedResponse { answer: None, .. }) => {
                Err(Problem::new("conflict", "the first request with this idempotency key is worked on"))
            }
            Some(CachedResponse { answer: Some((status, content_type, bytes)), .. }) => {
                Ok(Err(again(*status, content_type, bytes)))
            }
            None => {
                while known.order.len() >= REMEMBERED {
                    if let Some(oldest) = known.order.pop_front() {
                        known.answers.remove(&oldest);
                    }
                }
                known.order.push_back(asked.clone());
                known.answers.insert(asked.clone(), CachedResponse { body, answer: None });
                Ok(Ok(PendingRequest { idempotency: self, asked: Some(asked) }))
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingRequest<'_> {
    /// Remembers a success; a failure may be retried.
    pub(crate) fn store_response(mut self, reply: &Reply) {
        let Content::Whole(bytes) = &reply.content else { return };
        if !reply.status.is_success() || bytes.len() > LONGEST {
            return;
        }
        let mut known = self.idempotency.state();
        if let Some(told) = self.asked.take().and_then(|asked| known.answers.get_mut(&asked)) {
            told.answer = Some((reply.status, reply.content_type, bytes.clone()));
        }
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if let Some(asked) = self.asked.take() {
            let mut known = self.idempotency.state();
            known.answers.remove(&asked);
            known.order.retain(|one| *one != asked);
        }
    }
}

/// Returns the first response, marked as a replay.
fn again(status: StatusCode, content_type: &'static str, bytes: &Bytes) -> Reply {
    let marked = serde_json::from_slice::<Value>(bytes).ok().and_then(|mut document| {
        document.as_object_mut()?.insert("duplicate".to_owned(), true.into());
        serde_json::to_vec(&document).ok()
    });
    let bytes = marked.map_or_else(|| bytes.clone(), Bytes::from);
    // The record was created by the first request, not by this one.
    let status = if status == StatusCode::CREATED { StatusCode::OK } else { status };
    let headers = hyper::HeaderMap::new();
    Reply { status, content_type, headers, content: Content::Whole(bytes) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(caller: &str, key: &str) -> RequestKey {
        RequestKey { caller: caller.to_owned(), path: "/p".to_owned(), key: key.to_owned() }
    }

    #[test]
    fn the_first_answer_is_given_again_to_the_same_request_alone() {
        let idempotency = IdempotencyCache::default();
        let begun = idempotency.begin(asked("a", "k"), "POST", b"1").unwrap().unwrap();
        assert_eq!(idempotency.begin(asked("a", "k"), "POST", b"1").unwrap_err().code(), "conflict");
        begun.store_response(&Reply::created(&json!({"id": 1})).unwrap());
        let again = idempotency.begin(asked("a", "k"), "POST", b"1").unwrap().unwrap_err();
        let Content::Whole(bytes) = again.content else { panic!("a whole answer") };
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), json!({"id": 1, "duplicate": true}));
        assert_eq!(again.status, StatusCode::OK);
        for (method, body) in [("POST", "2"), ("PUT", "1")] {
            let wrong = idempotency.begin(asked("a", "k"), method, body.as_bytes());
            assert_eq!(wrong.unwrap_err().code(), "idempotency_mismatch");
        }
        assert!(idempotency.begin(asked("b", "k"), "POST", b"2").unwrap().is_ok(), "another caller");
    }

    #[test]
    fn a_failure_may_be_tried_again() {
        let idempotency = IdempotencyCache::default();
        let begun = idempotency.begin(asked("a", "k"), "POST", b"1").unwrap().unwrap();
        begun.store_response(&Reply::problem(&Problem::new("unavailable", "x"), "r"));
        assert!(idempotency.begin(asked("a", "k"), "POST", b"1").unwrap().is_ok());
        assert!(
            idempotency.begin(asked("a", "k"), "POST", b"2").unwrap().is_ok(),
            "a dropped one is forgotten"
        );
    }
}
