//! Answers of language models.

use async_trait::async_trait;
use mnemal_core::{Completion, CompletionCache, Error, EventId, PromptHash, Result};

use super::MemoryStore;

#[async_trait]
impl CompletionCache for MemoryStore {
    async fn get(&self, prompt: PromptHash) -> Result<Completion> {
        let state = self.state();
        let kept = state.completions.get(&prompt);
        let living = kept.filter(|(_, sources)| !sources.iter().any(|event| state.is_erased(*event)));
        let completion = living.map(|(completion, _)| completion.clone());
        completion.ok_or_else(|| Error::not_found("no answer to this question is kept"))
    }

    async fn put(&self, prompt: PromptHash, completion: &Completion, sources: &[EventId]) -> Result<()> {
        let mut state = self.state();
        if !sources.iter().any(|event| state.is_erased(*event)) {
            state.completions.insert(prompt, (completion.clone(), sources.to_vec()));
        }
        Ok(())
    }

    async fn erase(&self, sources: &[EventId]) -> Result<u64> {
        let mut state = self.state();
        let before = state.completions.len();
        state.completions.retain(|_, (_, rests)| !rests.iter().any(|event| sources.contains(event)));
        Ok((before - state.completions.len()) as u64)
    }
}
