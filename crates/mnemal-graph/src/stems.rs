//! The stems of short texts that are compared with one question after the other.

use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::RandomState;
use mnemal_text::{Analyzer, term_hash};

/// Most texts of which the stems are kept before all are let go. Source: own default, about a megabyte; of somebody who is named
/// often there are a thousand facts.
const MOST: usize = 8_192;

/// Keeps the stems of values, topics and names: each question asks for those of a thousand, and to stem a text costs ten times as
/// much as to find it here.
///
/// Of a text nothing but hashes is kept, its own and those of its stems, so that there is nothing to forget.
#[derive(Default)]
pub(crate) struct Stems {
    /// Keyed by chance, so that nobody can offer two texts of one key; that two of so many meet is as good as impossible.
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
