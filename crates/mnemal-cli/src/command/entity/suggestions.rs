//! `mnemal entity suggestions`: possible duplicates, for a person to decide.

use std::collections::BTreeMap;

use anyhow::Result;
use mnemal::graph::MergeProposal;
use mnemal::types::EntityId;
use mnemal::{Graph, Memory};
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
    /// The consolidation operation that proposes the pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<String>,
}

#[derive(Serialize)]
struct NamedForm {
    id: String,
    name: String,
}

/// Prints the proposed pairs, then the most likely others.
pub(super) async fn list(memory: &Memory, graph: &Graph, limit: usize, output: &Output) -> Result<()> {
    let found = memory.facts().suggestions(limit).await?.value;
    let ids: Vec<EntityId> = found.iter().flat_map(|found| [found.pair.one, found.pair.into]).collect();
    let known = graph.entities(ids, always()).await?;
    let names: BTreeMap<EntityId, String> =
        known.into_iter().map(|entity| (entity.id, entity.name)).collect();
    let forms: Vec<SuggestionForm> = found.iter().map(|found| SuggestionForm::new(found, &names)).collect();
    output.list(&forms, &SuggestionsForm { suggestions: &forms }, || {
        if forms.is_empty() {
            return "nobody looks like somebody else".to_owned();
        }
        forms.iter().map(SuggestionForm::line).collect::<Vec<_>>().join("\n")
    })
}

impl SuggestionForm {
    fn new(found: &MergeProposal, names: &BTreeMap<EntityId, String>) -> Self {
        let pair = &found.pair;
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
            proposal: found.proposal.map(|event| event.to_string()),
        }
    }

    fn line(&self) -> String {
        let Self { one, into, score, because, .. } = self;
        let proposed =
            self.proposal.as_ref().map_or_else(String::new, |event| format!("  proposed as {event}"));
        format!("{score:.2}  {} = {}  ({because})  {} {}{proposed}", one.name, into.name, one.id, into.id)
    }
}
