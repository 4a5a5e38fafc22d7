//! Protected and common words of a space, for the check that a rewrite loses nothing.

use std::sync::Arc;

use mnemal_core::{Category, Entity, EntityFilter, ErrorKind, GraphStore, Learning, Slot};
use mnemal_text::Vocabulary;

/// A space's settings for the check that a rewrite loses nothing.
#[derive(Clone, Debug)]
pub struct RewriteRules {
    /// The graph, whose names are protected.
    pub graph: Slot<dyn GraphStore>,
    /// Words that count as ordinary language everywhere.
    pub common: Vec<String>,
    /// Words that must always be preserved.
    pub specific: Vec<String>,
    /// Categories whose numbers may be dropped, including subcategories.
    pub disposable: Vec<Category>,
    /// Names of malformed lists in the settings, which are ignored; every cycle reports them.
    pub malformed: Vec<&'static str>,
}

/// The same, with word counts of the notes.
#[derive(Debug, Default)]
pub(crate) struct WordCounts {
    vocabulary: Vocabulary,
    disposable: Vec<Category>,
    /// The error if the names of the space could not be read.
    pub(crate) without_names: Option<ErrorKind>,
}

impl RewriteRules {
    /// Counts the words of the notes, and reads the names. If the names cannot be read, no word of a script without case
    /// counts as common, so that more is refused and nothing is lost.
    pub(crate) async fn of(&self, rows: &[Learning]) -> WordCounts {
        let names = match &self.graph {
            Slot::Filled(graph) => graph.entities(&EntityFilter::all()).await,
            Slot::Empty => Ok(Vec::new()),
        };
        let vocabulary = match &names {
            Ok(entities) => {
                let texts = Vocabulary::of(rows.iter().map(|row| row.content.as_str()));
                texts.with_names(entities.iter().flat_map(names_of))
            }
            Err(_) => Vocabulary::default(),
        };
        let vocabulary = vocabulary.with_common(&self.common).with_specific(&self.specific);
        let without_names = names.err().map(|error| error.kind());
        WordCounts { vocabulary, disposable: self.disposable.clone(), without_names }
    }
}

impl WordCounts {
    /// Returns the specifics of a text that must be preserved.
    pub(crate) fn specifics(&self, text: &str) -> Vec<String> {
        self.vocabulary.specifics(text)
    }

    /// Returns the specifics of notes that a replacement text omits.
    pub(crate) fn missing_specifics(&self, text: &str, rows: &[&Learning]) -> Vec<String> {
        let sources: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
        let mut missing = self.vocabulary.uncovered(text, &sources);
        let is_disposable =
            |row: &&&Learning| self.disposable.iter().any(|category| row.category.is_within(category));
        if !missing.iter().any(|one| is_number(one)) || !rows.iter().any(|row| is_disposable(&row)) {
            return missing;
        }
        let kept = rows.iter().filter(|row| !is_disposable(row));
        let kept: Vec<String> = kept.flat_map(|row| self.specifics(&row.content)).collect();
        missing.retain(|one| !is_number(one) || kept.contains(one));
        missing
    }

    /// Returns the numbers and dates of a text that no source has.
    pub(crate) fn made_up(&self, text: &str, sources: &[&str]) -> Vec<String> {
        self.vocabulary.made_up(text, sources)
    }
}

fn names_of(entity: &Arc<Entity>) -> impl Iterator<Item = &str> {
    entity.names.iter().map(|name| name.text.as_str())
}

/// Whether a specific is only a number.
fn is_number(specific: &str) -> bool {
    specific.contains(char::is_numeric) && !specific.contains(char::is_alphabetic)
}
