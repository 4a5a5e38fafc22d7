//! The Model Context Protocol server: tools, resources and prompts for an agent's client.
//!
//! Each tool has one handler, which parses the arguments, calls the facade once, and writes the answer twice: as text for the
//! model and as structured content for programs. It makes no decisions about memory. The protocol itself, with and without a
//! handshake, is the library's; this is the only module that uses it. There is no state per connection: the space is fixed when
//! the server is opened, the session is an argument, and a confirmation is a token that any process of the installation can
//! verify.

pub(crate) mod answer;
mod arguments;
mod bounded_list;
mod catalogue;
mod categories;
mod chatgpt;
mod classic;
mod context;
mod cursor;
mod dream;
mod entity;
mod explain;
mod fact_lines;
mod forget;
mod ingest;
mod lifecycle;
pub(crate) mod nearest;
mod note;
pub(crate) mod parse_time;
mod prompt;
mod question;
pub(crate) mod recall;
mod relationships;
mod resource;
mod server;
#[cfg(feature = "http")]
mod stateless;
mod status;
pub(crate) mod store;
mod summary;
mod timeline;
pub(crate) mod token;
mod tool;
mod upkeep;
mod working;

use mnemal::Memory;
use mnemal_core::{Error, ErrorKind, Result};
use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::mcp::lifecycle::Lifecycle;
use crate::mcp::server::Server;
#[cfg(feature = "http")]
pub(crate) use crate::mcp::stateless::StatelessService;
pub use crate::mcp::tool::{Profile, ToolAccess};
use crate::mcp::upkeep::Upkeep;

/// Options of an MCP server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The tool profile.
    pub profile: Profile,
    /// The rights of the caller.
    pub reach: ToolAccess,
    /// Text appended to the server's instructions, after a blank line; empty for none.
    pub extra_instructions: String,
}

impl Options {
    /// Sets the tool profile.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets the rights of the caller.
    #[must_use]
    pub fn with_reach(mut self, reach: ToolAccess) -> Self {
        self.reach = reach;
        self
    }
}

/// Returns the names of all of mnemal's own tools, in list order.
pub fn tools() -> impl Iterator<Item = &'static str> {
    tool::Tool::full().map(tool::Tool::name)
}

/// Whether a tool call may be retried when its outcome is unknown: it is read-only or idempotent.
pub fn may_be_repeated(tool: &str) -> bool {
    Profile::ALL
        .into_iter()
        .flat_map(Profile::offers)
        .any(|offer| offer.name == tool && offer.tool.is_idempotent())
}

/// Returns this process's standard input and output as streams.
pub fn stdio() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    rmcp::transport::io::stdio_pipes()
}

/// Serves one memory on this process's standard input and output until the input ends.
///
/// Standard output contains only protocol messages; diagnostics go to `tracing`.
///
/// # Errors
/// `Unavailable` when the client ends the handshake early.
pub async fn serve_stdio(memory: Memory, options: Options) -> Result<()> {
    let (read, write) = stdio();
    Box::pin(serve(memory, options, read, write)).await
}

/// Serves one memory on a pair of streams, one message per line, until `read` ends.
///
/// Calls in progress when the input ends have 30 seconds to finish. Dropping the future keeps everything that was acknowledged.
/// Between calls it runs the space's upkeep, coordinated with every other process that has the space open.
///
/// # Errors
/// `Unavailable` when the client ends the handshake early.
pub async fn serve<R, W>(memory: Memory, options: Options, read: R, write: W) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (transport, ended) = Lifecycle::around(AsyncRwTransport::new_server(read, write));
    let upkeep = Upkeep::new(memory.admin().engine().clone(), ended.clone())?;
    let server = Server::new(memory, &options, ended).with_notifications();
    match serve_server(server, transport).await {
        Ok(running) => match tokio::join!(running.waiting(), upkeep.run()) {
            (Ok(_reason), ()) => Ok(()),
            (Err(cause), ()) => Err(Error::internal("the protocol's own task failed").because(cause)),
        },
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(cause) => {
            Err(Error::new(ErrorKind::Unavailable, "the client broke off the handshake").because(cause))
        }
    }
}
