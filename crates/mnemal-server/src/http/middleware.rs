//! Middleware: everything that a request passes before its handler, and a response after it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::FutureExt as _;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use mnemal::Spaces;
use mnemal_core::{Clock, Result, SpaceId};
use tokio::sync::OwnedSemaphorePermit;
use tower::ServiceExt as _;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::auth::{Credential, Principal, Right};
use crate::http::call::{Call, no_space};
use crate::http::host::{Access, Host, SocketPeer};
use crate::http::idempotency::RequestKey;
use crate::http::login::Proof;
use crate::http::problem::Problem;
use crate::http::remote_command::{self, RemoteCommands};
use crate::http::reply::Reply;
use crate::http::route::{Authorization, Label, RequestBody, Route};
#[cfg(unix)]
use crate::http::stdio_proxy::{self, ProxyTargets};
#[cfg(feature = "ui")]
use crate::http::ui;
use crate::http::{body, login, mcp, route, user_scope};
use crate::settings::{AuthMode, ServerSettings};
use crate::wire::SettingsForm;

/// Maximum length of an address. Source: own default, that of common servers.
const LONGEST_URI: usize = 8_192;
/// Maximum length of an idempotency key, in characters. Source: own default, several times a UUID.
const LONGEST_KEY: usize = 200;
/// Maximum length of a request id that is accepted from the caller, in characters. Source: own default.
const LONGEST_ID: usize = 64;
/// Time that a request waits for a free slot. Source: own choice, as long as a person waits before asking again.
const WAIT: Duration = Duration::from_secs(10);

/// The header with the zone of days in the request.
pub(crate) const TIME_ZONE: &str = "time-zone";
/// The header that identifies a bot.
const BOT: &str = "x-bot-id";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Metric label of the files of the UI.
pub(super) const FILES_LABEL: &str = "/ui";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A server over all spaces of an installation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) host: Arc<Host>,
    router: Router,
}

impl Server {
    /// Creates a server.
    ///
    /// # Errors
    /// `Invalid` for settings out of range, or an unauthenticated server that other machines could reach.
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
        let router = router(&host);
        Ok(Self { host, router })
    }

    /// As [`new`](Self::new), and shows administrators the settings in effect; a second list changes nothing.
    #[must_use]
    pub fn with_setting_list(self, list: SettingsForm) -> Self {
        let _first = self.host.setting_list.set(list);
        self
    }

    /// As [`new`](Self::new), and runs commands for other processes.
    #[must_use]
    pub fn with_remote_commands(mut self, commands: RemoteCommands) -> Self {
        self.router = self.router.merge(remote_command::router(&self.host, commands));
        self
    }

    /// As [`new`](Self::new), and serves the Model Context Protocol to other processes of the same user.
    #[cfg(unix)]
    #[must_use]
    pub fn with_pipes(mut self, pipes: ProxyTargets) -> Self {
        self.router = self.router.merge(stdio_proxy::router(&self.host, pipes));
        self
    }

    /// As [`new`](Self::new), and serves the Model Context Protocol at another path with another handler, with the same
    /// authentication, limits and transport: for test suites with their own tools.
    #[doc(hidden)]
    #[must_use]
    pub fn with_protocol<H: rmcp::ServerHandler + Clone + Sync>(mut self, path: &str, handler: H) -> Self {
        self.router = self.router.merge(mcp::other(&self.host, path, handler));
        self
    }

    /// Returns a code that logs one browser in with all rights, once and within a minute.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness.
    pub fn login_code(&self) -> Result<String> {
        let credential = Credential::LocalProcess;
        let code = self.host.browsers.issue_code(credential, self.host.clock.monotonic())?;
        Ok(code.expose().to_owned())
    }

    /// Returns the URL of the server for browsers: the public one, else that on this machine.
    pub fn url(&self) -> String {
        self.host.settings.url()
    }

    /// Answers a request.
    pub async fn answer<B>(&self, request: hyper::Request<B>) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let began = self.host.clock.monotonic();
        let id = request_id(request.headers()).unwrap_or_else(|| self.new_id());
        let method = request.method().clone();
        let mut response = match self.is_asked_properly(request.uri(), request.headers()) {
            Ok(()) => match self.router.clone().oneshot(request.map(Body::new)).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(problem) => problem.into_response(),
        };
        let label = response.extensions_mut().remove().map_or("none", |Label(label)| label);
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            let mut told = Reply::problem(&problem, &id).into_response();
            // Keeps headers that layers have set, such as CORS and the allowed methods.
            response.headers_mut().remove(header::CONTENT_LENGTH);
            told.headers_mut().extend(std::mem::take(response.headers_mut()));
            response = told;
        }
        let status = response.status();
        let took = self.host.clock.monotonic().saturating_sub(began);
        self.host.metrics.request(label, &method, status, took);
        tracing::debug!(route = label, status = status.as_u16(), request = %id, "answered");
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        // Answers of the API hold memory; the files of the UI do not, and are asked for again only when they have changed.
        if label != FILES_LABEL {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }

    /// Checks the address length, the host name, and the origin.
    fn is_asked_properly(&self, uri: &hyper::Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let length = uri.path().len() + uri.query().map_or(0, str::len);
        if length > LONGEST_URI {
            return Err(Problem::new("uri_too_long", format!("an address has at most {LONGEST_URI} bytes")));
        }
        let host = login::authority(uri, headers);
        if !host.is_some_and(|host| self.answers_to(name_of(host))) {
            return Err(Problem::new("host_forbidden", "the server does not answer to this name"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        if login::is_own_origin(&self.host, origin, host)
            || self.host.settings.cors_origins.iter().any(|allowed| allowed == origin)
        {
            return Ok(());
        }
        Err(Problem::new("origin_forbidden", "pages of this origin may not ask"))
    }

    fn answers_to(&self, name: &str) -> bool {
        let settings = &self.host.settings;
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || name == name_of(&settings.listen.to_string())
            || settings.public_origin().is_some_and(|public| public_host(&public).eq_ignore_ascii_case(name))
            || settings.allowed_hosts.iter().any(|allowed| name_of(allowed).eq_ignore_ascii_case(name))
    }

    fn new_id(&self) -> String {
        let mut bytes = [0; 8];
        // Without randomness the clock distinguishes requests.
        if getrandom::fill(&mut bytes).is_err() {
            bytes = self.host.now().as_micros().to_le_bytes();
        }
        crate::auth::hex(&bytes)
    }
}

/// Builds the router of everything that is served.
fn router(host: &Arc<Host>) -> Router {
    let mut router = route::router(host);
    #[cfg(feature = "ui")]
    {
        router = router.merge(ui::router());
    }
    let told = Arc::clone(host);
    if host.settings.mcp {
        router = router.merge(mcp::router(host));
    }
    // Origins are checked first; those that reach this point may read the response.
    let pages = CorsLayer::new()
        .allow_origin(AllowOrigin::mirror_request())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            IDEMPOTENCY_KEY,
            HeaderName::from_static("last-event-id"),
            REQUEST_ID,
        ]);
    router
        .method_not_allowed_fallback(async || {
            Problem::new("method_not_allowed", "the header `Allow` names the methods of this path")
        })
        .fallback(move |uri: hyper::Uri| {
            let told = Arc::clone(&told);
            async move { no_route(&uri, &told.settings) }
        })
        .layer(pages)
        .layer(DefaultBodyLimit::max(host.settings.max_body_kb * 1_024))
}

/// Returns the error for an unknown path.
fn no_route(uri: &hyper::Uri, settings: &ServerSettings) -> Problem {
    let problem = Problem::not_found("no such route");
    let is_mcp = uri.path() == "/mcp" || uri.path().starts_with("/mcp/");
    if is_mcp && !settings.mcp {
        return problem.hint("Turn the Model Context Protocol on: `[server] mcp = true` in the settings.");
    }
    problem.hint("Look the path up in /openapi.json, which lists what this server answers.")
}

/// Returns a host name without its port.
fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Returns the host name of an origin.
fn public_host(origin: &str) -> &str {
    name_of(origin.split_once("://").map_or(origin, |(_, authority)| authority))
}

/// Runs the middleware of a request.
pub(crate) async fn called(
    host: &Arc<Host>,
    (route, known): (&Route, &[String]),
    path: Vec<String>,
    request: Request,
) -> Result<Reply, Problem> {
    let proof = login::proof(host, &request);
    let (principal, credential) = let_in(host, route, &path, proof).await?;
    route.is_served(&host.settings)?;
    all_known(request.uri(), known)?;
    // A process of the same user that had to wait would open the file itself, which costs more.
    if request.extensions().get::<SocketPeer>().is_none() {
        at_its_rate(host, &principal)?;
    }
    let headers = request.headers();
    let idempotency_key = idempotency_key(headers)?;
    let (user, query) = user_scope::split_user(route, &principal, request.uri())?;
    let mut call = Call {
        host: Arc::clone(host),
        principal,
        credential,
        session: login::token(host, request.uri(), headers).map(str::to_owned),
        cookie: login::SessionCookie::of(host, request.uri(), headers),
        operation: route.operation,
        user,
        query,
        path,
        uri: request.uri().clone(),
        body: Bytes::new(),
        parts: None,
        idempotency_key,
        time_zone: headers.get(TIME_ZONE).map(|zone| zone.to_str().unwrap_or_default().to_owned()),
        names_bot: headers.contains_key(BOT),
        last_event: headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()),
    };
    let time = host.settings.timeout();
    match route.takes {
        RequestBody::Nothing => without_body(&body::whole(request, time, host.settings.max_body_kb).await?)?,
        RequestBody::Json(_) => {
            let said = is_json(headers);
            call.body = body::whole(request, time, host.settings.max_body_kb).await?;
            user_scope::of_body(&call.principal, &call.body)?;
            // An empty body is an empty document, whatever its type.
            if !call.body.is_empty() {
                said?;
            }
        }
        RequestBody::Bytes(_) => call.parts = Some(body::parts(request.into_body(), time)),
    }
    run_handler(route, call).await
}

/// Rejects unknown query parameters: an ignored filter would widen the result.
fn all_known(uri: &hyper::Uri, known: &[String]) -> Result<(), Problem> {
    let query = uri.query().unwrap_or_default();
    let Some((name, _)) =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| !known.iter().any(|one| one == name))
    else {
        return Ok(());
    };
    let there_are = if known.is_empty() {
        "this route takes none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    Err(Problem::invalid(format!("query: unknown field `{name}`; {there_are}")))
}

/// Rejects a body on a route without one.
fn without_body(bytes: &[u8]) -> Result<(), Problem> {
    if bytes.is_empty() {
        return Ok(());
    }
    let fields: serde_json::Map<String, serde_json::Value> =
        body::read(bytes).map_err(|_| Problem::invalid("body: this route takes none"))?;
    match fields.keys().next() {
        Some(name) => Err(Problem::invalid(format!("body: unknown field `{name}`; this route takes none"))),
        None => Ok(()),
    }
}

/// Runs the handler, or replays the response to the same request.
///
/// Its slot is acquired when the body is complete and released when the work is done, so that it never waits for a client.
/// Streaming handlers use the turns of streams instead.
async fn run_handler(route: &Route, call: Call) -> Result<Reply, Problem> {
    let host = Arc::clone(&call.host);
    let slot = if call.parts.is_none() { Some(slot(&host).await?) } else { None };
    let space = if route.changes() && route.is_in_space() { call.space().ok() } else { None };
    let key = call.idempotency_key.clone().filter(|_| route.changes() && call.parts.is_none());
    let begun = match key {
        Some(key) => {
            let asked =
                RequestKey { caller: call.principal.id.clone(), path: call.uri.path().to_owned(), key };
            match host.idempotency.begin(asked, route.method.as_str(), &call.body)? {
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
    let limit = route.limit(&host.settings);
    let done = if is_streamed {
        work.await
    } else if route.changes() {
        #[expect(
            clippy::disallowed_methods,
            reason = "holds its slot, and the server waits for all slots at its end"
        )]
        let task = tokio::spawn(work);
        match tokio::time::timeout(limit, task).await.map_err(|_| late())? {
            Ok(done) => done,
            Err(_) => return Err(Problem::new("unavailable", "the server ends")),
        }
    } else {
        tokio::time::timeout(limit, work).await.map_err(|_| late())?
    };
    let reply = done.unwrap_or_else(|_panic| {
        tracing::error!(route = route.path, "a handler panicked");
        Err(Problem::new("internal", "the request failed inside; the log of the server says why"))
    })?;
    if let Some(begun) = begun {
        begun.store_response(&reply);
    }
    if let Some(space) = space {
        host.tell_written(&space);
    }
    Ok(reply)
}

/// Authorizes the caller for a route in its space; returns who it is, and the credential that the request itself shows.
///
/// A space that the key may not access is treated as missing.
async fn let_in(
    host: &Host,
    route: &Route,
    path: &[String],
    proof: Result<Proof, Problem>,
) -> Result<(Principal, Option<Credential>), Problem> {
    let (principal, shown) = match proof {
        Ok(proof) => (host.principal_of(proof.credential()).await, proof.shown()),
        Err(problem) => (Err(problem), None),
    };
    let Authorization::Right(right) = route.needs else {
        let nobody = || Principal { rights: crate::auth::Rights::default(), ..Principal::owner("nobody") };
        return Ok((principal.unwrap_or_else(|_| nobody()), shown));
    };
    let principal = principal?;
    if route.is_in_space() {
        let name = path.first().map(String::as_str).unwrap_or_default();
        let space = SpaceId::new(name).ok().filter(|space| principal.knows(space));
        space.ok_or_else(|| no_space(name))?;
    }
    if !principal.may(right) {
        return Err(lacks(right));
    }
    Ok((principal, shown))
}

/// Enforces the rate limit of a key.
pub(super) fn at_its_rate(host: &Host, principal: &Principal) -> Result<(), Problem> {
    host.rate.take(&principal.id, host.clock.monotonic()).map_err(|wait| {
        let most = host.settings.rate_limit_rps;
        Problem::new("rate_limited", format!("at most {most} requests a second")).after(wait)
    })
}

/// Returns the error for a request timeout.
pub(super) fn late() -> Problem {
    Problem::new("unavailable", "it takes too long; what was begun goes on")
}

/// Returns the error for a missing right.
pub(super) fn lacks(right: Right) -> Problem {
    Problem::new("right_missing", format!("this needs the right {}", right.as_str()))
}

/// Waits for a free slot, with a time limit.
pub(super) async fn slot(host: &Host) -> Result<OwnedSemaphorePermit, Problem> {
    slot_within(host, WAIT).await
}

pub(super) async fn slot_within(host: &Host, time: Duration) -> Result<OwnedSemaphorePermit, Problem> {
    let busy = || Problem::new("unavailable", "the server is busy");
    let slot = tokio::time::timeout(time, Arc::clone(&host.slots).acquire_owned()).await;
    slot.map_err(|_| busy())?.map_err(|_| busy())
}

/// Checks that a body is declared as JSON: an HTML form cannot declare that.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new("unsupported_media_type", "the body is not said to be application/json"))
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
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

/// Whether a principal may see the full health report.
pub(crate) fn sees_health(principal: &Principal) -> bool {
    principal.may(Right::Metrics)
}
