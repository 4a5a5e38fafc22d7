//! The [`Indexer`] of this crate: terms, marks, and a vector when an embedder is there.

use async_trait::async_trait;
use mnemal_core::{Embedder, IndexEntry, Indexer, NewEvent, Result, Slot, Vector};
use mnemal_text::{Analyzer, Language};

use crate::terms::{index_marks, index_terms, indexed_text, is_found};

/// The longest prefix of a text that is embedded, in bytes.
///
/// Source: own choice; a mean of word vectors says no more after some 600 words, and an append must not wait for a document.
const LONGEST_EMBEDDED: usize = 4_096;

/// Makes index entries as [`Recall`](crate::Recall) reads them.
///
/// The analyser's language must be that of the reading side.
/// An embedder that fails leaves its vectors out; they come later through `IndexStore::put_vectors`.
#[derive(Debug)]
pub struct EventIndexer {
    analyzer: Analyzer,
    embedder: Slot<dyn Embedder>,
}

impl EventIndexer {
    /// Joins an analyser of this language with an embedder, if there is one; whoever appends waits for it, so it must have a
    /// deadline where it is slow.
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

/// Returns what is embedded of an event: its indexed text, at most its first 4,096 bytes; nothing of an event that nothing finds.
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
