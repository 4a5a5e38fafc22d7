//! Extractive summary: a selection of a text's own sentences.

use crate::Analyzer;
use crate::hash::term_hash;
use crate::sentence::{Sentence, sentences};
use crate::similarity::jaccard;
use crate::stop::is_stop_word;
use std::collections::HashMap;

/// Similarity above which a sentence is redundant.
///
/// Source: own choice, the Jaccard index over terms.
const REDUNDANT: f32 = 0.6;

/// Bonus of the first sentence of a text over one in the middle, as a share of the best centroid score.
///
/// Source: own choice; a lead says what a text is about, but an answer often is at its end.
const LEAD: f32 = 0.25;

/// Bonus of each specific (name, number, date), as a share of the best centroid score, up to three of them.
///
/// Source: own choice; a summary should keep specifics.
const SPECIFIC: f32 = 0.12;

/// Returns the most informative sentences of `text`, at most `most` of them, in the order of the text.
///
/// Each sentence is scored by the mean weight of its terms in the whole text (centroid), its position, and its names, numbers
/// and dates; a sentence that shares more than 0.6 of its terms with a better one is left out. The words are the original ones,
/// and the spans point at them. A text of `most` sentences or fewer keeps all that are not redundant.
pub fn condense(analyzer: &Analyzer, text: &str, most: usize) -> Vec<Sentence> {
    let mut candidates: Vec<SentenceCandidate> =
        sentences(text).into_iter().map(|span| SentenceCandidate::new(*analyzer, text, span)).collect();
    score(&mut candidates);
    let mut ranked: Vec<usize> = (0..candidates.len()).collect();
    ranked.sort_by(|&a, &b| rank(&candidates, b).total_cmp(&rank(&candidates, a)).then(a.cmp(&b)));
    let mut chosen: Vec<&SentenceCandidate> = Vec::new();
    for candidate in ranked.into_iter().filter_map(|index| candidates.get(index)) {
        if chosen.len() >= most {
            break;
        }
        if !chosen.iter().any(|better| jaccard(&better.terms, &candidate.terms) > REDUNDANT) {
            chosen.push(candidate);
        }
    }
    let mut spans: Vec<Sentence> = chosen.into_iter().map(|candidate| candidate.span).collect();
    spans.sort_unstable();
    spans
}

struct SentenceCandidate {
    span: Sentence,
    /// Hashes of the distinct terms that are no stop words, sorted.
    terms: Vec<u64>,
    specifics: usize,
    score: f32,
}

impl SentenceCandidate {
    fn new(analyzer: Analyzer, text: &str, span: Sentence) -> Self {
        let body = span.of(text);
        let mut terms = Vec::new();
        let mut specifics = 0;
        analyzer.for_each_term(body, &mut |term, range| {
            let word = body.get(range.clone()).unwrap_or_default();
            if !is_stop_word(analyzer.language(), word) {
                terms.push(term_hash(term));
                let name = range.start > 0 && word.starts_with(char::is_uppercase);
                specifics += usize::from(name || word.starts_with(|first: char| first.is_ascii_digit()));
            }
        });
        terms.sort_unstable();
        terms.dedup();
        Self { span, terms, specifics, score: 0.0 }
    }
}

fn rank(candidates: &[SentenceCandidate], index: usize) -> f32 {
    candidates.get(index).map_or(0.0, |candidate| candidate.score)
}

fn score(candidates: &mut [SentenceCandidate]) {
    let mut weight: HashMap<u64, f32> = HashMap::new();
    for term in candidates.iter().flat_map(|candidate| &candidate.terms) {
        *weight.entry(*term).or_default() += 1.0;
    }
    for candidate in &mut *candidates {
        let sum: f32 = candidate.terms.iter().filter_map(|term| weight.get(term)).sum();
        candidate.score = sum / (candidate.terms.len() as f32 + 2.0);
    }
    let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    let last = candidates.len().saturating_sub(1).max(1) as f32;
    for (position, candidate) in candidates.iter_mut().enumerate() {
        let from_middle = (position as f32 / last - 0.5).abs() * 2.0;
        let place = if position == 0 { LEAD } else { LEAD * 0.4 * from_middle };
        candidate.score += best * (place + SPECIFIC * candidate.specifics.min(3) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use proptest::prelude::*;

    const TEXT: &str = "We planned the trip to Lisbon. Hm, well. The trip starts on 12 May and Anna books the flights. \
        Anna books the flights for the trip, on 12 May. It rained. Ben brings the maps of Lisbon for the trip.";

    // proves: NX-05.6
    #[test]
    fn the_telling_sentences_remain_in_their_words_and_order() {
        let analyzer = Analyzer::new(Language::English);
        let kept: Vec<&str> = condense(&analyzer, TEXT, 3).iter().map(|sentence| sentence.of(TEXT)).collect();
        assert_eq!(kept.len(), 3);
        assert_eq!(
            kept.iter().filter(|sentence| sentence.contains("12 May")).count(),
            1,
            "redundant: {kept:?}"
        );
        assert!(!kept.contains(&"Hm, well.") && !kept.contains(&"It rained."), "{kept:?}");
    }

    proptest! {
        #[test]
        fn a_summary_is_part_of_the_sentences(text in "([A-Ca-c]{1,5} ?[.\n]? ){0,40}", most in 0_usize..6) {
            let all = sentences(&text);
            let kept = condense(&Analyzer::new(Language::English), &text, most);
            prop_assert!(kept.len() <= most);
            prop_assert!(kept.iter().all(|sentence| all.contains(sentence)));
            prop_assert!(kept.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(kept.is_empty(), all.is_empty() || most == 0);
        }
    }
}
