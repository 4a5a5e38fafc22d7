//! Errors on the wire: problem documents with hints. Source: RFC 9457.

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use mnemal_core::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Base address of the problem types; the code is the last part.
const TYPES: &str = "https://mnemal.dev/errors/";
/// Seconds after which a client should retry an overloaded server. Source: own default; a slot is free within one request's time.
const RETRY: u64 = 1;

/// Every code with its status and title. Codes never change their meaning.
const CODES: &[(&str, u16, &str)] = &[
    ("invalid_request", 400, "The request cannot be understood"),
    ("invalid_cursor", 400, "This cursor belongs to another list"),
    ("invalid_utf8", 400, "Not UTF-8"),
    ("invalid_time", 400, "Not a time"),
    ("space_required", 400, "A space must be named"),
    ("unauthenticated", 401, "A key is needed"),
    ("right_missing", 403, "The key lacks a right"),
    ("user_forbidden", 403, "The key is of another user"),
    ("origin_forbidden", 403, "Pages of this origin may not ask"),
    ("host_forbidden", 403, "The server does not answer to this name"),
    ("app_key_needed", 403, "Only a program that knows the user's words may do that"),
    ("not_found", 404, "There is no such thing"),
    ("expired", 404, "It is no longer there"),
    ("method_not_allowed", 405, "There is no such method here"),
    ("conflict", 409, "Something stands against it"),
    ("idempotency_mismatch", 409, "This idempotency key was used for another request"),
    ("selection_changed", 409, "What would be erased has changed"),
    ("confirmation_required", 409, "This must be confirmed"),
    ("too_large", 413, "The body is too large"),
    ("uri_too_long", 414, "The address is too long"),
    ("unsupported_media_type", 415, "The body is of another type"),
    ("rate_limited", 429, "Too many requests"),
    ("internal", 500, "Something went wrong inside"),
    ("corrupt", 500, "Stored bytes are damaged"),
    ("unsupported", 501, "This server cannot do that"),
    ("unavailable", 503, "Not just now"),
];

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    code: &'static str,
    detail: String,
    hint: Option<&'static str>,
    /// Seconds until a retry makes sense.
    pub(crate) retry_after: Option<u64>,
}

/// A problem document.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemForm {
    /// A stable address that ends with the code.
    r#type: String,
    /// What the code means.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// For programs.
    code: &'static str,
    /// What happened here.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    /// The request, as the log of the server names it.
    request_id: String,
}

impl Problem {
    pub(crate) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        let retry_after = (code == "unavailable").then_some(RETRY);
        Self { code, detail: detail.into(), hint: None, retry_after }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new("invalid_request", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new("not_found", detail)
    }

    /// Adds the part of the request that is at fault.
    pub(crate) fn inside(mut self, part: &str) -> Self {
        self.detail = format!("{part}: {}", self.detail);
        self
    }

    /// Sets the hint.
    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Sets the time until a retry makes sense, in whole seconds, at least one.
    pub(crate) fn after(mut self, wait: std::time::Duration) -> Self {
        self.retry_after = Some(wait.as_secs().saturating_add(1));
        self
    }

    /// Returns the status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.row().1).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the document.
    pub(crate) fn form(&self, request_id: &str) -> ProblemForm {
        let (code, status, title) = self.row();
        ProblemForm {
            r#type: format!("{TYPES}{code}"),
            title,
            status,
            code,
            detail: self.detail.clone(),
            hint: self.hint.or_else(|| general(code)),
            request_id: request_id.to_owned(),
        }
    }

    /// Returns the description.
    #[cfg(test)]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    fn row(&self) -> (&'static str, u16, &'static str) {
        let found = CODES.iter().find(|(code, ..)| *code == self.code).copied();
        found.unwrap_or(("internal", 500, "Something went wrong inside"))
    }
}

/// The middleware writes the document, which contains the request id.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns every code with its status.
pub(crate) fn codes() -> impl Iterator<Item = (&'static str, u16)> {
    CODES.iter().map(|(code, status, _)| (*code, *status))
}

/// Returns the general hint of a code, for errors without a specific one.
fn general(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_found" => "List what is there, or recall it by its words.",
        "unauthenticated" => {
            "Send `Authorization: Bearer mnk_…`; `mnemal key local` prints the key of this machine."
        }
        "right_missing" => "Use a key with this right; `mnemal key create` makes one.",
        "unsupported_media_type" => "Send JSON as `content-type: application/json`.",
        "invalid_cursor" => "Start again without a cursor.",
        "rate_limited" | "unavailable" => "Try again after the seconds of `Retry-After`.",
        "idempotency_mismatch" => "Use a new idempotency key for a new request.",
        "selection_changed" | "confirmation_required" => {
            "Ask with `dry_run: true`, then again with its `confirm_token`."
        }
        "corrupt" => "Run `mnemal check`.",
        "host_forbidden" => "Ask by a loopback name, or add the name to `server.allowed_hosts`.",
        "origin_forbidden" => "Add the origin to `server.cors_origins`.",
        _ => return None,
    })
}

/// Errors of the engine: the message is passed on for errors of the caller, but not for internal ones.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::not_found(error.what()),
            ErrorKind::Conflict if error.what().contains("idempotency key") => {
                Self::new("idempotency_mismatch", error.what())
            }
            ErrorKind::Conflict => Self::new("conflict", error.what()),
            ErrorKind::Invalid => Self::invalid(error.what()),
            ErrorKind::Unsupported => Self::new("unsupported", error.what()),
            kind => {
                tracing::warn!(kind = kind.as_str(), "a request failed inside");
                match kind {
                    ErrorKind::Unavailable => Self::new("unavailable", "the store does not answer"),
                    ErrorKind::Corrupt => Self::new("corrupt", "stored bytes do not match their checksum"),
                    _ => Self::new("internal", "the request failed inside; the log of the server says why"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_has_a_status_and_tells_nothing_from_inside() {
        for (kind, status, tells) in [
            (ErrorKind::NotFound, 404, true),
            (ErrorKind::Conflict, 409, true),
            (ErrorKind::Invalid, 400, true),
            (ErrorKind::Unsupported, 501, true),
            (ErrorKind::Unavailable, 503, false),
            (ErrorKind::Corrupt, 500, false),
            (ErrorKind::Internal, 500, false),
        ] {
            let problem = Problem::from(Error::new(kind, "in /home/ana/x.db"));
            assert_eq!(problem.status().as_u16(), status, "{kind:?}");
            assert_eq!(problem.form("r").detail.contains("/home"), tells, "{kind:?}");
            assert_eq!(problem.retry_after.is_some(), kind == ErrorKind::Unavailable);
        }
    }

    #[test]
    fn a_code_stands_once_and_in_its_type() {
        let mut known: Vec<&str> = codes().map(|(code, _)| code).collect();
        known.sort_unstable();
        let count = known.len();
        known.dedup();
        assert_eq!(known.len(), count);
        for code in known {
            let form = Problem::new(code, "x").form("r");
            assert_eq!(form.code, code);
            assert!(form.r#type.ends_with(code));
        }
    }
}
