//! ROUGE-1, ROUGE-2 and ROUGE-L as the harmonic mean of precision and recall, over stems, stop words included.

use std::collections::HashMap;

use mnemal_text::{Analyzer, Language};

/// The measures, in the order of their values.
pub(super) const MEASURES: [&str; 3] = ["rouge1", "rouge2", "rougeL"];
/// The values of one summary.
pub(crate) type Rouge = [f64; 3];

/// Compares a summary with its reference.
pub(super) fn rouge(summary: &str, reference: &str) -> Rouge {
    let (own, gold) = (stems(summary), stems(reference));
    [overlap(&own, &gold, 1), overlap(&own, &gold, 2), mean(common(&own, &gold), own.len(), gold.len())]
}

/// Returns the stems of a text in order.
pub(super) fn stems(text: &str) -> Vec<String> {
    Analyzer::new(Language::English).terms(text).into_iter().map(|term| term.text).collect()
}

fn overlap(own: &[String], gold: &[String], n: usize) -> f64 {
    let mut counts: HashMap<&[String], usize> = HashMap::new();
    for gram in gold.windows(n) {
        *counts.entry(gram).or_default() += 1;
    }
    let mut shared = 0;
    for gram in own.windows(n) {
        if let Some(count) = counts.get_mut(gram).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    mean(shared, (own.len() + 1).saturating_sub(n), (gold.len() + 1).saturating_sub(n))
}

/// The length of the longest common subsequence.
fn common(own: &[String], gold: &[String]) -> usize {
    let mut above = vec![0; gold.len() + 1];
    for word in own {
        let mut row = vec![0];
        for (place, other) in gold.iter().enumerate() {
            let (left, up) = (row.last().copied().unwrap_or(0), above.get(place + 1).copied().unwrap_or(0));
            let corner = above.get(place).copied().unwrap_or(0);
            row.push(if word == other { corner + 1 } else { left.max(up) });
        }
        above = row;
    }
    above.last().copied().unwrap_or(0)
}

fn mean(shared: usize, own: usize, gold: usize) -> f64 {
    let both = own + gold;
    if both == 0 { 0.0 } else { 2.0 * shared as f64 / both as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rouge_is_that_of_its_definition() {
        let near = |found: Rouge, expected: Rouge| {
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9), "{found:?}");
        };
        near(rouge("red green blue", "red green blue"), [1.0; 3]);
        near(rouge("red green", "blue"), [0.0; 3]);
        // Three of four and three words, one of three and two pairs, two in order.
        near(rouge("red blue green black", "red green blue"), [6.0 / 7.0, 0.0, 4.0 / 7.0]);
    }
}
