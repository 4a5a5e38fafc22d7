//! Errands: commands that this server does for others, with the spaces that it has open.
//!
//! A program of the same user that would open a space itself asks through the socket in the data directory, so that a space
//! that is served is open once. A program that has no file of the space asks at the port with a key, and has done what the
//! key may, in the spaces that it knows. What an errand says, and what it needs, is known to the program that serves.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use mnemal_core::SpaceId;

use crate::auth::{Principal, Right};
use crate::http::call::no_space;
use crate::http::host::{Host, Neighbour};
use crate::http::mcp::SPACE;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Label;
use crate::http::{body, edge};

/// Where errands are asked.
pub const ERRANDS: &str = "/errands";

/// Who asks for an errand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// A process of the same user, which could open the files itself.
    Neighbour,
    /// Whoever holds a key, perhaps on another machine.
    Holder(Principal),
}

/// Why an errand is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is none of this program's.
    Other,
    /// It cannot be done for others; the reason.
    Wrong(String),
    /// There is no space of this name, or whoever asks must not know it.
    NoSpace(String),
    /// Whoever asks lacks a right.
    Right(Right),
    /// It says words in the user's name, which an agent cannot.
    AppKey,
    /// It failed inside, and may have been done.
    Failed,
}

/// What comes of an errand.
pub type Done = Pin<Box<dyn Future<Output = Result<Bytes, Refused>> + Send>>;

/// What the program that serves does for others: takes who asks and the text of an errand, and answers it.
#[derive(Clone)]
pub struct Errands(Arc<dyn Fn(Asking, Bytes) -> Done + Send + Sync>);

impl Errands {
    /// Takes what does them, and refuses what whoever asks may not. An errand that was begun is finished, also when whoever
    /// asked has gone.
    pub fn new(done: impl Fn(Asking, Bytes) -> Done + Send + Sync + 'static) -> Self {
        Self(Arc::new(done))
    }
}

impl fmt::Debug for Errands {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Errands")
    }
}

/// Mounts the errands.
pub(super) fn router(host: &Arc<Host>, errands: Errands) -> Router {
    let most = host.settings.max_body_kb * 1_024;
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let (host, errands) = (Arc::clone(&host), errands.clone());
        async move {
            let mut response = answer(host, errands, request).await.into_response();
            response.extensions_mut().insert(Label(ERRANDS));
            response
        }
    };
    Router::new().route(ERRANDS, post(answer)).layer(DefaultBodyLimit::max(most))
}

async fn answer(host: Arc<Host>, errands: Errands, request: Request) -> Result<Response, Problem> {
    let asking = asking(&host, &request)?;
    edge::is_json(request.headers())?;
    // A neighbour waits for as long as its command would take by itself.
    let limit = matches!(asking, Asking::Holder(_)).then(|| host.settings.timeout());
    // The space is tended then, and those who watch it are told.
    let space = space(request.headers());
    let errand = body::whole(request, host.settings.timeout(), host.settings.max_body_kb).await?;
    let slot = edge::slot(&host).await?;
    let work = async move {
        let done = (errands.0)(asking, errand).await;
        if done.is_ok()
            && let Some(space) = space
            && host.open(&space).await.is_ok()
        {
            host.tell_written(&space);
        }
        drop(slot);
        done
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "holds its slot, and the server waits for all slots at its end"
    )]
    let work = tokio::spawn(work);
    let done = match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| edge::late())?,
        None => work.await,
    };
    match done.unwrap_or(Err(Refused::Failed)) {
        Ok(answer) => Ok(Reply::text("application/json; charset=utf-8", answer).into_response()),
        Err(refused) => Err(refused.into()),
    }
}

/// Returns who asks, at the rate of the key.
fn asking(host: &Host, request: &Request) -> Result<Asking, Problem> {
    let headers = request.headers();
    if request.extensions().get::<Neighbour>().is_some() && !headers.contains_key(header::AUTHORIZATION) {
        return Ok(Asking::Neighbour);
    }
    let principal = host.principal(headers, request.extensions())?;
    edge::at_its_rate(host, &principal)?;
    Ok(Asking::Holder(principal))
}

fn space(headers: &HeaderMap) -> Option<SpaceId> {
    SpaceId::new(headers.get(SPACE)?.to_str().ok()?).ok()
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Other => Self::new("conflict", "this server does not do that errand"),
            Refused::Wrong(why) => Self::invalid(why),
            Refused::NoSpace(name) => no_space(&name),
            Refused::Right(right) => edge::lacks(right),
            Refused::AppKey => Self::new("app_key_needed", "the key is an agent's"),
            Refused::Failed => {
                Self::new("internal", "the errand failed inside; the log of the server says why")
            }
        }
    }
}
