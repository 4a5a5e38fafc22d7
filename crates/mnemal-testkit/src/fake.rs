//! Small, predictable stand-ins for parts of the engine.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, Embedder, IdSource, IndexEntry, Indexer, Marks, ModelId, NewEvent, Reranker,
    Result, TermHash, Terms, Timestamp, TokenCount, TokenCounter, Vector,
};

/// Returns a permit for this many calls outside the process.
pub fn permit(calls: u32) -> BackgroundPermit {
    BackgroundPermit::issue(calls, TokenCount(u32::MAX))
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(Mutex<(Timestamp, Duration)>);

impl ManualClock {
    /// Starts at a moment.
    pub fn at(now: Timestamp) -> Self {
        Self(Mutex::new((now, Duration::ZERO)))
    }

    /// Moves both times forward.
    pub fn advance(&self, by: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.plus_micros(i64::try_from(by.as_micros()).unwrap_or(i64::MAX));
        state.1 += by;
    }

    /// Sets the wall clock, forward or back; the monotonic one stays.
    pub fn jump(&self, to: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = to;
    }
}

/// 2026-03-01T09:00:00Z.
impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Timestamp::EPOCH.plus_micros(1_772_355_600_000_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn monotonic(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Ids that depend on a seed and count up: time in the upper bits, a mixed seed and a counter below.
#[derive(Debug)]
pub struct SeededIds {
    seed: u64,
    count: Mutex<u32>,
}

impl SeededIds {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed), count: Mutex::new(0) }
    }
}

impl IdSource for SeededIds {
    fn next(&self, at: Timestamp) -> u128 {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let millis = u128::try_from(at.as_micros() / 1_000).unwrap_or_default();
        (millis << 80) | (u128::from(*count) << 48) | u128::from(self.seed >> 16)
    }
}

/// Embeds a text as the sum of one pseudo-random direction per word: same words, same direction.
#[derive(Debug)]
pub struct HashEmbedder {
    model: ModelId,
    dimensions: usize,
}

impl HashEmbedder {
    /// Makes an embedder of a named model.
    pub fn new(model: ModelId, dimensions: usize) -> Self {
        Self { model, dimensions }
    }

    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; self.dimensions];
        for word in words(text) {
            for (place, value) in (0_u64..).zip(&mut sum) {
                let bits = mix(hash(&word) ^ place) >> 40;
                *value += bits as f32 / 8_388_608.0 - 1.0;
            }
        }
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        (length > f32::EPSILON).then(|| sum.into_iter().map(|value| value / length).collect())
    }
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn floor(&self) -> f32 {
        0.5
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Indexes lower-case words without analysis, and no vector.
#[derive(Debug, Default)]
pub struct TermIndexer;

impl TermIndexer {
    /// Returns the entry of a text.
    pub fn entry(text: &str) -> IndexEntry {
        let mut hashes: Vec<u64> = words(text).map(|word| hash(&word)).collect();
        hashes.sort_unstable();
        let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        let mut counts: Vec<(TermHash, u16)> = Vec::new();
        for hash in hashes {
            match counts.last_mut() {
                Some((last, count)) if last.0 == hash => *count = count.saturating_add(1),
                _ => counts.push((TermHash(hash), 1)),
            }
        }
        IndexEntry { terms: Terms { length, counts }, marks: Marks::default(), vectors: Vec::new() }
    }

    /// Returns the hash that a lower-case word has.
    pub fn term(word: &str) -> TermHash {
        TermHash(hash(word))
    }
}

#[async_trait]
impl Indexer for TermIndexer {
    async fn index(&self, events: &[NewEvent]) -> Result<Vec<IndexEntry>> {
        Ok(events.iter().map(|event| Self::entry(&event.content)).collect())
    }
}

/// Adds a quantized vector to an index entry.
pub(crate) fn with_vector(mut entry: IndexEntry, model: &ModelId, values: &[f32]) -> Result<IndexEntry> {
    entry.vectors.push((model.clone(), Vector::from_unit(values)?));
    Ok(entry)
}

/// Scores a text by the share of the query's words that it contains.
#[derive(Debug)]
pub struct WordReranker(pub ModelId);

#[async_trait]
impl Reranker for WordReranker {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        let wanted: Vec<String> = words(query).collect();
        let share = |text: &&str| {
            let found: Vec<String> = words(text).collect();
            let both = wanted.iter().filter(|word| found.contains(word)).count();
            both as f32 / wanted.len().max(1) as f32
        };
        Ok(texts.iter().map(share).collect())
    }
}

/// Counts one token per word.
#[derive(Debug, Default)]
pub struct WordCounter;

impl TokenCounter for WordCounter {
    fn name(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX))
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        let fits = |end: &usize| text.get(..*end).is_some_and(|part| self.count(part) <= budget);
        let ends = text.char_indices().map(|(start, _)| start).rev();
        0..std::iter::once(text.len()).chain(ends).find(fits).unwrap_or_default()
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// FNV-1a, 64 bits.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finaliser of `SplitMix64`.
pub(crate) fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
