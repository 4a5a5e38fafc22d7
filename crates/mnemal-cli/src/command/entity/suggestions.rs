//! `mnemal entity suggestions`: pairs that may be one, for a person to decide.

use std::collections::BTreeMap;

use anyhow::Result;
use mnemal::{EntityId, Graph, Suggestion};
use serde::Serialize;

use super::always;
use crate::output::Output;

#[derive(Serialize)]
struct SuggestionsForm<'f> {
    suggestions: &'f [SuggestionForm],
}

#[derive(Serialize)]
struct SuggestionForm {
    one: NamedForm,
    into: NamedForm,
    score: f32,
    because: &'static str,
    only_by_people: bool,
}

#[derive(Serialize)]
struct NamedForm {
    id: String,
    name: String,
}

/// Prints the likeliest pairs.
pub(super) async fn list(graph: &Graph, limit: usize, output: &Output) -> Result<()> {
    let found = graph.suggestions(limit).await?;
    let ids: Vec<EntityId> = found.iter().flat_map(|pair| [pair.one, pair.into]).collect();
    let known = graph.entities(ids, always()).await?;
    let names: BTreeMap<EntityId, String> =
        known.into_iter().map(|entity| (entity.id, entity.name)).collect();
    let forms: Vec<SuggestionForm> = found.iter().map(|pair| SuggestionForm::new(pair, &names)).collect();
    output.list(&forms, &SuggestionsForm { suggestions: &forms }, || {
        if forms.is_empty() {
            return "nobody looks like somebody else".to_owned();
        }
        forms.iter().map(SuggestionForm::line).collect::<Vec<_>>().join("\n")
    })
}

impl SuggestionForm {
    fn new(pair: &Suggestion, names: &BTreeMap<EntityId, String>) -> Self {
        let of = |id: EntityId| NamedForm {
            id: id.to_string(),
            name: names.get(&id).cloned().unwrap_or_else(|| id.to_string()),
        };
        Self {
            one: of(pair.one),
            into: of(pair.into),
            score: pair.score.get(),
            because: pair.why.as_str(),
            only_by_people: pair.why.is_for_people(),
        }
    }

    fn line(&self) -> String {
        let Self { one, into, score, because, .. } = self;
        format!("{score:.2}  {} = {}  ({because})  {} {}", one.name, into.name, one.id, into.id)
    }
}
