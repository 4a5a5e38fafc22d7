//! One score out of nine signals.

use mnemal_core::ScorePart;

use crate::signal::{Arm, SIGNALS, Scale, TABLE};

/// A row with what was measured for it, in the order of the table of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) row: u32,
    pub(crate) raw: [f32; SIGNALS],
}

/// A row with its score and the summands of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fused {
    pub(crate) row: u32,
    pub(crate) score: f32,
    pub(crate) parts: [ScorePart; SIGNALS],
}

/// Ranks candidates, best first; of equal scores the better words, then the newer row.
///
/// Whether an arm ran is seen from the candidates: one whose largest value is 0 did not, and its weights fall to the others.
/// The result does not depend on the order of the candidates. Every score lies in 0 to 1 and is the sum of its parts.
pub(crate) fn fuse(candidates: &[Candidate]) -> Vec<Fused> {
    let largest = largest(candidates);
    let weights = weights(&largest);
    let mut fused: Vec<Fused> = candidates.iter().map(|one| weigh(one, &largest, &weights)).collect();
    fused.sort_by(|a, b| {
        let words = |fused: &Fused| fused.parts.first().map_or(0.0, |part| part.raw);
        b.score.total_cmp(&a.score).then(words(b).total_cmp(&words(a))).then(b.row.cmp(&a.row))
    });
    fused
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

/// The weights over the signals whose arm ran; they add up to 1.
fn weights(largest: &[f32; SIGNALS]) -> [f32; SIGNALS] {
    let ran = |arm: Arm| {
        arm == Arm::Turn || TABLE.iter().zip(largest).any(|(signal, max)| signal.arm == arm && *max > 0.0)
    };
    let mut weights = TABLE.map(|signal| if ran(signal.arm) { signal.weight } else { 0.0 });
    let total: f32 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= total;
    }
    weights
}

fn weigh(candidate: &Candidate, largest: &[f32; SIGNALS], weights: &[f32; SIGNALS]) -> Fused {
    let mut parts = TABLE.map(|signal| ScorePart {
        name: signal.name,
        raw: 0.0,
        normalised: 0.0,
        weight: 0.0,
        value: 0.0,
    });
    let measured = TABLE.iter().zip(candidate.raw).zip(largest).zip(weights);
    for (part, (((signal, raw), largest), weight)) in parts.iter_mut().zip(measured) {
        part.raw = finite(raw);
        part.normalised = match signal.scale {
            Scale::Largest if *largest > 0.0 => (part.raw.max(0.0) / largest).min(1.0),
            Scale::Largest => 0.0,
            Scale::Bounded => part.raw.clamp(0.0, 1.0),
        };
        part.weight = *weight;
        part.value = part.weight * part.normalised;
    }
    let score = parts.iter().map(|part| part.value).sum();
    Fused { row: candidate.row, score, parts }
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
        proptest::collection::vec(proptest::array::uniform9(value), 0..40)
            .prop_map(|rows| rows.into_iter().zip(0_u32..).map(|(raw, row)| Candidate { row, raw }).collect())
    }

    proptest! {
        // proves: AD-07
        #[test]
        fn fusion_does_not_depend_on_the_order_of_candidates(candidates in candidates(), turn in 0_usize..40) {
            let mut turned = candidates.clone();
            turned.rotate_left(turn % candidates.len().max(1));
            turned.reverse();
            prop_assert_eq!(fuse(&candidates), fuse(&turned));
        }

        // proves: AD-66
        #[test]
        fn a_score_is_the_sum_of_its_parts_and_lies_between_0_and_1(candidates in candidates()) {
            for fused in fuse(&candidates) {
                let sum: f64 = fused.parts.iter().map(|part| f64::from(part.value)).sum();
                prop_assert!((sum - f64::from(fused.score)).abs() < 1e-6);
                prop_assert!((0.0..=1.000_001).contains(&fused.score));
                let weights: f32 = fused.parts.iter().map(|part| part.weight).sum();
                prop_assert!((weights - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn the_weights_of_an_arm_that_did_not_run_fall_to_the_others() {
        let row = |words: f32, near: f32| [words, 0.0, 0.5, near, 0.0, 0.0, 1.0, 0.0, 0.0];
        let both = fuse(&[Candidate { row: 0, raw: row(2.0, 0.5) }]);
        let lexical = fuse(&[Candidate { row: 0, raw: row(2.0, 0.0) }]);
        assert!(both[0].parts[3].weight > 0.0);
        assert!(lexical[0].parts[3].weight == 0.0);
        assert!(lexical[0].parts[0].weight > both[0].parts[0].weight);
    }

    #[test]
    fn of_equal_scores_the_newer_row_comes_first() {
        let raw = [1.0; SIGNALS];
        let order: Vec<u32> =
            fuse(&[Candidate { row: 3, raw }, Candidate { row: 9, raw }]).iter().map(|f| f.row).collect();
        assert_eq!(order, [9, 3]);
    }
}
