//! Logins of browsers: the cookie, and when it counts.
//!
//! The cookie reaches only the API, no script reads it, and no other site sends it. Browsers count pages at other ports of the
//! same machine to the same site, so a request with the cookie must come from the server's own page besides: one that could
//! change something shows this by its `Origin`, one that reads by not being sent from elsewhere.

use axum::extract::Request;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Uri};

use crate::auth::{Credential, SESSION_LIFE, Secret};
use crate::http::host::Host;
use crate::http::problem::Problem;

/// Returns the credential of a request: that of its headers, else that of its session.
///
/// # Errors
/// `unauthenticated` when it shows nothing that is valid, `origin_forbidden` when a session is used from another page.
pub(super) fn credential(host: &Host, request: &Request) -> Result<Credential, Problem> {
    let headers = request.headers();
    let shown = host.credential(headers, request.extensions());
    if shown.is_ok() || headers.contains_key(header::AUTHORIZATION) {
        return shown;
    }
    let Some(token) = token(host, headers) else { return shown };
    if !is_from_own_page(request) {
        return Err(Problem::new("origin_forbidden", "a session is for the pages of this server alone"));
    }
    let session = host.browsers.credential(token, host.clock.monotonic());
    session.ok_or_else(|| {
        let over = Problem::new("unauthenticated", "the session is over");
        over.hint("Open the page again with `mnemal ui`, or enter a key.")
    })
}

/// Returns the session token in the cookie of a request.
pub(super) fn token<'a>(host: &Host, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(host);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(found, _)| found.trim() == name).map(|(_, token)| token.trim())
}

/// Returns the header that gives a browser its session.
pub(super) fn cookie(host: &Host, token: &Secret) -> Result<HeaderValue, Problem> {
    set_cookie(host, token.expose(), SESSION_LIFE.as_secs())
}

/// Returns the header that takes the session from a browser.
pub(super) fn no_cookie(host: &Host) -> Result<HeaderValue, Problem> {
    set_cookie(host, "", 0)
}

fn set_cookie(host: &Host, value: &str, seconds: u64) -> Result<HeaderValue, Problem> {
    let name = cookie_name(host);
    let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/v1; Max-Age={seconds}");
    HeaderValue::from_str(&cookie).map_err(|_| Problem::new("internal", "the cookie cannot be written"))
}

/// Returns the name of the cookie; cookies do not know ports, and two servers of a machine must not share one.
fn cookie_name(host: &Host) -> String {
    format!("mnemal_session_{}", host.settings.listen.port())
}

/// Whether a request was sent by a page of this server, or by no page at all for one that only reads.
fn is_from_own_page(request: &Request) -> bool {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match text("origin") {
        Some(origin) => is_own_origin(origin, authority(request.uri(), headers)),
        None if request.method() != Method::GET => false,
        None => text("sec-fetch-site").is_none_or(|site| ["same-origin", "none"].contains(&site)),
    }
}

/// Returns the host and port by which a request addresses the server.
pub(super) fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or_else(|| uri.authority().map(hyper::http::uri::Authority::as_str))
}

/// Whether an origin is the server itself, addressed this way.
pub(super) fn is_own_origin(origin: &str, authority: Option<&str>) -> bool {
    origin.strip_prefix("http://").is_some_and(|own| Some(own) == authority)
}
