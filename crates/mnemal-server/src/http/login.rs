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

/// What a request shows to prove who asks, and where it shows it.
#[derive(Debug)]
pub(super) enum Proof {
    /// In its headers, or by its connection.
    Shown(Credential),
    /// By the session of a browser.
    Session(Credential),
}

impl Proof {
    /// Returns the credential, wherever it was.
    pub(super) fn credential(&self) -> &Credential {
        match self {
            Self::Shown(credential) | Self::Session(credential) => credential,
        }
    }

    /// Returns the credential that the request itself shows.
    pub(super) fn shown(self) -> Option<Credential> {
        match self {
            Self::Shown(credential) => Some(credential),
            Self::Session(_) => None,
        }
    }
}

/// Returns what proves who asks: what the request shows, else its session.
///
/// # Errors
/// `unauthenticated` when it shows nothing that is valid, `origin_forbidden` when a session is used from another page.
pub(super) fn proof(host: &Host, request: &Request) -> Result<Proof, Problem> {
    let headers = request.headers();
    let missing = match host.credential(headers, request.extensions()) {
        Ok(credential) => return Ok(Proof::Shown(credential)),
        Err(missing) => missing,
    };
    if headers.contains_key(header::AUTHORIZATION) {
        return Err(missing);
    }
    let Some(token) = token(host, request.uri(), headers) else { return Err(missing) };
    if !is_from_own_page(host, request) {
        return Err(Problem::new("origin_forbidden", "a session is for the pages of this server alone"));
    }
    let session = host.browsers.credential(token, host.clock.monotonic());
    session.map(Proof::Session).ok_or_else(|| {
        let over = Problem::new("unauthenticated", "the session is over");
        over.hint("Open the page again with `mnemal ui`, or enter a key.")
    })
}

/// Returns the session token in the cookie of a request.
pub(super) fn token<'a>(host: &Host, uri: &Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(host, authority(uri, headers));
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(found, _)| found.trim() == name).map(|(_, token)| token.trim())
}

/// The cookie of the sessions of one address.
#[derive(Clone, Debug)]
pub(crate) struct SessionCookie {
    name: String,
    is_secure: bool,
}

impl SessionCookie {
    /// Returns the cookie for the page that sends a request.
    pub(super) fn of(host: &Host, uri: &Uri, headers: &HeaderMap) -> Self {
        let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        // A browser says by which address it sends a login; another client is taken for one at the public address.
        let public = host.settings.public_origin();
        let origin = origin.or(public.as_deref());
        let is_secure = origin.is_some_and(|origin| origin.starts_with("https://"));
        Self { name: cookie_name(host, authority(uri, headers)), is_secure }
    }

    /// Returns the header that gives a browser its session.
    pub(super) fn set(&self, token: &Secret) -> Result<HeaderValue, Problem> {
        self.written(token.expose(), SESSION_LIFE.as_secs())
    }

    /// Returns the header that takes the session from a browser.
    pub(super) fn unset(&self) -> Result<HeaderValue, Problem> {
        self.written("", 0)
    }

    fn written(&self, value: &str, seconds: u64) -> Result<HeaderValue, Problem> {
        let Self { name, is_secure } = self;
        let secure = if *is_secure { "; Secure" } else { "" };
        let cookie =
            format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/v1; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&cookie).map_err(|_| Problem::new("internal", "the cookie cannot be written"))
    }
}

/// Returns the name of the cookie; cookies do not know ports, and two servers of a machine must not share one. An address without
/// a port is that of a proxy, which leads to this server alone.
fn cookie_name(host: &Host, authority: Option<&str>) -> String {
    let port = authority.and_then(|authority| authority.rsplit_once(':')?.1.parse::<u16>().ok());
    format!("mnemal_session_{}", port.unwrap_or(host.settings.listen.port()))
}

/// Whether a request was sent by a page of this server, or by no page at all for one that only reads.
fn is_from_own_page(host: &Host, request: &Request) -> bool {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match text("origin") {
        Some(origin) => is_own_origin(host, origin, authority(request.uri(), headers)),
        None if request.method() != Method::GET => false,
        None => text("sec-fetch-site").is_none_or(|site| ["same-origin", "none"].contains(&site)),
    }
}

/// Returns the host and port by which a request addresses the server.
pub(super) fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or_else(|| uri.authority().map(hyper::http::uri::Authority::as_str))
}

/// Whether an origin is the server itself, addressed this way or by its public URL.
pub(super) fn is_own_origin(host: &Host, origin: &str, authority: Option<&str>) -> bool {
    origin.strip_prefix("http://").is_some_and(|own| Some(own) == authority)
        || host.settings.public_origin().is_some_and(|public| public == origin)
}
