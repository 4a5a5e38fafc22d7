//! The Model Context Protocol over HTTP: `/mcp` and `/mcp/{space}`.
//!
//! Requests are stateless: the key identifies the caller, and the path (or the header `X-Mnemal-Space`, or the only space of the
//! key) the space; there is no session table. Tools that the key may not use are not offered.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Body as _;
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use jiff::tz::TimeZone;
use mnemal_core::SpaceId;
use rmcp::ServerHandler;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::auth::{Credential, Principal, Right};
use crate::http::call::{self, no_space};
use crate::http::host::Host;
use crate::http::problem::Problem;
use crate::http::route::Label;
use crate::http::{body, middleware};
use crate::mcp::{Options, Profile, StatelessService, ToolAccess};

/// Metric label of protocol requests.
const LABEL: &str = "/mcp";
/// The header with the space of `/mcp`, and of a remote command.
pub const SPACE: HeaderName = HeaderName::from_static("x-mnemal-space");

/// Builds the router of the protocol.
pub(super) fn router(host: &Arc<Host>) -> Router {
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let host = Arc::clone(&host);
        async move {
            let mut response = answer(&host, request).await.into_response();
            response.extensions_mut().insert(Label(LABEL));
            response
        }
    };
    Router::new().route("/mcp", any(answer.clone())).route("/mcp/{space}", any(answer))
}

/// Builds the router of another handler, with the same authentication, limits and transport.
pub(super) fn other<H: ServerHandler + Clone + Sync>(host: &Arc<Host>, path: &str, handler: H) -> Router {
    let host = Arc::clone(host);
    let service = StatelessService::around(handler, host.settings.max_body_kb * 1_024);
    let answer = move |request: Request| {
        let (host, service) = (Arc::clone(&host), service.clone());
        async move {
            let done = async {
                let credential = host.credential(request.headers(), request.extensions())?;
                let_in(&host, &credential).await?;
                handle_message(&host, request, service).await
            };
            let mut response = done.await.into_response();
            response.extensions_mut().insert(Label(LABEL));
            response
        }
    };
    Router::new().route(path, any(answer))
}

/// Authorizes the caller for reading, within the rate limit of its key.
async fn let_in(host: &Host, credential: &Credential) -> Result<Principal, Problem> {
    let principal = host.principal_of(credential).await?;
    host.rate
        .take(&principal.id, host.clock.monotonic())
        .map_err(|wait| Problem::new("rate_limited", "too many requests of this key").after(wait))?;
    if principal.may(Right::Read) {
        return Ok(principal);
    }
    Err(Problem::new("right_missing", "this needs the right read"))
}

/// Answers a protocol message.
async fn answer(host: &Arc<Host>, request: Request) -> Result<Response, Problem> {
    let credential = host.credential(request.headers(), request.extensions())?;
    let principal = let_in(host, &credential).await?;
    let space = space(&principal, &request)?;
    let Query(asked) = Query::<McpQuery>::try_from_uri(request.uri())
        .map_err(|refused| Problem::invalid(refused.body_text()))?;
    let profile = match asked.profile {
        None => Profile::Core,
        Some(name) => Profile::from_name(&name)
            .ok_or_else(|| Problem::invalid(format!("no profile {name:?}; there are {}", profiles())))?,
    };
    let memory = if principal.may(Right::Write) {
        host.open_or_create(&space).await?
    } else {
        host.open(&space).await.map_err(|_| no_space(space.as_str()))?
    };
    let memory = match &principal.user {
        Some(user) => memory.for_user(user.clone()),
        None => memory,
    };
    let reach = match (principal.may(Right::Write), principal.may(Right::Erase)) {
        (true, true) => ToolAccess::Erasing,
        (true, false) => ToolAccess::Writing,
        (false, _) => ToolAccess::Reading,
    };
    let options = Options::default().with_profile(profile).with_reach(reach);
    let zone = zone(&request)?;
    let watched = Arc::clone(host);
    let service = StatelessService::new(
        memory,
        (&options, zone),
        host.settings.max_body_kb * 1_024,
        move |tool, outcome| {
            watched.metrics.count("mnemal_mcp_calls_total", &[("tool", tool), ("outcome", outcome)], 1);
        },
    );
    let response = handle_message(host, request, service).await;
    host.tell_written(&space);
    response
}

/// Reads a complete message, and handles it in a slot.
async fn handle_message<H: ServerHandler + Clone>(
    host: &Host,
    request: Request,
    service: StatelessService<H>,
) -> Result<Response, Problem> {
    let (mut head, body) = request.into_parts();
    accept_both(&mut head.headers);
    let time = host.settings.timeout();
    let message = body::whole(Request::new(body), time, host.settings.max_body_kb).await?;
    // Protocol clients do not retry by themselves, so they wait longer for a slot than others.
    let slot = middleware::slot_within(host, time).await?;
    let response = service.answer(Request::from_parts(head, Body::from(message))).await;
    Ok(response.map(|body| hold_slot(body, slot)))
}

/// Accepts clients that declare JSON or any type as if they accepted both response types: a single request is answered with JSON,
/// although the protocol requires clients to declare event streams too.
fn accept_both(headers: &mut HeaderMap) {
    let takes_json = |value: &HeaderValue| {
        let ranges = value.to_str().unwrap_or_default().split(',');
        let mut kinds = ranges.map(|range| range.split(';').next().unwrap_or_default().trim());
        kinds.any(|kind| ["*/*", "application/*", "application/json"].contains(&kind))
    };
    let asked = headers.get_all(ACCEPT);
    if asked.iter().next().is_none() || asked.iter().any(takes_json) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Returns a response that holds its slot until the call has ended, not until the client has read it.
///
/// The buffered data is bounded by the answer of one call.
fn hold_slot(mut body: BoxBody<Bytes, Infallible>, slot: OwnedSemaphorePermit) -> Body {
    if body.size_hint().exact().is_some() {
        return Body::new(body);
    }
    let (hand, mut handed) = mpsc::unbounded_channel();
    let pass = async move {
        while let Some(Ok(frame)) = body.frame().await {
            if hand.send(Ok::<_, Infallible>(frame)).is_err() {
                break;
            }
        }
        drop(slot);
    };
    #[expect(clippy::disallowed_methods, reason = "ends with the call, or with its client")]
    let _passing = tokio::spawn(pass);
    let frames = futures_util::stream::poll_fn(move |context| handed.poll_recv(context));
    Body::new(StreamBody::new(frames))
}

/// Returns the space of a request, if the caller may access it.
fn space(principal: &Principal, request: &Request) -> Result<SpaceId, Problem> {
    let of_header = || request.headers().get(SPACE).and_then(|name| name.to_str().ok());
    let name = request.uri().path().strip_prefix("/mcp/").or_else(of_header);
    let only = || match principal.spaces.only().map(Vec::as_slice) {
        Some([only]) => Some(only.clone()),
        _ => None,
    };
    let Some(name) = name else {
        return only().ok_or_else(|| {
            Problem::new("space_required", "no space is named")
                .hint("Ask /mcp/{space}, or send X-Mnemal-Space.")
        });
    };
    let space = SpaceId::new(name).ok().filter(|space| principal.knows(space));
    space.ok_or_else(|| no_space(name))
}

/// Returns the zone of days in a request: that of its header `Time-Zone`, else UTC.
fn zone(request: &Request) -> Result<TimeZone, Problem> {
    let named = request.headers().get(middleware::TIME_ZONE).map(|name| name.to_str().unwrap_or_default());
    call::zone(named)
}

/// The query parameters.
#[derive(Deserialize)]
struct McpQuery {
    /// The tool profile.
    profile: Option<String>,
}

fn profiles() -> String {
    Profile::ALL.map(Profile::as_str).join(", ")
}
