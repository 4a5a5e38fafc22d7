//! Settings of a server.

use std::net::SocketAddr;
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

    /// Returns the request timeout.
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
