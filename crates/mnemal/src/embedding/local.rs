//! The in-process embedder that the settings name.

use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{Embedder, Result, Slot};

use crate::settings::EmbeddingSettings;

/// The opened embedder of these settings, shared by all clones of a builder, because a transformer takes a fifth of a second to
/// open and more memory than a thousand spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Local(Arc<Mutex<Option<Arc<dyn Embedder>>>>);

impl Local {
    /// Returns the embedder, opening it on first use: the built-in table, unless the settings name a transformer.
    ///
    /// # Errors
    /// `Unsupported` when this build has no transformers; otherwise the error of reading the transformer's file.
    pub(crate) fn embedder(&self, settings: &EmbeddingSettings) -> Result<Slot<dyn Embedder>> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            *opened = match settings.model.as_str() {
                "" => built_in(),
                model => Some(transformer(model, settings)?),
            };
        }
        Ok(opened.clone().map_or(Slot::Empty, Slot::Filled))
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

/// Opens `NAME` in the models folder, `NAME:FOLDER`, or `FOLDER` with a file that is recognized by its hash.
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
