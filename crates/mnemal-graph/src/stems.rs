//! Stem cache for short texts that are compared with every question.

use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::RandomState;
use mnemal_text::{Analyzer, term_hash};

/// Most cached texts before the cache is cleared. Source: own default, about a megabyte; a frequently mentioned entity has
/// a thousand facts.
const MOST: usize = 8_192;

/// Caches the stems of values, topics and names: each question needs a thousand of them, and stemming a text costs ten
/// times as much as a lookup here.
///
/// It stores only hashes, of the text and of its stems, so a forget has nothing to remove here.
#[derive(Default)]
pub(crate) struct Stems {
    /// Randomly keyed, so that nobody can craft two texts with one key; an accidental collision is practically impossible.
    keys: RandomState,
    kept: Mutex<HashMap<u64, Arc<[u64]>>>,
}

impl Stems {
    /// Returns the hashes of the terms of a text.
    pub(crate) fn of(&self, text: &str, analyzer: Analyzer) -> Arc<[u64]> {
        let key = self.keys.hash_one((analyzer.language(), text));
        if let Some(stems) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(stems);
        }
        let mut stems = Vec::new();
        analyzer.for_each_term(text, &mut |term, _| stems.push(term_hash(term)));
        let stems: Arc<[u64]> = stems.into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&stems));
        stems
    }
}

impl fmt::Debug for Stems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Stems").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mnemal_text::Language;

    #[test]
    fn a_text_has_the_same_stems_each_time_and_others_in_another_language() {
        let stems = Stems::default();
        let of = |text: &str, language| stems.of(text, Analyzer::new(language)).to_vec();
        let first = of("climbing walls", Language::English);
        assert_eq!(first, ["climb", "wall"].map(term_hash));
        assert_eq!(of("climbing walls", Language::English), first);
        assert_ne!(of("climbing walls", Language::German), first);
        for number in 0..MOST {
            of(&number.to_string(), Language::English);
        }
        assert!(stems.kept.lock().unwrap().len() <= MOST);
        assert_eq!(of("climbing walls", Language::English), first);
    }
}
