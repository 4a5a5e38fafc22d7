//! HTTP test server on the loopback interface.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// One received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// Request line and headers, as sent.
    pub head: String,
    /// The body.
    pub body: String,
}

/// The server's reaction after a request was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerReply {
    /// These bytes are written, then it is closed.
    Say(Vec<u8>),
    /// These bytes are written, and it stays open.
    Stall(Vec<u8>),
    /// These bytes are written, one per second.
    Drip(Vec<u8>),
}

impl ServerReply {
    /// A complete response with this status, further header lines (each with its line break) and a body.
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Say(
            format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes(),
        )
    }

    /// An answer of `/v1/embeddings` with these vectors, in this order.
    pub fn vectors(vectors: &[Vec<f32>]) -> Self {
        let row =
            |(index, vector): (usize, &Vec<f32>)| format!("{{\"index\":{index},\"embedding\":{vector:?}}}");
        let rows: Vec<String> = vectors.iter().enumerate().map(row).collect();
        Self::status(200, "", &format!("{{\"data\":[{}]}}", rows.join(",")))
    }
}

impl ServerReply {
    /// A response of `/v1/chat/completions` with this text, as from a model that has finished.
    pub fn words(text: &str) -> Self {
        Self::completion(&format!("{{\"content\":{}}}", json_string(text)), "stop")
    }

    /// A response of `/v1/chat/completions` with this message, a JSON object, and the model's finish reason.
    pub fn completion(message: &str, finish_reason: &str) -> Self {
        let choice = format!("{{\"index\":0,\"message\":{message},\"finish_reason\":\"{finish_reason}\"}}");
        let usage = "{\"prompt_tokens\":30,\"completion_tokens\":5}";
        Self::status(
            200,
            "Content-Type: application/json\r\n",
            &format!("{{\"choices\":[{choice}],\"usage\":{usage}}}"),
        )
    }
}

/// A text as a string of JSON.
fn json_string(text: &str) -> String {
    let sign = |sign: char| match sign {
        '"' | '\\' => format!("\\{sign}"),
        sign if sign.is_control() => format!("\\u{:04x}", u32::from(sign)),
        sign => sign.to_string(),
    };
    format!("\"{}\"", text.chars().map(sign).collect::<Vec<_>>().concat())
}

type Answer = dyn Fn(usize, &ReceivedRequest) -> ServerReply + Send + Sync;

/// The server; it runs in the test's own runtime until it is dropped.
pub struct Loopback {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<ReceivedRequest>>>,
    runs: tokio::task::JoinHandle<()>,
}

impl Loopback {
    /// Starts the server; `answer` receives the number of earlier requests.
    ///
    /// # Errors
    /// When no port is free.
    #[expect(clippy::disallowed_methods, reason = "the server of a test, which ends with the test")]
    pub async fn start(
        answer: impl Fn(usize, &ReceivedRequest) -> ServerReply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let answer: Arc<Answer> = Arc::new(answer);
        let seen = Arc::clone(&heard);
        let runs = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // What a broken connection had to say is of no use.
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&answer)));
            }
        });
        Ok(Self { address, heard, runs })
    }

    /// Returns `http://` and the listening address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in the order in which they were read.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Loopback").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.runs.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    answer: Arc<Answer>,
) -> io::Result<()> {
    let heard = read(&mut stream).await?;
    let before = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(heard.clone());
        seen.len() - 1
    };
    match answer(before, &heard) {
        ServerReply::Say(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await
        }
        ServerReply::Stall(bytes) => {
            stream.write_all(&bytes).await?;
            std::future::pending().await
        }
        ServerReply::Drip(bytes) => drip(stream, &bytes).await,
    }
}

#[expect(clippy::disallowed_methods, reason = "a slow server, whose time a test may pause")]
async fn drip(mut stream: TcpStream, bytes: &[u8]) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(std::slice::from_ref(byte)).await?;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    stream.shutdown().await
}

async fn read(stream: &mut TcpStream) -> io::Result<ReceivedRequest> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= length(head)
        {
            return Ok(ReceivedRequest { head: head.to_owned(), body: body.to_owned() });
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lengths.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or_default()
}
