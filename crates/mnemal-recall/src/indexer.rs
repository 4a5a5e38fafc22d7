//! [`Indexer`] of this crate: terms, marks, and a vector if an embedder is configured.

use async_trait::async_trait;
use mnemal_core::{Embedder, IndexEntry, Indexer, NewEvent, Result, Slot, Vector};
use mnemal_text::{Analyzer, Language};

use crate::terms::{index_marks, index_terms, indexed_text, is_found};

/// The longest embedded prefix of a text, in bytes.
///
/// Source: own choice; a mean of word vectors gains nothing after some 600 words, and an append must not wait for a
/// document.
const LONGEST_EMBEDDED: usize = 4_096;

/// Makes index entries in the form that [`Recall`](crate::Recall) reads.
///
/// The analyzer's language must match the reading side. If an embedder fails, the vector is omitted; it can be added later
/// through `IndexStore::put_vectors`.
#[derive(Debug)]
pub struct EventIndexer {
    analyzer: Analyzer,
    embedder: Slot<dyn Embedder>,
}

impl EventIndexer {
    /// Combines an analyzer of this language with an optional embedder; every append waits for it, so a slow embedder needs
    /// a deadline.
    pub fn new(language: Language, embedder: Slot<dyn Embedder>) -> Self {
        Self { analyzer: Analyzer::new(language), embedder }
    }

    async fn vectors(&self, events: &[NewEvent]) -> Vec<Option<Vector>> {
        let none = || vec![None; events.len()];
        let Ok(embedder) = self.embedder.part() else { return none() };
        let texts: Vec<String> = events.iter().map(embedded_text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match embedder.embed(&texts).await {
            Ok(vectors) if vectors.len() == events.len() => {
                vectors.into_iter().map(|values| values.and_then(|v| Vector::from_unit(&v).ok())).collect()
            }
            _ => none(),
        }
    }
}

/// Returns the text of an event to embed: its indexed text, at most the first 4,096 bytes; empty for an event that is not
/// indexed.
///
/// Every producer of vectors for recall must embed this text.
pub fn embedded_text(event: &NewEvent) -> String {
    if !is_found(event) {
        return String::new();
    }
    let mut text = indexed_text(event);
    text.truncate(text.floor_char_boundary(LONGEST_EMBEDDED));
    text
}

#[async_trait]
impl Indexer for EventIndexer {
    async fn index(&self, events: &[NewEvent]) -> Result<Vec<IndexEntry>> {
        let vectors = self.vectors(events).await;
        let model = self.embedder.part().ok().map(Embedder::model);
        let entries = events.iter().zip(vectors).map(|(event, vector)| IndexEntry {
            terms: index_terms(event, self.analyzer),
            marks: index_marks(event),
            vectors: model.cloned().zip(vector).into_iter().collect(),
        });
        Ok(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WordEmbedder, ready, turn};
    use std::sync::Arc;

    #[test]
    fn entries_come_in_order_with_a_vector_where_there_is_one() {
        let events = [turn("s", "Ada", "I like tea"), turn("s", "Ada", "")];
        let embedder: Arc<dyn Embedder> = Arc::new(WordEmbedder::new());
        let entries = ready(EventIndexer::new(Language::English, embedder.into()).index(&events)).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].vectors.len(), 1);
        assert!(entries[1].vectors.is_empty() && entries[1].terms.counts.is_empty());
        let without = ready(EventIndexer::new(Language::English, Slot::Empty).index(&events)).unwrap();
        assert_eq!(without[0].terms, entries[0].terms);
        assert!(without[0].vectors.is_empty());
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_before_it_is_embedded() {
        let text = embedded_text(&turn("s", "Ada", &"ü".repeat(5_000)));
        assert!(text.len() <= LONGEST_EMBEDDED && text.ends_with('ü'));
    }
}
