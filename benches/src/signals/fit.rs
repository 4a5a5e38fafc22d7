//! Signal-weight fitting: listwise, by Newton's method.
//!
//! The loss of a question is the cross-entropy between its evidence, each piece with the same share, and the softmax of its
//! candidates' scores; every data set counts the same, however many questions it has. The loss is convex, so the weights do
//! not depend on where the search begins. A weight that would fall below 0 is 0.

use super::sample::{Sample, dot};
use crate::metric::Values;

/// How strongly small weights are preferred. Source: own choice; hardly, but enough for a signal that never shows.
const CALM: f64 = 1e-3;
/// The longest step of a weight. Source: own choice; Newton's steps overshoot far from the end.
const LONGEST_STEP: f64 = 2.0;
/// The search ends when no step is longer. Source: a tenth of what weights are rounded to.
const SHORTEST_STEP: f64 = 5e-3;
/// Most steps. Source: own choice; it only bounds the time, 10 are usual.
const STEPS: usize = 40;
/// Candidates that are less likely are passed over. Source: own choice; together they move no weight by a hundredth.
const LEAST_LIKELY: f64 = 1e-6;

/// Learns weights. Where `held` has a number, that weight stays as it is; `start` is where the search begins.
pub fn fit(sets: &[Vec<&Sample>], held: &[Option<f64>], start: &[f64]) -> Vec<f64> {
    let mut held = held.to_vec();
    loop {
        let weights = descend(sets, &held, start);
        let lowest = weights.iter().enumerate().filter(|(place, _)| held.get(*place) == Some(&None));
        let lowest = lowest.filter(|(_, weight)| **weight < 0.0).min_by(|a, b| a.1.total_cmp(b.1));
        match lowest.and_then(|(place, _)| held.get_mut(place)) {
            Some(negative) => *negative = Some(0.0),
            None => return weights,
        }
    }
}

/// Learns weights without one conversation at a time, and measures each question by the weights of the others; the means of
/// each set.
pub fn left_out(sets: &[Vec<Sample>], held: &[Option<f64>], start: &[f64]) -> Vec<Values> {
    let mut measured: Vec<Vec<Values>> = vec![Vec::new(); sets.len()];
    for (set, samples) in sets.iter().enumerate() {
        let mut convs: Vec<&String> = samples.iter().map(|sample| &sample.conv).collect();
        convs.dedup();
        for conv in convs {
            let others = |samples: &'_ [Sample]| -> Vec<usize> {
                (0..samples.len())
                    .filter(|at| samples.get(*at).is_some_and(|one| one.conv != *conv))
                    .collect()
            };
            let training: Vec<Vec<&Sample>> = sets
                .iter()
                .map(|samples| others(samples).into_iter().filter_map(|at| samples.get(at)).collect())
                .collect();
            let weights = fit(&training, held, start);
            let own = samples.iter().filter(|sample| sample.conv == *conv);
            if let Some(measured) = measured.get_mut(set) {
                measured.extend(own.map(|sample| sample.measured(&weights)));
            }
        }
    }
    measured.iter().map(|values| Values::mean(values)).collect()
}

fn descend(sets: &[Vec<&Sample>], held: &[Option<f64>], start: &[f64]) -> Vec<f64> {
    let mut weights: Vec<f64> = start.iter().zip(held).map(|(start, held)| held.unwrap_or(*start)).collect();
    for _ in 0..STEPS {
        let mut slope = Slope::calm(&weights);
        for set in sets {
            let share = 1.0 / set.len().max(1) as f64 / sets.len().max(1) as f64;
            for sample in set {
                slope.add(sample, &weights, share);
            }
        }
        let mut step = slope.solved(held);
        let longest = step.iter().fold(0.0_f64, |longest, step| longest.max(step.abs()));
        if longest > LONGEST_STEP {
            for step in &mut step {
                *step *= LONGEST_STEP / longest;
            }
        }
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step);
        if longest < SHORTEST_STEP {
            break;
        }
    }
    weights
}

/// First and second derivatives of the loss.
#[derive(Clone, Debug)]
struct Slope {
    first: Vec<f64>,
    second: Vec<Vec<f64>>,
}

impl Slope {
    fn calm(weights: &[f64]) -> Self {
        let first = weights.iter().map(|weight| CALM * weight).collect();
        let row = |place: usize| {
            (0..weights.len()).map(|other| if other == place { CALM } else { 0.0 }).collect::<Vec<_>>()
        };
        Self { first, second: (0..weights.len()).map(row).collect() }
    }

    fn add(&mut self, sample: &Sample, weights: &[f64], share: f64) {
        let gold = sample.candidates.iter().filter(|one| one.is_gold).count();
        if gold == 0 {
            return;
        }
        let scores: Vec<f64> = sample.candidates.iter().map(|one| dot(&one.values, weights)).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let likely: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
        let total: f64 = likely.iter().sum();
        let mut mean = vec![0.0; weights.len()];
        for (one, likely) in sample.candidates.iter().zip(likely.iter().map(|likely| likely / total)) {
            let wanted = if one.is_gold { 1.0 / gold as f64 } else { 0.0 };
            if likely < LEAST_LIKELY && !one.is_gold {
                continue;
            }
            for (place, value) in one.values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                if let Some(mean) = mean.get_mut(place) {
                    *mean += likely * value;
                }
                if let Some(first) = self.first.get_mut(place) {
                    *first += share * (likely - wanted) * value;
                }
                let Some(second) = self.second.get_mut(place) else { continue };
                second
                    .iter_mut()
                    .zip(&one.values)
                    .for_each(|(sum, other)| *sum += share * likely * value * other);
            }
        }
        for (second, own) in self.second.iter_mut().zip(&mean) {
            second.iter_mut().zip(&mean).for_each(|(sum, other)| *sum -= share * own * other);
        }
    }

    /// Solves for the step, 0 where a weight is held, by elimination; the matrix is positive, so every pivot is above 0.
    fn solved(mut self, held: &[Option<f64>]) -> Vec<f64> {
        let free: Vec<usize> =
            (0..self.first.len()).filter(|place| held.get(*place).is_none_or(Option::is_none)).collect();
        for (at, pivot) in free.iter().enumerate() {
            let row = self.second.get(*pivot).cloned().unwrap_or_default();
            let (own, right) = (value(&row, *pivot), value(&self.first, *pivot));
            for below in free.iter().skip(at + 1) {
                let Some(other) = self.second.get_mut(*below) else { continue };
                let factor = value(other, *pivot) / own;
                other.iter_mut().zip(&row).for_each(|(other, own)| *other -= factor * own);
                if let Some(first) = self.first.get_mut(*below) {
                    *first -= factor * right;
                }
            }
        }
        let mut step = vec![0.0; self.first.len()];
        for pivot in free.iter().rev() {
            let row = self.second.get(*pivot).map(Vec::as_slice).unwrap_or_default();
            let known = dot(row, &step);
            if let Some(step) = step.get_mut(*pivot) {
                *step = (value(&self.first, *pivot) - known) / value(row, *pivot);
            }
        }
        step
    }
}

fn value(of: &[f64], place: usize) -> f64 {
    of.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::sample::sample;

    /// Two signals; the first marks the evidence of three questions of four, the second says nothing, the third lies.
    fn samples() -> Vec<Sample> {
        let question = |number: usize| {
            let right = f64::from(u8::from(!number.is_multiple_of(4)));
            let turn = |id: &str, values: [f64; 3], is_gold| (id.to_owned(), values.to_vec(), is_gold);
            sample(
                &format!("c{}", number / 10),
                vec![turn("gold", [right, 0.5, 0.0], true), turn("other", [1.0 - right, 0.5, 0.3], false)],
            )
        };
        (0..40).map(question).collect()
    }

    #[test]
    fn a_weight_is_the_log_odds_of_what_its_signal_says_and_none_is_below_0() {
        let samples = samples();
        let sets = [samples.iter().collect::<Vec<_>>()];
        let weights = fit(&sets, &[None, None, Some(0.0)], &[0.0; 3]);
        let odds = 3.0_f64.ln() / 2.0 * 2.0;
        assert!((weights[0] - odds).abs() < 0.05 && weights[1].abs() < 0.01, "{weights:?}");
        let clipped = fit(&sets, &[None, None, None], &[0.0; 3]);
        assert!(clipped[2].abs() < 1e-12 && clipped[0] > 0.0, "{clipped:?}");
        assert_eq!(fit(&sets, &[Some(2.5), None, None], &[0.0; 3])[0].to_bits(), 2.5_f64.to_bits());
    }

    #[test]
    fn a_question_is_measured_by_weights_that_did_not_see_its_conversation() {
        let values = left_out(&[samples()], &[None; 3], &[0.0; 3]);
        assert!((values[0].get("recall@1").unwrap() - 0.75).abs() < 1e-9);
    }
}
