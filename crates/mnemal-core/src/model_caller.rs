//! Cached, validated calls to a language model: cached answers come first, and an unusable answer is retried.

use std::sync::Arc;

use crate::{
    BackgroundPermit, Completion, CompletionCache, ErrorKind, EventId, LanguageModel, Producer, Prompt,
    PromptHash, Result, Slot,
};

/// Retries after an unusable answer. Source: own choice.
const AGAIN: u32 = 2;

/// A language model with its answer cache.
#[derive(Clone, Debug)]
pub struct ModelCaller {
    /// The model.
    pub model: Arc<dyn LanguageModel>,
    /// The cache of its answers; without a store every question is paid for.
    pub cache: Slot<dyn CompletionCache>,
}

impl ModelCaller {
    /// Names the producer of a result: the asking pass with its version, and the model.
    pub fn producer(&self, asks: &Producer) -> Producer {
        Producer { id: format!("{} by {}", asks.id, self.model.model()), version: asks.version }
    }

    /// Asks until `read` accepts an answer: first the cached one, then the model, and twice more with an error message.
    ///
    /// `sources` are the events that the question shows. The answer is cached under the first form of the question and is
    /// deleted when these events are forgotten. Only an accepted answer is cached.
    ///
    /// # Errors
    /// `Unsupported` after three unusable answers: the question belongs to the dead letters, and never becomes an empty result.
    /// Else the error of the model; a failing cache is only skipped.
    pub async fn ask<T>(
        &self,
        permit: &mut BackgroundPermit,
        prompt: &Prompt,
        sources: &[EventId],
        read: impl Fn(&Completion) -> Result<T> + Send,
    ) -> Result<T>
    where
        T: Send,
    {
        let hash = PromptHash::of(self.model.model(), prompt);
        if let Some(read) = self.cached(hash).await.and_then(|cached| read(&cached).ok()) {
            return Ok(read);
        }
        let mut asked = prompt.clone();
        let mut again = 0;
        loop {
            let answer = match self.model.complete(permit, &asked).await {
                Ok(completion) => read(&completion).map(|read| (read, completion)),
                Err(error) => Err(error),
            };
            match answer {
                Ok((read, completion)) => {
                    self.store(hash, &completion, sources).await;
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Unsupported && again < AGAIN => {
                    again += 1;
                    asked = prompt.repaired(error.what());
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn cached(&self, hash: PromptHash) -> Option<Completion> {
        self.cache.part().ok()?.get(hash).await.ok()
    }

    async fn store(&self, hash: PromptHash, completion: &Completion, sources: &[EventId]) {
        if let Ok(cache) = self.cache.part() {
            // A failed write only means that the same question is paid for again.
            drop(cache.put(hash, completion, sources).await);
        }
    }
}
