//! Condenser weights, fitted to references: the share of a sentence that occurs in its session's reference.

use std::collections::{BTreeSet, HashSet};

use mnemal_summaries::{FEATURES, Limits, Weights, features};
use mnemal_text::{Language, estimate_tokens, is_stop_word};
use serde_json::{Value, json};

use super::rouge::stems;
use super::{Rouge, Session, means};

/// How strongly weights are held down, in sentences. Source: own choice; 10 to 500 give the same.
const RIDGE: f64 = 50.0;
/// By which power of its tokens a sentence is worth less. Source: ADR 39, the best of 0, 0.5, 0.8 and 1.
const PRICE: f64 = 0.8;
/// Weight of a shared word pair against a shared word. Source: own choice.
const PAIR: f64 = 2.0;

/// Unknowns: one factor a feature, and what is there before.
const SIZE: usize = FEATURES.len() + 1;

/// The features of a sentence, and what it is worth.
type Sample = (Vec<f64>, f64);

/// Fits the weights to all sessions.
pub fn fitted(sessions: &[Session]) -> Weights {
    solve(sessions.iter())
}

/// Measures each conversation with weights that were fitted to the others.
pub fn cross_validated(sessions: &[Session], limits: Limits) -> Value {
    let conversations: BTreeSet<&str> = sessions.iter().map(|one| one.conv.as_str()).collect();
    let mut scores: Vec<Rouge> = Vec::new();
    for conversation in &conversations {
        let weights = solve(sessions.iter().filter(|one| one.conv != *conversation));
        let held_out = sessions.iter().filter(|one| one.conv == *conversation);
        scores.extend(held_out.map(|one| one.weighed(limits, weights)));
    }
    json!({"conversations": conversations.len(), "condensed": means(&scores)})
}

/// Ridge regression over features of mean 0 and spread 1.
fn solve<'a>(sessions: impl Iterator<Item = &'a Session>) -> Weights {
    let rows: Vec<Sample> = sessions.flat_map(samples).collect();
    let count = rows.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Sample) -> f64| rows.iter().map(of).sum::<f64>() / count;
    let feature = |row: &Sample, place: usize| row.0.get(place).copied().unwrap_or_default();
    let means: Vec<f64> = (0..FEATURES.len()).map(|place| mean(&|row| feature(row, place))).collect();
    let spread =
        |(place, middle): (usize, &f64)| mean(&|row| (feature(row, place) - middle).powi(2)).sqrt().max(1e-9);
    let spreads: Vec<f64> = means.iter().enumerate().map(spread).collect();
    let target = mean(&|row| row.1);
    let mut equations = vec![vec![0.0; SIZE]; FEATURES.len()];
    for row in &rows {
        let scaled: Vec<f64> = row
            .0
            .iter()
            .zip(&means)
            .zip(&spreads)
            .map(|((value, middle), spread)| (value - middle) / spread)
            .collect();
        for (equation, one) in equations.iter_mut().zip(&scaled) {
            let right = scaled.iter().copied().chain([row.1 - target]);
            equation.iter_mut().zip(right).for_each(|(sum, other)| *sum += one * other);
        }
    }
    for (place, equation) in equations.iter_mut().enumerate() {
        equation.iter_mut().skip(place).take(1).for_each(|sum| *sum += RIDGE);
    }
    let scaled = eliminated(equations);
    let of: Vec<f64> = scaled.iter().zip(&spreads).map(|(weight, spread)| weight / spread).collect();
    let base = target - of.iter().zip(&means).map(|(weight, middle)| weight * middle).sum::<f64>();
    let mut weights = Weights { base: small(base), ..Weights::default() };
    weights.of.iter_mut().zip(of).for_each(|(weight, found)| *weight = small(found));
    weights
}

#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
fn small(value: f64) -> f32 {
    ((value * 10_000.0).round() / 10_000.0) as f32
}

/// Gauss and Jordan; the ridge keeps every pivot away from 0.
fn eliminated(mut equations: Vec<Vec<f64>>) -> Vec<f64> {
    for place in 0..equations.len() {
        let Some(mut pivot) = equations.get(place).cloned() else { continue };
        let by = pivot.get(place).copied().unwrap_or(1.0);
        for value in &mut pivot {
            *value /= by;
        }
        for (other, equation) in equations.iter_mut().enumerate() {
            if other == place {
                equation.clone_from(&pivot);
                continue;
            }
            let factor = equation.get(place).copied().unwrap_or_default();
            equation.iter_mut().zip(&pivot).for_each(|(value, of_pivot)| *value -= factor * of_pivot);
        }
    }
    equations.iter().map(|equation| equation.last().copied().unwrap_or_default()).collect()
}

/// The sentences of a session: features, and how much of the reference is in them for their price.
fn samples(session: &Session) -> Vec<Sample> {
    let reference = stems(&session.reference);
    let words: HashSet<&String> =
        reference.iter().filter(|word| !is_stop_word(Language::English, word)).collect();
    let pairs: HashSet<&[String]> = reference.windows(2).collect();
    let said = session.said();
    let sample = |(kept, features): (mnemal_summaries::SelectedSentence, mnemal_summaries::Features)| {
        let range = kept.span.start as usize..kept.span.end as usize;
        let text = said.get(kept.utterance).and_then(|of| of.text.get(range)).unwrap_or_default();
        let own = stems(text);
        let of_words = own.iter().collect::<HashSet<_>>().intersection(&words).count() as f64;
        let of_pairs = own.windows(2).filter(|pair| pairs.contains(pair)).count() as f64;
        let price = f64::from(estimate_tokens(text)).max(1.0).powf(PRICE);
        (features.iter().map(|value| f64::from(*value)).collect(), (of_words + PAIR * of_pairs) / price)
    };
    features(Language::English, &said).into_iter().map(sample).collect()
}
