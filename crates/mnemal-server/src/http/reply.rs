//! HTTP responses.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::http::problem::Problem;

/// The response of a handler.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Content {
    /// Complete bytes.
    Whole(Bytes),
    /// A stream.
    Parts(Body),
}

impl Reply {
    /// Returns status 200 with a document.
    pub(crate) fn ok(document: &impl Serialize) -> Result<Self, Problem> {
        Self::json(StatusCode::OK, document)
    }

    /// Returns status 201 with a document.
    pub(crate) fn created(document: &impl Serialize) -> Result<Self, Problem> {
        Self::json(StatusCode::CREATED, document)
    }

    /// Returns status 202 with a document.
    pub(crate) fn accepted(document: &impl Serialize) -> Result<Self, Problem> {
        Self::json(StatusCode::ACCEPTED, document)
    }

    /// Returns a document with a status.
    pub(crate) fn json(status: StatusCode, document: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(document)
            .map_err(|_| Problem::new("internal", "the answer cannot be written"))?;
        Ok(Self::whole(status, "application/json; charset=utf-8", bytes))
    }

    /// Returns status 200 with a text of a content type.
    pub(crate) fn text(content_type: &'static str, text: impl Into<Bytes>) -> Self {
        Self::whole(StatusCode::OK, content_type, text)
    }

    /// Returns status 200 with a stream of a content type.
    pub(crate) fn parts(content_type: &'static str, parts: Body) -> Self {
        let content = Content::Parts(parts);
        Self { status: StatusCode::OK, content_type, headers: HeaderMap::new(), content }
    }

    fn whole(status: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let content = Content::Whole(bytes.into());
        Self { status, content_type, headers: HeaderMap::new(), content }
    }

    /// Returns the response for a problem.
    pub(crate) fn problem(problem: &Problem, request_id: &str) -> Self {
        // A form of texts and numbers can always be serialized.
        let bytes = serde_json::to_vec(&problem.form(request_id)).unwrap_or_default();
        let mut reply = Self::whole(problem.status(), "application/problem+json", bytes);
        if let Some(seconds) = problem.retry_after {
            reply.headers.insert(hyper::header::RETRY_AFTER, seconds.into());
        }
        if problem.code() == "unauthenticated" {
            let ask = hyper::header::HeaderValue::from_static("Bearer");
            reply.headers.insert(hyper::header::WWW_AUTHENTICATE, ask);
        }
        reply
    }

    /// Converts it to the framework's response.
    pub(crate) fn into_response(self) -> Response {
        let body = match self.content {
            Content::Whole(bytes) => Body::from(bytes),
            Content::Parts(body) => body,
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let content_type = hyper::header::HeaderValue::from_static(self.content_type);
        response.headers_mut().insert(hyper::header::CONTENT_TYPE, content_type);
        response
    }
}
