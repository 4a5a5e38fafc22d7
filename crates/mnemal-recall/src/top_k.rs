//! Top-k selection.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A row with its score; a higher score is better, and of equal ones the newer row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredRow {
    pub(crate) score: f32,
    pub(crate) row: u32,
}

impl Ord for ScoredRow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.row.cmp(&other.row))
    }
}

impl PartialOrd for ScoredRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScoredRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ScoredRow {}

/// Keeps the best `limit` rows, whatever the order in which they are offered.
#[derive(Debug)]
pub(crate) struct TopK {
    heap: BinaryHeap<Reverse<ScoredRow>>,
    limit: usize,
}

impl TopK {
    pub(crate) fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(limit.min(4_096) + 1), limit }
    }

    #[inline]
    pub(crate) fn offer(&mut self, score: f32, row: u32) {
        let ranked = ScoredRow { score, row };
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(ranked));
        } else if let Some(mut worst) = self.heap.peek_mut().filter(|worst| score >= worst.0.score)
            && ranked > worst.0
        {
            worst.0 = ranked;
        }
    }

    /// Returns the lowest kept row, once the limit is reached.
    pub(crate) fn last(&self) -> Option<ScoredRow> {
        self.heap.peek().filter(|_| self.heap.len() == self.limit).map(|last| last.0)
    }

    /// Returns the kept rows, best first.
    pub(crate) fn into_sorted(self) -> Vec<ScoredRow> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(scores in proptest::collection::vec(-3_i8..3, 0..60), limit in 0_usize..20) {
            let mut best = TopK::new(limit);
            let mut all: Vec<ScoredRow> = Vec::new();
            for (row, score) in (0_u32..).zip(&scores) {
                best.offer(f32::from(*score), row);
                all.push(ScoredRow { score: f32::from(*score), row });
            }
            all.sort_by(|a, b| b.cmp(a));
            all.truncate(limit);
            prop_assert_eq!(best.into_sorted(), all);
        }
    }
}
