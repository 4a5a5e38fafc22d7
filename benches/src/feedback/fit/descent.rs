//! Regularized logistic regression by coordinate descent: one weight after another takes a step, until none moves.
//!
//! A step divides the slope by twice the curvature at hand and goes no further than [`LONGEST_STEP`]. Over such a step the
//! curvature at most doubles, so no step overshoots, the loss never rises, and the result does not depend on a rate.

/// The longest step. Source: the logarithm of 2; the curvature of the logistic loss grows by a factor of at most e to the
/// length of the step.
const LONGEST_STEP: f64 = std::f64::consts::LN_2;
/// The descent ends when no step of a round is longer. Source: a hundredth of what weights are rounded to.
const SHORTEST_STEP: f64 = 1e-3;
/// The most rounds. Source: own choice; it only bounds the time.
const ROUNDS: usize = 1_000;
/// How strongly a small start is preferred. Source: own choice; hardly, but enough for a class that never or always occurs.
const CALM_START: f64 = 1e-3;

/// One message.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The indexes of its signals, each once.
    pub(super) signals: Vec<usize>,
    /// It is of the class.
    pub(super) is_of: bool,
    /// The weight of the message.
    pub(super) weight: f64,
}

/// The training data.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    rows: Vec<Row>,
    /// The rows that show each signal, and behind the last signal all rows: the start is a signal of every message.
    showing: Vec<Vec<usize>>,
    calm: f64,
}

/// The fitted weights, in units of log odds.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// The bias, for a message without signals.
    pub(super) start: f64,
    /// By place of the signal.
    pub(super) weights: Vec<f64>,
}

impl Problem {
    /// Starts a problem of so many signals; `calm` is the inverse of the variance that weights are thought to have.
    pub(super) fn new(signals: usize, calm: f64) -> Self {
        Self { rows: Vec::new(), showing: vec![Vec::new(); signals + 1], calm }
    }

    /// Adds a message; places beyond the last signal are passed over.
    pub(super) fn add(&mut self, row: Row) {
        let start = self.showing.len() - 1;
        let signals = row.signals.iter().filter(|signal| **signal < start);
        for signal in signals.chain([&start]) {
            if let Some(showing) = self.showing.get_mut(*signal) {
                showing.push(self.rows.len());
            }
        }
        self.rows.push(row);
    }

    /// Returns the weights.
    pub(super) fn solve(&self) -> Fitted {
        let mut weights = vec![0.0; self.showing.len()];
        let mut sums = vec![0.0; self.rows.len()];
        for _ in 0..ROUNDS {
            let mut longest = 0.0_f64;
            for place in (0..weights.len()).rev() {
                longest = longest.max(self.step(place, &mut weights, &mut sums).abs());
            }
            if longest < SHORTEST_STEP {
                break;
            }
        }
        Fitted { start: weights.pop().unwrap_or_default(), weights }
    }

    /// Moves one weight, and the sums of the rows that show it; returns how far.
    fn step(&self, place: usize, weights: &mut [f64], sums: &mut [f64]) -> f64 {
        let is_start = place + 1 == self.showing.len();
        let calm = if is_start { CALM_START } else { self.calm };
        let (Some(showing), Some(weight)) = (self.showing.get(place), weights.get_mut(place)) else {
            return 0.0;
        };
        let (mut slope, mut curvature) = (calm * *weight, 0.0);
        for at in showing {
            let (Some(row), Some(sum)) = (self.rows.get(*at), sums.get(*at)) else { continue };
            let share = 1.0 / (1.0 + (-sum).exp());
            slope += row.weight * (share - if row.is_of { 1.0 } else { 0.0 });
            curvature += row.weight * share * (1.0 - share);
        }
        let step = (-slope / (2.0 * curvature + calm)).clamp(-LONGEST_STEP, LONGEST_STEP);
        *weight += step;
        for at in showing {
            if let Some(sum) = sums.get_mut(*at) {
                *sum += step;
            }
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(calm: f64, rows: &[(&[usize], bool, f64)]) -> Fitted {
        let mut problem = Problem::new(2, calm);
        for (signals, is_of, weight) in rows {
            problem.add(Row { signals: signals.to_vec(), is_of: *is_of, weight: *weight });
        }
        problem.solve()
    }

    #[test]
    fn the_start_is_the_log_odds_of_what_shows_nothing() {
        let fitted = problem(1.0, &[(&[], true, 1.0), (&[], false, 3.0)]);
        assert!((fitted.start + 3.0_f64.ln()).abs() < 0.02, "{fitted:?}");
        assert_eq!(fitted.weights, [0.0, 0.0]);
    }

    #[test]
    fn a_weight_is_the_difference_in_log_odds_where_small_ones_are_hardly_preferred() {
        let rows: [(&[usize], bool, f64); 4] =
            [(&[], true, 10.0), (&[], false, 30.0), (&[1], true, 30.0), (&[1], false, 10.0)];
        let fitted = problem(1e-4, &rows);
        assert!((fitted.weights[1] - 2.0 * 3.0_f64.ln()).abs() < 0.05, "{fitted:?}");
        let calm = problem(10.0, &rows);
        assert!(calm.weights[1] > 0.1 && calm.weights[1] < fitted.weights[1] / 2.0, "{calm:?}");
    }

    #[test]
    fn what_parts_the_classes_wholly_has_a_finite_weight_and_its_slope_is_nothing() {
        let fitted = problem(1.0, &[(&[0], true, 50.0), (&[1], false, 50.0), (&[7], false, 1.0)]);
        assert!(fitted.weights[0] > 1.0 && fitted.weights[0] < 10.0, "{fitted:?}");
        let share = 1.0 / (1.0 + (-fitted.start - fitted.weights[0]).exp());
        let slope = 50.0 * (share - 1.0) + fitted.weights[0];
        assert!(slope.abs() < 0.02, "{slope}");
    }
}
