//! A real socket: connections, streams, and a graceful shutdown.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::admin::AlwaysOn;
use mnemal::events::{Document, InboxCounts, InboxItem, InboxOutcome, Metadata, Passage};
use mnemal::ports::{FlatIndex, Inbox, VectorIndex, VectorIndexBuilder, VectorIndexFactory};
use mnemal::{Engine, Result, Settings};
use mnemal_core::SpaceId;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};

use crate::api::Api;

/// Long enough for the slowest machine; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_mins(1);

fn head(api: &Api, method: &str, path: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        api.local.expose(),
        body.len()
    )
}

/// Reads a response with a length: its status and its document.
async fn answer(stream: &mut BufReader<TcpStream>) -> (u16, Value) {
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).await.unwrap() > 0, "the server closed the connection");
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest.get(..3).unwrap().parse().unwrap();
        }
        if let Some(rest) = line.to_lowercase().strip_prefix("content-length:") {
            length = rest.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the server and its client are two tasks of the test")]
async fn a_server_on_a_socket_answers_streams_and_ends_without_losing_what_it_said() {
    let api = Api::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let server = api.server.clone();
    let serving = tokio::spawn(async move { server.serve(listener, async { ended.await.unwrap() }).await });
    let mut client = BufReader::new(TcpStream::connect(address).await.unwrap());
    let event = json!({"content": "the heron nests behind the mill"}).to_string();
    client.write_all(head(&api, "POST", "/v1/spaces/demo/events", &event).as_bytes()).await.unwrap();
    assert_eq!(answer(&mut client).await.0, 201);

    let mut watcher = BufReader::new(TcpStream::connect(address).await.unwrap());
    watcher.write_all(head(&api, "GET", "/v1/spaces/demo/stream", "").as_bytes()).await.unwrap();
    let told = async {
        loop {
            let mut line = String::new();
            watcher.read_line(&mut line).await.unwrap();
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str::<Value>(data).unwrap();
            }
            if line.starts_with(": still there") {
                // The stream starts after the first event; now there is a second one.
                client
                    .write_all(
                        head(&api, "POST", "/v1/spaces/demo/events", &event.replace("mill", "barn"))
                            .as_bytes(),
                    )
                    .await
                    .unwrap();
                assert_eq!(answer(&mut client).await.0, 201);
            }
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await.unwrap();
    assert_eq!((&told["seq"], told.get("content")), (&json!(2), None));

    // A client with an incomplete head, and one that is gone, block no one.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET /health/live HTTP/1.1\r\nhost: loc").await.unwrap();
    drop(TcpStream::connect(address).await.unwrap());
    client.write_all(head(&api, "GET", "/v1/spaces/demo/stats", "").as_bytes()).await.unwrap();
    assert_eq!(answer(&mut client).await.1["events"], 2);

    drop(slow);
    end.send(()).unwrap();
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap().unwrap();
    let memory = mnemal::Memory::open(api.home.path().join("spaces/demo.db")).await.unwrap();
    assert_eq!(memory.admin().stats().await.unwrap().head.count(), 2);
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

/// An inbox with one letter, which reports when it was processed.
#[derive(Debug)]
struct Letter {
    waiting: Mutex<Option<InboxItem>>,
    put_away: Mutex<Option<oneshot::Sender<InboxOutcome>>>,
}

impl Letter {
    fn new(text: &str) -> (Self, oneshot::Receiver<InboxOutcome>) {
        let document = Document {
            name: "letter".to_owned(),
            kind: "txt".to_owned(),
            hash: [7; 32],
            written_at: None,
            fields: Metadata::new(),
            passages: vec![Passage { text: text.to_owned(), ..Passage::default() }],
            location: None,
            undescribed: None,
        };
        let item = InboxItem { name: "letter".to_owned(), claim: "letter".into(), content: Ok(document) };
        let (put_away, hears) = oneshot::channel();
        (Self { waiting: Mutex::new(Some(item)), put_away: Mutex::new(Some(put_away)) }, hears)
    }
}

#[async_trait]
impl Inbox for Letter {
    async fn counts(&self) -> Result<InboxCounts> {
        Ok(InboxCounts::default())
    }

    async fn poll(&self, _limit: NonZeroUsize) -> Result<Vec<InboxItem>> {
        Ok(self.waiting.lock().unwrap().iter().cloned().collect())
    }

    async fn settle(&self, _item: &InboxItem, fate: &InboxOutcome) -> Result<()> {
        self.waiting.lock().unwrap().take();
        if let Some(put_away) = self.put_away.lock().unwrap().take() {
            put_away.send(fate.clone()).unwrap();
        }
        Ok(())
    }
}

// proves: GB-23, GB-44 (a server attends to the always-on spaces, whether anybody asks for them or not)
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the server is a task of the test")]
async fn the_inbox_of_an_always_on_space_is_read_although_nobody_asks() {
    let (letter, put_away) = Letter::new("Quentin services the boiler in May.");
    let api = Api::over(Engine::builder().with_inbox(Arc::new(letter)));
    let (always, other) = (SpaceId::new("house").unwrap(), SpaceId::new("other").unwrap());
    for (space, always_on) in [(&always, AlwaysOn::Yes), (&other, AlwaysOn::No)] {
        let made = api.spaces.create(space, always_on).await.unwrap();
        assert_eq!(made.admin().stats().await.unwrap().head.count(), 0);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let server = api.server.clone();
    let serving = tokio::spawn(async move { server.serve(listener, async { ended.await.unwrap() }).await });
    let fate = tokio::time::timeout(PATIENCE, put_away).await.unwrap().unwrap();
    assert_eq!(fate, InboxOutcome::Ingested);
    end.send(()).unwrap();
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap().unwrap();
    assert_eq!(api.spaces.n_open(), 0, "whoever attended to a space has let it go");
    for (space, events) in [("house", 1), ("other", 0)] {
        let file = api.home.path().join(format!("spaces/{space}.db"));
        let memory = mnemal::Memory::open(file).await.unwrap();
        assert_eq!(memory.admin().stats().await.unwrap().head.count(), events, "{space}");
    }
}

/// Tells when a vector index is to be built, and builds none.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Notify>);

impl VectorIndexFactory for Told {
    fn builder(&self, _dimensions: usize) -> Box<dyn VectorIndexBuilder> {
        Box::new(self.clone())
    }
}

impl VectorIndexBuilder for Told {
    fn update(&mut self, _rows: &FlatIndex, _most: NonZeroUsize) -> usize {
        self.0.notify_one();
        0
    }

    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        None
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the server is a task of the test")]
async fn the_vector_index_of_a_space_in_use_is_built_although_it_is_not_always_on() {
    let (told, mut settings) = (Told::default(), Settings::default());
    settings.extract.interval_secs = 1;
    let template = Engine::builder().with_settings(settings).with_vector_index(Arc::new(told.clone()));
    let api = Api::over(template);
    api.post("events", json!({"content": "the heron nests behind the mill"})).await.of(201);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let server = api.server.clone();
    let serving = tokio::spawn(async move { server.serve(listener, async { ended.await.unwrap() }).await });
    tokio::time::timeout(PATIENCE, told.0.notified()).await.expect("it is built");
    end.send(()).unwrap();
    tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap().unwrap();
}
