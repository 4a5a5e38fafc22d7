//! One request, one connection: connect, send, read, close. Dropping the future stops everything.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper_util::rt::TokioIo;
use mnemal_core::{Error, ErrorKind, PRODUCT, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::address::{Address, Scheme};
use super::answer;
use super::client::ApiKey;

/// Connect timeout. Source: own choice.
const CONNECT: Duration = Duration::from_secs(5);
/// Read timeout: longest silence inside a response. Source: own choice; it ends slow-drip responses.
const SILENCE: Duration = Duration::from_secs(15);

/// The request.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) address: &'a Address,
    pub(super) key: Option<&'a ApiKey>,
    pub(super) body: &'a [u8],
    /// Most bytes that are read of an answer.
    pub(super) largest_answer: usize,
}

/// The response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// The value of `Retry-After`, in its form of seconds.
    pub(super) retry_after: Option<Duration>,
    /// Empty unless the status is 200.
    pub(super) body: Vec<u8>,
}

/// Opens connections; loads the system's certificates once, before the first encrypted connection.
#[derive(Default)]
pub(super) struct Connector(OnceLock<Arc<ClientConfig>>);

impl fmt::Debug for Connector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Connector")
    }
}

impl Connector {
    /// Posts a JSON document.
    ///
    /// # Errors
    /// `Unavailable` when there is no connection or it breaks; `Invalid` for an address that is refused; `Unsupported` for
    /// an answer that is too large.
    pub(super) async fn post(&self, request: &Request<'_>) -> Result<Reply> {
        let address = request.address;
        let connected = async {
            let tcp = TcpStream::connect(address.look_up().await?.as_slice())
                .await
                .map_err(|cause| broken(address, "cannot connect to").because(cause))?;
            match address.scheme {
                Scheme::Http => Ok(Stream::Plain(tcp)),
                Scheme::Https => {
                    self.encrypted(address, tcp).await.map(|tls| Stream::Encrypted(Box::new(tls)))
                }
            }
        };
        let stream = tokio::time::timeout(CONNECT, connected)
            .await
            .map_err(|_late| broken(address, "cannot connect in time to"))??;
        match stream {
            Stream::Plain(tcp) => exchange(tcp, request).await,
            Stream::Encrypted(tls) => exchange(*tls, request).await,
        }
    }

    async fn encrypted(
        &self,
        address: &Address,
        tcp: TcpStream,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>> {
        let name = ServerName::try_from(address.host.clone()).map_err(|cause| {
            Error::invalid(format!("{} is no name of a host", address.host)).because(cause)
        })?;
        let connector = TlsConnector::from(self.configuration()?);
        connector
            .connect(name, tcp)
            .await
            .map_err(|cause| broken(address, "cannot encrypt the connection to").because(cause))
    }

    fn configuration(&self) -> Result<Arc<ClientConfig>> {
        if let Some(known) = self.0.get() {
            return Ok(Arc::clone(known));
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Error::invalid(
                "the system has no certificates by which an endpoint could be trusted",
            ));
        }
        let made = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|cause| Error::internal("the encryption has no protocol").because(cause))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::clone(self.0.get_or_init(|| Arc::new(made))))
    }
}

/// A connection that may be encrypted.
enum Stream {
    Plain(TcpStream),
    Encrypted(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

async fn exchange(stream: impl AsyncRead + AsyncWrite + Unpin, request: &Request<'_>) -> Result<Reply> {
    let broke = |cause: hyper::Error| broken(request.address, "no whole answer from").because(cause);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broke)?;
    let asked = http_request(request)?;
    let mut answered = pin!(async {
        let response = sender.send_request(asked).await.map_err(broke)?;
        read(response, request).await
    });
    let mut connection = pin!(connection);
    tokio::select! {
        reply = &mut answered => return reply,
        // An end that is not clean shows in what was received.
        _ended = &mut connection => {}
    }
    answered.await
}

fn http_request(request: &Request<'_>) -> Result<hyper::Request<Full<Bytes>>> {
    let mut builder = hyper::Request::post(request.address.path.as_str())
        .header(HOST, request.address.authority.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, PRODUCT)
        .header(CONNECTION, "close");
    if let Some(ApiKey(key)) = request.key {
        let bearer = HeaderValue::try_from(format!("Bearer {key}"));
        let mut bearer = bearer.map_err(|_| Error::invalid("the key of an endpoint fits in no header"))?;
        bearer.set_sensitive(true);
        builder = builder.header(AUTHORIZATION, bearer);
    }
    builder
        .body(Full::new(Bytes::copy_from_slice(request.body)))
        .map_err(|cause| Error::internal("cannot make a request").because(cause))
}

async fn read(response: hyper::Response<Incoming>, request: &Request<'_>) -> Result<Reply> {
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    let mut reply = Reply { status: response.status().as_u16(), retry_after, body: Vec::new() };
    if reply.status != 200 {
        return Ok(reply);
    }
    let mut body = response.into_body();
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame())
            .await
            .map_err(|_silent| broken(request.address, "silence inside an answer from"))?;
        let Some(frame) = frame else { return Ok(reply) };
        let frame = frame.map_err(|cause| broken(request.address, "no whole answer from").because(cause))?;
        if let Ok(bytes) = frame.into_data() {
            if reply.body.len() + bytes.len() > request.largest_answer {
                return Err(answer::wrong(format!("more than {} bytes", request.largest_answer)));
            }
            reply.body.extend_from_slice(&bytes);
        }
    }
}

fn broken(address: &Address, what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{what} the endpoint at {address}"))
}
