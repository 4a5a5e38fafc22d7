//! Encryption of connections, with the system's certificates.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mnemal_core::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use tokio_rustls::{TlsConnector, client};

/// Decides whether connections are encrypted: to another machine always, unless the address says `sslmode=disable`; to this one
/// only where it says `sslmode=require`. An encrypted connection is to the server that its certificate names, or fails.
pub(super) fn settle(config: &mut Config) {
    if config.get_ssl_mode() == SslMode::Prefer {
        // Where an address is given beside the name, it is what is connected to.
        let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
        let is_named = !(hosts.is_empty() && addresses.is_empty());
        let is_local = hosts.iter().all(is_here) && addresses.iter().all(IpAddr::is_loopback);
        let mode = if is_named && is_local { SslMode::Disable } else { SslMode::Require };
        config.ssl_mode(mode);
    }
}

/// Whether a host is this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Makes encrypted streams.
#[derive(Clone)]
pub(super) struct Encryption(TlsConnector);

impl Encryption {
    /// Reads the system's certificates.
    ///
    /// # Errors
    /// `Unavailable` when there are none.
    pub(super) fn new() -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            let what = "the system has no certificates, with which the database could be recognized";
            return Err(Error::new(mnemal_core::ErrorKind::Unavailable, what));
        }
        let made = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal("cannot set encryption up").because(error))?;
        let config = made.with_root_certificates(roots).with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

impl<S> MakeTlsConnect<S> for Encryption
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(domain).map_err(io::Error::other)?.to_owned();
        Ok(Handshake { connector: self.0.clone(), name })
    }
}

/// A handshake with one server.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(Encrypted) })
    }
}

/// An encrypted stream.
pub(super) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    /// Returns none: the certificate has been checked.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, out)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, expect: SslMode) {
        let mut config: Config = address.parse().unwrap();
        settle(&mut config);
        assert_eq!(config.get_ssl_mode(), expect, "{address}");
    }

    #[test]
    fn a_connection_to_another_machine_is_encrypted_unless_the_address_says_otherwise() {
        check("postgres://u@db.example.org/d", SslMode::Require);
        check("postgres://u@127.0.0.1,10.0.0.7/d", SslMode::Require);
        check("postgres://u@10.0.0.7/d?sslmode=disable", SslMode::Disable);
        check("hostaddr=10.0.0.7 user=u dbname=d", SslMode::Require);
        check("postgres://u@localhost/d?hostaddr=10.0.0.7", SslMode::Require);
        check("postgres://u@127.0.0.1/d", SslMode::Disable);
        check("postgres://u@localhost/d?sslmode=require", SslMode::Require);
        #[cfg(unix)]
        check("host=/run/postgresql user=u dbname=d", SslMode::Disable);
    }
}
