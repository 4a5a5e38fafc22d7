//! Spans of operations, under the names of the conventions for generative AI; what a host's `tracing` layer makes of them is the
//! host's.
//!
//! Source of every name: open-telemetry/semantic-conventions-genai, `docs/gen-ai/gen-ai-spans.md`, section Memory, status
//! Development. `mnemal.gaps` is our own.

use std::fmt::Display;

use mnemal_core::{Gap, ModelId, Result, SessionId, SpaceId};
use tracing::{Instrument as _, Span, field};

use crate::memory::Memory;

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A search or a context.
    Search,
    /// A note without a key.
    Create,
    /// A note under a key, or one that may be known.
    Upsert,
    /// A note that is put away, taken out, rejected or confirmed.
    Update,
    /// A forget.
    Delete,
    /// A new space.
    CreateStore,
    /// A space that is removed.
    DeleteStore,
    /// A question to a language model.
    Chat,
    /// Texts for an endpoint of vectors.
    Embeddings,
}

/// Opens a span whose name is the operation, with room for everything that may be said of it.
macro_rules! opened {
    ($name:literal, $kind:literal) => {
        tracing::debug_span!(
            target: "mnemal::operation",
            $name,
            "otel.kind" = $kind,
            "gen_ai.operation.name" = $name,
            "gen_ai.request.model" = field::Empty,
            "gen_ai.memory.store.id" = field::Empty,
            "gen_ai.memory.record.id" = field::Empty,
            "gen_ai.memory.record.count" = field::Empty,
            "gen_ai.memory.query.text" = field::Empty,
            "gen_ai.memory.records" = field::Empty,
            "gen_ai.conversation.id" = field::Empty,
            "mnemal.gaps" = field::Empty,
            "error.type" = field::Empty
        )
    };
}

impl Memory {
    /// Begins to observe an operation on this space; texts are kept only where the host wants them.
    pub(crate) fn observed(&self, operation: Operation) -> Observed {
        let captures = self.engine().settings().telemetry.capture_content;
        Observed { captures, ..Observed::new(operation) }.space(&self.scope().space)
    }
}

/// An operation while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    span: Span,
    captures: bool,
}

impl Observed {
    /// Begins to observe, without texts.
    pub(crate) fn new(operation: Operation) -> Self {
        let span = match operation {
            Operation::Search => opened!("search_memory", "internal"),
            Operation::Create => opened!("create_memory", "internal"),
            Operation::Upsert => opened!("upsert_memory", "internal"),
            Operation::Update => opened!("update_memory", "internal"),
            Operation::Delete => opened!("delete_memory", "internal"),
            Operation::CreateStore => opened!("create_memory_store", "internal"),
            Operation::DeleteStore => opened!("delete_memory_store", "internal"),
            Operation::Chat => opened!("chat", "client"),
            Operation::Embeddings => opened!("embeddings", "client"),
        };
        Self { span, captures: false }
    }

    pub(crate) fn space(self, space: &SpaceId) -> Self {
        self.span.record("gen_ai.memory.store.id", field::display(space));
        self
    }

    pub(crate) fn model(self, model: &ModelId) -> Self {
        self.span.record("gen_ai.request.model", field::display(model));
        self
    }

    pub(crate) fn session(self, session: Option<&SessionId>) -> Self {
        if let Some(session) = session.filter(|session| !session.is_nobody()) {
            self.span.record("gen_ai.conversation.id", field::display(session));
        }
        self
    }

    /// Says what was asked, where texts are kept.
    pub(crate) fn query(self, text: &str) -> Self {
        if self.captures {
            self.span.record("gen_ai.memory.query.text", text);
        }
        self
    }

    /// Runs it inside its span, and says of it what came out.
    pub(crate) async fn run<T>(
        self,
        work: impl Future<Output = Result<T>>,
        tell: impl FnOnce(&T, &Self),
    ) -> Result<T> {
        let done = work.instrument(self.span.clone()).await;
        match &done {
            _ if self.span.is_disabled() => {}
            Ok(value) => tell(value, &self),
            Err(error) => {
                self.span.record("error.type", error.kind().as_str());
            }
        }
        done
    }

    /// Says how many records it was about, and which one if it was one.
    pub(crate) fn records<I: Display>(&self, mut ids: impl ExactSizeIterator<Item = I>) {
        self.count(ids.len());
        if let (1, Some(id)) = (ids.len(), ids.next()) {
            self.span.record("gen_ai.memory.record.id", field::display(id));
        }
    }

    /// Says how many records it was about.
    pub(crate) fn count(&self, count: usize) {
        self.span.record("gen_ai.memory.record.count", count as u64);
    }

    /// Says what they are, where texts are kept: an array of JSON.
    pub(crate) fn texts<'t>(&self, texts: impl Iterator<Item = &'t str>) {
        if self.captures
            && let Ok(written) = serde_json::to_string(&texts.collect::<Vec<_>>())
        {
            self.span.record("gen_ai.memory.records", written);
        }
    }

    /// Says which layers were missing.
    pub(crate) fn gaps(&self, gaps: &[Gap]) {
        if !gaps.is_empty() {
            let layers: Vec<&str> = gaps.iter().map(|gap| gap.layer.as_str()).collect();
            self.span.record("mnemal.gaps", layers.join(","));
        }
    }
}
