//! Damage state of a file: after the first sign, writes are refused and readable data is still served.

use std::sync::OnceLock;

use mnemal_core::{Error, ErrorKind, Result};

/// The first sign of damage that this process met.
#[derive(Debug, Default)]
pub(super) struct Damage(OnceLock<String>);

impl Damage {
    /// Records an answer that indicates damage, and passes it on.
    pub(super) fn noted<T>(&self, answer: Result<T>) -> Result<T> {
        if let Err(error) = &answer
            && error.kind() == ErrorKind::Corrupt
        {
            self.0.get_or_init(|| error.what().to_owned());
        }
        answer
    }

    /// Returns the finding, as a sentence.
    pub(super) fn finding(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Rejects writes to a damaged file: data written into broken pages may be lost, or break more.
    pub(super) fn admits_writes(&self) -> Result<()> {
        self.finding().map_or(Ok(()), |what| {
            let what = format!("the space is damaged and can only be read: {what}; run `mnemal recover`");
            Err(Error::new(ErrorKind::Corrupt, what))
        })
    }
}
