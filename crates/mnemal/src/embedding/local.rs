//! The models in process that the settings name.

use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{Embedder, Extractor, Result, Slot};
use mnemal_extract::RuleExtractor;

use crate::settings::EmbeddingSettings;

/// The embedder and the trained reader of these settings once they were opened; all clones of a builder share them, because
/// a transformer takes a fifth of a second to open and more memory than a thousand spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Local {
    embedder: Arc<Mutex<Option<Arc<dyn Embedder>>>>,
    #[cfg(feature = "reader")]
    reader: Arc<Mutex<Option<mnemal_reader::TrainedReader>>>,
}

impl Local {
    /// Returns the embedder, opening it the first time: the built-in table, unless the settings name a transformer.
    ///
    /// # Errors
    /// `Unsupported` when this build has no transformers; else as the file of the transformer is read.
    pub(crate) fn embedder(&self, settings: &EmbeddingSettings) -> Result<Slot<dyn Embedder>> {
        let mut opened = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            *opened = match settings.model.as_str() {
                "" => built_in(),
                model => Some(transformer(model, settings)?),
            };
        }
        Ok(opened.clone().map_or(Slot::Empty, Slot::Filled))
    }

    /// Returns what lets the rules and the trained reader in a file vote, opening it the first time.
    ///
    /// # Errors
    /// `Unsupported` when this build has no trained reader; else as its file is read.
    #[cfg(feature = "reader")]
    pub(crate) fn voting(&self, file: &str, rules: RuleExtractor) -> Result<Arc<dyn Extractor>> {
        use mnemal_reader::{TrainedReader, VotingExtractor};

        let mut opened = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match opened.clone() {
            Some(reader) => reader,
            None => TrainedReader::open(std::path::Path::new(file))?,
        };
        *opened = Some(reader.clone());
        Ok(Arc::new(VotingExtractor::new(rules, reader)))
    }

    /// As above, in a build without.
    #[cfg(not(feature = "reader"))]
    pub(crate) fn voting(&self, file: &str, _rules: RuleExtractor) -> Result<Arc<dyn Extractor>> {
        use mnemal_core::{Error, ErrorKind};

        let what =
            format!("extract.reader is {file:?}, and this build has no trained reader (feature `reader`)");
        Err(Error::new(ErrorKind::Unsupported, what))
    }
}

#[cfg(feature = "embedder")]
#[expect(clippy::unnecessary_wraps, reason = "the same call as without the feature")]
fn built_in() -> Option<Arc<dyn Embedder>> {
    Some(Arc::new(mnemal_providers::StaticEmbedder::built_in()))
}

#[cfg(not(feature = "embedder"))]
fn built_in() -> Option<Arc<dyn Embedder>> {
    None
}

/// Opens `NAME` in the folder of models, `NAME:FOLDER`, or `FOLDER` with a file that is known by its hash.
#[cfg(feature = "onnx")]
fn transformer(model: &str, settings: &EmbeddingSettings) -> Result<Arc<dyn Embedder>> {
    use mnemal_providers::{Recipe, TransformerEmbedder};
    use std::path::Path;

    let of_family = model.split_once(':').and_then(|(name, folder)| Some((Recipe::of(name)?, folder)));
    let embedder = match of_family {
        Some((recipe, folder)) => TransformerEmbedder::open(Path::new(folder), Some(recipe))?,
        None if Recipe::of(model).is_some() => {
            TransformerEmbedder::open(&Path::new(&settings.models).join(model), None)?
        }
        None => TransformerEmbedder::open(Path::new(model), None)?,
    };
    Ok(Arc::new(embedder))
}

#[cfg(not(feature = "onnx"))]
fn transformer(model: &str, _settings: &EmbeddingSettings) -> Result<Arc<dyn Embedder>> {
    use mnemal_core::{Error, ErrorKind};

    let what = format!("embedding.model is {model:?}, and this build has no transformers (feature `onnx`)");
    Err(Error::new(ErrorKind::Unsupported, what))
}
