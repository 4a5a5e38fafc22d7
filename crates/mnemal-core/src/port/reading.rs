//! Ports of analysis and of composition. None of them can reach a network or a language model.

use std::fmt::Debug;
use std::ops::Range;

use async_trait::async_trait;

use crate::{
    ContextRequest, Degraded, Extraction, Fragment, IndexEntry, Inventory, Layer, ModelId, NewEvent,
    Producer, Result, TokenCount, TokenParts, Utterance,
};

/// Counts tokens. Pure; errs on the high side where it estimates, because Σ tokens ≤ budget is a guarantee.
pub trait TokenCounter: Debug + Send + Sync + 'static {
    /// Returns the counter's name, for receipts.
    fn name(&self) -> &str;

    /// Counts the tokens of a text.
    fn count(&self, text: &str) -> TokenCount;

    /// Returns what whole lines have of tokens, where that does not depend on the lines around them: texts of which each ends in a
    /// line break and begins with none count together the sum of their parts, rounded up. `None` for other texts, and always where
    /// lines count otherwise together than apart; what is put together of such is counted as a whole.
    fn parts(&self, lines: &str) -> Option<TokenParts> {
        let _ = lines;
        None
    }

    /// Returns the byte range of the longest prefix that fits, on a character boundary, on a grapheme boundary where the
    /// counter knows them.
    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize>;
}

/// Turns text into vectors, in process: it must not open a socket or start a process. The only embedder that reading may
/// use.
#[async_trait]
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Returns the model; vectors of two models never mix.
    fn model(&self) -> &ModelId;

    /// Returns how many values a vector has.
    fn dimensions(&self) -> usize;

    /// Returns the calibrated cosine below which nearness alone injects nothing; never used in ranking.
    fn floor(&self) -> f32;

    /// Whether it was made for texts of a language, an ISO 639-1 code; of a question in another one nearness alone injects nothing.
    fn reads(&self, language: &str) -> bool {
        let _ = language;
        true
    }

    /// Returns one vector a text, in order, of length 1 ± 1e-3; `None` for a text without a word that the model knows.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>>;

    /// Returns the vector of a question, comparable with those of [`embed`](Self::embed).
    ///
    /// The same as that of a text, unless the model reads questions in another way or answers them before texts that wait.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>> {
        Ok(self.embed(&[query]).await?.into_iter().next().flatten())
    }
}

/// Reads a question and a text together and says how well the one answers the other. In process, and slow beside everything
/// else that reading does: it is handed a few texts, under a deadline of its own.
#[async_trait]
pub trait Reranker: Debug + Send + Sync + 'static {
    /// Returns the model.
    fn model(&self) -> &ModelId;

    /// Returns one finite value a text, in order; the higher, the better it answers. Values of two questions do not compare.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now.
    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>>;
}

/// Makes what recall can find an event by; called before the event is stored, after redaction.
#[async_trait]
pub trait Indexer: Debug + Send + Sync + 'static {
    /// Returns one entry an event, in order. A vector that cannot be made now is left out and comes later.
    ///
    /// # Errors
    /// None for any text; `Internal` for a bug.
    async fn index(&self, events: &[NewEvent]) -> Result<Vec<IndexEntry>>;
}

/// Reads names and claims out of an event. Pure and deterministic: the same utterance gives the same answer on every
/// machine, and no text makes it fail; what it does not understand it leaves alone.
pub trait Extractor: Debug + Send + Sync + 'static {
    /// Returns what is written on every record that comes of it; the version rises with every change of its output.
    fn producer(&self) -> Producer;

    /// Returns what the event says. Spans lie inside the event's text, on character boundaries.
    fn extract(&self, utterance: &Utterance<'_>) -> Extraction;
}

/// Offers text for the context. There is no permit in the signature: a source cannot reach a model.
#[async_trait]
pub trait ContextSource: Debug + Send + Sync + 'static {
    /// Returns the layer that answers.
    fn layer(&self) -> Layer;

    /// Returns fragments, best first within their section; withheld ones with their reason.
    ///
    /// # Errors
    /// Whatever the layer's store answers; the assembler makes a gap of it.
    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>>;

    /// Returns what stands in working memory for the conversation of the request; most layers keep nothing there.
    ///
    /// # Errors
    /// Whatever the layer's store answers; the assembler makes a gap of it.
    async fn inventories(&self, _request: &ContextRequest) -> Result<Vec<Inventory>> {
        Ok(Vec::new())
    }
}
