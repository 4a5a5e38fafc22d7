//! What was said in a few of its own sentences.

mod candidate;

use std::collections::BTreeSet;

use mnemal_core::{Span, TokenCount};
use mnemal_text::{Language, jaccard};

use self::candidate::{Candidate, candidates};
pub use self::candidate::{FEATURES, Features};

/// Two sentences that are more alike than this say the same. Source: NX-05.6, Jaccard over terms.
const REDUNDANT: f32 = 0.6;
/// What a sentence loses of its score when the chosen ones hold all of its terms.
///
/// Source: ADR 39, the best of 0, 0.5, 0.8 and 1 on the development half of `LoCoMo`.
const KNOWN: f32 = 0.8;
/// What each feature adds, in the order of [`FEATURES`], and what is there before.
///
/// Source: ADR 39, ridge regression over the sentences of the development half of `LoCoMo`: how much of a sentence stands in
/// the reference summary of its session, for its length (`bench summaries --fit`).
const WEIGHTS: Weights = Weights { base: -0.1441, of: [1.2681, 0.1223, -0.1924, 0.0196, 0.08] };

/// What each feature adds to the score of a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// What every sentence has.
    pub base: f32,
    /// The factor of each feature, in the order of [`FEATURES`].
    pub of: Features,
}

impl Default for Weights {
    fn default() -> Self {
        WEIGHTS
    }
}

/// What somebody said.
#[derive(Clone, Copy, Debug)]
pub struct Utterance<'a> {
    /// Who.
    pub speaker: Option<&'a str>,
    /// What.
    pub text: &'a str,
    /// Parts that are left out: memory that comes back.
    pub echo: &'a [Span],
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most sentences.
    pub sentences: usize,
    /// Most tokens of the sentences with the names of their speakers, by the estimate of `mnemal-text`.
    pub tokens: TokenCount,
}

/// A sentence that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// In which of the utterances.
    pub utterance: usize,
    /// Its bytes there.
    pub span: Span,
}

/// Returns the sentences that say most of what was said, in the order in which they were said.
///
/// A sentence counts more when its terms are those that the whole keeps coming back to, when it has many of them, and when it
/// holds names, numbers and times; it counts less when it speaks to somebody. The best one is taken until the limits are
/// reached, and each further one counts the less the more of its terms are already there; one that shares more than 0.6 of
/// its terms with a chosen one is left out. The words are the original ones.
pub fn condense(language: Language, said: &[Utterance<'_>], limits: Limits) -> Vec<Kept> {
    condense_with(language, said, limits, Weights::default())
}

/// As [`condense`], with other weights.
pub fn condense_with(
    language: Language,
    said: &[Utterance<'_>],
    limits: Limits,
    weights: Weights,
) -> Vec<Kept> {
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
    let mut kept: Vec<Kept> = chosen.into_iter().map(|one| one.kept).collect();
    kept.sort_unstable();
    kept
}

/// Returns every sentence that may be chosen, with its features.
pub fn features(language: Language, said: &[Utterance<'_>]) -> Vec<(Kept, Features)> {
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

/// What a sentence is worth beside those that were chosen.
fn worth(score: f32, one: &Candidate, known: &BTreeSet<u64>) -> f32 {
    let there = one.terms.iter().filter(|term| known.contains(term)).count();
    let share = there as f32 / one.terms.len().max(1) as f32;
    if score > 0.0 { score * (1.0 - KNOWN * share) } else { score }
}

#[cfg(test)]
mod tests;
