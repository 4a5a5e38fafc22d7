//! The context of mnemal before each call of a model.

use mnemal::Memory;
use rig_agent::agent::{AgentHook, CompletionCallAction, CompletionCallEvent, HookContext, RequestPatch};
use rig_core::completion::{Document, Message};

/// Most tokens of a briefing unless [`Briefing::budget`] says otherwise. Source: own default, the example of the quickstart.
const BUDGET: u32 = 1_000;

/// Puts what mnemal would say to a prompt in front of each call of a model, within a budget of tokens.
///
/// Unlike documents of [`Store`](crate::Store) it has everything that a context has: notes, what is known of people and
/// things, summaries, and what was said, in blocks that say that they are memory and no instructions. Its id in the request
/// is that of the receipt, by which [`AdminHandle::receipt`](mnemal::admin::AdminHandle::receipt) tells later what was shown and why. Nothing is added where there is
/// nothing to say.
///
/// A memory that is narrowed with [`Memory::for_session`] leaves out what that conversation has in its window already.
#[derive(Clone, Debug)]
pub struct Briefing {
    memory: Memory,
    budget: u32,
}

impl Briefing {
    /// Briefs from a memory, with at most 1,000 tokens.
    pub fn new(memory: Memory) -> Self {
        Self { memory, budget: BUDGET }
    }

    /// Sets the most tokens of the text; the few by which rig marks a document come on top.
    #[must_use]
    pub fn budget(mut self, tokens: u32) -> Self {
        self.budget = tokens;
        self
    }
}

impl AgentHook for Briefing {
    fn name(&self) -> Option<String> {
        Some(format!("mnemal briefing of {} tokens", self.budget))
    }

    /// Stops the run when no context can be assembled, as rig does where a store of documents fails: an agent without its memory
    /// must not look like one that has nothing to remember. A part that is missing or late is no such failure.
    async fn on_completion_call(
        &self,
        _: &HookContext,
        event: CompletionCallEvent<'_>,
    ) -> CompletionCallAction {
        // Behind a tool's answer the question is further up.
        let asked =
            event.prompt.rag_text().or_else(|| event.history.iter().rev().find_map(Message::rag_text));
        let Some(asked) = asked else { return CompletionCallAction::continue_run() };
        match self.memory.context(asked).budget(self.budget).await {
            Ok(context) if context.text.is_empty() => CompletionCallAction::continue_run(),
            Ok(context) => {
                let (id, text) = (context.receipt.id.to_string(), context.value.text);
                let document = Document { id, text, additional_props: Default::default() };
                CompletionCallAction::patch(RequestPatch::new().extra_context([document]))
            }
            Err(error) => CompletionCallAction::stop(format!("mnemal has no context: {error}")),
        }
    }
}
