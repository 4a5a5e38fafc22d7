//! Claim extraction by a language model, checked by the gates of the rules.

use std::sync::Arc;

use mnemal_core::{
    BackgroundPermit, EventId, Extraction, ExtractionContext, ModelCaller, ModelExtractor, Producer,
    PromptHash, Result, Utterance,
};
use mnemal_extract::admit;

/// Asks a model about events and checks its claims with the gates of the rules.
#[derive(Clone, Debug)]
pub struct ModelReader {
    caller: ModelCaller,
    extractor: Arc<dyn ModelExtractor>,
}

impl ModelReader {
    /// Creates a reader.
    pub fn new(caller: ModelCaller, extractor: Arc<dyn ModelExtractor>) -> Self {
        Self { caller, extractor }
    }

    /// Returns the producer: extractor and model.
    pub fn producer(&self) -> Producer {
        self.caller.producer(&self.extractor.producer())
    }

    /// Returns the hash of the question about these events.
    pub fn question(&self, utterances: &[Utterance<'_>], familiar: &ExtractionContext) -> PromptHash {
        PromptHash::of(self.caller.model.model(), &self.extractor.prompt(utterances, familiar))
    }

    /// Extracts from several events with one question that includes the known entities; returns one extraction per event,
    /// in their order.
    ///
    /// Only claims that the words state plainly pass, by the same gates as those of the rules; every dropped claim becomes
    /// a remark of its event.
    ///
    /// # Errors
    /// `Unsupported` when three answers were unusable; else the error of the model. No event is extracted in that case.
    pub async fn read(
        &self,
        permit: &mut BackgroundPermit,
        utterances: &[Utterance<'_>],
        familiar: &ExtractionContext,
    ) -> Result<Vec<Extraction>> {
        if utterances.is_empty() {
            return Ok(Vec::new());
        }
        let shown = utterances.iter().map(|utterance| utterance.event.id);
        let sources: Vec<EventId> = shown.chain(familiar.sources.iter().copied()).collect();
        let prompt = self.extractor.prompt(utterances, familiar);
        let read = |completion: &_| self.extractor.parse(utterances, familiar, completion);
        let found = self.caller.ask(permit, &prompt, &sources, read).await?;
        Ok(utterances.iter().zip(found).map(|(utterance, found)| apply_gates(utterance, found)).collect())
    }
}

fn apply_gates(utterance: &Utterance<'_>, found: Extraction) -> Extraction {
    let Extraction { mentions, facts, mut remarks } = found;
    let mut admitted = Vec::with_capacity(facts.len());
    for claim in facts {
        let what = claim.predicate.clone();
        match admit(utterance, claim) {
            Ok(claim) => admitted.push(claim),
            Err(why) => remarks.push(format!("dropped {what}: {why}")),
        }
    }
    Extraction { mentions, facts: admitted, remarks }
}
