//! A minimal test client: lines of JSON, with or without a handshake.

use std::sync::Arc;

use mnemal::{Engine, Memory, Scope, SpaceId};
use mnemal_server::mcp::{Options, Profile, serve};
use mnemal_testkit::ManualClock;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// The stateless protocol version, without a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";
/// All versions with a handshake.
pub(crate) const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// One end of a connection.
pub(crate) struct Client {
    requests: WriteHalf<DuplexStream>,
    answers: BufReader<ReadHalf<DuplexStream>>,
    meta: Option<Value>,
    last_id: u64,
    pub(crate) serving: JoinHandle<mnemal_core::Result<()>>,
}

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) structured: Value,
    /// The remark after the text.
    pub(crate) note: Option<String>,
    pub(crate) is_error: bool,
}

impl Client {
    /// Connects without sending anything.
    #[expect(clippy::disallowed_methods, reason = "the test owns the task and joins it at its end")]
    pub(crate) fn silent(memory: &Memory, options: Options) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        let serving = tokio::spawn(serve(memory.clone(), options, read, write));
        let (answers, requests) = tokio::io::split(near);
        Self { requests, answers: BufReader::new(answers), meta: None, last_id: 0, serving }
    }

    /// Connects without a handshake; `capabilities` are those that the client declares in each request.
    pub(crate) fn stateless(memory: &Memory, capabilities: &Value) -> Self {
        let mut client = Self::silent(memory, Options::default());
        client.speak(STATELESS, capabilities);
        client
    }

    /// Sets the version and capabilities of later requests.
    pub(crate) fn speak(&mut self, version: &str, capabilities: &Value) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
    }

    /// Connects with a handshake of this version.
    pub(crate) async fn shaken(memory: &Memory, version: &str) -> Self {
        let mut client = Self::silent(memory, Options::default());
        client.shake(version).await;
        client
    }

    /// Connects with a handshake of the newest version that has one, to the tools of a profile.
    pub(crate) async fn of_profile(memory: &Memory, profile: Profile) -> Self {
        let mut client = Self::silent(memory, Options::default().with_profile(profile));
        client.shake("2025-11-25").await;
        client
    }

    /// Performs the handshake and returns the server information.
    pub(crate) async fn shake(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let hello = self.request("initialize", params).await;
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        hello["result"].clone()
    }

    /// Writes a raw line.
    pub(crate) async fn line(&mut self, line: &str) {
        self.requests.write_all(line.as_bytes()).await.unwrap();
        self.requests.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and returns its id without waiting.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.line(&request.to_string()).await;
        self.last_id
    }

    /// Returns the next message; `None` when the server has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).await.unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Sends a request and returns its complete response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.next().await.unwrap();
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    /// Calls a tool and returns the raw result.
    pub(crate) async fn raw(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let result = self.raw(tool, arguments).await;
        Answer {
            text: result["content"][0]["text"].as_str().unwrap().to_owned(),
            structured: result["structuredContent"].clone(),
            note: result["content"][1]["text"].as_str().map(str::to_owned),
            is_error: result["isError"].as_bool().unwrap_or(false),
        }
    }

    /// Closes the input.
    pub(crate) async fn close(&mut self) {
        self.requests.shutdown().await.unwrap();
    }

    /// Closes the input and waits for the server.
    pub(crate) async fn end(mut self) -> mnemal_core::Result<()> {
        self.close().await;
        while self.next().await.is_some() {}
        self.serving.await.unwrap()
    }
}

/// A separate space with a stopped clock and no deadlines: on any machine, a query waits until all turns are read. There is no
/// rate limit.
pub(crate) async fn memory() -> Memory {
    memory_of(mnemal::Settings::default())
}

/// As [`memory`], with other settings.
pub(crate) fn memory_of(mut settings: mnemal::Settings) -> Memory {
    settings.recall.part_deadline_ms = 60_000;
    settings.privacy.agent_items_per_hour = 0;
    let builder = Engine::builder().with_settings(settings).with_clock(Arc::new(ManualClock::default()));
    let engine = builder.in_memory().unwrap();
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}
