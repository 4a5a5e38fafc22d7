//! How near preferences lie to a request by what they are about: words in common, rare ones more, and vectors without what all
//! preferences and all requests have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use mnemal_text::{Analyzer, Language, idf, term_hash};

/// Weight of nearness of vectors against [`WORDS`]. Source: measured on the development half of `PrefEval` (ADR 49).
pub(crate) const NEARNESS: f32 = 0.77;
/// Weight of words in common. Source: as [`NEARNESS`]; anything from 0.12 to 0.33 gives the same within .01.
pub(crate) const WORDS: f32 = 0.23;
/// Fewest preferences from which what they have in common is taken out of their vectors. Source: own choice; the mean of fewer
/// is one of them.
const FEWEST: usize = 8;

/// Requests about nothing in particular, whose common direction is taken out of a request's vector.
///
/// Source: own choice of words; without them the best 80 of 505 preferences hold the right one in .75 of the questions of
/// `PrefEval` in place of .82.
pub(crate) const REQUESTS: [&str; 10] = [
    "Can you recommend something for me?",
    "What would you suggest I do?",
    "I am looking for some ideas.",
    "Could you help me choose a good one?",
    "What are the best options I should consider?",
    "I need some advice.",
    "How should I go about it?",
    "Do you have any tips for me?",
    "I am planning something and would like your suggestions.",
    "What are some good ones I could try?",
];

/// What a text is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Topic {
    /// Hashes of the stems of its words with content, ascending.
    pub(crate) words: Vec<u64>,
    /// Its vector of length 1, if the model knows a word of it.
    pub(crate) vector: Option<Vec<f32>>,
}

impl Topic {
    /// Reads the words; one language for all texts, so that equal words stay equal.
    pub(crate) fn of(text: &str, vector: Option<Vec<f32>>) -> Self {
        let terms = Analyzer::new(Language::default()).query_terms(text);
        let mut words: Vec<u64> = terms.iter().map(|term| term_hash(term)).collect();
        words.sort_unstable();
        words.dedup();
        Self { words, vector }
    }
}

/// How near one preference lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Near {
    /// Cosine, −1 to 1; `None` where one of the two has no vector.
    pub(crate) cosine: Option<f32>,
    /// Share of the request's words that it has, by their rarity, 0 to 1.
    pub(crate) words: f32,
}

/// Returns the vectors of preferences without what most of them have in common, each of length 1.
pub(crate) fn apart(all: &[Arc<Topic>]) -> Vec<Option<Vec<f32>>> {
    let middle = middle(all);
    let one = |vector: &[f32]| unit(difference(vector, middle.as_deref()));
    all.iter().map(|topic| topic.vector.as_deref().map(one)).collect()
}

/// Returns how near each preference lies to a request; `common` is the direction that all requests have, `apart` the
/// [vectors](apart) of the preferences.
pub(crate) fn near(
    request: &Topic,
    common: Option<&[f32]>,
    all: &[Arc<Topic>],
    apart: &[Option<Vec<f32>>],
) -> Vec<Near> {
    let request_vector = request.vector.as_deref().map(|vector| without_direction(vector, common));
    let rarity = rarity(request, all);
    let whole: f32 = rarity.values().sum();
    let one = |(topic, vector): (&Arc<Topic>, &Option<Vec<f32>>)| {
        let cosine = request_vector.as_deref().zip(vector.as_deref()).map(|(a, b)| dot(a, b));
        let shared: f32 = rarity
            .iter()
            .filter(|(word, _)| topic.words.binary_search(word).is_ok())
            .map(|(_, idf)| idf)
            .sum();
        Near { cosine, words: if whole > 0.0 { shared / whole } else { 0.0 } }
    };
    all.iter().zip(apart).map(one).collect()
}

/// Returns the direction that vectors have in common, of length 1; `None` without vectors.
pub(crate) fn common<'v>(vectors: impl Iterator<Item = &'v [f32]>) -> Option<Vec<f32>> {
    mean(vectors).map(unit)
}

/// What most of the preferences have in common; `None` where there are too few.
fn middle(all: &[Arc<Topic>]) -> Option<Vec<f32>> {
    let vectors = || all.iter().filter_map(|topic| topic.vector.as_deref());
    (vectors().count() >= FEWEST).then(|| mean(vectors())).flatten()
}

fn rarity(request: &Topic, all: &[Arc<Topic>]) -> BTreeMap<u64, f32> {
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let weight = |word: &u64| {
        let holding = all.iter().filter(|topic| topic.words.binary_search(word).is_ok()).count();
        (*word, idf(count, u32::try_from(holding).unwrap_or(u32::MAX)))
    };
    request.words.iter().map(weight).collect()
}

fn mean<'v>(vectors: impl Iterator<Item = &'v [f32]>) -> Option<Vec<f32>> {
    let mut sum: Vec<f32> = Vec::new();
    let mut count = 0.0_f32;
    for vector in vectors {
        sum.resize(vector.len(), 0.0);
        for (total, value) in sum.iter_mut().zip(vector) {
            *total += value;
        }
        count += 1.0;
    }
    (count > 0.0).then(|| sum.into_iter().map(|total| total / count).collect())
}

fn difference(vector: &[f32], other: Option<&[f32]>) -> Vec<f32> {
    other.map_or_else(|| vector.to_vec(), |other| vector.iter().zip(other).map(|(a, b)| a - b).collect())
}

fn without_direction(vector: &[f32], direction: Option<&[f32]>) -> Vec<f32> {
    let Some(direction) = direction else { return vector.to_vec() };
    let along = dot(vector, direction);
    unit(vector.iter().zip(direction).map(|(value, part)| value - along * part).collect())
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt();
    if length > f32::EPSILON {
        for value in &mut vector {
            *value /= length;
        }
    }
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(texts: &[(&str, [f32; 2])]) -> Vec<Arc<Topic>> {
        texts.iter().map(|(text, vector)| Arc::new(Topic::of(text, Some(vector.to_vec())))).collect()
    }

    fn near(request: &Topic, common: Option<&[f32]>, all: &[Arc<Topic>]) -> Vec<Near> {
        super::near(request, common, all, &apart(all))
    }

    #[test]
    fn a_rare_word_counts_more_than_one_that_many_have() {
        let all: Vec<Arc<Topic>> = ["I like loud music", "I like loud bars", "I avoid loud trains"]
            .into_iter()
            .map(|text| Arc::new(Topic::of(text, None)))
            .collect();
        let found = near(&Topic::of("Which loud trains go to Rome?", None), None, &all);
        assert!(found[2].words > 2.0 * found[0].words && found[0].words > 0.0, "{found:?}");
        assert_eq!(found[0].cosine, None);
        assert_eq!(near(&Topic::default(), None, &all), [Near::default(); 3]);
    }

    #[test]
    fn what_all_have_in_common_tells_nothing() {
        let texts: Vec<(&str, [f32; 2])> =
            (0..9).map(|n| ("x", if n == 0 { [0.8, 0.6] } else { [1.0, 0.0] })).collect();
        let all = topics(&texts);
        let request = Topic::of("y", Some(vec![0.8, 0.6]));
        let found = near(&request, Some(&[1.0, 0.0]), &all);
        assert!(found[0].cosine.unwrap() > 0.8, "{:?}", found[0]);
        assert!(found[1..].iter().all(|one| one.cosine.unwrap() < 0.0), "{found:?}");
    }

    #[test]
    fn the_common_direction_is_that_of_the_mean() {
        let vectors = [[1.0, 0.0], [0.0, 1.0]];
        let found = common(vectors.iter().map(<[f32; 2]>::as_slice)).unwrap();
        assert!((found[0] - found[1]).abs() < 1e-6 && (dot(&found, &found) - 1.0).abs() < 1e-6);
        assert_eq!(common(std::iter::empty()), None);
    }
}
