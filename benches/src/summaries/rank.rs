//! Baseline sentence selections: lead, `TextRank`, and random.

use std::collections::BTreeSet;

use mnemal_core::Span;
use mnemal_summaries::{Limits, SelectedSentence, Utterance};
use mnemal_text::{Analyzer, Language, estimate_tokens, is_stop_word, sentences};

use crate::words::Dice;

/// Share of a jump to any sentence. Source: Mihalcea and Tarau, `TextRank`, 2004.
const JUMP: f64 = 0.15;
/// Rounds after which nothing moves any more. Source: own choice.
const ROUNDS: usize = 50;

/// The first sentences that fit, without a hole.
pub(super) fn lead(said: &[Utterance<'_>], limits: Limits) -> Vec<SelectedSentence> {
    let mut room = limits.tokens.0;
    let fits = |one: &SelectedSentence| match room.checked_sub(tokens(said, one)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    all(said).into_iter().take_while(fits).take(limits.sentences).collect()
}

/// Sentences by chance, as many as fit.
pub(super) fn random(said: &[Utterance<'_>], limits: Limits, seed: u64) -> Vec<SelectedSentence> {
    let mut dice = Dice::new(seed);
    let mut left = all(said);
    let mut drawn = Vec::with_capacity(left.len());
    while !left.is_empty() {
        drawn.push(left.swap_remove(dice.below(left.len())));
    }
    fitting(said, drawn, limits)
}

/// The sentences that are most like the others, as many as fit.
pub(super) fn textrank(said: &[Utterance<'_>], limits: Limits) -> Vec<SelectedSentence> {
    let all = all(said);
    let terms: Vec<BTreeSet<String>> = all.iter().map(|one| terms(of(said, one))).collect();
    let like = |a: usize, b: usize| {
        let (Some(one), Some(other)) = (terms.get(a), terms.get(b)) else { return 0.0 };
        let lengths = (one.len() as f64).ln() + (other.len() as f64).ln();
        let shared = one.intersection(other).count() as f64;
        if a != b && lengths.is_finite() && lengths > 0.0 { shared / lengths } else { 0.0 }
    };
    let edges: Vec<Vec<f64>> = (0..all.len()).map(|a| (0..all.len()).map(|b| like(a, b)).collect()).collect();
    let sums: Vec<f64> = edges.iter().map(|row| row.iter().sum::<f64>().max(f64::MIN_POSITIVE)).collect();
    let even = 1.0 / all.len().max(1) as f64;
    let mut ranks = vec![even; all.len()];
    for _ in 0..ROUNDS {
        let flow = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&sums).zip(&ranks).map(|((edge, sum), rank)| rank * edge / sum).sum()
        };
        ranks = edges.iter().map(|row| JUMP * even + (1.0 - JUMP) * flow(row)).collect();
    }
    let mut ranked: Vec<(f64, SelectedSentence)> = ranks.into_iter().zip(all).collect();
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    fitting(said, ranked.into_iter().map(|(_, one)| one).collect(), limits)
}

fn all(said: &[Utterance<'_>]) -> Vec<SelectedSentence> {
    let mut all = Vec::new();
    for (utterance, one) in said.iter().enumerate() {
        for sentence in sentences(one.text) {
            let place = |byte| u32::try_from(byte).unwrap_or(u32::MAX);
            all.push(SelectedSentence {
                utterance,
                span: Span { start: place(sentence.start), end: place(sentence.end) },
            });
        }
    }
    all
}

fn fitting(said: &[Utterance<'_>], ranked: Vec<SelectedSentence>, limits: Limits) -> Vec<SelectedSentence> {
    let mut room = limits.tokens.0;
    let mut kept = Vec::new();
    for one in ranked {
        if let Some(left) = room.checked_sub(tokens(said, &one)).filter(|_| kept.len() < limits.sentences) {
            room = left;
            kept.push(one);
        }
    }
    kept.sort_unstable();
    kept
}

fn of<'a>(said: &[Utterance<'a>], one: &SelectedSentence) -> &'a str {
    let range = one.span.start as usize..one.span.end as usize;
    said.get(one.utterance).and_then(|of| of.text.get(range)).unwrap_or_default()
}

/// The same price as that of the condenser.
fn tokens(said: &[Utterance<'_>], one: &SelectedSentence) -> u32 {
    let speaker = said.get(one.utterance).and_then(|of| of.speaker);
    speaker.map_or(0, |name| estimate_tokens(name) + 2) + estimate_tokens(of(said, one)) + 1
}

fn terms(text: &str) -> BTreeSet<String> {
    let analyzer = Analyzer::new(Language::English);
    let mut terms = BTreeSet::new();
    analyzer.for_each_term(text, &mut |term, range| {
        if !is_stop_word(Language::English, text.get(range).unwrap_or_default()) {
            terms.insert(term.to_owned());
        }
    });
    terms
}
