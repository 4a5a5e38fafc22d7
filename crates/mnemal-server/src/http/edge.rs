//! The edge: what every request passes before its handler and every answer after it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response};
use mnemal::Spaces;
use mnemal_core::{Clock, Result, SpaceId};
use tokio::sync::OwnedSemaphorePermit;

use crate::auth::{Principal, Right};
use crate::http::call::{Call, no_space};
use crate::http::host::{Access, Host};
use crate::http::problem::Problem;
use crate::http::replay::Asked;
use crate::http::reply::{Body, Reply};
use crate::http::route::{Found, Needs, Route, Routes, Takes};
use crate::http::{body, mcp};
use crate::settings::{AuthMode, ServerSettings};

/// Longest address. Source: SURFACES 11.4.
const LONGEST_URI: usize = 8_192;
/// Longest idempotency key, in characters. Source: SURFACES 5.1.
const LONGEST_KEY: usize = 200;
/// Longest id of a request that is taken over from the caller, in characters. Source: own default.
const LONGEST_ID: usize = 64;
/// How long a request waits for a free slot. Source: own default; longer, and the client is better off asking again.
const WAIT: Duration = Duration::from_secs(1);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A server over all spaces of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) host: Arc<Host>,
    pub(crate) routes: Arc<Routes>,
}

impl Server {
    /// Wires a server.
    ///
    /// # Errors
    /// `Invalid` for settings out of range, or an open server that others than this machine would reach.
    pub fn new(
        spaces: Spaces,
        access: Access,
        settings: ServerSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        settings.check()?;
        if access.mode == AuthMode::None && !settings.listen.ip().is_loopback() {
            return Err(mnemal_core::Error::invalid(format!(
                "a server without keys listens on loopback only, not on {}",
                settings.listen
            )));
        }
        let host = Arc::new(Host::new(spaces, access, settings, clock));
        Ok(Self { host, routes: Arc::new(Routes::all()) })
    }

    /// Answers a request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send + std::fmt::Display,
    {
        let began = self.host.clock.monotonic();
        let id = request_id(request.headers()).unwrap_or_else(|| self.new_id());
        let method = request.method().clone();
        let (label, answered) = self.routed(request).await;
        let mut response = match answered {
            Ok(response) => response,
            Err(problem) => Reply::problem(&problem, &id).into_response(),
        };
        let status = response.status();
        let took = self.host.clock.monotonic().saturating_sub(began);
        self.host.metrics.request(label, &method, status, took);
        tracing::debug!(route = label, status = status.as_u16(), request = %id, "answered");
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }

    /// Finds the route and answers; also says under which name it is counted.
    async fn routed<B>(&self, request: Request<B>) -> (&'static str, Result<Response<Body>, Problem>)
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send + std::fmt::Display,
    {
        if let Err(problem) = self.is_asked_properly(request.uri(), request.headers()) {
            return ("none", Err(problem));
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        if mcp::is_meant(request.uri().path()) && self.host.settings.mcp {
            return (mcp::LABEL, mcp::answer(&self.host, request).await);
        }
        let path = request.uri().path().to_owned();
        if *request.method() == Method::OPTIONS
            && let Some(origin) = origin
        {
            return ("preflight", Ok(preflight(origin)));
        }
        match self.routes.find(request.method(), &path) {
            Found::Route(route, values) => {
                let mut answered = self.called(route, values, request).await.map(Reply::into_response);
                if let (Ok(response), Some(origin)) = (&mut answered, origin) {
                    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                }
                (route.path, answered)
            }
            Found::Methods(methods) => {
                let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
                let detail = format!("there are {}", names.join(", "));
                ("none", Err(Problem::new("method_not_allowed", detail)))
            }
            Found::Nothing => ("none", Err(Problem::not_found("no such route; see /openapi.json"))),
        }
    }

    /// Passes a request through everything that stands before its handler.
    async fn called<B>(&self, route: &Route, path: Vec<String>, request: Request<B>) -> Result<Reply, Problem>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    {
        let principal = self.let_in(route, &path, request.headers())?;
        self.host.rate.take(&principal.id, self.host.clock.monotonic()).map_err(|wait| {
            Problem::new(
                "rate_limited",
                format!("at most {} requests a second", self.host.settings.rate_limit_rps),
            )
            .after(wait)
        })?;
        let slot = self.slot().await?;
        let (parts, sent) = request.into_parts();
        let idempotency_key = idempotency_key(&parts.headers)?;
        let mut call = Call {
            host: Arc::clone(&self.host),
            principal,
            operation: route.operation,
            path,
            query: parts.uri.query().unwrap_or_default().to_owned(),
            body: Bytes::new(),
            parts: None,
            idempotency_key,
            last_event: parts.headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()),
        };
        match route.takes {
            Takes::Nothing => {}
            Takes::Json(_) => {
                let most = self.host.settings.max_body_kb * 1_024;
                let reading = tokio::time::timeout(self.host.settings.timeout(), body::whole(sent, most));
                call.body =
                    reading.await.map_err(|_| Problem::new("unavailable", "the body took too long"))??;
                // An empty body is an empty document, whatever its type.
                if !call.body.is_empty() {
                    is_json(&parts.headers)?;
                }
            }
            Takes::Bytes(_) => call.parts = Some(body::parts(sent)),
        }
        self.answered(route, call, parts.uri.path(), slot).await
    }

    /// Runs the handler, or repeats the answer that the same request had.
    async fn answered(
        &self,
        route: &Route,
        call: Call,
        path: &str,
        slot: OwnedSemaphorePermit,
    ) -> Result<Reply, Problem> {
        let space = if route.changes() && route.is_in_space() { call.space().ok() } else { None };
        let key = call.idempotency_key.clone().filter(|_| route.changes() && call.parts.is_none());
        let begun = match key {
            Some(key) => {
                let asked = Asked { caller: call.principal.id.clone(), path: path.to_owned(), key };
                match self.host.replays.begin(asked, route.method.as_str(), &call.body)? {
                    Ok(begun) => Some(begun),
                    Err(reply) => return Ok(reply),
                }
            }
            None => None,
        };
        let is_streamed = call.parts.is_some();
        let work = AssertUnwindSafe((route.handle)(call)).catch_unwind();
        let work = async move {
            let done = work.await;
            drop(slot);
            done
        };
        let limit = self.host.settings.timeout();
        let late = |_| Problem::new("unavailable", "it takes too long; what was begun goes on");
        let done = if is_streamed {
            work.await
        } else if route.changes() {
            #[expect(
                clippy::disallowed_methods,
                reason = "holds its slot, and the server waits for all slots at its end"
            )]
            let task = tokio::spawn(work);
            match tokio::time::timeout(limit, task).await.map_err(late)? {
                Ok(done) => done,
                Err(_) => return Err(Problem::new("unavailable", "the server ends")),
            }
        } else {
            tokio::time::timeout(limit, work).await.map_err(late)?
        };
        let reply = done.unwrap_or_else(|_panic| {
            tracing::error!(route = route.path, "a handler panicked");
            Err(Problem::new("internal", "the request failed inside; the log of the server says why"))
        })?;
        if let Some(begun) = begun {
            begun.answered(&reply);
        }
        if let Some(space) = space {
            self.host.tell_written(&space);
        }
        Ok(reply)
    }

    /// Makes sure that the caller may call a route in its space.
    ///
    /// A space that the key does not know does not exist for it.
    fn let_in(&self, route: &Route, path: &[String], headers: &HeaderMap) -> Result<Principal, Problem> {
        let header = headers.get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
        let Needs::Right(right) = route.needs else {
            let known = self.host.principal(header).ok();
            let nobody =
                || Principal { rights: crate::auth::Rights::default(), ..Principal::owner("nobody") };
            return Ok(known.unwrap_or_else(nobody));
        };
        let principal = self.host.principal(header)?;
        if route.is_in_space() {
            let name = path.first().map(String::as_str).unwrap_or_default();
            let space = SpaceId::new(name).ok().filter(|space| principal.knows(space));
            space.ok_or_else(|| no_space(name))?;
        }
        if !principal.may(right) {
            let detail = format!("this needs the right {}", right.as_str());
            return Err(Problem::new("right_missing", detail));
        }
        Ok(principal)
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let busy = || Problem::new("unavailable", "the server is busy");
        let slot = tokio::time::timeout(WAIT, Arc::clone(&self.host.slots).acquire_owned()).await;
        slot.map_err(|_| busy())?.map_err(|_| busy())
    }

    /// Checks the address, the name under which the server was asked, and the page that asks.
    fn is_asked_properly(&self, uri: &hyper::Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let length = uri.path().len() + uri.query().map_or(0, str::len);
        if length > LONGEST_URI {
            return Err(Problem::new("uri_too_long", format!("an address has at most {LONGEST_URI} bytes")));
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| uri.authority().map(hyper::http::uri::Authority::as_str));
        if !host.is_some_and(|host| self.answers_to(name_of(host))) {
            return Err(Problem::new("host_forbidden", "the server does not answer to this name"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let is_own = origin.strip_prefix("http://").is_some_and(|authority| Some(authority) == host);
        if is_own || self.host.settings.cors_origins.iter().any(|allowed| allowed == origin) {
            return Ok(());
        }
        Err(Problem::new("origin_forbidden", "pages of this origin may not ask"))
    }

    fn answers_to(&self, name: &str) -> bool {
        let settings = &self.host.settings;
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || name == name_of(&settings.listen.to_string())
            || settings.allowed_hosts.iter().any(|allowed| name_of(allowed).eq_ignore_ascii_case(name))
    }

    fn new_id(&self) -> String {
        let mut bytes = [0; 8];
        // Without randomness the clock tells requests apart.
        if getrandom::fill(&mut bytes).is_err() {
            bytes = self.host.now().as_micros().to_le_bytes();
        }
        crate::auth::hex(&bytes)
    }
}

/// Returns a name without its port.
fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Answers a browser that asks whether a page may ask; its origin was checked before.
fn preflight(origin: HeaderValue) -> Response<Body> {
    let mut response = Reply::text("text/plain; charset=utf-8", "").into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, idempotency-key, last-event-id, x-request-id"),
    );
    response
}

/// Makes sure that a body says that it is JSON: a form of a page cannot say so.
fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new("unsupported_media_type", "the body is not said to be application/json"))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let is_good = |key: &&str| {
        (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = key.to_str().ok().filter(is_good);
    let wrong =
        || Problem::invalid(format!("an idempotency key has 1 to {LONGEST_KEY} visible ASCII characters"));
    key.map(|key| Some(key.to_owned())).ok_or_else(wrong)
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let is_safe = |id: &&str| {
        (1..=LONGEST_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    headers.get(REQUEST_ID)?.to_str().ok().filter(is_safe).map(str::to_owned)
}

/// Whether a principal may see more than the status.
pub(crate) fn sees_health(principal: &Principal) -> bool {
    principal.may(Right::Metrics)
}
