//! The language model of an engine: its configuration and wiring.

use std::io;
use std::path::Path;
use std::sync::Arc;

use mnemal_core::{Error, InstallationKey, LanguageModel, Predicate, Result};
use mnemal_events::Cleaner;
use mnemal_extract::predicate;
use mnemal_providers::{
    Instructions, ModelAppraiser, ModelClaims, ModelDigests, ModelJudge, ModelSummarizer, ModelWriter,
};
use mnemal_store::Stores;

use super::grounding::GroundingCheck;
use super::{Builder, log_settings};
use crate::model::{Model, ModelParts};

impl Builder {
    /// Sets the language model; it replaces the endpoint that the settings name. The caps of the settings apply to it too.
    ///
    /// Only background work calls it; reads and appends never do.
    pub fn with_language_model(mut self, model: Arc<dyn LanguageModel>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the API key of the language model's endpoint.
    #[cfg(feature = "http")]
    pub fn with_model_key(mut self, key: mnemal_providers::ApiKey) -> Self {
        self.model_key = Some(key);
        self
    }

    pub(crate) fn asked_of_models(&self) -> mnemal_providers::RequestCounts {
        self.tally.counts()
    }

    /// Returns the given language model, or the endpoint that the settings name; none without either.
    #[cfg(feature = "http")]
    fn language_model(&self) -> Result<Option<Arc<dyn LanguageModel>>> {
        use mnemal_providers::{ChatSettings, EndpointModel};
        let settings = &self.settings.llm;
        if self.model.is_some() || !settings.is_asked() {
            return Ok(self.model.clone());
        }
        let model = EndpointModel::new(ChatSettings {
            base_url: settings.base_url().to_owned(),
            model: settings.model.clone(),
            api_key: self.model_key.clone(),
            timeout: settings.timeout(),
            seed: self.seed(),
        })?;
        Ok(Some(Arc::new(model)))
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unnecessary_wraps, reason = "the same call as with the feature")]
    fn language_model(&self) -> Result<Option<Arc<dyn LanguageModel>>> {
        Ok(self.model.clone())
    }

    /// Returns the model with its tasks, if there is one.
    pub(super) fn model(&self, stores: &Stores, key: &InstallationKey) -> Result<Option<Model>> {
        let Some(model) = self.language_model()? else { return Ok(None) };
        Ok(crate::model::wired(ModelParts {
            model,
            ledger: &stores.ledger,
            completions: &stores.completions,
            clock: &self.clock,
            ids: &self.ids,
            extractor: Arc::new(self.extractor_of_models()?),
            merger: Arc::new(GroundingCheck(ModelSummarizer::new(directed(
                self.instructions("merge.md", Instructions::merge())?,
                &self.settings.dream.directive_file,
            )?))),
            connector: Arc::new(GroundingCheck(ModelSummarizer::new(
                self.instructions("insight.md", Instructions::insight())?,
            ))),
            condenser: self.condenser()?,
            digester: Arc::new(GroundingCheck(ModelDigests::new(
                self.instructions("digest.md", Instructions::digest())?,
            ))),
            writer: Arc::new(GroundingCheck(ModelWriter::new(
                self.instructions("node.md", Instructions::node())?,
            ))),
            judge: Arc::new(ModelJudge::new(directed(
                self.instructions("judge.md", Instructions::judge())?,
                &self.settings.dream.preference_directive_file,
            )?)),
            evaluator: Arc::new(GroundingCheck(ModelAppraiser::new(
                self.instructions("appraise.md", Instructions::appraise())?,
            ))),
            cleaner: Cleaner::new(log_settings(&self.settings), key.clone()),
            settings: &self.settings.llm,
            tally: &self.tally,
        }))
    }

    fn extractor_of_models(&self) -> Result<ModelClaims> {
        let instructions = self.instructions("extract.md", Instructions::extract())?;
        let predicates = predicate::all().iter().map(|known| Predicate::new(known.name.as_str()));
        Ok(ModelClaims::new(instructions, predicates.collect::<Result<_>>()?))
    }

    /// Returns the instructions from a file in the folder of the settings, or the built-in ones.
    pub(super) fn instructions(&self, file: &str, built_in: Instructions) -> Result<Instructions> {
        let folder = self.settings.llm.instructions.trim();
        if folder.is_empty() {
            return Ok(built_in);
        }
        let path = Path::new(folder).join(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => built_in.replaced(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(built_in),
            Err(error) => {
                Err(Error::invalid(format!("cannot read the instructions in {}", path.display()))
                    .because(error))
            }
        }
    }
}

/// Prepends the text of a file to instructions; without a file they are unchanged.
fn directed(instructions: Instructions, file: &str) -> Result<Instructions> {
    if file.trim().is_empty() {
        return Ok(instructions);
    }
    match std::fs::read_to_string(file) {
        Ok(text) => instructions.directed(&text),
        Err(error) => Err(Error::invalid(format!("cannot read the directive in {file}")).because(error)),
    }
}
