//! Settings of the server; the rights of callers are stored elsewhere.

use std::net::SocketAddr;
use std::time::Duration;

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The section `[server]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Address and port.
    pub listen: SocketAddr,
    /// Whether a socket in the data directory answers other processes of the same user, so that they need not open a space
    /// that is served.
    pub unix_socket: bool,
    /// How long another process waits there for the server to say that it is there, in milliseconds.
    pub greeting_ms: u64,
    /// Whether the Model Context Protocol is served at `/mcp`.
    pub mcp: bool,
    /// Largest body of a request, in KiB; import is streamed and has no limit of its own.
    pub max_body_kb: usize,
    /// Requests that a key may make in a second, on average.
    pub rate_limit_rps: u32,
    /// Requests that a key may make at once.
    pub rate_limit_burst: u32,
    /// Requests that are worked on at once.
    pub max_in_flight: usize,
    /// Connections that are held at once; further ones wait.
    pub max_connections: usize,
    /// Longest time of a request, in seconds; streams have the same time between two parts.
    pub request_timeout_secs: u64,
    /// Origins of pages in browsers that may ask, beside the server's own.
    pub cors_origins: Vec<String>,
    /// Names under which the server is asked, beside those of loopback and the address that it listens on.
    pub allowed_hosts: Vec<String>,
    /// Whether `/metrics` needs no key.
    pub metrics_public: bool,
    /// The section `[compat]`, which stands beside this one.
    #[serde(skip)]
    pub compat: CompatSettings,
}

/// The section `[compat]`: routes of other memories under their own names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompatSettings {
    /// Whether those of mem0's open server are answered, for keys that know one space; no without it. Source: SURFACES 4.2.
    pub mem0: bool,
}

/// The section `[auth]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthSettings {
    /// Who is let in.
    pub mode: AuthMode,
}

/// Who is let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    /// Keys, and on loopback the local key.
    #[default]
    Auto,
    /// Keys that were made, and no other.
    Keys,
    /// Everybody, which only loopback allows.
    None,
}

/// Source: SURFACES 4.2, `server.listen`.
const PORT: u16 = 6767;
/// Milliseconds. Source: SURFACES 3.1.
const GREETING_MS: u64 = 50;
/// KiB. Source: SURFACES 4.2 and 11.4.
const MAX_BODY_KB: usize = 1_024;
/// Source: own choice, more than sixteen local clients ask for; what is left is a guard against a loop that runs away.
const RATE: u32 = 2_000;
/// Source: own choice, a second of the rate and one more.
const BURST: u32 = 4_000;
/// Source: SURFACES 4.2 and 11.4.
const MAX_IN_FLIGHT: usize = 64;
/// Source: own default; a connection costs some ten kilobytes, and 64 of them carry 10,000 sessions.
const MAX_CONNECTIONS: usize = 1_024;
/// Seconds. Source: SURFACES 4.2 and 11.4.
const TIMEOUT: u64 = 30;

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], PORT)),
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
            metrics_public: false,
            compat: CompatSettings::default(),
        }
    }
}

impl ServerSettings {
    /// Checks the values.
    ///
    /// # Errors
    /// `Invalid` for a limit of zero.
    pub fn check(&self) -> Result<()> {
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

    /// Returns the longest time of a request.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_zero_is_refused_and_the_defaults_are_not() {
        assert!(ServerSettings::default().check().is_ok());
        let wrong = ServerSettings { max_in_flight: 0, ..ServerSettings::default() };
        assert!(wrong.check().unwrap_err().what().contains("max_in_flight"));
    }
}
