//! Adapters between network streams and blocking readers and writers: import and export run on separate threads.

use std::convert::Infallible;
use std::io::{self, BufRead, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use axum::body::Body;
use bytes::{Buf as _, Bytes};
use futures_util::stream;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::http::problem::Problem;
use crate::http::query_permits::QueryPermits;

/// Size of a sent chunk, in bytes. Source: own default.
const CHUNK: usize = 64 * 1_024;
/// Chunks buffered for a client. Source: own default, 128 KiB per stream, so that an unread one costs little.
const WAITING: usize = 2;
/// Maximum number of open streams. Source: own default; each blocks one of some 500 threads.
const STREAMS: usize = 128;

/// The turns of streams.
///
/// A stream can be as long as a space, so the number of active ones is limited; a stream that waits for its client releases its
/// turn until the client continues. Searches and contexts have priority over each part of it.
#[derive(Clone, Debug)]
pub(crate) struct StreamTurns {
    free: Arc<Semaphore>,
    most: usize,
    streams: Arc<Semaphore>,
    query_permits: QueryPermits,
}

impl StreamTurns {
    /// Allows active streams on half of the processors, at least one.
    pub(crate) fn of_this_machine(query_permits: QueryPermits) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::new((processors / 2).max(1), query_permits)
    }

    pub(crate) fn new(most: usize, query_permits: QueryPermits) -> Self {
        Self {
            free: Arc::new(Semaphore::new(most)),
            most,
            streams: Arc::new(Semaphore::new(STREAMS)),
            query_permits,
        }
    }

    /// Opens a stream, without a turn.
    ///
    /// # Errors
    /// `unavailable` when too many are open.
    pub(crate) fn open(&self) -> Result<StreamTurn, Problem> {
        let busy = |_| Problem::new("unavailable", "too many streams are open");
        let stream = Arc::clone(&self.streams).try_acquire_owned().map_err(busy)?;
        let (turns, query_permits) = (Arc::clone(&self.free), self.query_permits.clone());
        Ok(StreamTurn { turns, taken: None, query_permits, _stream: stream })
    }

    /// Waits for all active streams, and lets none start again.
    pub(crate) async fn end(&self) {
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let _all = self.free.acquire_many(all).await;
        self.free.close();
    }
}

/// The turn of one stream, acquired for work and released while it waits.
#[derive(Debug)]
pub(crate) struct StreamTurn {
    turns: Arc<Semaphore>,
    taken: Option<OwnedSemaphorePermit>,
    query_permits: QueryPermits,
    _stream: OwnedSemaphorePermit,
}

impl StreamTurn {
    /// Blocks the current thread until the next part may be processed.
    fn take(&mut self) -> io::Result<()> {
        if self.taken.is_none() {
            let turn = wait(Arc::clone(&self.turns).acquire_owned());
            self.taken = Some(turn.map_err(|_| io::Error::other("the server ends"))?);
        }
        self.query_permits.give_way();
        Ok(())
    }

    fn give_back(&mut self) {
        self.taken = None;
    }
}

/// A blocking reader of a request body.
#[derive(Debug)]
pub(crate) struct BodyReader {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    part: Bytes,
    turn: StreamTurn,
}

impl BodyReader {
    pub(crate) fn new(parts: mpsc::Receiver<io::Result<Bytes>>, turn: StreamTurn) -> Self {
        Self { parts, part: Bytes::new(), turn }
    }
}

impl Read for BodyReader {
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

impl BufRead for BodyReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.part.is_empty() {
            return Ok(&self.part);
        }
        while self.part.is_empty() {
            let part = match self.parts.try_recv() {
                Ok(part) => Some(part),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    self.turn.give_back();
                    wait(self.parts.recv())
                }
            };
            match part {
                Some(part) => self.part = part?,
                None => break,
            }
        }
        self.turn.take()?;
        Ok(&self.part)
    }

    fn consume(&mut self, amount: usize) {
        self.part.advance(amount.min(self.part.len()));
    }
}

/// A blocking writer of a response body.
#[derive(Debug)]
pub(crate) struct BodyWriter {
    parts: mpsc::Sender<Bytes>,
    part: Vec<u8>,
    turn: StreamTurn,
}

impl BodyWriter {
    /// Blocks until work may begin; data written before that waits.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.turn.take()
    }
}

impl Write for BodyWriter {
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
        match self.parts.try_send(part) {
            Ok(()) => self.turn.take(),
            Err(TrySendError::Closed(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(TrySendError::Full(part)) => {
                self.turn.give_back();
                wait(self.parts.send(part)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
                self.turn.take()
            }
        }
    }
}

/// Blocks the current thread on a future.
///
/// The runtime's own blocking call is not allowed inside a future that drives others, where readers and writers are called. The
/// future runs without a cooperative budget: nothing else waits for this thread.
fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(ParkedThread(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(tokio::task::unconstrained(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// A parked thread.
struct ParkedThread(Thread);

impl Wake for ParkedThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a writer, and the body that sends its output.
pub(crate) fn outgoing(turn: StreamTurn) -> (BodyWriter, Body) {
    let (parts, sent) = mpsc::channel(WAITING);
    (BodyWriter { parts, part: Vec::new(), turn }, body(sent))
}

/// Returns a body that sends the items of a channel, until its sender is dropped.
pub(crate) fn body(parts: mpsc::Receiver<Bytes>) -> Body {
    Body::from_stream(stream::unfold(parts, |mut parts| async move {
        let part = parts.recv().await?;
        Some((Ok::<_, Infallible>(part), parts))
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Long enough for the slowest machine; no test waits for it to pass.
    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn what_is_written_on_a_thread_is_what_is_read_on_another() {
        let turns = StreamTurns::new(1, QueryPermits::new(1));
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let (mut out, body) = outgoing(turns.open().unwrap());
        let written = text.clone();
        let writing = tokio::task::spawn_blocking(move || {
            for part in written.chunks(1_000) {
                out.write_all(part).unwrap();
            }
            out.flush().unwrap();
        });
        let parts = crate::http::body::parts(body, PATIENCE);
        let turn = turns.open().unwrap();
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            BodyReader::new(parts, turn).read_to_end(&mut read).unwrap();
            read
        });
        writing.await.unwrap();
        assert!(reading.await.unwrap() == text);
    }

    // Two streams and one turn: the one that waits for its client releases the turn.
    #[tokio::test]
    async fn a_client_that_reads_nothing_holds_no_turn() {
        let turns = StreamTurns::new(1, QueryPermits::new(1));
        let (mut deaf, unread) = outgoing(turns.open().unwrap());
        let (waits, told) = tokio::sync::oneshot::channel();
        let blocked = tokio::task::spawn_blocking(move || {
            deaf.begin()?;
            for _ in 0..WAITING {
                deaf.write_all(&vec![0; CHUNK])?;
            }
            waits.send(()).unwrap();
            deaf.write_all(&vec![0; CHUNK])
        });
        told.await.unwrap();
        let (mut heard, body) = outgoing(turns.open().unwrap());
        let writing = tokio::task::spawn_blocking(move || {
            heard.begin()?;
            heard.write_all(b"heard")?;
            heard.flush()
        });
        tokio::time::timeout(PATIENCE, writing).await.expect("there is a turn").unwrap().unwrap();
        assert_eq!(axum::body::to_bytes(body, 100).await.unwrap(), "heard");
        drop(unread);
        assert_eq!(blocked.await.unwrap().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn nobody_begins_after_the_end_and_so_many_streams_are_open_at_once() {
        let turns = StreamTurns::new(1, QueryPermits::new(1));
        let open: Vec<StreamTurn> = (0..STREAMS).map(|_| turns.open().unwrap()).collect();
        assert_eq!(turns.open().unwrap_err().code(), "unavailable");
        drop(open);
        let (mut out, _body) = outgoing(turns.open().unwrap());
        turns.end().await;
        let begun = tokio::task::spawn_blocking(move || out.begin()).await.unwrap();
        assert!(begun.is_err());
    }
}
