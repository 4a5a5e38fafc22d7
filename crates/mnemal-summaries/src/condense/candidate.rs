//! Candidate sentences and their features.

use std::collections::HashMap;

use mnemal_core::Span;
use mnemal_text::{Analyzer, Language, estimate_tokens, is_stop_word, sentences, term_hash};

use super::{SelectedSentence, Utterance};
use crate::words::{is_addressed, is_time};

/// Feature names: similarity to the whole (cosine of idf-weighted terms), logarithm of one plus the number of distinct
/// terms, share of words addressing the other speaker, names and numbers (up to three), and whether a word places it in
/// time.
pub const FEATURES: [&str; 5] = ["centroid", "terms", "addressed", "specifics", "time"];
/// The features of a sentence, in the order of [`FEATURES`].
pub type Features = [f32; 5];

/// Most names and numbers that count. Source: ADR 39; a fourth adds nothing.
const SPECIFICS: usize = 3;

/// A candidate sentence.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) kept: SelectedSentence,
    /// Hashes of its distinct terms without stop words, ascending; never empty.
    pub(super) terms: Vec<u64>,
    pub(super) features: Features,
    /// Tokens with the speaker name in front and one for the separator.
    pub(super) tokens: u32,
}

/// Returns the candidate sentences, in order, without those that have no content or overlap an echo.
pub(super) fn candidates(language: Language, said: &[Utterance<'_>]) -> Vec<Candidate> {
    let analyzer = Analyzer::new(language);
    let mut all = Vec::new();
    for (utterance, one) in said.iter().enumerate() {
        let before = one.speaker.map_or(0, |name| estimate_tokens(name) + 2);
        for sentence in sentences(one.text) {
            let Ok(span) = span(sentence.start, sentence.end) else { continue };
            if one.echo.iter().any(|echo| echo.start < span.end && span.start < echo.end) {
                continue;
            }
            let text = sentence.of(one.text);
            let found = SentenceContent::read(analyzer, text);
            if found.says_something() {
                let tokens = before + estimate_tokens(text) + 1;
                all.push((
                    Candidate {
                        kept: SelectedSentence { utterance, span },
                        terms: Vec::new(),
                        features: [0.0; 5],
                        tokens,
                    },
                    found,
                ));
            }
        }
    }
    let whole = TermWeights::of(all.iter().map(|(_, found)| found.terms.as_slice()));
    let weigh = |(mut one, found): (Candidate, SentenceContent)| {
        one.features = [
            whole.likeness(&found.terms),
            (found.terms.len() as f32).ln_1p(),
            found.addressed,
            found.specifics.min(SPECIFICS) as f32,
            f32::from(u8::from(found.is_timed)),
        ];
        one.terms = found.terms;
        one
    };
    all.into_iter().map(weigh).collect()
}

fn span(start: usize, end: usize) -> Result<Span, std::num::TryFromIntError> {
    Ok(Span { start: u32::try_from(start)?, end: u32::try_from(end)? })
}

/// The content of one sentence.
#[derive(Debug, Default)]
struct SentenceContent {
    terms: Vec<u64>,
    addressed: f32,
    specifics: usize,
    is_timed: bool,
}

impl SentenceContent {
    /// Whether it is more than a greeting: two terms, or one that is a name or a number.
    fn says_something(&self) -> bool {
        self.terms.len() > 1 || (self.terms.len() == 1 && self.specifics > 0)
    }

    fn read(analyzer: Analyzer, text: &str) -> Self {
        let language = analyzer.language();
        let (mut found, mut n_words, mut n_addressed) = (Self::default(), 0_u32, 0_u32);
        analyzer.for_each_term(text, &mut |term, range| {
            let word = text.get(range.clone()).unwrap_or_default();
            let small = word.to_lowercase();
            n_words += 1;
            n_addressed += u32::from(is_addressed(language, &small));
            found.is_timed |= is_time(language, &small);
            if !is_stop_word(language, word) {
                found.terms.push(term_hash(term));
                let is_name = range.start > 0 && word.starts_with(char::is_uppercase);
                found.specifics +=
                    usize::from(is_name || word.starts_with(|first: char| first.is_ascii_digit()));
            }
        });
        found.addressed = n_addressed as f32 / n_words.max(1) as f32;
        found.terms.sort_unstable();
        found.terms.dedup();
        found
    }
}

/// Term weights over all sentences.
#[derive(Debug)]
struct TermWeights {
    /// The idf of a term, and its weight in the whole.
    terms: HashMap<u64, (f32, f32)>,
    length: f32,
}

impl TermWeights {
    fn of<'a>(sentences: impl Iterator<Item = &'a [u64]>) -> Self {
        let (mut counts, mut n_sentences): (HashMap<u64, u32>, u32) = (HashMap::new(), 0);
        for terms in sentences {
            n_sentences += 1;
            for term in terms {
                *counts.entry(*term).or_default() += 1;
            }
        }
        let weigh = |(term, count): (u64, u32)| {
            let telling = (1.0 + n_sentences as f32 / count as f32).ln();
            (term, (telling, count as f32 * telling))
        };
        let terms: HashMap<u64, (f32, f32)> = counts.into_iter().map(weigh).collect();
        // Summed in a fixed order, so that equal sentences have equal scores in every process.
        let mut squares: Vec<f32> = terms.values().map(|(_, weight)| weight * weight).collect();
        squares.sort_by(f32::total_cmp);
        Self { terms, length: squares.into_iter().sum::<f32>().sqrt() }
    }

    /// The cosine of a sentence and the whole.
    fn likeness(&self, terms: &[u64]) -> f32 {
        let (mut product, mut square) = (0.0, 0.0);
        for (telling, weight) in terms.iter().filter_map(|term| self.terms.get(term)) {
            product += telling * weight;
            square += telling * telling;
        }
        let lengths = self.length * square.sqrt();
        if lengths > 0.0 { product / lengths } else { 0.0 }
    }
}
