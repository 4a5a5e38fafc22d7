//! Claims that a language model reads where the rules read none.

use std::sync::Arc;

use mnemal_core::{
    BackgroundPermit, Consultant, EventId, Extraction, Familiar, ModelExtractor, Producer, PromptHash,
    Result, Utterance,
};
use mnemal_extract::admit;

/// Asks a model about events and holds what it says against the gates of the rules.
#[derive(Clone, Debug)]
pub struct ModelReader {
    consultant: Consultant,
    extractor: Arc<dyn ModelExtractor>,
}

impl ModelReader {
    /// Makes a reader.
    pub fn new(consultant: Consultant, extractor: Arc<dyn ModelExtractor>) -> Self {
        Self { consultant, extractor }
    }

    /// Names what asks and reads, and the model.
    pub fn producer(&self) -> Producer {
        self.consultant.producer(&self.extractor.producer())
    }

    /// Names the question about these events.
    pub fn question(&self, utterances: &[Utterance<'_>], familiar: &Familiar) -> PromptHash {
        PromptHash::of(self.consultant.model.model(), &self.extractor.prompt(utterances, familiar))
    }

    /// Reads several events with one question that tells whom and what is known; returns one extraction an event, in their order.
    ///
    /// Only claims come through that the words say plainly, by the same gates as those of the rules; what was dropped is a
    /// remark of its event.
    ///
    /// # Errors
    /// `Unsupported` when three answers could not be used; else what the model answers. Then nothing was read of any event.
    pub async fn read(
        &self,
        permit: &mut BackgroundPermit,
        utterances: &[Utterance<'_>],
        familiar: &Familiar,
    ) -> Result<Vec<Extraction>> {
        if utterances.is_empty() {
            return Ok(Vec::new());
        }
        let shown = utterances.iter().map(|utterance| utterance.event.id);
        let sources: Vec<EventId> = shown.chain(familiar.sources.iter().copied()).collect();
        let prompt = self.extractor.prompt(utterances, familiar);
        let read = |completion: &_| self.extractor.parse(utterances, familiar, completion);
        let found = self.consultant.ask(permit, &prompt, &sources, read).await?;
        Ok(utterances.iter().zip(found).map(|(utterance, found)| gated(utterance, found)).collect())
    }
}

fn gated(utterance: &Utterance<'_>, found: Extraction) -> Extraction {
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
