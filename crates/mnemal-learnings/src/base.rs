//! Answers of a knowledge base: the notes that are nearest to a question, and what several notes say together.

use std::cmp::Reverse;
use std::sync::Arc;

use mnemal_core::{Basis, ContextRequest, Learning, LearningKind, Level, ScorePart, Section};

use crate::source::is_filed;
use crate::topic::{Topic, Topics};

/// Where what became of conversations is filed, which is no knowledge. Source: `PicoBot`, PB-05.
const TIMELINE: &str = "timeline";

/// Notes of a prompt block. Source: GB-39, `recall.inject_limit`.
pub(crate) const NOTES: usize = 5;
/// Insights of a prompt block, the newest. Source: GB-39.
const INSIGHTS: usize = 5;
/// How much importance moves a note among those that are near. Source: AD-11.
const IMPORTANCE: f32 = 0.1;
/// What moves nothing. Source: AD-11.
const NEUTRAL: f32 = 0.5;

/// Whether a knowledge base is asked and nothing else: insights by their name, or knowledge alone.
pub(crate) fn is_asked(request: &ContextRequest) -> bool {
    request.asks_for(Section::Insights)
        || request.sections.only().is_some_and(|wanted| wanted.iter().all(|one| *one == Section::Knowledge))
}

/// A line of a prompt block: where it stands, how high, and why.
pub(crate) type Chosen<'n> = (Section, &'n Learning, ScorePart);

/// Returns at most `most` notes, the nearest to the question first, by the share of its words that they have, rare ones more, and
/// a little by importance; by importance alone where nothing is asked. Behind them stand the newest insights.
///
/// Evidence of others is none of them, but for what texts say that were read in: they are marked as evidence.
pub(crate) fn chosen<'n>(
    request: &ContextRequest,
    rows: &'n [Arc<Learning>],
    most: usize,
) -> Vec<Chosen<'n>> {
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
            ScorePart { name: "recency", raw: value, normalised: value, weight: 1.0, value },
        )
    }));
    all
}

/// Whether a row says in short what a text says that was read in, or what several such texts say together.
fn is_of_texts(row: &Learning) -> bool {
    row.level == Level::External
        && row.basis == Basis::Inferred
        && ["documents", "insights"].contains(&row.category.as_str())
}

fn notes<'n>(query: Option<&str>, notes: Vec<&'n Learning>, most: usize) -> Vec<Chosen<'n>> {
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
        (Section::Knowledge, row, ScorePart { name, raw, normalised: raw, weight, value: raw * weight })
    };
    let mut ranked: Vec<Chosen<'n>> =
        notes.into_iter().zip(raw).map(part).filter(|(.., part)| query.is_none() || part.raw > 0.0).collect();
    ranked.sort_by(|(_, one, a), (_, other, b)| {
        let by_age = |row: &Learning| (Reverse(row.created_at), row.id);
        b.value.total_cmp(&a.value).then(by_age(one).cmp(&by_age(other)))
    });
    ranked.truncate(most);
    ranked
}
