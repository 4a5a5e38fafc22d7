//! Score fusion: one score from many signals.

use std::cmp::Ordering;

use mnemal_core::ScorePart;

use crate::memory::NONE;
use crate::signal::{
    Arm, CONTRADICTION, DENIAL, FORM, NEARNESS, SESSION_BEST, SIGNALS, Scale, Signal, TABLE, WORDS, Weights,
};

/// A row with its raw signal values, in table order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) row: u32,
    /// The number of its session.
    pub(crate) session: u32,
    pub(crate) raw: [f32; SIGNALS],
}

/// A row with its score and raw signal values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fused {
    pub(crate) row: u32,
    pub(crate) score: f32,
    /// In table order, all finite.
    raw: [f32; SIGNALS],
}

impl Fused {
    /// Returns the raw value of a signal, by its table index.
    pub(crate) fn raw(&self, signal: usize) -> f32 {
        self.raw.get(signal).copied().unwrap_or_default()
    }
}

/// Normalization and weights, the same for all candidates of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FusionRule {
    /// The largest value of each signal among the candidates.
    largest: [f32; SIGNALS],
    weights: [f32; SIGNALS],
}

impl FusionRule {
    /// Returns the parts of a score.
    pub(crate) fn parts(&self, fused: &Fused) -> Vec<ScorePart> {
        let measured = fused.raw.into_iter().zip(self.normalized(&fused.raw)).zip(self.weights);
        let part = |(signal, ((raw, normalized), weight)): (&Signal, ((f32, f32), f32))| ScorePart {
            name: signal.name,
            raw,
            normalized,
            weight,
            value: weight * normalized,
        };
        TABLE.iter().zip(measured).map(part).collect()
    }

    fn score(&self, raw: &[f32; SIGNALS]) -> f32 {
        self.normalized(raw).iter().zip(&self.weights).map(|(value, weight)| weight * value).sum()
    }

    /// Normalized signal values, each 0 to 1.
    fn normalized(&self, raw: &[f32; SIGNALS]) -> [f32; SIGNALS] {
        let mut values = *raw;
        for ((value, signal), largest) in values.iter_mut().zip(&TABLE).zip(&self.largest) {
            *value = match signal.scale {
                Scale::Largest if *largest > 0.0 => (value.max(0.0) / largest).min(1.0),
                Scale::Largest => 0.0,
                Scale::Bounded => value.clamp(0.0, 1.0),
            };
        }
        let of_question = self.of_question(&values);
        if let Some(form) = values.get_mut(FORM) {
            *form *= of_question;
        }
        values
    }

    /// Topical relevance of a turn, 0 to 1: the mean of its word score and its similarity, of those available.
    fn of_question(&self, values: &[f32; SIGNALS]) -> f32 {
        let (sum, count) =
            [WORDS, NEARNESS].iter().fold((0.0, 0.0), |(sum, count): (f32, f32), place| {
                match (values.get(*place), self.weights.get(*place)) {
                    (Some(value), Some(weight)) if *weight > 0.0 => (sum + value, count + 1.0),
                    _ => (sum, count),
                }
            });
        if count > 0.0 { sum / count } else { 0.0 }
    }

    fn fused(&self, candidate: &Candidate) -> Fused {
        let raw = candidate.raw.map(finite);
        Fused { row: candidate.row, score: self.score(&raw), raw }
    }
}

/// Ranks candidates, best first; equal scores by word score, then the newer row.
///
/// An arm counts as run if any candidate has a value above 0 for it; otherwise its weights go to the others. The result
/// does not depend on the order of the candidates. Every score is within 0 to 1 and the sum of its parts.
pub(crate) fn fuse(mut candidates: Vec<Candidate>, weights: &Weights) -> (Vec<Fused>, FusionRule) {
    let largest = largest(&candidates);
    let ran = |arm: Arm| {
        arm == Arm::Turn || TABLE.iter().zip(largest).any(|(signal, max)| signal.arm == arm && max > 0.0)
    };
    let rule = FusionRule { largest, weights: weights.over(ran) };
    let alone = FusionRule { weights: without_session_best(rule.weights), ..rule };
    let scored: Vec<Fused> = candidates.iter().map(|one| alone.fused(one)).collect();
    let denies = |one: &Candidate| one.raw.get(DENIAL).is_some_and(|raw| *raw > 0.0);
    let best = best_session(candidates.iter().zip(&scored));
    let denial = best_session(candidates.iter().zip(&scored).filter(|(one, _)| denies(one)));
    for candidate in &mut candidates {
        let is_of = |session: Option<u32>| f32::from(u8::from(session == Some(candidate.session)));
        let (company, rival) = (is_of(best), is_of(denial));
        if let Some(own) = candidate.raw.get_mut(SESSION_BEST) {
            *own = company;
        }
        if let Some(own) = candidate.raw.get_mut(CONTRADICTION) {
            *own *= rival;
        }
    }
    let mut fused: Vec<Fused> = candidates.iter().map(|one| rule.fused(one)).collect();
    fused.sort_unstable_by(better_first);
    (fused, rule)
}

/// The weights without the signals that depend on other candidates.
fn without_session_best(mut weights: [f32; SIGNALS]) -> [f32; SIGNALS] {
    for place in [SESSION_BEST, CONTRADICTION] {
        if let Some(weight) = weights.get_mut(place) {
            *weight = 0.0;
        }
    }
    weights
}

/// The session of the best of these candidates, if it has one.
fn best_session<'a>(scored: impl Iterator<Item = (&'a Candidate, &'a Fused)>) -> Option<u32> {
    let best = scored.min_by(|(_, a), (_, b)| better_first(a, b));
    best.map(|(one, _)| one.session).filter(|session| *session != NONE)
}

fn better_first(a: &Fused, b: &Fused) -> Ordering {
    b.score.total_cmp(&a.score).then(b.raw(WORDS).total_cmp(&a.raw(WORDS))).then(b.row.cmp(&a.row))
}

fn largest(candidates: &[Candidate]) -> [f32; SIGNALS] {
    let mut largest = [0.0_f32; SIGNALS];
    for candidate in candidates {
        for (largest, raw) in largest.iter_mut().zip(candidate.raw) {
            *largest = largest.max(finite(raw));
        }
    }
    largest
}

fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let value =
            prop_oneof![Just(0.0_f32), -1.0_f32..40.0, Just(f32::NAN), Just(f32::INFINITY), Just(1.0)];
        proptest::collection::vec(proptest::array::uniform22(value), 0..40).prop_map(|rows| {
            rows.into_iter().zip(0_u32..).map(|(raw, row)| Candidate { row, session: row % 5, raw }).collect()
        })
    }

    proptest! {
        // proves: AD-07
        #[test]
        fn fusion_does_not_depend_on_the_order_of_candidates(candidates in candidates(), turn in 0_usize..40) {
            let mut turned = candidates.clone();
            turned.rotate_left(turn % candidates.len().max(1));
            turned.reverse();
            prop_assert_eq!(fuse(candidates, &Weights::default()), fuse(turned, &Weights::default()));
        }

        // proves: AD-66
        #[test]
        fn a_score_is_the_sum_of_its_parts_and_lies_between_0_and_1(candidates in candidates()) {
            let (ranked, rule) = fuse(candidates, &Weights::default());
            for fused in ranked {
                let parts = rule.parts(&fused);
                let sum: f64 = parts.iter().map(|part| f64::from(part.value)).sum();
                prop_assert!((sum - f64::from(fused.score)).abs() < 1e-6);
                prop_assert!((0.0..=1.000_001).contains(&fused.score));
                let weights: f32 = parts.iter().map(|part| part.weight).sum();
                prop_assert!((weights - 1.0).abs() < 1e-5);
            }
        }
    }

    fn candidate(row: u32, values: &[(&str, f32)]) -> Candidate {
        let raw =
            TABLE.map(|signal| values.iter().find(|(name, _)| *name == signal.name).map_or(0.0, |v| v.1));
        Candidate { row, session: NONE, raw }
    }

    /// The rows in order, each with its score parts.
    fn ranked(candidates: Vec<Candidate>, weights: &Weights) -> Vec<(u32, Vec<ScorePart>)> {
        let (fused, rule) = fuse(candidates, weights);
        fused.iter().map(|fused| (fused.row, rule.parts(fused))).collect()
    }

    fn part((_, parts): &(u32, Vec<ScorePart>), name: &str) -> ScorePart {
        *parts.iter().find(|part| part.name == name).unwrap()
    }

    #[test]
    fn the_weights_of_an_arm_that_did_not_run_fall_to_the_others() {
        let one = |near: f32| {
            let values = [("words", 2.0), ("coverage", 0.5), ("nearness", near), ("brevity", 1.0)];
            ranked(vec![candidate(0, &values)], &Weights::default()).remove(0)
        };
        let (both, lexical) = (one(0.5), one(0.0));
        assert!(part(&both, "nearness").weight > 0.0);
        assert!(part(&lexical, "nearness").weight == 0.0);
        assert!(part(&lexical, "words").weight > part(&both, "words").weight);
    }

    #[test]
    fn of_equal_scores_the_newer_row_comes_first() {
        let rows = [3, 9].map(|row| candidate(row, &[("words", 1.0)]));
        let order: Vec<u32> =
            ranked(rows.to_vec(), &Weights::default()).iter().map(|(row, _)| *row).collect();
        assert_eq!(order, [9, 3]);
    }

    #[test]
    fn a_turn_of_the_best_ones_conversation_passes_one_that_is_as_good() {
        let of = |row, session, words| Candidate { session, ..candidate(row, &[("words", words)]) };
        let rows = vec![of(1, 7, 3.0), of(2, 7, 1.0), of(3, 8, 1.0)];
        let fused = ranked(rows.clone(), &Weights::default());
        assert_eq!(fused.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(part(&fused[1], "session_best").value > 0.0 && part(&fused[2], "session_best").value == 0.0);
        let without = ranked(rows, &Weights::default().with("session_best", 0.0).unwrap());
        assert_eq!(without.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 3, 2]);
    }

    #[test]
    fn who_denies_nothing_where_it_is_denied_is_the_rival_of_the_best_denial() {
        let of = |row, session, values: &[(&str, f32)]| Candidate { session, ..candidate(row, values) };
        let rows = vec![
            of(1, 7, &[("words", 1.0), ("contradiction", 1.0)]),
            of(2, 8, &[("words", 1.0), ("contradiction", 1.0)]),
            of(3, 8, &[("words", 3.0), ("denial", 1.0)]),
            of(4, 7, &[("words", 2.0), ("denial", 1.0)]),
            of(5, 9, &[("words", 5.0), ("contradiction", 1.0)]),
        ];
        let rivals = |rows: &[Candidate]| -> Vec<u32> {
            let fused = ranked(rows.to_vec(), &Weights::default());
            let mut rivals: Vec<u32> = fused
                .iter()
                .filter(|one| part(one, "contradiction").value > 0.0)
                .map(|(row, _)| *row)
                .collect();
            rivals.sort_unstable();
            rivals
        };
        assert_eq!(rivals(&rows), [2]);
        assert_eq!(rivals(&rows[..2]), [0; 0], "nobody denies it");
    }

    #[test]
    fn a_form_counts_as_far_as_what_it_stands_in_is_about_the_question() {
        let form = |rows: Vec<Candidate>| -> Vec<f32> {
            let mut ranked = ranked(rows, &Weights::default());
            ranked.sort_by_key(|(row, _)| *row);
            ranked.iter().map(|one| part(one, "form").normalized).collect()
        };
        let row = |row, words, near| candidate(row, &[("words", words), ("nearness", near), ("form", 1.0)]);
        let plain = candidate(4, &[("words", 2.0), ("nearness", 0.5)]);
        let both = form(vec![row(1, 2.0, 0.5), row(2, 1.0, 0.5), row(3, 0.0, 0.0), plain]);
        assert_eq!(both, [1.0, 0.75, 0.0, 0.0], "the mean of both, and nothing without the form");
        assert_eq!(form(vec![row(1, 2.0, 0.0), row(2, 1.0, 0.0)]), [1.0, 0.5], "of the arm that ran");
    }

    #[test]
    fn a_row_without_a_conversation_keeps_no_company() {
        let rows = [1, 2].map(|row| candidate(row, &[("words", 1.0)]));
        let fused = ranked(rows.to_vec(), &Weights::default());
        assert!(fused.iter().all(|one| part(one, "session_best").value == 0.0));
    }
}
