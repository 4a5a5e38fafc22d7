//! Own parts of the host: context sources, passes, projectors, indexes and a summarizer.

use std::sync::Arc;

use mnemal_core::{
    Completion, ContextSource, Pass, Producer, Projector, Prompt, Result, Summarizer, TokenCount,
};
use mnemal_providers::{Instructions, ModelSummarizer};
use mnemal_recall::{LexicalIndexFactory, Recall, VectorIndexFactory, VectorSearch};

use super::Builder;
use super::grounding::GroundingCheck;
use crate::guard::GuardedPort;

/// The parts that a host adds to the built-in ones, or replaces them with.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    pub(super) sources: Vec<Arc<dyn ContextSource>>,
    pub(super) passes: Vec<Arc<dyn Pass>>,
    projectors: Vec<Arc<dyn Projector>>,
    summarizer: Option<Arc<dyn Summarizer>>,
    vector_index: Option<Arc<dyn VectorIndexFactory>>,
    lexical_index: Option<Arc<dyn LexicalIndexFactory>>,
}

impl Builder {
    /// Adds a context source to the built-in ones. Its lines pass the same checks, share the budget, and are in the receipt; a
    /// source that fails or is late is a gap of its layer.
    ///
    /// Nothing checks whose records it offers, and of when: a source keeps to the user, agent and moment of the request.
    pub fn with_context_source(mut self, source: Arc<dyn ContextSource>) -> Self {
        self.ports.sources.push(source);
        self
    }

    /// Adds a pass to the consolidation cycles, after the built-in ones. Its proposals pass the same checks, and can be undone.
    /// Other background work waits while it runs, so it asks no model and starts none of the engine's background work.
    pub fn with_pass(mut self, pass: Arc<dyn Pass>) -> Self {
        self.ports.passes.push(pass);
        self
    }

    /// Adds a projector, which is folded together with notes and learnings. It brings its own store, and reads the log of one
    /// space: do not share it among [`Spaces`](crate::Spaces).
    ///
    /// Appends and answers wait for it: a step that takes longer than three times `recall.part_deadline_ms` is dropped, and a
    /// gap of its layer. It may consume fewer events than it is asked to, and repeats a step that was dropped.
    pub fn with_projector(mut self, projector: Arc<dyn Projector>) -> Self {
        self.ports.projectors.push(projector);
        self
    }

    /// Sets the summarizer of conversations; it replaces the built-in instructions for the language model, without which it is
    /// not used. Statements that the conversation does not support are rejected.
    pub fn with_summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.ports.summarizer = Some(summarizer);
        self
    }

    /// Sets the vector index; it replaces the one that `recall.vector_index` names. It is built in the background, as
    /// [`Engine::build_vector_index`](crate::Engine::build_vector_index) says.
    pub fn with_vector_index(mut self, factory: Arc<dyn VectorIndexFactory>) -> Self {
        self.ports.vector_index = Some(factory);
        self
    }

    /// Sets the lexical index; it replaces the one over the stored postings as they are.
    pub fn with_lexical_index(mut self, factory: Arc<dyn LexicalIndexFactory>) -> Self {
        self.ports.lexical_index = Some(factory);
        self
    }

    /// Returns the projectors of the host, each behind a guard of its own.
    pub(super) fn own_projectors(&self) -> impl Iterator<Item = Arc<dyn Projector>> {
        let guard = move |own: &Arc<dyn Projector>| {
            let guarded = GuardedPort::new(Arc::clone(own), &self.clock, self.source_deadline());
            Arc::new(guarded) as Arc<dyn Projector>
        };
        self.ports.projectors.iter().map(guard)
    }

    /// Gives recall its indexes: those of the host, else those of the settings.
    pub(super) fn with_indexes(&self, recall: Recall) -> Result<Recall> {
        let search = match &self.ports.vector_index {
            Some(own) => VectorSearch::Built(Arc::clone(own)),
            None => self.settings.recall.vector_index.search()?,
        };
        let recall = recall.with_vector_search(search);
        Ok(match &self.ports.lexical_index {
            Some(own) => recall.with_lexical_index(Arc::clone(own)),
            None => recall,
        })
    }

    /// Returns the summarizer of conversations: the given one, or the instructions of the settings.
    pub(super) fn condenser(&self) -> Result<Arc<dyn Summarizer>> {
        if let Some(own) = &self.ports.summarizer {
            return Ok(Arc::new(GroundingCheck(Own(Arc::clone(own)))));
        }
        let instructions = self.instructions("summarize.md", Instructions::summarize())?;
        Ok(Arc::new(GroundingCheck(ModelSummarizer::new(instructions))))
    }
}

/// A summarizer of the host.
#[derive(Clone, Debug)]
struct Own(Arc<dyn Summarizer>);

#[deny(clippy::missing_trait_methods)]
impl Summarizer for Own {
    fn producer(&self) -> Producer {
        self.0.producer()
    }

    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt {
        self.0.prompt(previous, parts, budget)
    }

    fn parse(
        &self,
        previous: Option<&str>,
        parts: &[&str],
        budget: TokenCount,
        completion: &Completion,
    ) -> Result<String> {
        self.0.parse(previous, parts, budget, completion)
    }
}
