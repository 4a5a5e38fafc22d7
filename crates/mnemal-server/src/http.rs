//! An HTTP server over all spaces of an installation.
//!
//! There is one table of routes. It says of each what it needs (a right, a body), what it takes and answers (as JSON Schema),
//! and which function translates it into one call of the facade; the router, the `OpenAPI` document, the checks of rights and
//! the names in metrics are read from that table, so that none of them can forget a route.
//!
//! A request passes, in this order: the names of host and origin, the route, the key and its rights, the rate, the body within
//! its limit, a free slot: who sends or reads slowly waits alone. Then the route's function runs, at most for the time of a request. One that changes something
//! runs as a task of its own: a client that goes away, or a time that ends, does not break it off.

mod area;
mod body;
mod bounds;
mod call;
mod cursor;
mod desks;
mod edge;
mod errand;
mod flow;
mod host;
mod jobs;
mod mcp;
mod openapi;
#[cfg(unix)]
mod pipe;
mod problem;
mod replay;
mod reply;
mod route;
mod seats;
mod serve;
#[cfg(unix)]
mod socket;

use crate::auth::Right;

pub use self::edge::Server;
pub use self::errand::{Asking, Done, ERRANDS, Errands, Refused};
pub use self::host::Access;
pub use self::mcp::SPACE;
#[cfg(unix)]
pub use self::pipe::{Led, PIPED, PIPES, Pipes};
pub use self::serve::Doors;
#[cfg(unix)]
pub use self::socket::{LocalSocket, SOCKET};

/// Returns the right that each operation needs, by its name; those that anybody may call are left out.
pub fn rights() -> Vec<(&'static str, Right)> {
    let needed = |route: &route::Route| match route.needs {
        route::Needs::Right(right) => Some((route.operation, right)),
        route::Needs::Nothing => None,
    };
    area::routes().iter().filter_map(needed).collect()
}

/// Returns every operation with its method and path, in no particular order.
pub fn operations() -> Vec<(String, String)> {
    let operation =
        |route: route::Route| (route.operation.to_owned(), format!("{} {}", route.method, route.path));
    area::routes().into_iter().map(operation).collect()
}
