//! The error type of all crates: a kind that tells the caller what to do, a message, and its source.

use std::fmt;

/// The result of every fallible call of the workspace's libraries.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, by what the caller can do about it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Ask for something else: the record does not exist, or not in this space.
    NotFound,
    /// Read again and retry: a concurrent change, or the same key with another body.
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

    /// Makes an error for a missing record.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what)
    }

    /// Makes an error for a state that should be impossible.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, what)
    }

    /// Attaches the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind.
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
