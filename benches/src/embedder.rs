//! Choice of the embedder for a measurement: the built-in table, or a transformer from a folder.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use mnemal::{Builder, Engine};
use mnemal_core::Embedder;

use crate::vector_cache::CachedEmbedder;

/// The arguments that name an embedder.
#[derive(Clone, Debug, Default, Args)]
pub struct EmbedderArgs {
    /// Embed with a transformer instead of the built-in table: FAMILY:FOLDER, such as `minilm:models/minilm`. Needs the
    /// feature `onnx`.
    #[arg(long, value_name = "FAMILY:FOLDER")]
    pub embedder: Option<String>,
    /// Keep the transformer's vectors in this file, and take from it those that are there.
    #[arg(long, value_name = "FILE", requires = "embedder")]
    pub vectors: Option<PathBuf>,
}

impl EmbedderArgs {
    /// Returns what engines are made of.
    ///
    /// # Errors
    /// A folder that holds no such model, a file of other vectors, or a build without transformers.
    pub fn builder(&self) -> Result<Builder> {
        let Some(named) = &self.embedder else { return Ok(Engine::builder()) };
        let embedder = transformer(named)?;
        let embedder = match &self.vectors {
            Some(file) => Arc::new(CachedEmbedder::open(file, embedder)?),
            None => embedder,
        };
        Ok(Engine::builder().with_embedder(embedder))
    }
}

#[cfg(feature = "onnx")]
fn transformer(named: &str) -> Result<Arc<dyn Embedder>> {
    use anyhow::Context as _;
    use mnemal_providers::{Recipe, TransformerEmbedder};
    let (family, folder) = named.split_once(':').context("the embedder is FAMILY:FOLDER")?;
    let recipe = Recipe::of(family).with_context(|| format!("there is no family {family}"))?;
    Ok(Arc::new(TransformerEmbedder::open(std::path::Path::new(folder), Some(recipe))?))
}

#[cfg(not(feature = "onnx"))]
fn transformer(_named: &str) -> Result<Arc<dyn Embedder>> {
    anyhow::bail!("this build has no transformers: build it with `--features onnx`")
}
