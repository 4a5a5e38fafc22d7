//! Questions of a pass to a model: kept answers come first, and an answer that cannot be used is asked for again.

use std::sync::Arc;

use crate::{
    BackgroundPermit, Completion, CompletionCache, ErrorKind, EventId, LanguageModel, Producer, Prompt,
    PromptHash, Result, Slot,
};

/// How often an answer that cannot be used is asked for again. Source: RELIABILITY 11.
const AGAIN: u32 = 2;

/// A model with the answers that it gave before.
#[derive(Clone, Debug)]
pub struct Consultant {
    /// The model.
    pub model: Arc<dyn LanguageModel>,
    /// Its answers; without a store every question is paid for.
    pub cache: Slot<dyn CompletionCache>,
}

impl Consultant {
    /// Names what made something of the model's answer: who asked and read, with its version, and the model.
    pub fn producer(&self, asks: &Producer) -> Producer {
        Producer { id: format!("{} by {}", asks.id, self.model.model()), version: asks.version }
    }

    /// Asks until `read` can use an answer: first the one that is kept, then the model, and twice more with what was wrong.
    ///
    /// `sources` are the events that the question shows; the answer is kept under the first form of the question and goes
    /// with them when they are forgotten. Only an answer that was read is kept.
    ///
    /// # Errors
    /// `Unsupported` when three answers could not be used: the question is one for the dead letters, and never for an empty
    /// result. Else what the model answers; a cache that fails is only not used.
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
        if let Some(read) = self.kept(hash).await.and_then(|kept| read(&kept).ok()) {
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
                    self.keep(hash, &completion, sources).await;
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

    async fn kept(&self, hash: PromptHash) -> Option<Completion> {
        self.cache.part().ok()?.get(hash).await.ok()
    }

    async fn keep(&self, hash: PromptHash, completion: &Completion, sources: &[EventId]) {
        if let Ok(cache) = self.cache.part() {
            // Without it the same question is paid for again, which is all that is lost.
            drop(cache.put(hash, completion, sources).await);
        }
    }
}
