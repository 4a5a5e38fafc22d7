//! Errands: what a program of the same user that would open a space itself asks the server to do in its place, so that a
//! space that is served is open once. They come through the socket in the data directory alone.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use mnemal_core::SpaceId;

use crate::http::host::{Host, Neighbour};
use crate::http::mcp::SPACE;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Label;
use crate::http::{body, edge};

/// Where errands are asked.
pub const ERRANDS: &str = "/local/errands";

/// What comes of an errand; `None` when the program that serves does not do it.
pub type Done = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// What the program that serves does for others of the same user: takes the text of an errand and answers it.
#[derive(Clone)]
pub struct Errands(Arc<dyn Fn(Bytes) -> Done + Send + Sync>);

impl Errands {
    /// Takes what does them. An errand that was begun is finished, also when whoever asked has gone.
    pub fn new(done: impl Fn(Bytes) -> Done + Send + Sync + 'static) -> Self {
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
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let (host, errands) = (Arc::clone(&host), errands.clone());
        async move {
            let mut response = answer(host, errands, request).await.into_response();
            response.extensions_mut().insert(Label(ERRANDS));
            response
        }
    };
    Router::new().route(ERRANDS, post(answer))
}

async fn answer(host: Arc<Host>, errands: Errands, request: Request) -> Result<Response, Problem> {
    if request.extensions().get::<Neighbour>().is_none() {
        return Err(Problem::not_found("no such route; see /openapi.json"));
    }
    // The space is tended then, and those who watch it are told.
    let space = space(request.headers());
    let errand = body::whole(request, host.settings.timeout()).await?;
    let slot = edge::slot(&host).await?;
    let work = async move {
        let done = (errands.0)(errand).await;
        if let Some(space) = space
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
    let done = tokio::spawn(work).await;
    match done {
        Ok(Some(answer)) => Ok(Reply::text("application/json; charset=utf-8", answer).into_response()),
        Ok(None) => Err(Problem::new("conflict", "this server does not do that errand")),
        Err(_) => Err(Problem::new("internal", "the errand failed inside; the log of the server says why")),
    }
}

fn space(headers: &HeaderMap) -> Option<SpaceId> {
    SpaceId::new(headers.get(SPACE)?.to_str().ok()?).ok()
}
