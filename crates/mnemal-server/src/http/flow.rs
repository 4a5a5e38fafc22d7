//! Between streams of the network and readers and writers that block: import and export run on a thread of their own.

use std::convert::Infallible;
use std::io::{self, BufRead, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use axum::body::Body;
use bytes::{Buf as _, Bytes};
use futures_util::stream;
use tokio::sync::mpsc;

/// Bytes that are sent at once. Source: own default.
const CHUNK: usize = 64 * 1_024;
/// Chunks that wait for the client. Source: own default, half a megabyte a stream.
const WAITING: usize = 8;

/// Reads what comes in, on a thread that may wait.
#[derive(Debug)]
pub(crate) struct Incoming {
    parts: mpsc::Receiver<Bytes>,
    part: Bytes,
}

impl Incoming {
    pub(crate) fn new(parts: mpsc::Receiver<Bytes>) -> Self {
        Self { parts, part: Bytes::new() }
    }
}

impl Read for Incoming {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let waiting = self.fill_buf()?;
        let length = waiting.len().min(room.len());
        for (place, byte) in room.iter_mut().zip(waiting) {
            *place = *byte;
        }
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Incoming {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.part.is_empty() {
            match wait(self.parts.recv()) {
                Some(part) => self.part = part,
                None => break,
            }
        }
        Ok(&self.part)
    }

    fn consume(&mut self, amount: usize) {
        self.part.advance(amount.min(self.part.len()));
    }
}

/// Writes what goes out, on a thread that may wait for the client.
#[derive(Debug)]
pub(crate) struct Outgoing {
    parts: mpsc::Sender<Bytes>,
    part: Vec<u8>,
}

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let part = Bytes::from(std::mem::take(&mut self.part));
        wait(self.parts.send(part)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Waits on a thread of its own for what other threads do.
///
/// The library's own way of blocking is refused below a future that drives others, which is where readers and writers are
/// called. The future is not asked to give way: nobody else waits for this thread.
fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(tokio::task::unconstrained(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// A thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a writer, and the body that sends what is written.
pub(crate) fn outgoing() -> (Outgoing, Body) {
    let (parts, sent) = mpsc::channel(WAITING);
    (Outgoing { parts, part: Vec::new() }, body(sent))
}

/// Returns a body that sends what comes through a channel, until its sender is dropped.
pub(crate) fn body(parts: mpsc::Receiver<Bytes>) -> Body {
    Body::from_stream(stream::unfold(parts, |mut parts| async move {
        let part = parts.recv().await?;
        Some((Ok::<_, Infallible>(part), parts))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_on_a_thread_is_what_is_read_on_another() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let (mut out, body) = outgoing();
        let written = text.clone();
        let writing = tokio::task::spawn_blocking(move || {
            for part in written.chunks(1_000) {
                out.write_all(part).unwrap();
            }
            out.flush().unwrap();
        });
        let parts = crate::http::body::parts(body);
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            Incoming::new(parts).read_to_end(&mut read).unwrap();
            read
        });
        writing.await.unwrap();
        assert!(reading.await.unwrap() == text);
    }
}
