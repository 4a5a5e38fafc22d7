//! Isolation of clients that send or read slowly, or not at all.

use std::time::Duration;

use mnemal_server::{AuthMode, ServerSettings};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::{TcpListener, TcpStream};

use crate::api::Api;

/// Long enough for the slowest machine; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_mins(1);

fn narrow() -> Api {
    Api::with(
        ServerSettings {
            max_in_flight: 1,
            rate_limit_rps: 10_000,
            rate_limit_burst: 10_000,
            ..ServerSettings::default()
        },
        AuthMode::Auto,
    )
}

/// Opens a connection to the server with this buffer size.
#[expect(clippy::disallowed_methods, reason = "the connection is a task of the test")]
fn connected(api: &Api, room: usize) -> (DuplexStream, tokio::task::JoinHandle<()>) {
    let (client, stream) = tokio::io::duplex(room);
    let server = api.server.clone();
    (client, tokio::spawn(async move { server.connection(stream).await }))
}

fn head(api: &Api, line: &str, headers: &str) -> String {
    let key = api.local.expose();
    format!("{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{headers}\r\n")
}

/// Sends the head of a request and a byte of its body, once the server reads it.
async fn trickles(api: &Api, path: &str) -> DuplexStream {
    let (mut client, _serving) = connected(api, 100_000);
    let headers = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
                   content-length: 1000\r\nexpect: 100-continue\r\n";
    client.write_all(head(api, &format!("POST {path}"), headers).as_bytes()).await.unwrap();
    let mut said = [0; 21];
    client.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"HTTP/1.1 100 Continue", "{path}");
    client.write_all(b"{").await.unwrap();
    client
}

#[tokio::test]
async fn a_body_that_trickles_in_holds_no_slot() {
    let api = narrow();
    api.post("events", json!({"content": "the heron nests behind the mill"})).await.of(201);
    for path in ["/v1/spaces/demo/recall", "/v1/spaces/demo/events", "/v1/spaces/demo/import", "/mcp/demo"] {
        let slow = trickles(&api, path).await;
        api.post("recall", json!({"query": "heron"})).await.of(200);
        drop(slow);
    }
}

// An import that waits for its client has no turn, so other streams continue; there is at most one turn per processor.
#[tokio::test]
async fn imports_that_trickle_in_hold_up_no_export() {
    let api = narrow();
    api.post("events", json!({"content": "the heron nests behind the mill"})).await.of(201);
    let mut slow = Vec::new();
    for _ in 0..std::thread::available_parallelism().unwrap().get() {
        slow.push(trickles(&api, "/v1/spaces/demo/import").await);
    }
    let export = tokio::time::timeout(PATIENCE, api.get("export")).await.expect("an export has its turn");
    assert!(export.text.contains("the heron nests"), "{export:?}");
}

#[tokio::test]
async fn an_import_that_breaks_off_in_the_middle_is_no_success() {
    use futures_util::StreamExt as _;
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper::body::Frame;
    let api = narrow();
    let line = json!({"content": "the heron nests behind the mill", "role": "user"}).to_string();
    let parts = [
        Ok(Frame::data(bytes::Bytes::from(line + "\n"))),
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)),
    ];
    let body = StreamBody::new(futures_util::stream::iter(parts).boxed());
    let request = Api::request("POST", "/v1/spaces/demo/import?format=jsonl", &api.local).body(body).unwrap();
    let answer = api.server.answer(request).await;
    assert_eq!(answer.status().as_u16(), 503, "{:?}", answer.into_body().collect().await);
}

// Without the limit the connection, and the memory of its response, would be held forever.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_let_go_after_the_time_of_a_request() {
    let api = narrow();
    let (mut deaf, serving) = connected(&api, 1_000);
    deaf.write_all(head(&api, "GET /openapi.json", "").as_bytes()).await.unwrap();
    let began = tokio::time::Instant::now();
    let time = ServerSettings::default().timeout();
    tokio::time::timeout(10 * time, serving).await.expect("it is let go").unwrap();
    assert!(began.elapsed() >= time, "it had its time");
    drop(deaf);
}

// An incomplete head has 15 seconds; no new connection waits that long, and newer ones keep their places.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the server is a task of the test")]
async fn where_all_seats_are_taken_whoever_has_said_nothing_for_longest_makes_room() {
    let api = Api::with(ServerSettings { max_connections: 2, ..ServerSettings::default() }, AuthMode::Auto);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let server = api.server.clone();
    let serving = tokio::spawn(async move { server.serve(listener, async { ended.await.unwrap() }).await });
    let ask = head(&api, "GET /health/live", "");
    let (half, rest) = ask.split_at(30);
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(half.as_bytes()).await.unwrap();
    // Connections are accepted in order, so a response shows that the first has its place.
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(ask.as_bytes()).await.unwrap();
    let mut said = [0; 15];
    second.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"HTTP/1.1 200 OK");
    let mut third = TcpStream::connect(address).await.unwrap();
    third.write_all(half.as_bytes()).await.unwrap();
    let mut gone = Vec::new();
    let gone = tokio::time::timeout(PATIENCE, first.read_to_end(&mut gone)).await.expect("it made room");
    assert!(gone.is_err() || gone.is_ok_and(|read| read == 0), "and was told nothing");
    third.write_all(rest.as_bytes()).await.unwrap();
    third.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"HTTP/1.1 200 OK");
    second.write_all(ask.as_bytes()).await.unwrap();
    drop((second, third));
    end.send(()).unwrap();
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap().unwrap();
}
