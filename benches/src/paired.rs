//! Paired comparison of two runs on the same questions: the mean difference with its bootstrap interval.

use std::collections::{BTreeMap, HashMap};

use crate::metric::{measure, sum};
use crate::neutral::{DataSet, Row};
use crate::score::groups;
use crate::words::Dice;

/// Resamples. Source: 10,000 make the ends of a 95 % interval stable to the third digit.
const RESAMPLES: usize = 10_000;
/// The seed of the resampling.
const SEED: u64 = 1;

/// The mean difference of two runs, with the 95 % interval over resampled questions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// The second run less the first one.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Compares two runs question by question, at turn level; an unknown metric counts as 0.
pub fn difference(data: &DataSet, first: &[Row], second: &[Row], metric: &str) -> Difference {
    let rows =
        |run: &[Row]| run.iter().map(|row| (row.id.clone(), row.ranked.clone())).collect::<HashMap<_, _>>();
    let (first, second) = (rows(first), rows(second));
    let of = |run: &HashMap<String, Vec<String>>, id: &str, gold: &[String]| {
        let ranked = run.get(id).map(Vec::as_slice).unwrap_or_default();
        measure(ranked, gold).get(metric).unwrap_or_default()
    };
    let mut differences = Vec::new();
    for question in &data.questions {
        let mut gold: Vec<String> =
            question.evidence.iter().filter(|id| data.turns.contains_key(*id)).cloned().collect();
        gold.sort_unstable();
        gold.dedup();
        if !gold.is_empty() {
            differences.push(of(&second, &question.id, &gold) - of(&first, &question.id, &gold));
        }
    }
    interval(&differences)
}

/// Compares two runs in each group of questions by one field of theirs: its name, its size, and a difference for each metric.
pub fn by_group(
    data: &DataSet,
    (first, second): (&[Row], &[Row]),
    by: &str,
    metrics: &[&str],
) -> Vec<(String, usize, Vec<Difference>)> {
    let mut members: BTreeMap<String, DataSet> = BTreeMap::new();
    for question in &data.questions {
        for group in groups(question, by) {
            let empty = || DataSet { questions: Vec::new(), ..data.clone() };
            members.entry(group).or_insert_with(empty).questions.push(question.clone());
        }
    }
    let compared = |data: &DataSet| -> Vec<Difference> {
        metrics.iter().map(|metric| difference(data, first, second, metric)).collect()
    };
    members.into_iter().map(|(name, data)| (name, data.questions.len(), compared(&data))).collect()
}

/// Returns the mean of some differences with its interval.
pub(crate) fn interval(differences: &[f64]) -> Difference {
    if differences.is_empty() {
        return Difference::default();
    }
    let count = differences.len();
    let mut dice = Dice::new(SEED);
    let mut mean_of_resample = || {
        let drawn = (0..count).filter_map(|_| differences.get(dice.below(count)));
        drawn.sum::<f64>() / count as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| mean_of_resample()).collect();
    means.sort_by(f64::total_cmp);
    let at = |place: usize| means.get(place).copied().unwrap_or_default();
    let mean = sum(differences.iter().copied()) / count as f64;
    Difference { mean, low: at(RESAMPLES / 40), high: at(RESAMPLES - RESAMPLES / 40 - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_runs_do_not_differ_and_a_clear_gain_has_an_interval_above_zero() {
        assert_eq!(interval(&[0.0; 50]), Difference::default());
        let gain: Vec<f64> = (0..200).map(|number| if number % 4 == 0 { 1.0 } else { 0.0 }).collect();
        let found = interval(&gain);
        assert!((found.mean - 0.25).abs() < 1e-9 && found.low > 0.15 && found.high < 0.35, "{found:?}");
        let noise: Vec<f64> = (0..200).map(|number| if number % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = interval(&noise);
        assert!(found.low < 0.0 && found.high > 0.0, "{found:?}");
    }
}
