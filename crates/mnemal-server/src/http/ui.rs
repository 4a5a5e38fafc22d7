//! The web UI: its files, built into the program, at `/ui/`.
//!
//! They are the same for everybody and hold no memory, so they need no key; what they show they ask the API for. They are built
//! from `ui/` of the repository and lie beside this crate's source, so that nobody needs Node to build the program.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};

use crate::hex::hex;
use crate::http::middleware::FILES_LABEL;
use crate::http::problem::Problem;
use crate::http::route::Label;

/// What a page may do: run and load its own files, ask its own server, be framed by nobody.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Length of a version in an `ETag`, in hexadecimal digits. Source: own choice, 64 bits tell the builds of a file apart.
const VERSION: usize = 16;

/// A built file: its name, its content type, and its bytes.
type BuiltFile = (&'static str, &'static str, &'static [u8]);

/// The files of the UI.
static FILES: &[BuiltFile] = &[
    ("", "text/html; charset=utf-8", include_bytes!("../../ui/index.html")),
    ("app.js", "text/javascript; charset=utf-8", include_bytes!("../../ui/app.js")),
    ("app.css", "text/css; charset=utf-8", include_bytes!("../../ui/app.css")),
    ("force.js", "text/javascript; charset=utf-8", include_bytes!("../../ui/force.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../ui/icon.svg")),
];

/// The version of each file, in the order of [`FILES`].
static VERSIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let version = |bytes: &[u8]| hex(&Sha256::digest(bytes)).chars().take(VERSION).collect::<String>();
    FILES.iter().map(|(_, _, bytes)| format!("\"{}\"", version(bytes))).collect()
});

/// Builds the router of the files.
pub(super) fn router() -> Router {
    Router::new()
        .route("/", get(async || redirect()))
        .route("/ui", get(async || redirect()))
        .route("/ui/", get(async |headers: HeaderMap| file("", &headers)))
        .route("/ui/{name}", get(async |Path(name): Path<String>, headers: HeaderMap| file(&name, &headers)))
}

/// Sends a browser to the start of the UI; a person without one reads where it is.
fn redirect() -> Response {
    let page = "<!doctype html><title>mnemal</title><p>mnemal: <a href=\"/ui/\">the web UI</a></p>\n";
    let headers = [(header::LOCATION, "/ui/"), (header::CONTENT_TYPE, "text/html; charset=utf-8")];
    with_label((StatusCode::TEMPORARY_REDIRECT, headers, page).into_response())
}

/// Returns a file, or that the browser has it already.
fn file(name: &str, headers: &HeaderMap) -> Response {
    let found = FILES.iter().zip(VERSIONS.iter()).find(|((file, ..), _)| *file == name);
    let Some(((_, content_type, bytes), version)) = found else {
        return with_label(
            Problem::not_found("the UI has no such file").hint("It begins at /ui/.").into_response(),
        );
    };
    let is_same = headers.get(header::IF_NONE_MATCH).is_some_and(|had| had.as_bytes() == version.as_bytes());
    let mut response = if is_same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(Body::from(Bytes::from_static(bytes)))
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, *content_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(version) = HeaderValue::from_str(version) {
        headers.insert(header::ETAG, version);
    }
    with_label(response)
}

fn with_label(mut response: Response) -> Response {
    response.extensions_mut().insert(Label(FILES_LABEL));
    response
}
