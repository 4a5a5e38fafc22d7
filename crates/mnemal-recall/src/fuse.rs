//! One score out of many signals.

use std::cmp::Ordering;

use mnemal_core::ScorePart;

use crate::memory::NONE;
use crate::signal::{Arm, COMPANY, DENIAL, RIVAL, SIGNALS, Scale, TABLE, Weights};

/// A row with what was measured for it, in the order of the table of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) row: u32,
    /// Its conversation, by number.
    pub(crate) session: u32,
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
pub(crate) fn fuse(mut candidates: Vec<Candidate>, weights: &Weights) -> Vec<Fused> {
    let largest = largest(&candidates);
    let ran = |arm: Arm| {
        arm == Arm::Turn || TABLE.iter().zip(largest).any(|(signal, max)| signal.arm == arm && max > 0.0)
    };
    let weights = weights.over(ran);
    let others = without_company(weights);
    let scored = |one: &Candidate| (weigh(one, &largest, &others), one.session);
    let denies = |one: &&Candidate| one.raw.get(DENIAL).is_some_and(|raw| *raw > 0.0);
    let best = best_session(candidates.iter().map(scored));
    let denial = best_session(candidates.iter().filter(denies).map(scored));
    for candidate in &mut candidates {
        let is_of = |session: Option<u32>| f32::from(u8::from(session == Some(candidate.session)));
        let (company, rival) = (is_of(best), is_of(denial));
        if let Some(own) = candidate.raw.get_mut(COMPANY) {
            *own = company;
        }
        if let Some(own) = candidate.raw.get_mut(RIVAL) {
            *own *= rival;
        }
    }
    let mut fused: Vec<Fused> = candidates.iter().map(|one| weigh(one, &largest, &weights)).collect();
    fused.sort_by(better_first);
    fused
}

/// The weights of the signals that are measured of a turn alone.
fn without_company(mut weights: [f32; SIGNALS]) -> [f32; SIGNALS] {
    for place in [COMPANY, RIVAL] {
        if let Some(weight) = weights.get_mut(place) {
            *weight = 0.0;
        }
    }
    weights
}

/// The conversation of the best of these candidates, if it is of one.
fn best_session(scored: impl Iterator<Item = (Fused, u32)>) -> Option<u32> {
    let best = scored.min_by(|(a, _), (b, _)| better_first(a, b));
    best.map(|(_, session)| session).filter(|session| *session != NONE)
}

fn better_first(a: &Fused, b: &Fused) -> Ordering {
    let words = |fused: &Fused| fused.parts.first().map_or(0.0, |part| part.raw);
    b.score.total_cmp(&a.score).then(words(b).total_cmp(&words(a))).then(b.row.cmp(&a.row))
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
        proptest::collection::vec(proptest::array::uniform20(value), 0..40).prop_map(|rows| {
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
            for fused in fuse(candidates, &Weights::default()) {
                let sum: f64 = fused.parts.iter().map(|part| f64::from(part.value)).sum();
                prop_assert!((sum - f64::from(fused.score)).abs() < 1e-6);
                prop_assert!((0.0..=1.000_001).contains(&fused.score));
                let weights: f32 = fused.parts.iter().map(|part| part.weight).sum();
                prop_assert!((weights - 1.0).abs() < 1e-5);
            }
        }
    }

    fn candidate(row: u32, values: &[(&str, f32)]) -> Candidate {
        let raw =
            TABLE.map(|signal| values.iter().find(|(name, _)| *name == signal.name).map_or(0.0, |v| v.1));
        Candidate { row, session: NONE, raw }
    }

    fn part(fused: &Fused, name: &str) -> ScorePart {
        *fused.parts.iter().find(|part| part.name == name).unwrap()
    }

    #[test]
    fn the_weights_of_an_arm_that_did_not_run_fall_to_the_others() {
        let one = |near: f32| {
            let values = [("words", 2.0), ("coverage", 0.5), ("nearness", near), ("brevity", 1.0)];
            fuse(vec![candidate(0, &values)], &Weights::default()).remove(0)
        };
        let (both, lexical) = (one(0.5), one(0.0));
        assert!(part(&both, "nearness").weight > 0.0);
        assert!(part(&lexical, "nearness").weight == 0.0);
        assert!(part(&lexical, "words").weight > part(&both, "words").weight);
    }

    #[test]
    fn of_equal_scores_the_newer_row_comes_first() {
        let rows = [3, 9].map(|row| candidate(row, &[("words", 1.0)]));
        let order: Vec<u32> = fuse(rows.to_vec(), &Weights::default()).iter().map(|f| f.row).collect();
        assert_eq!(order, [9, 3]);
    }

    #[test]
    fn a_turn_of_the_best_ones_conversation_passes_one_that_is_as_good() {
        let of = |row, session, words| Candidate { session, ..candidate(row, &[("words", words)]) };
        let rows = vec![of(1, 7, 3.0), of(2, 7, 1.0), of(3, 8, 1.0)];
        let fused = fuse(rows.clone(), &Weights::default());
        assert_eq!(fused.iter().map(|f| f.row).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(part(&fused[1], "company").value > 0.0 && part(&fused[2], "company").value == 0.0);
        let without = fuse(rows, &Weights::default().with("company", 0.0).unwrap());
        assert_eq!(without.iter().map(|f| f.row).collect::<Vec<_>>(), [1, 3, 2]);
    }

    #[test]
    fn who_denies_nothing_where_it_is_denied_is_the_rival_of_the_best_denial() {
        let of = |row, session, values: &[(&str, f32)]| Candidate { session, ..candidate(row, values) };
        let rows = vec![
            of(1, 7, &[("words", 1.0), ("rival", 1.0)]),
            of(2, 8, &[("words", 1.0), ("rival", 1.0)]),
            of(3, 8, &[("words", 3.0), ("denial", 1.0)]),
            of(4, 7, &[("words", 2.0), ("denial", 1.0)]),
            of(5, 9, &[("words", 5.0), ("rival", 1.0)]),
        ];
        let rivals = |rows: &[Candidate]| -> Vec<u32> {
            let fused = fuse(rows.to_vec(), &Weights::default());
            let mut rivals: Vec<u32> = fused
                .iter()
                .filter(|fused| part(fused, "rival").value > 0.0)
                .map(|fused| fused.row)
                .collect();
            rivals.sort_unstable();
            rivals
        };
        assert_eq!(rivals(&rows), [2]);
        assert_eq!(rivals(&rows[..2]), [0; 0], "nobody denies it");
    }

    #[test]
    fn a_row_without_a_conversation_keeps_no_company() {
        let rows = [1, 2].map(|row| candidate(row, &[("words", 1.0)]));
        let fused = fuse(rows.to_vec(), &Weights::default());
        assert!(fused.iter().all(|fused| part(fused, "company").value == 0.0));
    }
}
