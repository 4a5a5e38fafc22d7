//! Settings of a server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The section `[server]`.
#[expect(clippy::struct_excessive_bools, reason = "switches of their own, each read by its name")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port.
    pub listen: SocketAddr,
    /// Whether a socket in the data directory serves other processes of the same user, so that they need not open a served space
    /// themselves.
    pub unix_socket: bool,
    /// How long another process waits there for the server's greeting, in milliseconds.
    pub greeting_ms: u64,
    /// Whether the Model Context Protocol is served at `/mcp`.
    pub mcp: bool,
    /// Maximum size of a request body, in KiB; import is streamed and has no limit of its own.
    pub max_body_kb: usize,
    /// Maximum average number of requests of a key per second.
    pub rate_limit_rps: u32,
    /// Maximum burst of requests of a key.
    pub rate_limit_burst: u32,
    /// Maximum number of concurrent requests.
    pub max_in_flight: usize,
    /// Maximum number of open connections; further ones wait.
    pub max_connections: usize,
    /// Request timeout, in seconds; for streams the limit between two parts.
    pub request_timeout_secs: u64,
    /// Allowed origins of browser pages (CORS), in addition to the server's own.
    pub cors_origins: Vec<String>,
    /// Allowed host names of the server, in addition to those of loopback and the listen address.
    pub allowed_hosts: Vec<String>,
    /// Address under which browsers reach the server through a proxy, such as `https://memory.example`: its host is an allowed one,
    /// its pages are the server's own, and with `https` they get a cookie that browsers send over TLS only. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Whether `/metrics` needs no key.
    pub metrics_public: bool,
    /// The section `[compat]`, next to this one.
    #[serde(skip)]
    pub compat: CompatSettings,
    /// Whether requests come from this process alone, so that there are no keys; see [`Embedded`](crate::Embedded).
    #[serde(skip)]
    pub is_embedded: bool,
}

/// The section `[compat]`: routes of other memory servers under their own names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompatSettings {
    /// Whether the routes of mem0's open server are served, for keys of one space; off by default. Source: own default.
    pub mem0: bool,
}

/// The section `[auth]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// The authentication mode.
    pub mode: AuthMode,
}

/// The authentication mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    /// Created keys, and on loopback the local key.
    #[default]
    Auto,
    /// Created keys only.
    Keys,
    /// No authentication; only allowed on loopback.
    None,
}

/// The port without a setting. Source: own choice; below the ephemeral ports of common systems, unassigned in IANA's registry of
/// 2025, and the default of no tool that we know.
pub const DEFAULT_PORT: u16 = 14767;
/// Milliseconds. Source: own default; a running local server answers in a fraction of it.
const GREETING_MS: u64 = 50;
/// KiB. Source: own default, four times the largest event.
const MAX_BODY_KB: usize = 1_024;
/// Source: own choice, more than sixteen local clients need; it only guards against runaway loops.
const RATE: u32 = 2_000;
/// Source: own choice, two seconds at the rate.
const BURST: u32 = 4_000;
/// Source: own default, which bounds the memory of concurrent requests.
const MAX_IN_FLIGHT: usize = 64;
/// Source: own default; a connection costs some ten kilobytes, and 64 of them carry 10,000 sessions.
const MAX_CONNECTIONS: usize = 1_024;
/// Seconds. Source: own default; every route without a language model is far below.
const TIMEOUT: u64 = 30;

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)),
            unix_socket: true,
            greeting_ms: GREETING_MS,
            mcp: true,
            max_body_kb: MAX_BODY_KB,
            rate_limit_rps: RATE,
            rate_limit_burst: BURST,
            max_in_flight: MAX_IN_FLIGHT,
            max_connections: MAX_CONNECTIONS,
            request_timeout_secs: TIMEOUT,
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            public_url: None,
            metrics_public: false,
            compat: CompatSettings::default(),
            is_embedded: false,
        }
    }
}

impl ServerSettings {
    /// Validates the values.
    ///
    /// # Errors
    /// `Invalid` for a limit of zero, or a public URL that is not a scheme and a host.
    pub fn check(&self) -> Result<()> {
        if self.public_url.is_some() && self.public_origin().is_none() {
            return Err(Error::invalid(
                "server.public_url must be http:// or https:// and a host, without a path",
            ));
        }
        let limits = [
            ("greeting_ms", self.greeting_ms == 0),
            ("max_body_kb", self.max_body_kb == 0),
            ("rate_limit_rps", self.rate_limit_rps == 0),
            ("rate_limit_burst", self.rate_limit_burst == 0),
            ("max_in_flight", self.max_in_flight == 0),
            ("max_connections", self.max_connections == 0),
            ("request_timeout_secs", self.request_timeout_secs == 0),
        ];
        match limits.iter().find(|(_, is_zero)| *is_zero) {
            Some((name, _)) => Err(Error::invalid(format!("server.{name} must be at least 1"))),
            None => Ok(()),
        }
    }

    /// Returns the origin of the public URL, as browsers name it; `None` without a public URL.
    pub fn public_origin(&self) -> Option<String> {
        let url = self.public_url.as_deref()?.to_ascii_lowercase();
        let (scheme, rest) = url.split_once("://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        let port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return None,
        };
        let is_good = !authority.is_empty() && path.is_empty() && authority.bytes().all(is_host);
        let authority = authority.strip_suffix(port).unwrap_or(authority);
        is_good.then(|| format!("{scheme}://{authority}"))
    }

    /// Returns the URL of the server for browsers: the public one, else that on this machine.
    pub fn url(&self) -> String {
        self.public_origin().unwrap_or_else(|| format!("http://{}", reachable(self.listen)))
    }

    /// Returns the request timeout.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_secs)
    }
}

/// Returns the address at which this machine reaches a server that listens there.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_asked_on_loopback() {
        for (listen, expect) in [
            ("127.0.0.1:14767", "127.0.0.1:14767"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:14767", "[::1]:14767"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()).to_string(), expect);
        }
    }

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        let with =
            |url: &str| ServerSettings { public_url: Some(url.to_owned()), ..ServerSettings::default() };
        for (url, origin) in [
            ("https://memory.example", "https://memory.example"),
            ("https://Memory.example:443/", "https://memory.example"),
            ("http://memory.example:8080", "http://memory.example:8080"),
            ("https://[2001:db8::1]:444", "https://[2001:db8::1]:444"),
        ] {
            assert!(with(url).check().is_ok(), "{url}");
            assert_eq!(with(url).url(), origin);
        }
        for url in [
            "",
            "memory.example",
            "ftp://memory.example",
            "https://",
            "https://a/b",
            "https://a\"b",
            "https://u@a",
        ] {
            assert!(with(url).check().unwrap_err().what().contains("public_url"), "{url}");
        }
        assert_eq!(ServerSettings::default().url(), "http://127.0.0.1:14767");
    }

    #[test]
    fn a_limit_of_zero_is_refused_and_the_defaults_are_not() {
        assert!(ServerSettings::default().check().is_ok());
        let wrong = ServerSettings { max_in_flight: 0, ..ServerSettings::default() };
        assert!(wrong.check().unwrap_err().what().contains("max_in_flight"));
    }
}
