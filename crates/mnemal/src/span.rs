//! Spans of operations, with the names of the OpenTelemetry conventions for generative AI; the host's `tracing` layer decides
//! what to do with them.
//! host's.
//!
//! Source of every name: open-telemetry/semantic-conventions-genai, `docs/gen-ai/gen-ai-spans.md`, section Memory, status
//! Development. `mnemal.gaps` is our own.

use std::fmt::Display;

use mnemal_core::{Gap, ModelId, Result, SessionId, SpaceId};
use tracing::{Instrument as _, Span, field};

use crate::memory::Memory;

/// The operation of a span.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A search or a context.
    Search,
    /// A note without a key.
    Create,
    /// Storing a note under a key, or with deduplication.
    Upsert,
    /// Archiving, restoring, rejecting or confirming a note.
    Update,
    /// A forget.
    Delete,
    /// A new space.
    CreateStore,
    /// A space that is removed.
    DeleteStore,
    /// A request to a language model.
    Chat,
    /// A request to an embedding endpoint.
    Embeddings,
}

/// Opens a span with the operation as its name, and all its fields declared.
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
    /// Creates the span of an operation on this space; texts are recorded only if the host enables it.
    pub(crate) fn observed(&self, operation: Operation) -> OperationSpan {
        let captures = self.admin().engine().settings().telemetry.capture_content;
        OperationSpan { captures, ..OperationSpan::new(operation) }.space(&self.admin().scope().space)
    }
}

/// The span of an operation in progress.
#[derive(Clone, Debug)]
pub(crate) struct OperationSpan {
    span: Span,
    captures: bool,
}

impl OperationSpan {
    /// Creates a span without texts.
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

    /// Records the query, if texts are enabled.
    pub(crate) fn query(self, text: &str) -> Self {
        if self.captures {
            self.span.record("gen_ai.memory.query.text", text);
        }
        self
    }

    /// Runs the operation inside its span, and records the outcome.
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

    /// Records the number of records, and the id if there is only one.
    pub(crate) fn records<I: Display>(&self, mut ids: impl ExactSizeIterator<Item = I>) {
        self.count(ids.len());
        if let (1, Some(id)) = (ids.len(), ids.next()) {
            self.span.record("gen_ai.memory.record.id", field::display(id));
        }
    }

    /// Records the number of records.
    pub(crate) fn count(&self, count: usize) {
        self.span.record("gen_ai.memory.record.count", count as u64);
    }

    /// Records the texts of the records, if texts are enabled: an array of JSON.
    pub(crate) fn texts<'t>(&self, texts: impl Iterator<Item = &'t str>) {
        if self.captures
            && let Ok(written) = serde_json::to_string(&texts.collect::<Vec<_>>())
        {
            self.span.record("gen_ai.memory.records", written);
        }
    }

    /// Records the layers with a gap.
    pub(crate) fn gaps(&self, gaps: &[Gap]) {
        if !gaps.is_empty() {
            let layers: Vec<&str> = gaps.iter().map(|gap| gap.layer.as_str()).collect();
            self.span.record("mnemal.gaps", layers.join(","));
        }
    }
}
