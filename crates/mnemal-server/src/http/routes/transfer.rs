//! Export, as a stream.

use std::io::Write as _;

use tokio::runtime::Handle;

use crate::http::blocking_stream::outgoing;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;

/// Content type of an export.
pub(super) const JSONL: &str = "application/x-ndjson";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "export",
            "/v1/spaces/{space}/export",
            "Everything, without loss, as JSON lines.",
            (of::<()>, |call| Box::pin(export(call))),
        )
        .whole()
        .gives(JSONL),
    ]
}

async fn export(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let (mut out, body) = outgoing(call.host.turns.open()?);
    let runtime = Handle::current();
    let writing = tokio::task::spawn_blocking(move || {
        if out.begin().is_err() {
            return;
        }
        let done = runtime.block_on(memory.admin().export(&mut out));
        // A failed export ends without its last line, so readers detect that it is incomplete; a client that disconnected needs
        // no rest.
        if done.is_ok() {
            let _rest = out.flush();
        }
    });
    drop(writing);
    Ok(Reply::parts(JSONL, body))
}
