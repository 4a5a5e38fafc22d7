//! Ranking metrics: recall at several depths, reciprocal rank, and discounted gain.

use std::collections::HashMap;

/// Depths at which shares are measured. Source: the depths that papers on these data sets print.
pub const DEPTHS: [usize; 5] = [1, 5, 10, 20, 50];
/// Depth of the discounted gain. Source: nDCG@10, as published.
const GAIN_DEPTH: usize = 10;
/// Number of the metrics.
const METRICS: usize = DEPTHS.len() * 3 + 2;

/// The metrics of one ranking, or their means.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(pub [f64; METRICS]);

impl Values {
    /// Returns the names, in the order of the values: `recall@k`, `any@k`, `all@k` for each depth, `mrr`, `ndcg@10`.
    pub fn names() -> Vec<String> {
        let by_depth = DEPTHS.iter().flat_map(|k| ["recall", "any", "all"].map(|name| format!("{name}@{k}")));
        by_depth.chain(["mrr".to_owned(), format!("ndcg@{GAIN_DEPTH}")]).collect()
    }

    /// Returns the value of a name, `None` for a name that is no metric.
    pub fn get(&self, name: &str) -> Option<f64> {
        let place = Self::names().iter().position(|known| known == name)?;
        self.0.get(place).copied()
    }

    /// Returns the mean of each metric; 0 for no values.
    pub fn mean(of: &[Self]) -> Self {
        let mut mean = [0.0; METRICS];
        for (place, mean) in mean.iter_mut().enumerate() {
            *mean = sum(of.iter().filter_map(|values| values.0.get(place).copied())) / of.len().max(1) as f64;
        }
        Self(mean)
    }
}

/// Measures a ranking (best first) against its evidence, which is distinct and not empty.
///
/// An id that is ranked twice counts at its better place. recall@k is the share of the evidence in the top k, any@k and
/// all@k are 1 when at least one or every evidence is there, mrr is 1 ÷ the first rank, ndcg@10 has binary relevance.
pub fn measure<T: Eq + std::hash::Hash>(ranked: &[T], evidence: &[T]) -> Values {
    let mut places: HashMap<&T, usize> = HashMap::with_capacity(ranked.len());
    for (place, id) in ranked.iter().enumerate() {
        places.entry(id).or_insert(place);
    }
    let mut ranks: Vec<usize> = evidence.iter().filter_map(|id| places.get(id).copied()).collect();
    ranks.sort_unstable();
    let mut values = Vec::with_capacity(METRICS);
    for depth in DEPTHS {
        let hits = ranks.iter().filter(|rank| **rank < depth).count();
        let one = |holds: bool| f64::from(u8::from(holds));
        values.extend([hits as f64 / evidence.len() as f64, one(hits > 0), one(hits == evidence.len())]);
    }
    values.push(ranks.first().map_or(0.0, |rank| 1.0 / (rank + 1) as f64));
    let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let ideal = sum((0..evidence.len().min(GAIN_DEPTH)).map(gain));
    values.push(sum(ranks.into_iter().filter(|rank| *rank < GAIN_DEPTH).map(gain)) / ideal);
    Values(values.try_into().unwrap_or([0.0; METRICS]))
}

/// Adds with Neumaier's compensation, so that the last printed digit does not depend on the order of the questions.
pub(crate) fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for number in numbers {
        let next = total + number;
        lost += if total.abs() >= number.abs() { (total - next) + number } else { (number - next) + total };
        total = next;
    }
    total + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranked: &[&str], evidence: &[&str], expect: &[(&str, f64)]) {
        let values = measure(ranked, evidence);
        for (name, value) in expect {
            let measured = values.get(name).unwrap();
            assert!((measured - value).abs() < 1e-9, "{name} of {ranked:?}: {measured}, not {value}");
        }
    }

    #[test]
    fn a_ranking_is_worth_what_its_evidence_says() {
        check(&["a"], &["a"], &[("recall@1", 1.0), ("all@1", 1.0), ("mrr", 1.0), ("ndcg@10", 1.0)]);
        check(&["x", "a"], &["a", "b"], &[("recall@1", 0.0), ("recall@5", 0.5), ("any@5", 1.0)]);
        check(&["x", "a"], &["a", "b"], &[("all@50", 0.0), ("mrr", 0.5), ("ndcg@10", 0.386_852_807_2)]);
        check(&[], &["a"], &[("recall@50", 0.0), ("mrr", 0.0), ("ndcg@10", 0.0)]);
    }

    #[test]
    fn a_repeated_id_counts_at_its_better_place_and_takes_up_room() {
        check(&["a", "a", "x", "a", "a", "b"], &["a", "b"], &[("recall@1", 0.5), ("recall@5", 0.5)]);
        check(&["a", "a", "x", "a", "a", "b"], &["a", "b"], &[("recall@10", 1.0), ("mrr", 1.0)]);
    }

    #[test]
    fn small_numbers_are_not_lost_beside_a_large_one() {
        assert!((sum([1e16, 1.0, 1.0, -1e16].into_iter()) - 2.0).abs() < 1e-9);
    }
}
