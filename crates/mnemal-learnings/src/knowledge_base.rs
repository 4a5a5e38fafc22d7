//! Knowledge base queries: the notes nearest to a question, and the newest insights.

use std::cmp::Reverse;
use std::sync::Arc;

use mnemal_core::{Basis, ContextRequest, Learning, LearningKind, Level, ScorePart, Section};

use crate::source::is_filed;
use crate::topic::{Topic, Topics};

/// Category of compressed conversations, which are not knowledge. Source: `PicoBot`.
const TIMELINE: &str = "timeline";

/// Notes in a prompt block. Source: GB-39, five memories per question.
pub(crate) const NOTES: usize = 5;
/// Insights in a prompt block, the newest. Source: GB-39, the five newest.
const INSIGHTS: usize = 5;
/// Weight of importance in the order of near notes. Source: hindsight `reranking.py`.
const IMPORTANCE: f32 = 0.1;
/// Neutral importance. Source: hindsight `reranking.py`.
const NEUTRAL: f32 = 0.5;

/// Whether a request asks a knowledge base only: insights explicitly, or knowledge alone.
pub(crate) fn is_asked(request: &ContextRequest) -> bool {
    request.asks_for(Section::Insights)
        || request.sections.only().is_some_and(|wanted| wanted.iter().all(|one| *one == Section::Knowledge))
}

/// A line of a prompt block: its section, its note, and its score.
pub(crate) type KnowledgeLine<'n> = (Section, &'n Learning, ScorePart);

/// Returns at most `most` notes, nearest to the question first, by the share of its words that they have, rare words more,
/// and slightly by importance; without a question by importance alone. The newest insights follow.
///
/// External notes are excluded, except digests of ingested texts, which are marked as external.
pub(crate) fn choose<'n>(
    request: &ContextRequest,
    rows: &'n [Arc<Learning>],
    most: usize,
) -> Vec<KnowledgeLine<'n>> {
    let of_kind = |kind: LearningKind| {
        let is_of = move |row: &&Arc<Learning>| {
            row.kind == kind && (row.level > Level::External || is_of_texts(row)) && !is_filed(row, TIMELINE)
        };
        rows.iter().filter(is_of).map(Arc::as_ref).collect::<Vec<&Learning>>()
    };
    let mut all = Vec::new();
    if request.asks_for(Section::Knowledge) {
        all.extend(notes(request.query.as_deref(), of_kind(LearningKind::Note), most));
    }
    if !request.asks_for(Section::Insights) {
        return all;
    }
    let mut insights = of_kind(LearningKind::Insight);
    insights.sort_by_key(|row| (Reverse(row.created_at), row.id));
    let newest = (1_u16..).zip(insights.into_iter().take(INSIGHTS));
    all.extend(newest.map(|(place, row)| {
        let value = 1.0 / f32::from(place);
        (
            Section::Insights,
            row,
            ScorePart { name: "recency", raw: value, normalized: value, weight: 1.0, value },
        )
    }));
    all
}

/// Whether a row is a digest of an ingested text, or an insight from such digests.
fn is_of_texts(row: &Learning) -> bool {
    row.level == Level::External
        && row.basis == Basis::Inferred
        && ["documents", "insights"].contains(&row.category.as_str())
}

fn notes<'n>(query: Option<&str>, notes: Vec<&'n Learning>, most: usize) -> Vec<KnowledgeLine<'n>> {
    let raw: Vec<f32> = match query {
        Some(query) => {
            let topics: Vec<Arc<Topic>> =
                notes.iter().map(|row| Arc::new(Topic::of(&row.content, None))).collect();
            let near = Topics::new(&topics).near(&Topic::of(query, None), None);
            near.into_iter().map(|near| near.words).collect()
        }
        None => notes.iter().map(|row| row.importance.get()).collect(),
    };
    let name = if query.is_some() { "words" } else { "importance" };
    let weight = |row: &Learning| {
        if query.is_some() { 1.0 + IMPORTANCE * (row.importance.get() - NEUTRAL) } else { 1.0 }
    };
    let part = |(row, raw): (&'n Learning, f32)| {
        let weight = weight(row);
        (Section::Knowledge, row, ScorePart { name, raw, normalized: raw, weight, value: raw * weight })
    };
    let mut ranked: Vec<KnowledgeLine<'n>> =
        notes.into_iter().zip(raw).map(part).filter(|(.., part)| query.is_none() || part.raw > 0.0).collect();
    ranked.sort_by(|(_, one, a), (_, other, b)| {
        let by_age = |row: &Learning| (Reverse(row.created_at), row.id);
        b.value.total_cmp(&a.value).then(by_age(one).cmp(&by_age(other)))
    });
    ranked.truncate(most);
    ranked
}
