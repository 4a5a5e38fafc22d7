//! Connection handling: accept, serve, close.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::{Either, join, select};
use hyper::body::{Frame, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mnemal_core::{Error, ErrorKind, OwnerId, Result};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_io_timeout::TimeoutWriter;

use crate::http::connection_limit::{ConnectionLimit, ConnectionSlot, RequestGuard};
use crate::http::host::SocketPeer;
use crate::http::middleware::Server;
#[cfg(unix)]
use crate::http::socket::LocalSocket;

/// Time limit for the head of a request. Source: own default; a slow client holds a connection, not a slot.
const HEAD: Duration = Duration::from_secs(15);
/// Maximum size of a request head, in bytes. Source: 8 KiB of address and 16 KiB of headers, as common servers accept.
const LARGEST_HEAD: usize = 24 * 1_024;
/// Shutdown time for work in progress. Source: own choice, so that the process exits within 10 s of its signal; background
/// workers have the same time in parallel.
const GRACE: Duration = Duration::from_secs(8);
/// Shutdown time for the rest of the last response of an idle connection. Source: own default, a network window; an incomplete
/// head is no request yet.
const LEAVE: Duration = Duration::from_secs(1);
/// Send buffer of a connection, in bytes. Source: own default; by default the system buffers megabytes of an export, all produced
/// for a client that may not read them.
const KEPT: usize = 128 * 1_024;
/// Pause when the system cannot accept a connection. Source: own default.
const BREATH: Duration = Duration::from_millis(100);

/// The listeners.
#[derive(Debug)]
pub struct Listeners {
    /// For programs with a key.
    pub port: TcpListener,
    /// For other processes of the same user.
    #[cfg(unix)]
    pub local: Option<LocalSocket>,
}

impl From<TcpListener> for Listeners {
    fn from(port: TcpListener) -> Self {
        Self {
            port,
            #[cfg(unix)]
            local: None,
        }
    }
}

/// A response body that keeps its connection marked as working until the last part is sent.
struct TrackedBody {
    body: Body,
    _working: RequestGuard,
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An accepted connection.
enum AcceptedConnection {
    Tcp(TcpStream),
    #[cfg(unix)]
    Local(tokio::net::UnixStream),
}

impl Listeners {
    async fn accept(&self) -> std::io::Result<AcceptedConnection> {
        let tcp = async { self.port.accept().await.map(|(stream, _from)| AcceptedConnection::Tcp(stream)) };
        #[cfg(unix)]
        if let Some(local) = &self.local {
            return tokio::select! {
                accepted = tcp => accepted,
                accepted = local.accept() => accepted.map(AcceptedConnection::Local),
            };
        }
        tcp.await
    }
}

impl Server {
    /// Serves connections until `until` is ready; then accepts no more, finishes the work in progress, and closes the spaces.
    ///
    /// Every response sent before it returns is as durable as it states.
    ///
    /// # Errors
    /// `Unavailable` when work did not finish within 8 seconds, or a space could not be closed; acknowledged events are safe
    /// nevertheless.
    #[expect(clippy::disallowed_methods, reason = "the tasks of connections, for which it waits")]
    pub async fn serve(
        &self,
        listeners: impl Into<Listeners>,
        until: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let listeners: Listeners = listeners.into();
        let tending = self.tend()?;
        let connections = ConnectionLimit::new(self.host.settings.max_connections);
        let mut until = pin!(until);
        loop {
            let taken = tokio::select! {
                () = &mut until => break,
                taken = async {
                    let accepted = listeners.accept().await;
                    (connections.take().await, accepted)
                } => taken,
            };
            match taken {
                (Some(slot), Ok(accepted)) => {
                    let server = self.clone();
                    drop(tokio::spawn(async move {
                        match accepted {
                            AcceptedConnection::Tcp(stream) => {
                                let _delay = stream.set_nodelay(true);
                                let _kept = SockRef::from(&stream).set_send_buffer_size(KEPT);
                                server.talk(stream, &slot, None).await;
                            }
                            #[cfg(unix)]
                            AcceptedConnection::Local(stream) => {
                                server.talk(stream, &slot, Some(SocketPeer)).await;
                            }
                        }
                    }));
                }
                (_, Err(cause)) => {
                    // The process is out of file descriptors, or the client disconnected before it was accepted.
                    tracing::warn!(kind = ?cause.kind(), "a connection was not taken");
                    let _rested = tokio::time::timeout(BREATH, std::future::pending::<()>()).await;
                }
                (None, _) => break,
            }
        }
        drop(listeners);
        self.end(&connections, tending).await
    }

    /// Does the upkeep of the spaces that are in use until `until` is ready; then finishes the work in progress, and closes the
    /// spaces. It listens nowhere: requests come through [`answer`](Self::answer).
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn attend(&self, until: impl Future<Output = ()> + Send) -> Result<()> {
        let tending = self.tend()?;
        until.await;
        self.end(&ConnectionLimit::new(1), tending).await
    }

    /// Starts the upkeep, which ends with the server.
    #[expect(clippy::disallowed_methods, reason = "the task of the upkeep, which `end` joins")]
    fn tend(&self) -> Result<JoinHandle<((), ())>> {
        let owner = OwnerId::new(format!("http-{}-{:x}", std::process::id(), self.host.now().as_micros()))?;
        let host = Arc::clone(&self.host);
        Ok(tokio::spawn(async move {
            let attending = async {
                let others = join(Box::pin(host.compress()), Box::pin(host.build_vector_indexes()));
                join(Box::pin(host.run_background(&owner)), others).await;
            };
            join(host.maintain(&owner), attending).await
        }))
    }

    /// Serves the requests of one connection until the client or the server ends it.
    ///
    /// A client that does not read a response for the request timeout is disconnected.
    pub async fn connection<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        if let Some(slot) = ConnectionLimit::new(1).take().await {
            self.talk(stream, &slot, None).await;
        }
    }

    async fn talk<S>(&self, stream: S, slot: &Arc<ConnectionSlot>, peer: Option<SocketPeer>)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let has_asked = AtomicBool::new(false);
        let answer = service_fn(|mut request: hyper::Request<_>| {
            let server = self.clone();
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
                request.extensions_mut().insert(Arc::clone(slot));
            }
            has_asked.store(true, Ordering::Relaxed);
            let working = slot.work();
            async move {
                let response = server.answer(request).await;
                Ok::<_, Infallible>(response.map(|body| TrackedBody { body, _working: working }))
            }
        });
        let mut stream = Box::pin(TimeoutWriter::new(stream));
        stream.as_mut().set_timeout_pinned(Some(self.host.settings.timeout()));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LARGEST_HEAD).half_close(false);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer).with_upgrades());
        let mut ending = self.host.ending.subscribe();
        let asked = async {
            let _asked = ending.wait_for(|ending| *ending).await;
        };
        let (asked, needed) = (pin!(asked), pin!(slot.asked_to_leave()));
        let ended = match select(connection.as_mut(), select(asked, needed)).await {
            Either::Left((ended, _)) => ended,
            // It never sent a request, and others need its place.
            Either::Right((Either::Right(_), _)) if !has_asked.load(Ordering::Relaxed) => Ok(()),
            Either::Right(_) => {
                // The request in progress is answered, and no further one is read.
                connection.as_mut().graceful_shutdown();
                if slot.is_idle() {
                    tokio::time::timeout(LEAVE, connection).await.unwrap_or(Ok(()))
                } else {
                    connection.await
                }
            }
        };
        if let Err(cause) = ended {
            tracing::debug!(timeout = cause.is_timeout(), "a connection broke");
        }
    }

    /// Waits for the work in progress, then closes the spaces.
    async fn end(&self, connections: &ConnectionLimit, tending: JoinHandle<((), ())>) -> Result<()> {
        self.host.ending.send_replace(true);
        self.host.jobs.end();
        let slots = u32::try_from(self.host.settings.max_in_flight).unwrap_or(u32::MAX);
        let done = tokio::time::timeout(GRACE, async {
            // Every request holds a slot until its work is done, even after its client has disconnected.
            let _slots = self.host.slots.acquire_many(slots).await;
            connections.all_left().await;
            self.host.turns.end().await;
            self.host.jobs.joined().await;
        });
        let is_done = done.await.is_ok();
        // A background worker holds its space, which is closed afterwards.
        let tended = tending.await.map_err(|cause| Error::internal("the upkeep failed").because(cause));
        self.host.spaces.close().await?;
        tended?;
        if is_done {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unavailable, "some requests did not finish in time"))
    }
}
