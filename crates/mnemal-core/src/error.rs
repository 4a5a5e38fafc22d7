//! The one error of all crates: a kind that says what the caller can do, a message, and its source.

use std::fmt;

/// Result of every fallible call of the workspace's libraries.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do about an error.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Ask for something else: it is not there, or not in this space.
    NotFound,
    /// Read again and retry: somebody else changed it, or the same key carries another body.
    Conflict,
    /// Fix the call.
    Invalid,
    /// Use another implementation or capability.
    Unsupported,
    /// Retry later, with the same idempotency key.
    Unavailable,
    /// Run `doctor`, then restore: stored bytes do not match their checksum.
    Corrupt,
    /// Report a bug.
    Internal,
}

impl ErrorKind {
    /// Returns the name on the wire and in logs, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt",
            Self::Internal => "internal",
        }
    }
}

/// An error of any layer.
///
/// `what` is lower case, has no full stop, and names the operation and the ids concerned, never content.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    what: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error of the given kind.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), source: None }
    }

    /// Makes an error for a call that the caller must fix.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, what)
    }

    /// Makes an error for something that is not there.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what)
    }

    /// Makes an error for a state that should be impossible.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, what)
    }

    /// Keeps the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns what the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message without its cause.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
