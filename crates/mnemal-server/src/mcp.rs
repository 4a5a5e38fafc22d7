//! The Model Context Protocol: what an agent's client starts, and what its model may call.
//!
//! One handler stands behind each tool; it reads the arguments, calls the facade once, and writes the answer twice: as text
//! for the model and as structured content for programs. Nothing here decides about memory.
//! The protocol itself, in both of its eras, is the library's; this is the only module that names it.
//! State is never tied to a connection: the space is fixed by who opened it, the session is an argument, and a confirmation
//! is a token that any process of the installation can check.

pub(crate) mod answer;
mod arguments;
mod catalogue;
mod categories;
mod chatgpt;
mod classic;
mod context;
mod dream;
mod entity;
mod explain;
mod forget;
mod ingest;
mod lifecycle;
mod listed;
pub(crate) mod moment;
pub(crate) mod nearest;
mod note;
mod place;
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
mod tell;
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
pub use crate::mcp::tool::{Profile, Reach};
use crate::mcp::upkeep::Upkeep;

/// How a server shows itself.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The tools that it offers.
    pub profile: Profile,
    /// What the one who calls may do.
    pub reach: Reach,
    /// Said to the client behind the instructions of the server, after a blank line; empty for nothing.
    pub extra_instructions: String,
}

impl Options {
    /// Sets the tools that are offered.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets what the one who calls may do.
    #[must_use]
    pub fn with_reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }
}

/// Returns the names of all tools of the memory's own, in the order in which they are listed.
pub fn tools() -> impl Iterator<Item = &'static str> {
    tool::Tool::full().map(tool::Tool::name)
}

/// Whether a call of a tool may be said again when nobody knows whether it was done: it changes nothing, or nothing more.
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
/// Nothing but messages of the protocol is written to standard output; diagnostics go to `tracing`.
///
/// # Errors
/// `Unavailable` when the client breaks off the handshake.
pub async fn serve_stdio(memory: Memory, options: Options) -> Result<()> {
    let (read, write) = stdio();
    Box::pin(serve(memory, options, read, write)).await
}

/// Serves one memory on a pair of streams, one message a line, until `read` ends.
///
/// Calls that run when the input ends have 30 seconds to finish. A dropped future leaves what was acknowledged.
/// Between calls it does the space's upkeep, in turns with every other process that has it open.
///
/// # Errors
/// `Unavailable` when the client breaks off the handshake.
pub async fn serve<R, W>(memory: Memory, options: Options, read: R, write: W) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (transport, ended) = Lifecycle::around(AsyncRwTransport::new_server(read, write));
    let upkeep = Upkeep::new(memory.engine().clone(), ended.clone())?;
    let server = Server::new(memory, &options, ended).heard();
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
