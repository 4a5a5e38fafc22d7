//! Search over working memory entries.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Category, Degraded, Embedder, Gap, KeyPrefix, Layer, Result, Score, Scored, Slot, Tag, WorkingEntry,
    WorkingKey,
};
use mnemal_text::{Analyzer, Language, bm25, idf};

use crate::memory::{WorkingItem, WorkingMemory};

/// A search request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingQuery {
    /// Restricts to keys below this prefix.
    pub prefix: KeyPrefix,
    /// Words; if empty, everything that passes the filters matches.
    pub text: String,
    /// Restricts to this category and those below it.
    pub category: Option<Category>,
    /// Restricts to entries with all of these tags.
    pub tags: Vec<Tag>,
}

/// Most entries compared by vector, the latest ones: each costs a call of the model.
///
/// Source: own choice; two full namespaces have a hundred.
const MOST_NEAR: usize = 100;
/// Most bytes of a query or an entry that are embedded. Source: own choice, as recall embeds an event.
const LONGEST_MEANT: usize = 4_096;

impl WorkingMemory {
    /// Returns the entries that pass the filters and share a word or meaning with the query, best first, without their
    /// values; without words by key.
    ///
    /// The score is BM25 over key, category, tags and value, among the filtered entries, relative to the best, plus the
    /// cosine if there is an embedder (hybrid search). A vector match alone needs the embedder's similarity floor; a
    /// failing embedder is a gap, and only words count.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn search(&self, query: &WorkingQuery) -> Result<Degraded<Vec<Scored<WorkingItem>>>> {
        let (mut living, now) = self.live_entries(std::slice::from_ref(&query.prefix)).await?;
        living.retain(|(_, entry)| passes(query, entry));
        let mut scores = scores(&query.text, &living);
        let mut gaps = Vec::new();
        if let Slot::Filled(embedder) = &self.embedder {
            match cosines(embedder.as_ref(), &query.text, &living).await {
                Ok(cosines) => join(&mut scores, &cosines, embedder.floor()),
                Err(error) => gaps.push(Gap { layer: Layer::Vector, cause: error.into() }),
            }
        }
        let mut found: Vec<Scored<WorkingItem>> = living
            .into_iter()
            .zip(scores)
            .filter_map(|((key, entry), score)| {
                Some(Scored { item: WorkingItem::new(key, entry, now), score: score? })
            })
            .collect();
        found.sort_by(|one, two| {
            two.score.get().total_cmp(&one.score.get()).then_with(|| one.item.key.cmp(&two.item.key))
        });
        Ok(Degraded { value: found, gaps })
    }
}

/// The cosine of each entry to the query; `None` for those not compared.
async fn cosines(
    embedder: &dyn Embedder,
    query: &str,
    entries: &[(WorkingKey, WorkingEntry)],
) -> Result<Vec<Option<f32>>> {
    let mut cosines = vec![None; entries.len()];
    let query = query.get(..query.floor_char_boundary(LONGEST_MEANT)).unwrap_or_default();
    if query.trim().is_empty() || entries.is_empty() {
        return Ok(cosines);
    }
    let Some(asked) = embedder.embed_query(query).await? else { return Ok(cosines) };
    let mut latest: Vec<(usize, &(WorkingKey, WorkingEntry))> = entries.iter().enumerate().collect();
    latest.sort_by_key(|(_, (_, entry))| std::cmp::Reverse(entry.stored_at));
    latest.truncate(MOST_NEAR);
    let texts: Vec<String> = latest.iter().map(|(_, (key, entry))| embedded_text(key, entry)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for ((place, _), vector) in latest.iter().zip(embedder.embed(&texts).await?) {
        let cosine = vector.map(|vector| asked.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>());
        if let Some(place) = cosines.get_mut(*place) {
            *place = cosine.filter(|cosine| cosine.is_finite());
        }
    }
    Ok(cosines)
}

/// Adds the cosine to each relative score.
fn join(scores: &mut [Option<Score>], cosines: &[Option<f32>], floor: f32) {
    let best = scores.iter().flatten().map(|score| score.get()).fold(0.0, f32::max);
    for (score, cosine) in scores.iter_mut().zip(cosines) {
        let near = cosine.unwrap_or_default().max(0.0);
        let share = |score: Score| if best > 0.0 { score.get() / best } else { 0.0 };
        *score = match score {
            Some(score) => Some(Score::new(share(*score) + near)),
            None => cosine.filter(|cosine| *cosine >= floor).map(Score::new),
        };
    }
}

fn passes(query: &WorkingQuery, entry: &WorkingEntry) -> bool {
    let is_filed = query
        .category
        .as_ref()
        .is_none_or(|category| entry.category.as_ref().is_some_and(|filed| filed.is_within(category)));
    is_filed && query.tags.iter().all(|tag| entry.tags.contains(tag))
}

/// The score of each entry; `None` without a common word, and 0 for all if the query has no words.
fn scores(text: &str, entries: &[(WorkingKey, WorkingEntry)]) -> Vec<Option<Score>> {
    let analyzer = Analyzer::new(Language::guess(text));
    let wanted: BTreeSet<String> = analyzer.query_terms(text).into_iter().collect();
    if text.trim().is_empty() {
        return entries.iter().map(|_| Some(Score::default())).collect();
    }
    let read: Vec<TermCounts> =
        entries.iter().map(|(key, entry)| TermCounts::new(analyzer, &wanted, key, entry)).collect();
    let count = u32::try_from(read.len()).unwrap_or(u32::MAX);
    let average = read.iter().map(|one| one.length as f32).sum::<f32>() / read.len().max(1) as f32;
    let rarity = |term: &str| {
        let holding = read.iter().filter(|one| one.counts.contains_key(term)).count();
        idf(count, u32::try_from(holding).unwrap_or(u32::MAX))
    };
    let rarities: BTreeMap<&str, f32> = wanted.iter().map(|term| (term.as_str(), rarity(term))).collect();
    let score = |one: &TermCounts| {
        let part = |(term, tf): (&String, &u32)| {
            bm25(rarities.get(term.as_str()).copied().unwrap_or_default(), *tf, one.length, average)
        };
        (!one.counts.is_empty()).then(|| Score::new(one.counts.iter().map(part).sum()))
    };
    read.iter().map(score).collect()
}

/// Term frequencies and length of an entry, in terms.
struct TermCounts {
    counts: BTreeMap<String, u32>,
    length: u32,
}

impl TermCounts {
    fn new(analyzer: Analyzer, wanted: &BTreeSet<String>, key: &WorkingKey, entry: &WorkingEntry) -> Self {
        let mut read = Self { counts: BTreeMap::new(), length: 0 };
        let names = names(key, entry);
        let texts = names.iter().map(String::as_str).chain(entry.tags.iter().map(Tag::as_str));
        for text in texts.chain([entry.value.as_str()]) {
            analyzer.for_each_term(text, &mut |term, _| {
                read.length = read.length.saturating_add(1);
                if wanted.contains(term) {
                    *read.counts.entry(term.to_owned()).or_default() += 1;
                }
            });
        }
        read
    }
}

/// Key and category as words.
fn names(key: &WorkingKey, entry: &WorkingEntry) -> [String; 2] {
    let category = entry.category.as_ref().map_or("", Category::as_str);
    [key.as_str(), category].map(|path| path.replace(['/', '-', '_'], " "))
}

/// The embedded text of an entry: names, tags and the beginning of its value.
fn embedded_text(key: &WorkingKey, entry: &WorkingEntry) -> String {
    let names = names(key, entry);
    let texts = names.iter().map(String::as_str).chain(entry.tags.iter().map(Tag::as_str));
    let mut text = texts.chain([entry.value.as_str()]).collect::<Vec<_>>().join(" ");
    text.truncate(text.floor_char_boundary(LONGEST_MEANT));
    text
}
