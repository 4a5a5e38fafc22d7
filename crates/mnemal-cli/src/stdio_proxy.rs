//! Stdio proxy of the Model Context Protocol: connects the standard streams to the server that holds the space, and when that
//! server ends, to this process over the file.
//!
//! The switch is invisible to the client: the handshake is replayed to the new peer, and unanswered requests are sent again. A
//! call that is not idempotent is not repeated; its client is told that it may have been executed.

use std::time::Duration;

use anyhow::Result;
use mnemal::Memory;
use mnemal_server::mcp::{self, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

/// Time limit for closing the connection after the input has ended and every request is answered. Source: own choice, so that the
/// process exits within 1 s.
const LAST: Duration = Duration::from_millis(800);
/// Time limit for the last answers. Source: the 30 s of a call after the end of the input, and transport.
const ANSWERS: Duration = Duration::from_secs(32);
/// Buffer between this process and its own server, in bytes. Source: own default.
const ROOM: usize = 64 * 1_024;

/// Relays the protocol over a connection to the server until the input ends; when the server ends first, opens the memory and
/// continues with it. Returns the memory if it was opened.
///
/// # Errors
/// When the memory cannot be opened.
pub(crate) async fn carry(
    server: impl AsyncRead + AsyncWrite + Unpin,
    options: Options,
    open: impl Future<Output = Result<Memory>>,
) -> Result<Option<Memory>> {
    let (input, output) = mcp::stdio();
    let (mut input, mut talk) = (Lines::new(input), PeerState::default());
    let (read, write) = tokio::io::split(server);
    let mut client = Client { input: &mut input, output: Box::pin(output) };
    if client.relay(&mut talk, Lines::new(read), write, Vec::new()).await == ConnectionEnd::Input {
        return Ok(None);
    }
    let memory = open.await?;
    let (here, there) = tokio::io::duplex(ROOM);
    let (read, write) = tokio::io::split(there);
    let answering = mcp::serve(memory.clone(), options, read, write);
    let ReplayMessages { ask, tell } = talk.again();
    for line in tell {
        client.write_line(&line).await;
    }
    let (read, write) = tokio::io::split(here);
    let (outcome, _ended) = tokio::join!(answering, client.relay(&mut talk, Lines::new(read), write, ask));
    outcome?;
    Ok(Some(memory))
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionEnd {
    /// The client's input ended.
    Input,
    /// The server is gone.
    Answers,
}

struct Client<'i, R, W> {
    input: &'i mut Lines<R>,
    output: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<'_, R, W> {
    /// Relays messages in both directions, the given ones first.
    async fn relay(
        &mut self,
        talk: &mut PeerState,
        mut answers: Lines<impl AsyncRead + Unpin>,
        mut questions: impl AsyncWrite + Unpin,
        first: Vec<Vec<u8>>,
    ) -> ConnectionEnd {
        for line in first {
            if !put(&mut questions, &line).await {
                return ConnectionEnd::Answers;
            }
        }
        loop {
            tokio::select! {
                line = answers.next() => match line {
                    Some(line) => {
                        if talk.record_answer(&line) {
                            self.write_line(&line).await;
                        }
                    }
                    None => return ConnectionEnd::Answers,
                },
                line = self.input.next() => match line {
                    Some(line) => {
                        talk.record_request(&line);
                        if !put(&mut questions, &line).await {
                            return ConnectionEnd::Answers;
                        }
                    }
                    None => break,
                },
            }
        }
        let time = if talk.waiting.is_empty() { LAST } else { ANSWERS };
        let last = async {
            let _closed = questions.shutdown().await;
            while let Some(line) = answers.next().await {
                if talk.record_answer(&line) {
                    self.write_line(&line).await;
                }
            }
        };
        let _late = tokio::time::timeout(time, last).await;
        ConnectionEnd::Input
    }

    /// Writes to the client; a client that is gone is noticed by its input.
    async fn write_line(&mut self, line: &[u8]) {
        let _told = put(&mut self.output, line).await;
    }
}

/// Writes a line; returns whether it was accepted.
async fn put(to: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> bool {
    to.write_all(line).await.is_ok() && to.flush().await.is_ok()
}

/// Complete input lines; a partial line is kept when the wait is cancelled.
struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(from: R) -> Self {
        Self { from: BufReader::new(from), line: Vec::new() }
    }

    /// Returns the next complete line, or `None` at the end; an incomplete last line is dropped.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let read = self.from.read_until(b'\n', &mut self.line).await;
        let line = std::mem::take(&mut self.line);
        (read.is_ok() && line.ends_with(b"\n")).then_some(line)
    }
}

/// The part of the conversation that a new peer needs.
#[derive(Debug, Default)]
struct PeerState {
    /// The initialize request, with its id, and whether it was answered.
    hello: Option<(String, Vec<u8>, bool)>,
    /// The initialized notification.
    ready: Option<Vec<u8>>,
    /// Pending requests, in order.
    waiting: Vec<(String, Vec<u8>)>,
    /// Id of the replayed initialize request, whose answer the client has already.
    unwanted: Option<String>,
}

/// The messages after a switch of the peer.
#[derive(Debug, Default)]
struct ReplayMessages {
    /// To the new peer.
    ask: Vec<Vec<u8>>,
    /// To the client.
    tell: Vec<Vec<u8>>,
}

impl PeerState {
    /// Records a message of the client.
    fn record_request(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some("initialize"), Some(id)) => self.hello = Some((id.to_string(), line.to_vec(), false)),
            (Some("notifications/initialized"), _) => self.ready = Some(line.to_vec()),
            (Some("notifications/cancelled"), _) => {
                let id = message.pointer("/params/requestId").map(Value::to_string);
                self.waiting.retain(|(waiting, _)| Some(waiting) != id.as_ref());
            }
            (Some(_), Some(id)) => self.waiting.push((id.to_string(), line.to_vec())),
            _ => {}
        }
    }

    /// Records an answer; returns whether to forward it to the client.
    fn record_answer(&mut self, line: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return true };
        let (None, Some(id)) = (message.get("method"), message.get("id")) else { return true };
        let id = id.to_string();
        if self.unwanted.as_ref() == Some(&id) {
            self.unwanted = None;
            return false;
        }
        if let Some((hello, _, is_answered)) = &mut self.hello
            && *hello == id
        {
            *is_answered = true;
        }
        self.waiting.retain(|(waiting, _)| *waiting != id);
        true
    }

    /// Returns the messages for the new peer, and for the client about calls that are not repeated.
    fn again(&mut self) -> ReplayMessages {
        let mut again = ReplayMessages::default();
        if let Some((id, line, is_answered)) = &self.hello {
            again.ask.push(line.clone());
            self.unwanted = is_answered.then(|| id.clone());
        }
        again.ask.extend(self.ready.clone());
        self.waiting.retain(|(_, line)| {
            let told = outcome_unknown(line);
            let is_asked_again = told.is_none();
            if is_asked_again {
                again.ask.push(line.clone());
            }
            again.tell.extend(told);
            is_asked_again
        });
        again
    }
}

/// Returns the error for a call that must not be repeated; `None` for one that may be.
fn outcome_unknown(line: &[u8]) -> Option<Vec<u8>> {
    let message: Value = serde_json::from_slice(line).ok()?;
    if message.get("method").and_then(Value::as_str) != Some("tools/call") {
        return None;
    }
    let tool = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    if mcp::may_be_repeated(tool) {
        return None;
    }
    let text = "The server that held the memory ended at work: look whether it is done, then call again.";
    let told = json!({
        "jsonrpc": "2.0", "id": message.get("id"),
        "result": {"content": [{"type": "text", "text": text}], "isError": true},
    });
    Some(format!("{told}\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &Value) -> Vec<u8> {
        format!("{message}\n").into_bytes()
    }

    fn call(id: u64, tool: &str) -> Vec<u8> {
        line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}))
    }

    fn answer(id: u64) -> Vec<u8> {
        line(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))
    }

    #[test]
    fn who_answers_next_hears_the_greeting_and_what_waits_and_no_call_is_done_twice() {
        let hello = line(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
        let ready = line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
        let mut talk = PeerState::default();
        talk.record_request(&hello);
        assert!(talk.record_answer(&answer(0)));
        talk.record_request(&ready);
        for (id, tool) in [
            (1, "memory_recall"),
            (2, "memory_store"),
            (3, "memory_dream"),
            (4, "memory_recall"),
            (5, "memory_recall"),
        ] {
            talk.record_request(&call(id, tool));
        }
        talk.record_request(&line(&gone));
        assert!(talk.record_answer(&answer(1)));
        let again = talk.again();
        assert_eq!(again.ask, [hello, ready, call(2, "memory_store"), call(4, "memory_recall")]);
        let [told] = again.tell.as_slice() else { panic!("{again:?}") };
        let told: Value = serde_json::from_slice(told).unwrap();
        assert_eq!((&told["id"], &told["result"]["isError"]), (&json!(3), &json!(true)));
        // The client has the answer to its initialize request already.
        assert!(!talk.record_answer(&answer(0)));
        assert!(talk.record_answer(&answer(4)));
        assert_eq!(talk.again().ask.len(), 3, "the second is still waited for");
    }

    #[test]
    fn a_greeting_without_an_answer_is_answered_once() {
        let hello = line(&json!({"jsonrpc": "2.0", "id": "a", "method": "initialize"}));
        let mut talk = PeerState::default();
        talk.record_request(&hello);
        assert_eq!(talk.again().ask, [hello]);
        assert!(talk.record_answer(&line(&json!({"jsonrpc": "2.0", "id": "a", "result": {}}))));
    }

    #[tokio::test]
    async fn half_a_line_stays_until_its_end_comes() {
        let (mut there, here) = tokio::io::duplex(100);
        let mut lines = Lines::new(here);
        there.write_all(b"{\"half\":").await.unwrap();
        tokio::select! {
            biased;
            _ = lines.next() => panic!("half a line is no line"),
            () = std::future::ready(()) => {}
        }
        there.write_all(b"1}\nrest").await.unwrap();
        assert_eq!(lines.next().await.as_deref(), Some(b"{\"half\":1}\n".as_slice()));
        drop(there);
        assert_eq!(lines.next().await, None, "what has no end was never said");
    }
}
