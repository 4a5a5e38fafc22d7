//! The protocol over HTTP, without sessions: each request is self-contained, in all protocol versions.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::Body;
use hyper::{Request, Response};
use jiff::tz::TimeZone;
use mnemal::Memory;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::mcp::Options;
use crate::mcp::lifecycle::InputEnd;
use crate::mcp::server::{Server, Watch};

/// The protocol handler for one caller; by default that of a memory.
#[derive(Clone)]
pub(crate) struct StatelessService<H = Server>(StreamableHttpService<H, NeverSessionManager>)
where
    H: ServerHandler;

impl<H: ServerHandler> std::fmt::Debug for StatelessService<H> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("StatelessService")
    }
}

impl StatelessService {
    /// Serves a memory to a client with a time zone; `told` is called with each tool and its outcome.
    pub(crate) fn new(
        memory: Memory,
        (options, zone): (&Options, TimeZone),
        largest: usize,
        told: impl Fn(&'static str, &'static str) + Send + Sync + 'static,
    ) -> Self {
        let server = Server::new(memory, options, InputEnd::never()).within(zone);
        Self::around(server.watched(Watch::new(Arc::new(told))), largest)
    }
}

impl<H: ServerHandler + Clone> StatelessService<H> {
    /// Serves another handler.
    ///
    /// Host names and origins were checked before, by the same rule as for every other route.
    pub(crate) fn around(handler: H, largest: usize) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(largest)
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let sessions = Arc::new(NeverSessionManager::default());
        Self(StreamableHttpService::new(move || Ok(handler.clone()), sessions, config))
    }

    /// Answers a message.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        self.0.handle(request).await
    }
}
