//! The trained reader that the settings name.

use std::sync::Arc;

use mnemal_core::{Extractor, Result};
use mnemal_extract::RuleExtractor;

/// Opens the file of a trained reader, and returns its name: the start of the hash of the file.
///
/// # Errors
/// `NotFound` when there is none, `Unavailable` when it cannot be read, `Corrupt` when it is damaged or no reader,
/// `Unsupported` when a newer program made it, or when this build has no trained reader (feature `reader`).
#[cfg(feature = "reader")]
pub fn check_reader(file: &std::path::Path) -> Result<String> {
    Ok(mnemal_reader::TrainedReader::open(file)?.name().to_owned())
}

/// As with the feature `reader`, which this build lacks.
///
/// # Errors
/// `Unsupported`.
#[cfg(not(feature = "reader"))]
pub fn check_reader(file: &std::path::Path) -> Result<String> {
    Err(missing(&format!("{} cannot be used", file.display())))
}
/// The opened trained reader of these settings, shared by all clones of a builder, because it takes more memory than a thousand
/// spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedReader(
    #[cfg(feature = "reader")] Arc<std::sync::Mutex<Option<mnemal_reader::TrainedReader>>>,
);

impl SharedReader {
    /// Returns the extractor that combines the votes of the rules and of the reader in a file, opening the file on first use.
    ///
    /// # Errors
    /// `Unsupported` when this build has no trained reader; otherwise the error of reading its file.
    #[cfg(feature = "reader")]
    pub(crate) fn extractor(&self, file: &str, rules: RuleExtractor) -> Result<Arc<dyn Extractor>> {
        use mnemal_reader::{TrainedReader, VotingExtractor};

        let mut opened = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let reader = match opened.take() {
            Some(reader) => reader,
            None => TrainedReader::open(std::path::Path::new(file))?,
        };
        *opened = Some(reader.clone());
        Ok(Arc::new(VotingExtractor::new(rules, reader)))
    }

    /// As above, in a build without a trained reader.
    #[cfg(not(feature = "reader"))]
    #[expect(clippy::unused_self, reason = "the same call as with the feature")]
    pub(crate) fn extractor(&self, file: &str, _rules: RuleExtractor) -> Result<Arc<dyn Extractor>> {
        Err(missing(&format!("extract.reader is {file:?}")))
    }
}

#[cfg(not(feature = "reader"))]
fn missing(what: &str) -> mnemal_core::Error {
    let what = format!("{what}: this build has no trained reader (feature `reader`)");
    mnemal_core::Error::new(mnemal_core::ErrorKind::Unsupported, what)
}
