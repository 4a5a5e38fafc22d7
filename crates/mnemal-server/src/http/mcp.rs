//! The Model Context Protocol on the same port: `/mcp` and `/mcp/{space}`.
//!
//! Every request stands for itself: the key says who asks, the path (or the header `X-Mnemal-Space`, or the only space of the
//! key) where, and no table of sessions grows. What the key may not do is not offered.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::header::{self, HeaderName};
use hyper::{Request, Response};
use mnemal_core::SpaceId;

use crate::auth::{Principal, Right};
use crate::http::call::no_space;
use crate::http::host::Host;
use crate::http::problem::Problem;
use crate::http::reply::Body;
use crate::mcp::{Options, Profile, Reach, StatelessService};

/// Under which requests of the protocol are counted.
pub(super) const LABEL: &str = "/mcp";
/// Names the space of `/mcp`.
const SPACE: HeaderName = HeaderName::from_static("x-mnemal-space");

/// Whether a path is the protocol's.
pub(super) fn is_meant(path: &str) -> bool {
    path == "/mcp"
        || path.strip_prefix("/mcp/").is_some_and(|space| !space.is_empty() && !space.contains('/'))
}

/// Answers a message of the protocol.
pub(super) async fn answer<B>(host: &Arc<Host>, request: Request<B>) -> Result<Response<Body>, Problem>
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    let key = request.headers().get(header::AUTHORIZATION).and_then(|key| key.to_str().ok());
    let principal = host.principal(key)?;
    host.rate
        .take(&principal.id, host.clock.monotonic())
        .map_err(|wait| Problem::new("rate_limited", "too many requests of this key").after(wait))?;
    if !principal.may(Right::Read) {
        return Err(Problem::new("right_missing", "this needs the right read"));
    }
    let space = space(&principal, &request)?;
    let profile = match request.uri().query().and_then(|query| named(query, "profile")) {
        None => Profile::Core,
        Some(name) => Profile::from_name(&name)
            .ok_or_else(|| Problem::invalid(format!("no profile {name:?}; there are {}", profiles())))?,
    };
    let memory = if principal.may(Right::Write) {
        host.open_or_create(&space).await?
    } else {
        host.open(&space).await.map_err(|_| no_space(space.as_str()))?
    };
    let slot = tokio::time::timeout(host.settings.timeout(), Arc::clone(&host.slots).acquire_owned()).await;
    let Ok(Ok(slot)) = slot else { return Err(Problem::new("unavailable", "the server is busy")) };
    let reach = match (principal.may(Right::Write), principal.may(Right::Erase)) {
        (true, true) => Reach::Erasing,
        (true, false) => Reach::Writing,
        (false, _) => Reach::Reading,
    };
    let options = Options::default().with_profile(profile).with_reach(reach);
    let watched = Arc::clone(host);
    let service =
        StatelessService::new(memory, &options, host.settings.max_body_kb * 1_024, move |tool, outcome| {
            watched.metrics.count("mnemal_mcp_calls_total", &[("tool", tool), ("outcome", outcome)], 1);
        });
    let response = service.answer(request).await;
    host.tell_written(&space);
    // The slot is held until the answer is written, whose parts come while the call runs.
    Ok(response.map(|body| {
        body.map_frame(move |frame| {
            let _held = &slot;
            frame
        })
        .boxed_unsync()
    }))
}

/// Returns the space of a request, if the caller may know it.
fn space<B>(principal: &Principal, request: &Request<B>) -> Result<SpaceId, Problem> {
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

fn named(query: &str, wanted: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == wanted)
        .map(|(_, value)| value.into_owned())
}

fn profiles() -> String {
    Profile::ALL.map(Profile::as_str).join(", ")
}
