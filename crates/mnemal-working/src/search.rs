//! Ranks the few entries that there are.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{Category, KeyPrefix, Result, Score, Scored, Tag, WorkingEntry, WorkingKey};
use mnemal_text::{Analyzer, Language, bm25, idf};

use crate::memory::{WorkingItem, WorkingMemory};

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingQuery {
    /// Below which prefix.
    pub prefix: KeyPrefix,
    /// Words; without any, everything that passes the filters.
    pub text: String,
    /// Filed under this category or below it.
    pub category: Option<Category>,
    /// With all of these tags.
    pub tags: Vec<Tag>,
}

impl WorkingMemory {
    /// Returns the entries that pass the filters and share a word with the query, best first, without their values; without
    /// words by key.
    ///
    /// The score is BM25 over key, category, tags and value, among the entries that pass the filters.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn search(&self, query: &WorkingQuery) -> Result<Vec<Scored<WorkingItem>>> {
        let (mut living, now) = self.living(&query.prefix).await?;
        living.retain(|(_, entry)| passes(query, entry));
        let scores = scores(&query.text, &living);
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
        Ok(found)
    }
}

fn passes(query: &WorkingQuery, entry: &WorkingEntry) -> bool {
    let is_filed = query
        .category
        .as_ref()
        .is_none_or(|category| entry.category.as_ref().is_some_and(|filed| filed.is_within(category)));
    is_filed && query.tags.iter().all(|tag| entry.tags.contains(tag))
}

/// What each entry scores; `None` where it shares no word, and 0 for all where there are no words to share.
fn scores(text: &str, entries: &[(WorkingKey, WorkingEntry)]) -> Vec<Option<Score>> {
    let analyzer = Analyzer::new(Language::guess(text));
    let wanted: BTreeSet<String> = analyzer.query_terms(text).into_iter().collect();
    if text.trim().is_empty() {
        return entries.iter().map(|_| Some(Score::default())).collect();
    }
    let read: Vec<Read> =
        entries.iter().map(|(key, entry)| Read::new(analyzer, &wanted, key, entry)).collect();
    let count = u32::try_from(read.len()).unwrap_or(u32::MAX);
    let average = read.iter().map(|one| one.length as f32).sum::<f32>() / read.len().max(1) as f32;
    let rarity = |term: &str| {
        let holding = read.iter().filter(|one| one.counts.contains_key(term)).count();
        idf(count, u32::try_from(holding).unwrap_or(u32::MAX))
    };
    let rarities: BTreeMap<&str, f32> = wanted.iter().map(|term| (term.as_str(), rarity(term))).collect();
    let score = |one: &Read| {
        let part = |(term, tf): (&String, &u32)| {
            bm25(rarities.get(term.as_str()).copied().unwrap_or_default(), *tf, one.length, average)
        };
        (!one.counts.is_empty()).then(|| Score::new(one.counts.iter().map(part).sum()))
    };
    read.iter().map(score).collect()
}

/// How often an entry says what is looked for, and how long it is, both in terms.
struct Read {
    counts: BTreeMap<String, u32>,
    length: u32,
}

impl Read {
    fn new(analyzer: Analyzer, wanted: &BTreeSet<String>, key: &WorkingKey, entry: &WorkingEntry) -> Self {
        let mut read = Self { counts: BTreeMap::new(), length: 0 };
        let category = entry.category.as_ref().map_or("", Category::as_str);
        let names = [key.as_str(), category].map(|path| path.replace(['/', '-', '_'], " "));
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
