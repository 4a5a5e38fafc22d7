//! Topical similarity of preferences to a request: common words weighted by rarity, and vectors without the common
//! directions of preferences and requests.

use std::collections::HashMap;
use std::sync::Arc;

use multiversion::multiversion;

use mnemal_text::{Analyzer, Language, idf, term_hash};

/// Weight of vector similarity against [`WORDS`]. Source: measured on the development half of `PrefEval` (ADR 23).
pub(crate) const NEARNESS: f32 = 0.77;
/// Weight of common words. Source: as [`NEARNESS`]; anything from 0.12 to 0.33 gives the same within .01.
pub(crate) const WORDS: f32 = 0.23;
/// Vectors processed in parallel lanes. Source: own choice; each sum depends on its previous value, and sixteen independent
/// sums hide that latency.
const LANES: usize = 16;
/// Fewest preferences for which their mean is removed from their vectors. Source: own choice; the mean of fewer is close to
/// one of them.
const FEWEST: usize = 8;

/// Generic requests, whose mean direction is removed from a request's vector.
///
/// Source: own choice of words; without them the best 80 of 505 preferences contain the right one in .75 of the questions
/// of `PrefEval` instead of .82.
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

/// The topic of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Topic {
    /// Hashes of the stems of its content words, ascending.
    pub(crate) words: Vec<u64>,
    /// Its normalized vector, if the model knows a word of it.
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

/// Similarity of one preference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TopicSimilarity {
    /// Cosine, −1 to 1; `None` if one of the two has no vector.
    pub(crate) cosine: Option<f32>,
    /// Share of the request's words that it has, weighted by rarity, 0 to 1.
    pub(crate) words: f32,
}

/// The topics of preferences, precomputed for comparison with requests.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    /// Dimensions of a vector.
    dimensions: usize,
    /// Vectors without their mean, each of length 1, interleaved in groups of [`LANES`].
    apart: Vec<f32>,
    /// Whether each preference has a vector.
    has_vector: Vec<bool>,
    /// The indexes of the preferences with a word, ascending.
    holding: HashMap<u64, Vec<usize>>,
}

impl Topics {
    pub(crate) fn new(all: &[Arc<Topic>]) -> Self {
        let vectors = || all.iter().map(|topic| topic.vector.as_deref());
        let dimensions = vectors().flatten().map(<[f32]>::len).max().unwrap_or(0);
        let middle = middle(all);
        let mut apart = vec![0.0; all.len().next_multiple_of(LANES) * dimensions];
        for (place, vector) in vectors().enumerate() {
            let Some(vector) = vector else { continue };
            let first = place / LANES * LANES * dimensions + place % LANES;
            let slots = apart.iter_mut().skip(first).step_by(LANES);
            for (slot, value) in slots.zip(unit(difference(vector, middle.as_deref()))) {
                *slot = value;
            }
        }
        let mut holding: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, topic) in all.iter().enumerate() {
            for word in &topic.words {
                holding.entry(*word).or_default().push(place);
            }
        }
        Self { dimensions, apart, has_vector: vectors().map(|vector| vector.is_some()).collect(), holding }
    }

    /// Returns the similarity of each preference to a request; `common` is the mean direction of requests.
    pub(crate) fn near(&self, request: &Topic, common: Option<&[f32]>) -> Vec<TopicSimilarity> {
        let mut near = vec![TopicSimilarity { cosine: None, words: NOTHING }; self.has_vector.len()];
        if let Some(vector) = request.vector.as_deref() {
            let mut asked = without_direction(vector, common);
            asked.resize(self.dimensions, 0.0);
            let cosines = products(&self.apart, &asked);
            for ((one, cosine), has_vector) in near.iter_mut().zip(cosines).zip(&self.has_vector) {
                one.cosine = has_vector.then_some(cosine);
            }
        }
        let count = u32::try_from(self.has_vector.len()).unwrap_or(u32::MAX);
        let holding = |word: &u64| self.holding.get(word).map_or(&[][..], Vec::as_slice);
        let rarity = |word: &u64| idf(count, u32::try_from(holding(word).len()).unwrap_or(u32::MAX));
        let whole: f32 = request.words.iter().map(rarity).sum();
        if whole <= 0.0 {
            for one in &mut near {
                one.words = 0.0;
            }
            return near;
        }
        for word in &request.words {
            let rarity = rarity(word);
            for place in holding(word) {
                if let Some(one) = near.get_mut(*place) {
                    one.words += rarity;
                }
            }
        }
        for one in &mut near {
            one.words /= whole;
        }
        near
    }
}

/// Returns the dot product of each vector with another, summed in order; `apart` has the vectors interleaved in groups of
/// [`LANES`].
#[multiversion(targets("x86_64+avx2"))]
fn products(apart: &[f32], other: &[f32]) -> Vec<f32> {
    let mut products = vec![NOTHING; apart.len() / other.len().max(1)];
    let (lanes, _) = apart.as_chunks::<LANES>();
    let (sums, _) = products.as_chunks_mut::<LANES>();
    for (vectors, sums) in lanes.chunks_exact(other.len().max(1)).zip(sums) {
        let mut sum = [NOTHING; LANES];
        for (values, factor) in vectors.iter().zip(other) {
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += factor * value;
            }
        }
        *sums = sum;
    }
    products
}

/// The empty sum, as in the standard library.
const NOTHING: f32 = -0.0;

/// Returns the mean direction of vectors, of length 1; `None` without vectors.
pub(crate) fn common<'v>(vectors: impl Iterator<Item = &'v [f32]>) -> Option<Vec<f32>> {
    mean(vectors).map(unit)
}

/// The mean of the preferences; `None` if there are too few.
fn middle(all: &[Arc<Topic>]) -> Option<Vec<f32>> {
    let vectors = || all.iter().filter_map(|topic| topic.vector.as_deref());
    (vectors().count() >= FEWEST).then(|| mean(vectors())).flatten()
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

    fn near(request: &Topic, common: Option<&[f32]>, all: &[Arc<Topic>]) -> Vec<TopicSimilarity> {
        Topics::new(all).near(request, common)
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
        assert_eq!(near(&Topic::default(), None, &all), [TopicSimilarity::default(); 3]);
    }

    #[test]
    fn products_side_by_side_are_those_of_each_vector_alone_to_the_last_bit() {
        let value = |seed: usize| ((seed * 7_919 % 1_009) as f32 - 504.0) / 1_009.0;
        let vector = |place: usize| -> Vec<f32> { (0..70).map(|at| value(place * 71 + at)).collect() };
        for count in [0, 1, 8, LANES, LANES + 1, 3 * LANES + 5] {
            let topic =
                |place: usize| Topic { words: Vec::new(), vector: (place % 3 != 1).then(|| vector(place)) };
            let all: Vec<Arc<Topic>> = (0..count).map(|place| Arc::new(topic(place))).collect();
            let (request, common) = (Topic { words: Vec::new(), vector: Some(vector(1_000)) }, vector(2_000));
            let asked = without_direction(&vector(1_000), Some(&common));
            let middle = middle(&all);
            let alone = |topic: &Arc<Topic>| {
                let apart = unit(difference(topic.vector.as_deref()?, middle.as_deref()));
                Some(dot(&asked, &apart).to_bits())
            };
            let expected: Vec<Option<u32>> = all.iter().map(alone).collect();
            let found = near(&request, Some(&common), &all);
            assert_eq!(found.iter().map(|one| one.cosine.map(f32::to_bits)).collect::<Vec<_>>(), expected);
        }
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
