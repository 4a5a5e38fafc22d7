//! Extractive summarization.

mod candidate;

use std::collections::BTreeSet;

use mnemal_core::{Span, TokenCount};
use mnemal_text::{Language, jaccard};

use self::candidate::{Candidate, candidates};
pub use self::candidate::{FEATURES, Features};

/// Similarity above which two sentences are redundant. Source: NX-05.6, Jaccard over terms.
const REDUNDANT: f32 = 0.6;
/// Penalty of a sentence whose terms are all in chosen ones.
///
/// Source: ADR 39, the best of 0, 0.5, 0.8 and 1 on the development half of `LoCoMo`.
const KNOWN: f32 = 0.8;
/// Feature weights, in the order of [`FEATURES`], and the base score.
///
/// Source: ADR 39, ridge regression over the sentences of the development half of `LoCoMo`: the share of a sentence that is
/// in the reference summary of its session, relative to its length (`bench summaries --fit`).
const WEIGHTS: Weights = Weights { base: -0.1441, of: [1.2681, 0.1223, -0.1924, 0.0196, 0.08] };

/// Weights of the sentence score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The base score of every sentence.
    pub base: f32,
    /// The weight of each feature, in the order of [`FEATURES`].
    pub of: Features,
}

impl Default for Weights {
    fn default() -> Self {
        WEIGHTS
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Utterance<'a> {
    /// The speaker.
    pub speaker: Option<&'a str>,
    /// The text.
    pub text: &'a str,
    /// Spans to skip: echoes of memory.
    pub echo: &'a [Span],
}

/// Limits of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most sentences.
    pub sentences: usize,
    /// Most tokens of the sentences with their speaker names, by the estimate of `mnemal-text`.
    pub tokens: TokenCount,
}

/// A chosen sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SelectedSentence {
    /// Index of its utterance.
    pub utterance: usize,
    /// Its bytes there.
    pub span: Span,
}

/// Returns the most informative sentences, in their original order.
///
/// A sentence scores higher if its terms are central to the whole, if it has many of them, and if it contains names,
/// numbers and times; it scores lower if it addresses the other speaker. The best one is taken until the limits are
/// reached, and each further one is penalized for terms that are covered already; one that shares more than 0.6 of its
/// terms with a chosen one is skipped. The wording is unchanged.
pub fn condense(language: Language, said: &[Utterance<'_>], limits: Limits) -> Vec<SelectedSentence> {
    condense_with(language, said, limits, Weights::default())
}

/// As [`condense`], with custom weights.
pub fn condense_with(
    language: Language,
    said: &[Utterance<'_>],
    limits: Limits,
    weights: Weights,
) -> Vec<SelectedSentence> {
    let mut left: Vec<(f32, Candidate)> =
        candidates(language, said).into_iter().map(|one| (weights.score(&one.features), one)).collect();
    let (mut chosen, mut known, mut room): (Vec<Candidate>, BTreeSet<u64>, u32) =
        (Vec::new(), BTreeSet::new(), limits.tokens.0);
    while chosen.len() < limits.sentences {
        left.retain(|(_, one)| one.tokens <= room && !is_redundant(one, &chosen));
        let value = |(score, one): &(f32, Candidate)| worth(*score, one, &known);
        let Some(best) = (0..left.len()).max_by(|&a, &b| {
            let (of_a, of_b) = (left.get(a).map_or(0.0, value), left.get(b).map_or(0.0, value));
            of_a.total_cmp(&of_b).then(b.cmp(&a))
        }) else {
            break;
        };
        let (_, one) = left.remove(best);
        room -= one.tokens;
        known.extend(&one.terms);
        chosen.push(one);
    }
    let mut kept: Vec<SelectedSentence> = chosen.into_iter().map(|one| one.kept).collect();
    kept.sort_unstable();
    kept
}

/// Returns every candidate sentence with its features.
pub fn features(language: Language, said: &[Utterance<'_>]) -> Vec<(SelectedSentence, Features)> {
    candidates(language, said).into_iter().map(|one| (one.kept, one.features)).collect()
}

impl Weights {
    fn score(&self, features: &Features) -> f32 {
        self.base + self.of.iter().zip(features).map(|(weight, feature)| weight * feature).sum::<f32>()
    }
}

fn is_redundant(one: &Candidate, chosen: &[Candidate]) -> bool {
    chosen.iter().any(|other| jaccard(&other.terms, &one.terms) > REDUNDANT)
}

/// The score of a sentence given the chosen ones.
fn worth(score: f32, one: &Candidate, known: &BTreeSet<u64>) -> f32 {
    let there = one.terms.iter().filter(|term| known.contains(term)).count();
    let share = there as f32 / one.terms.len().max(1) as f32;
    if score > 0.0 { score * (1.0 - KNOWN * share) } else { score }
}

#[cfg(test)]
mod tests;
