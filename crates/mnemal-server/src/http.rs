//! The HTTP server over all spaces of an installation.
//!
//! There is one table of routes. Each row has the needed right, the body, the forms of request and response (as JSON Schema), and
//! the function that translates it to one call of the facade. The router, the `OpenAPI` document, the authorization checks and
//! the metric labels are derived from that table, so none of them can miss a route.
//!
//! A request passes, in this order: host and origin check, routing, authentication and authorization, rate limit, body within its
//! limit, a free slot. Slow clients are isolated, because they hold no slot while they send or read. Then the route's function
//! runs, at most for the request timeout. A function that changes something runs as its own task: a disconnect or a timeout does
//! not interrupt it.

mod blocking_stream;
mod body;
mod call;
mod connection_limit;
mod cursor;
mod host;
mod idempotency;
mod jobs;
mod login;
mod mcp;
mod middleware;
mod openapi;
mod problem;
mod query_permits;
mod remote_command;
mod reply;
mod route;
mod routes;
mod serve;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod stdio_proxy;
#[cfg(feature = "ui")]
mod ui;
#[cfg(feature = "ingest-docs")]
mod upload;
mod user_scope;

use crate::auth::Right;

pub use self::host::Access;
pub use self::mcp::SPACE;
pub use self::middleware::Server;
pub use self::remote_command::{Caller, CommandFuture, REMOTE_COMMANDS, Rejection, RemoteCommands};
pub use self::serve::Listeners;
#[cfg(unix)]
pub use self::socket::{LocalSocket, SOCKET};
#[cfg(unix)]
pub use self::stdio_proxy::{PIPED, PIPES, ProxyTarget, ProxyTargets};

/// Returns the right that each operation needs, by its name; public operations are left out.
pub fn rights() -> Vec<(&'static str, Right)> {
    let needed = |route: &route::Route| match route.needs {
        route::Authorization::Right(right) => Some((route.operation, right)),
        route::Authorization::Nothing => None,
    };
    routes::routes().iter().filter_map(needed).collect()
}

/// Returns every operation with its method and path, in no particular order.
pub fn operations() -> Vec<(String, String)> {
    let operation =
        |route: route::Route| (route.operation.to_owned(), format!("{} {}", route.method, route.path));
    routes::routes().into_iter().map(operation).collect()
}
