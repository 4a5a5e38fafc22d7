//! Synonyms: words of everyday life that name the same thing, in several languages.
//!
//! A question and its answer often share no word: "Where do I work?", "I got the job". A query is expanded with the other words
//! of its concepts, which count less than its own.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use mnemal_core::TermHash;
use mnemal_text::{Analyzer, Language, is_stop_word, term_hash};

/// The concepts. Source: written from general knowledge, without a look at any data that recall is measured on.
const FILE: &str = include_str!("../synonyms.txt");
/// Terms of a query from which on it is not expanded: it says enough itself. Source: own choice; questions have up to ten.
const LONG: usize = 12;
/// The languages of the concepts. A synonym that is a stop word in one of them is skipped.
const LANGUAGES: [Language; 5] =
    [Language::English, Language::German, Language::French, Language::Spanish, Language::Portuguese];
/// Terms that are common words of their own in another sense: "Kinder" is stemmed to the "kind" of "what kind of".
const COMMON: [&str; 1] = ["kind"];

/// A concept of a query, with the words that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynonymSet {
    /// The word of the query.
    pub word: TermHash,
    /// The number of the concept; equal numbers have equal terms in one space.
    pub concept: u16,
    /// The words of the concept, distinct, those of the query among them.
    pub terms: Arc<[TermHash]>,
}

/// One concept.
#[derive(Debug, Default)]
struct Concept {
    words: Vec<&'static str>,
    /// Its words as terms, by the language of the analyzer.
    terms: Mutex<HashMap<Language, Arc<[TermHash]>>>,
}

impl Concept {
    fn terms(&self, analyzer: Analyzer) -> Arc<[TermHash]> {
        let mut known = self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(analyzer.language()).or_insert_with(|| terms_of(&self.words, analyzer).into()).clone()
    }
}

/// Returns the terms of words. A word of several terms, such as a compound, has none: its parts mean something else.
fn terms_of(words: &[&str], analyzer: Analyzer) -> Vec<TermHash> {
    let mut terms = Vec::with_capacity(words.len());
    for word in words {
        let (mut found, mut parts) = (None, 0);
        analyzer.for_each_term(word, &mut |term, _| {
            let is_common =
                COMMON.contains(&term) || LANGUAGES.iter().any(|language| is_stop_word(*language, term));
            found = (!is_common).then(|| TermHash(term_hash(term)));
            parts += 1;
        });
        terms.extend(found.filter(|_| parts == 1));
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// All concepts.
#[derive(Debug, Default)]
struct Concepts {
    all: Vec<Concept>,
    /// The concepts of each word, as written.
    of_word: HashMap<&'static str, Vec<u16>>,
    /// The concepts of each English term: regular forms are not listed.
    of_term: HashMap<TermHash, Vec<u16>>,
}

static CONCEPTS: LazyLock<Concepts> = LazyLock::new(|| Concepts::read(FILE));

impl Concepts {
    fn read(text: &'static str) -> Self {
        let mut concepts = Self::default();
        for line in text.lines() {
            if line.starts_with('[') {
                concepts.all.push(Concept::default());
            } else if let Some((language, words)) = line.split_once(": ") {
                concepts.add(language, words);
            }
        }
        concepts
    }

    /// Adds a line of words to the last concept. English ones behind a bar are understood in an English question only, and find
    /// nothing: they are common words of other languages.
    fn add(&mut self, language: &str, line: &'static str) {
        let Ok(number) = u16::try_from(self.all.len().saturating_sub(1)) else { return };
        let Some(concept) = self.all.last_mut() else { return };
        let (words, asked) = line.split_once(" | ").unwrap_or((line, ""));
        concept.words.extend(words.split(' '));
        let add = |of: &mut Vec<u16>| {
            if !of.contains(&number) {
                of.push(number);
            }
        };
        for word in words.split(' ') {
            add(self.of_word.entry(word).or_default());
        }
        let english = words.split(' ').chain(asked.split_ascii_whitespace()).filter(|_| language == "en");
        Analyzer::default().for_each_term(&english.collect::<Vec<_>>().join(" "), &mut |term, _| {
            add(self.of_term.entry(TermHash(term_hash(term))).or_default());
        });
    }

    /// The concepts of a word of a query, with its term. Of "j'habite" the part behind the article counts.
    fn of(&self, word: &str, term: TermHash, asked: Language) -> &[u16] {
        let by_term = || self.of_term.get(&term).filter(|_| asked == Language::English);
        let elided = || word.split_once(['\'', '’']).filter(|(before, _)| before.len() <= "qu".len());
        let behind = || self.of_word.get(elided()?.1);
        self.of_word.get(word).or_else(behind).or_else(by_term).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns the concepts of the words of a query that are among its terms, each once; none for a long query.
pub(crate) fn synonyms(text: &str, terms: &[TermHash], analyzer: Analyzer) -> Vec<SynonymSet> {
    if terms.len() >= LONG {
        return Vec::new();
    }
    let asked = Language::of_question(text);
    let mut sets: Vec<SynonymSet> = Vec::new();
    analyzer.for_each_term(text, &mut |term, range| {
        let term = TermHash(term_hash(term));
        let Some(word) = text.get(range).filter(|_| terms.contains(&term)) else { return };
        for number in CONCEPTS.of(&word.to_lowercase(), term, asked) {
            let is_new = sets.iter().all(|set| set.concept != *number);
            if let Some(concept) = CONCEPTS.all.get(usize::from(*number)).filter(|_| is_new) {
                sets.push(SynonymSet { word: term, concept: *number, terms: concept.terms(analyzer) });
            }
        }
    });
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn has(question: &str, word: &str) -> bool {
        let analyzer = Analyzer::default();
        let of = |text: &str| -> Vec<TermHash> {
            analyzer.query_terms(text).iter().map(|term| TermHash(term_hash(term))).collect()
        };
        let sets = synonyms(question, &of(question), analyzer);
        of(word).iter().all(|term| sets.iter().any(|set| set.terms.contains(term)))
    }

    #[test]
    fn a_word_of_a_question_stands_for_its_concept_in_every_language() {
        for (question, word) in [
            ("Where do I work?", "job"),
            ("Where was I working?", "Arbeitgeber"),
            ("Wie heißt mein Vater?", "Papa"),
            ("¿Quién es mi jefa?", "supervisor"),
            ("Où est-ce que j'habite ?", "apartment"),
            ("我的工作是什么？", "employer"),
            ("What car do we drive?", "Auto"),
        ] {
            assert!(has(question, word), "{question} {word}");
        }
        assert!(!has("Where do I work?", "dentist") && !has("zebra crossings", "job"));
    }

    #[test]
    fn a_word_that_looks_like_one_of_another_language_stands_for_nothing() {
        assert!(
            !has("Il part, car il pleut, car c'est tard", "Auto"),
            "an English word of an English question"
        );
        for common in ["die", "son", "kind", "nicht"] {
            let term = TermHash(term_hash(common));
            let mut all = CONCEPTS.all.iter().map(|concept| concept.terms(Analyzer::default()));
            assert!(all.all(|terms| !terms.contains(&term)), "{common} finds other things");
        }
    }

    #[test]
    fn the_file_has_one_word_for_each_blank_and_no_concept_is_empty() {
        let mut names = HashSet::new();
        for line in FILE.lines() {
            let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            let words = line.split_once(": ").map(|(_, words)| words);
            assert!(name.is_some() != words.is_some(), "{line}");
            assert!(name.is_none_or(|name| names.insert(name)), "{line}");
            let mut words = words.into_iter().flat_map(|words| words.split(' '));
            assert!(words.all(|word| !word.is_empty() && word == word.to_lowercase()), "{line}");
        }
        assert_eq!(names.len(), CONCEPTS.all.len());
        assert!(CONCEPTS.all.iter().all(|concept| !concept.terms(Analyzer::default()).is_empty()));
    }

    #[test]
    fn a_long_query_says_enough_itself() {
        let words: Vec<String> = (0..LONG).map(|n| format!("word{n}")).collect();
        assert!(!has(&format!("work {}", words.join(" ")), "job"));
    }
}
