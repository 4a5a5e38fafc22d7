//! The change stream of a space: server-sent events, read from the log.
//!
//! The id of an event is its position in the log, so a client that reconnects with `Last-Event-ID` misses nothing; events written
//! by other processes are included.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use bytes::Bytes;
use mnemal::Memory;
use mnemal_core::{Cursor, Event, EventFilter, EventKind, Seq};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http::blocking_stream;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;

/// Maximum polling interval of the log. Source: own default; writes of this server are sent at once.
const LOOK: Duration = Duration::from_secs(2);
/// Polls between two keep-alive comments. Source: own default, some 15 s, below the idle timeout of common proxies.
const LOOKS: u32 = 7;
/// Events sent at once. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");
/// Messages buffered for a client; a slower one is disconnected, and can reconnect at its position. Source: own default.
const WAITING: usize = 16;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "stream",
            "/v1/spaces/{space}/stream",
            "What is stored, changed and done, as it happens; ids only.",
            (of::<Value>, |call| Box::pin(stream(call))),
        )
        .whole()
        .gives("text/event-stream"),
    ]
}

async fn stream(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let head = match call.last_event {
        Some(seq) => Cursor((seq > 0).then_some(Seq(seq))),
        None => memory.admin().stats().await?.head,
    };
    let (tell, told) = mpsc::channel(WAITING);
    #[expect(clippy::disallowed_methods, reason = "ends with the client, or with the server")]
    let _telling = tokio::spawn(follow(call, memory, head, tell));
    Ok(Reply::parts("text/event-stream", blocking_stream::body(told)))
}

/// Sends new events until the client disconnects or the server stops.
async fn follow(call: Call, memory: Memory, mut after: Cursor, tell: mpsc::Sender<Bytes>) {
    let Ok(space) = call.space() else { return };
    let (mut ending, mut written) = (call.host.ending.subscribe(), call.host.watch(&space));
    let mut idle = LOOKS;
    while !*ending.borrow() {
        let Ok(events) = memory.events().scan(&EventFilter::all(), after, PAGE).await else { return };
        let mut text = String::new();
        for event in &events {
            after = Cursor(Some(event.seq));
            let (name, data) = message(event);
            // Writing into a string cannot fail.
            let _written = write!(text, "id: {}\nevent: {name}\ndata: {data}\n\n", event.seq.0);
        }
        idle += 1;
        if text.is_empty() && idle >= LOOKS {
            text.push_str(": still there\n\n");
        }
        if !text.is_empty() {
            idle = 0;
            // A client that does not read is disconnected, so that it holds up no one else.
            if tell.try_send(Bytes::from(text)).is_err() {
                return;
            }
        }
        if events.len() >= PAGE.get() {
            continue;
        }
        let news = async {
            let is_told = match &mut written {
                Some(written) => written.changed().await.is_ok(),
                None => false,
            };
            if !is_told {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            _look = tokio::time::timeout(LOOK, news) => {}
            _ = ending.wait_for(|ending| *ending) => return,
            () = tell.closed() => return,
        }
    }
}

/// Returns the name of a message, and its document, which contains no text of the memory.
fn message(event: &Event) -> (&'static str, Value) {
    let kind = event.body().map(|kept| &kept.kind);
    let name = match kind {
        Some(EventKind::Decision(_)) => "memory.changed",
        Some(EventKind::Operation(_)) => "dream.finished",
        _ => "event.stored",
    };
    (name, json!({"id": event.id.to_string(), "seq": event.seq.0, "role": event.role.as_str()}))
}
