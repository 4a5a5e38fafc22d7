//! Stdio proxy, server side: the Model Context Protocol on the standard streams of another process of the same user, relayed to a
//! server that holds the space. Only the socket in the data directory accepts it.
//!
//! The connection is upgraded: it carries exactly the bytes of the standard streams, with the same handler. The only difference
//! is the process that has the file open.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, io};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::Bytes;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{StatusCode, upgrade};
use hyper_util::rt::TokioIo;
use mnemal::Memory;
use tokio::io::{AsyncRead, ReadBuf};

use crate::http::body;
use crate::http::connection_limit::{ConnectionSlot, RequestGuard};
use crate::http::host::{Host, SocketPeer};
use crate::http::problem::Problem;
use crate::http::route::Label;
use crate::mcp::{self, Options};

/// The path of the upgrade.
pub const PIPES: &str = "/local/mcp";
/// The upgraded protocol's name.
pub const PIPED: &str = "mnemal-mcp";

/// The memory that a connection asks for; `None` when the serving program refuses.
pub type ProxyTarget = Pin<Box<dyn Future<Output = Option<(Memory, Options)>> + Send>>;

/// Opens memories for connections: takes the text in which another process describes what it would open.
#[derive(Clone)]
pub struct ProxyTargets(Arc<dyn Fn(Bytes) -> ProxyTarget + Send + Sync>);

impl ProxyTargets {
    /// Wraps the function that opens the memory of a connection.
    pub fn new(led: impl Fn(Bytes) -> ProxyTarget + Send + Sync + 'static) -> Self {
        Self(Arc::new(led))
    }
}

impl fmt::Debug for ProxyTargets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ProxyTargets")
    }
}

/// Builds the router of the stdio proxy.
pub(super) fn router(host: &Arc<Host>, pipes: ProxyTargets) -> Router {
    let host = Arc::clone(host);
    let answer = move |request: Request| {
        let (host, pipes) = (Arc::clone(&host), pipes.clone());
        async move {
            let mut response = answer(host, pipes, request).await.into_response();
            response.extensions_mut().insert(Label(PIPES));
            response
        }
    };
    Router::new().route(PIPES, post(answer))
}

async fn answer(host: Arc<Host>, pipes: ProxyTargets, mut request: Request) -> Result<Response, Problem> {
    let slot = request.extensions().get::<Arc<ConnectionSlot>>().cloned();
    let (Some(_), Some(slot)) = (request.extensions().get::<SocketPeer>(), slot) else {
        return Err(Problem::not_found("no such route; see /openapi.json"));
    };
    let taken_over = upgrade::on(&mut request);
    let said = body::whole(request, host.settings.timeout(), host.settings.max_body_kb).await?;
    let led = (pipes.0)(said).await;
    let (memory, options) = led.ok_or_else(|| Problem::new("conflict", "this server does not lead there"))?;
    // On shutdown the server waits for all connections, including these.
    let working = slot.work();
    #[expect(
        clippy::disallowed_methods,
        reason = "holds its slot, and the server waits for all slots at its end"
    )]
    let _carrying = tokio::spawn(carry(host, taken_over, memory, options, working));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static(PIPED));
    Ok(response)
}

/// Serves a connection until the other process or the server stops.
async fn carry(
    host: Arc<Host>,
    taken_over: OnUpgrade,
    memory: Memory,
    options: Options,
    working: RequestGuard,
) {
    let Ok(stream) = taken_over.await else { return };
    let (read, write) = tokio::io::split(TokioIo::new(stream));
    let mut ending = host.ending.subscribe();
    let ended = Box::pin(async move {
        let _ended = ending.wait_for(|ending| *ending).await;
    });
    let read = StoppableReader { read, ended: Some(ended) };
    let space = memory.admin().scope().space.clone();
    if let Err(error) = Box::pin(mcp::serve(memory, options, read, write)).await {
        tracing::debug!(kind = error.kind().as_str(), "a pipe broke");
    }
    host.tell_written(&space);
    drop(working);
}

/// A reader that ends when the server stops.
struct StoppableReader {
    read: tokio::io::ReadHalf<TokioIo<Upgraded>>,
    ended: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl AsyncRead for StoppableReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_over = self.ended.as_mut().is_none_or(|ended| ended.as_mut().poll(context).is_ready());
        if is_over {
            self.ended = None;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.read).poll_read(context, room)
    }
}
