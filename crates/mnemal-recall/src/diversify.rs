//! Diversification: a greedy choice of hits with different content.

use std::collections::{HashMap, HashSet};

use mnemal_core::{EventId, NewEvent, SessionId};
use mnemal_text::{fold, is_stop_word};

use crate::fuse::Fused;
use crate::request::{Diversity, Hit};
use crate::search::Search;

/// Weight of the score against the similarity to chosen hits. Source: zeroclaw, `rerank.rs`.
const OWN: f32 = 0.7;
/// Candidates per requested hit. Source: zeroclaw, `rerank.rs`.
const POOL: usize = 4;
/// Most candidates. Source: zeroclaw, `rerank.rs`.
const LARGEST_POOL: usize = 1_024;
/// Most hits of one session. Source: AD-15, one session must not fill the answer.
const OF_A_SESSION: usize = 3;
/// Most hits of one document. Source: AD-15, one document must not fill the answer.
const OF_A_DOCUMENT: usize = 5;
/// Metadata of a document part: the document's display name.
const FILE: &str = "file";

/// Returns how many hits to fetch for a choice of `limit`.
pub(crate) fn pool(diversity: Diversity, limit: usize) -> usize {
    match diversity {
        Diversity::Ranked | Diversity::InTurn => limit,
        Diversity::Covering => limit.saturating_mul(POOL).min(LARGEST_POOL).max(limit),
    }
}

/// Chooses hits by greedy maximal marginal relevance: in each step the one with the highest score minus its similarity to
/// the nearest chosen hit; of equal ones the higher ranked. At most three are of one session and five of one document,
/// unless the question names it.
pub(crate) fn choose(
    hits: Vec<Hit>,
    (limit, question): (usize, &str),
    likeness: impl Fn(&Hit, &Hit) -> f32,
) -> Vec<Hit> {
    let question = fold(question);
    let highest = hits.iter().map(|hit| hit.score.get()).fold(f32::MIN_POSITIVE, f32::max);
    let mut left: Vec<(Hit, f32)> = hits.into_iter().map(|hit| (hit, 0.0)).collect();
    let mut chosen: Vec<Hit> = Vec::new();
    let mut of_session: HashMap<SessionId, usize> = HashMap::new();
    while chosen.len() < limit && !left.is_empty() {
        let worth = |(hit, like): &(Hit, f32)| OWN * hit.score.get() / highest - (1.0 - OWN) * like;
        let first = |best: usize, at: usize| match (left.get(best), left.get(at)) {
            (Some(best_one), Some(one)) if worth(one) > worth(best_one) => at,
            _ => best,
        };
        let (hit, _) = left.remove((1..left.len()).fold(0, first));
        if let Some(kept) = hit.event.body() {
            let count = of_session.entry(kept.session.clone()).or_default();
            *count += 1;
            if *count > most(kept, &question) {
                continue;
            }
        }
        for (other, like) in &mut left {
            *like = like.max(likeness(&hit, other));
        }
        chosen.push(hit);
    }
    chosen
}

/// Interleaves the rows by these signals: the best by the first, the best by the second, the second best by the first, and
/// so on, each row once; rows without a value for any signal come last, in their original order.
pub(crate) fn in_turn<'r>(ranked: &[&'r Fused], signals: &[usize]) -> Vec<&'r Fused> {
    let list = |signal: &usize| {
        let mut list: Vec<&Fused> = ranked.iter().copied().filter(|one| one.raw(*signal) > 0.0).collect();
        list.sort_by(|a, b| b.raw(*signal).total_cmp(&a.raw(*signal)));
        list
    };
    let lists: Vec<Vec<&Fused>> = signals.iter().map(list).collect();
    let turns =
        (0..ranked.len()).flat_map(|turn| lists.iter().filter_map(move |list| list.get(turn).copied()));
    let mut seen = HashSet::new();
    turns.chain(ranked.iter().copied()).filter(|one| seen.insert(one.row)).collect()
}

/// Most hits of an event's session, or of its document, which is a session of its own.
fn most(event: &NewEvent, question: &str) -> usize {
    let file = event.metadata.get(FILE);
    let whole = fold(file.map_or(event.session.as_str(), String::as_str));
    let name = whole.rsplit_once('/').map_or(whole.as_str(), |(_, name)| name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    match file {
        _ if is_named(stem, question) => usize::MAX,
        Some(_) => OF_A_DOCUMENT,
        None => OF_A_SESSION,
    }
}

/// Whether a name occurs in a text as whole words.
fn is_named(name: &str, text: &str) -> bool {
    let is_end = |next: Option<char>| next.is_none_or(|letter| !letter.is_alphanumeric());
    let mut places = text.match_indices(name).filter(|_| !name.is_empty());
    places.any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        is_end(before.and_then(|before| before.chars().next_back()))
            && is_end(after.and_then(|after| after.chars().next()))
    })
}

/// Similarity of two texts: by vectors if both have one, else by shared words.
pub(crate) struct HitSimilarity<'s> {
    search: &'s Search,
    rows: HashMap<EventId, u32>,
}

impl<'s> HitSimilarity<'s> {
    pub(crate) fn of(search: &'s Search) -> Self {
        let index = &search.snapshot.index;
        let rows = search.ranked.iter().filter_map(|fused| Some((index.event(fused.row)?, fused.row)));
        Self { search, rows: rows.collect() }
    }

    pub(crate) fn between(&self, one: &Hit, other: &Hit) -> f32 {
        let row = |hit: &Hit| self.rows.get(&hit.event.id).copied();
        let by_vector = row(one).zip(row(other)).and_then(|(one, other)| self.search.nearness(one, other));
        by_vector.unwrap_or_else(|| shared(text(one), text(other))).max(0.0)
    }
}

fn text(hit: &Hit) -> &str {
    hit.event.body().map_or("", |kept| kept.content.as_str())
}

/// Jaccard similarity of the content words of two texts, 0 to 1.
fn shared(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> HashSet<String> {
        fold(text)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty() && !is_stop_word(mnemal_text::Language::English, word))
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    let common = one.intersection(&other).count();
    common as f32 / (one.len() + other.len() - common).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_share_words_of_content() {
        assert!((shared("The red bike", "a red BIKE!") - 1.0).abs() < 1e-6);
        assert!((shared("red bike", "red car") - 1.0 / 3.0).abs() < 1e-6);
        assert!(shared("", "the").abs() < 1e-6);
    }
}
