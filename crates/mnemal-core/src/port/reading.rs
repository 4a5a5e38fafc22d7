//! Ports of text analysis and of context assembly. None of them can reach a network or a language model.

use std::fmt::Debug;
use std::ops::Range;

use async_trait::async_trait;

use crate::{
    ContextRequest, Degraded, Extraction, Fragment, IndexEntry, Inventory, Layer, ModelId, NewEvent,
    Producer, Result, TokenCount, TokenParts, Utterance,
};

/// A token counter. Pure; estimates err on the high side, because Σ tokens ≤ budget is a guarantee.
pub trait TokenCounter: Debug + Send + Sync + 'static {
    /// Returns the counter's name, for receipts.
    fn name(&self) -> &str;

    /// Counts the tokens of a text.
    fn count(&self, text: &str) -> TokenCount;

    /// Returns the token cost of whole lines, if it is additive: texts that each end in a line break and begin with none cost
    /// together the sum of their parts, rounded up. `None` for other texts, and always if the cost of a line depends on its
    /// neighbors; such texts are counted as a whole.
    fn parts(&self, lines: &str) -> Option<TokenParts> {
        let _ = lines;
        None
    }

    /// Returns the byte range of the longest prefix within the budget, on a character boundary, and on a grapheme boundary
    /// where the counter knows them.
    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize>;
}

/// An in-process embedder: it must not open a socket or start a process. The only embedder on read paths.
#[async_trait]
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Returns the model; vectors of two models never mix.
    fn model(&self) -> &ModelId;

    /// Returns the dimension of a vector.
    fn dimensions(&self) -> usize;

    /// Returns the similarity floor: the calibrated cosine below which a vector match alone injects nothing; not used in
    /// ranking.
    fn floor(&self) -> f32;

    /// Whether it supports a language, an ISO 639-1 code; for a query in another one a vector match alone injects nothing.
    fn reads(&self, language: &str) -> bool {
        let _ = language;
        true
    }

    /// Returns one vector per text, in order, of length 1 ± 1e-3; `None` for a text without a known word.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Returns the vector of a query, comparable with those of [`embed`](Self::embed).
    ///
    /// The same as that of a text, unless the model encodes queries differently or prioritizes them over waiting texts.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed(&[query]).await?.into_iter().next().flatten())
    }
}

/// A reranker reads a query and a text together and scores how well the text answers it. In process, and slower than any other
/// step of a read: it gets a few texts and its own deadline.
#[async_trait]
pub trait Reranker: Debug + Send + Sync + 'static {
    /// Returns the model.
    fn model(&self) -> &ModelId;

    /// Returns one finite score per text, in order; higher is better. Scores of two queries are not comparable.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now.
    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>>;
}

/// Builds the index entry of an event, before the event is stored and after redaction.
#[async_trait]
pub trait Indexer: Debug + Send + Sync + 'static {
    /// Returns one entry per event, in order. A vector that cannot be computed now is omitted and added later.
    ///
    /// # Errors
    /// None for any text; `Internal` for a bug.
    async fn index(&self, events: &[NewEvent]) -> Result<Vec<IndexEntry>>;
}

/// Extracts names and claims from an event. Pure and deterministic: the same utterance gives the same result on every machine,
/// and no text makes it fail; it skips what it does not understand.
pub trait Extractor: Debug + Send + Sync + 'static {
    /// Returns the producer for every derived record; its version rises with every change of the output.
    fn producer(&self) -> Producer;

    /// Returns the extraction of an event. Spans lie inside the event's text, on character boundaries.
    fn extract(&self, utterance: &Utterance<'_>) -> Extraction;
}

/// Offers fragments for the context. There is no permit in the signature: a source cannot reach a model.
#[async_trait]
pub trait ContextSource: Debug + Send + Sync + 'static {
    /// Returns its layer.
    fn layer(&self) -> Layer;

    /// Returns fragments, best first within their section; withheld ones with their reason.
    ///
    /// # Errors
    /// The error of the layer's store; the assembler turns it into a gap.
    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>>;

    /// Returns the working-memory inventories for the conversation of the request; most layers have none.
    ///
    /// # Errors
    /// The error of the layer's store; the assembler turns it into a gap.
    async fn inventories(&self, _request: &ContextRequest) -> Result<Vec<Inventory>> {
        Ok(Vec::new())
    }
}
