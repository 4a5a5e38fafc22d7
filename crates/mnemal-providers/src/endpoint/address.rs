//! Endpoint address: parsed once, resolved and checked before each connection (SSRF protection).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hyper::Uri;
use mnemal_core::{Error, ErrorKind, Result};

/// Whether the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// Host, port and path of one function of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) scheme: Scheme,
    /// A name or an address, without the brackets of an IPv6 address.
    pub(super) host: String,
    /// Host and port as they are in the header `Host`.
    pub(super) authority: String,
    pub(super) port: u16,
    /// `/v1/embeddings` or `/v1/chat/completions`, optionally after a prefix.
    pub(super) path: String,
}

impl Address {
    /// Reads a base URL, with or without `/v1`, and adds what is asked there.
    pub(super) fn read(base_url: &str, what: &str) -> Result<Self> {
        let wrong = || Error::invalid("the base URL of an endpoint must be like https://host:port/v1");
        let base = base_url.trim().trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|_| wrong())?;
        let authority = uri.authority().ok_or_else(wrong)?;
        if authority.as_str().contains('@') || uri.query().is_some() || base.contains('#') {
            return Err(Error::invalid(
                "the base URL of an endpoint must hold no credentials, no query and no fragment",
            ));
        }
        let (scheme, usual) = match uri.scheme_str() {
            Some("http") => (Scheme::Http, 80),
            Some("https") => (Scheme::Https, 443),
            _ => return Err(wrong()),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(wrong());
        }
        Ok(Self {
            scheme,
            host: host.to_owned(),
            authority: authority.as_str().to_owned(),
            port: authority.port_u16().unwrap_or(usual),
            path: path(uri.path(), what),
        })
    }

    /// Resolves the host; a connection goes to one of these addresses and to no other.
    pub(super) async fn look_up(&self) -> Result<Vec<SocketAddr>> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await.map_err(|cause| {
            Error::new(ErrorKind::Unavailable, format!("cannot look up {}", self.host)).because(cause)
        })?;
        let found: Vec<SocketAddr> = found.collect();
        match found.iter().find(|address| is_refused(address.ip())) {
            Some(refused) => Err(Error::invalid(format!(
                "the endpoint at {self} has the address {}, where no endpoint may be",
                refused.ip()
            ))),
            None => Ok(found),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(out, "{scheme}://{}", self.authority)
    }
}

/// Appends the missing part: a path with a version is used as it is.
fn path(given: &str, what: &str) -> String {
    let given = given.trim_end_matches('/');
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let version = if given.split('/').any(is_version) { "" } else { "/v1" };
    format!("{given}{version}/{what}")
}

/// The IPv6 address of a cloud's metadata service; the IPv4 one is link-local.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254);

/// Whether an endpoint must not have an address: link-local (cloud metadata), shared (carrier-grade NAT), multicast, broadcast,
/// unspecified. Loopback and private ones are allowed, because the operator configured them. Source: RFC 6890.
fn is_refused(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            v4.is_link_local() || v4.is_multicast() || v4.is_broadcast() || first == 0 || is_shared
        }
        IpAddr::V6(v6) => {
            let is_own = v6.is_unicast_link_local() || v6.is_multicast() || v6.is_unspecified();
            is_own || v6 == METADATA || inner(v6).is_some_and(|v4| is_refused(IpAddr::V4(v4)))
        }
    }
}

/// Returns the IPv4 address embedded in an IPv6 address: NAT64, 6to4, or the deprecated compatible form.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(of(high, low)),
        // `::1` is the loopback address and carries none.
        [0, 0, 0, 0, 0, 0, high, low] if high > 0 => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_have_its_version_or_not() {
        for (base, path, port) in [
            ("http://localhost:11434", "/v1/embeddings", 11_434),
            ("http://localhost:11434/", "/v1/embeddings", 11_434),
            ("https://api.openai.com/v1", "/v1/embeddings", 443),
            (" https://api.openai.com/v1/ ", "/v1/embeddings", 443),
            ("http://host/proxy", "/proxy/v1/embeddings", 80),
            ("https://host/v1beta/openai", "/v1beta/openai/embeddings", 443),
            ("http://[::1]:8080/v2", "/v2/embeddings", 8_080),
        ] {
            let address = Address::read(base, "embeddings").unwrap();
            assert_eq!((address.path.as_str(), address.port), (path, port), "{base}");
        }
        assert_eq!(Address::read("http://[::1]:8080", "embeddings").unwrap().host, "::1");
        for wrong in
            ["", "host", "ftp://host", "http://", "https://host/?key=1", "https://a:b@host", "file:///etc"]
        {
            assert_eq!(Address::read(wrong, "embeddings").unwrap_err().kind(), ErrorKind::Invalid, "{wrong}");
        }
    }

    #[test]
    fn addresses_of_no_endpoint_are_refused_in_every_spelling() {
        for refused in [
            "169.254.169.254",
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
        ] {
            assert!(is_refused(refused.parse().unwrap()), "{refused}");
        }
        for allowed in [
            "127.0.0.1",
            "10.0.0.1",
            "192.168.1.1",
            "::1",
            "fd00::1",
            "100.128.0.1",
            "8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(!is_refused(allowed.parse().unwrap()), "{allowed}");
        }
    }
}
