//! Word-overlap similarity of two texts.

use crate::hash::{chain, term_hash};
use crate::{Analyzer, Language};

/// Number of neighboring words in a shingle of [`similarity`].
///
/// Source: own choice; pairs notice order ("dog bites man") and still forgive one changed word in a short line.
const SHINGLE: usize = 2;

/// Returns the hashes of the runs of `n` neighboring terms of `text`, sorted and distinct.
///
/// With `n` = 1 these are the terms themselves.
/// A text with fewer than `n` terms has one shingle of all of them, and a text without a term has none; `n` = 0 is read as 1.
pub fn shingles(text: &str, n: usize) -> Vec<u64> {
    let mut terms = Vec::new();
    Analyzer::new(Language::English).for_each_term(text, &mut |term, _| terms.push(term_hash(term)));
    let width = n.clamp(1, terms.len().max(1));
    let mut shingles: Vec<u64> =
        terms.windows(width).map(|window| window.iter().fold(0, |hash, &term| chain(hash, term))).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Returns the Jaccard index of two sorted sets without doubles: |A ∩ B| / |A ∪ B|, between 0 and 1.
///
/// Two empty sets have nothing in common and give 0.
pub fn jaccard(a: &[u64], b: &[u64]) -> f32 {
    let shared = shared(a, b);
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f32 / union as f32 }
}

fn shared(mut a: &[u64], mut b: &[u64]) -> usize {
    let mut shared = 0;
    while let (Some((x, rest_a)), Some((y, rest_b))) = (a.split_first(), b.split_first()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => a = rest_a,
            std::cmp::Ordering::Greater => b = rest_b,
            std::cmp::Ordering::Equal => {
                shared += 1;
                (a, b) = (rest_a, rest_b);
            }
        }
    }
    shared
}

/// Returns the similarity of two texts: 1 for the same words in the same order, 0 for texts without a common pair of words.
///
/// It is the Jaccard index over pairs of neighboring terms, so inflection, case, accents and punctuation do not count.
/// Texts without a single word are alike only if they are equal.
/// To compare one text with many, keep its [`shingles`] and use [`jaccard`].
pub fn similarity(a: &str, b: &str) -> f32 {
    let (shingles_a, shingles_b) = (shingles(a, SHINGLE), shingles(b, SHINGLE));
    if shingles_a.is_empty() && shingles_b.is_empty() {
        return if a.trim() == b.trim() { 1.0 } else { 0.0 };
    }
    jaccard(&shingles_a, &shingles_b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_duplicates_are_alike_and_other_texts_are_not() {
        let text = "Anna prefers the window seat on long flights to Lisbon.";
        assert!(similarity(text, "anna prefers the window seats on long flights, to Lisbon") > 0.99);
        assert!(similarity(text, "Anna prefers the window seat on long flights to Porto.") > 0.75);
        assert!(similarity(text, "Bob took the train to Madrid last week.") < 0.1);
        assert!(similarity("dog bites man", "man bites dog") < 0.1);
        assert!((similarity("yes", "Yes!") - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn shingles_of_one_word_give_the_share_of_common_words() {
        let (a, b) = (shingles("red green blue", 1), shingles("green blue black", 1));
        assert!((jaccard(&a, &b) - 0.5).abs() < 1e-6);
        assert!((jaccard(&[], &[])).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn similarity_is_symmetric_bounded_and_complete_for_itself(a in "\\PC{0,40}", b in "([a-c]{1,2} ){0,20}", n in 0_usize..9) {
            let value = similarity(&a, &b);
            prop_assert!((0.0..=1.0).contains(&value));
            prop_assert!((value - similarity(&b, &a)).abs() < f32::EPSILON);
            prop_assert!((similarity(&a, &a) - 1.0).abs() < f32::EPSILON);
            prop_assert!(shingles(&b, n).is_sorted_by(|x, y| x < y));
        }
    }
}
