//! `mnemal rebuild`.

use anyhow::Result;
use mnemal::admin::{RebuildMode as What, RebuildReport};
use mnemal::graph::{Counts, Difference};
use mnemal::types::Layer;
use mnemal::{Error, ErrorKind, Memory};
use serde::Serialize;

use crate::args::Rebuild;
use crate::output::Output;

/// The layers that are derived from the log.
const LAYERS: [Layer; 4] = [Layer::Lexical, Layer::Learnings, Layer::Graph, Layer::Summaries];

#[derive(Serialize)]
struct RebuildForm {
    layer: &'static str,
    /// `equal`, `differs`, `made anew` or `nothing to do`.
    outcome: &'static str,
    /// Rows that are not bit-identical.
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceForm>,
}

/// Difference between rebuilt and earlier rows, in its JSON form.
#[derive(Serialize)]
pub(super) struct DifferenceForm {
    entities: CountsForm,
    facts: CountsForm,
    examples: Vec<ExampleForm>,
}

#[derive(Serialize)]
struct CountsForm {
    same: u64,
    added: u64,
    gone: u64,
    changed: u64,
}

#[derive(Serialize)]
struct ExampleForm {
    change: &'static str,
    predicate: String,
    event: String,
    /// The source clause, if it is not erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Rebuilds layers, or compares them; in a check, a difference gives exit code 1.
pub(super) async fn run(memory: &Memory, call: &Rebuild, output: &Output) -> Result<u8> {
    let engine = memory.admin().engine();
    let is_dead = if call.dead { !engine.graph_state().await?.dead.is_empty() } else { true };
    let mut reports = Vec::new();
    for layer in layers(call)? {
        if !is_dead {
            reports.push(RebuildForm {
                layer: layer.as_str(),
                outcome: "nothing to do",
                rows: 0,
                difference: None,
            });
            continue;
        }
        let what = if call.check || call.dry_run { What::Check } else { What::Anew };
        let rebuilt = engine.rebuild(layer, what).await?;
        reports.push(report(memory, layer, &rebuilt, what).await);
    }
    output.list(&reports, &reports, || reports.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    Ok(u8::from(call.check && reports.iter().any(|one| one.rows > 0)))
}

/// Returns the selected layers; only the graph has dead letters to retry.
fn layers(call: &Rebuild) -> Result<Vec<Layer>> {
    let Some(name) = &call.layer else {
        return Ok(if call.dead { vec![Layer::Graph] } else { LAYERS.to_vec() });
    };
    let found = LAYERS.into_iter().find(|layer| layer.as_str() == name);
    let found = found.filter(|layer| !call.dead || *layer == Layer::Graph);
    let unknown = || Error::new(ErrorKind::Invalid, format!("{name} is not rebuilt from the log this way"));
    Ok(vec![found.ok_or_else(unknown)?])
}

async fn report(memory: &Memory, layer: Layer, rebuilt: &RebuildReport, what: What) -> RebuildForm {
    let outcome = match (what, rebuilt.rows) {
        (What::Check, 0) => "equal",
        (What::Check, _) => "differs",
        (What::Anew, _) => "made anew",
    };
    let difference = match &rebuilt.difference {
        Some(difference) if rebuilt.rows > 0 => Some(form(memory, difference).await),
        _ => None,
    };
    RebuildForm { layer: layer.as_str(), outcome, rows: rebuilt.rows, difference }
}

/// Builds the form of a difference, with the source clauses of its examples if they are not erased.
pub(super) async fn form(memory: &Memory, difference: &Difference) -> DifferenceForm {
    let mut examples = Vec::new();
    for example in &difference.examples {
        let event = memory.events().get(example.source.event).await.ok();
        let kept = event.as_ref().and_then(mnemal::Event::body);
        let text = kept.and_then(|kept| example.source.span.of(&kept.content)).map(str::to_owned);
        let (change, predicate) = (example.change.as_str(), example.predicate.to_string());
        examples.push(ExampleForm { change, predicate, event: example.source.event.to_string(), text });
    }
    DifferenceForm { entities: counts(difference.entities), facts: counts(difference.facts), examples }
}

fn counts(Counts { same, added, gone, changed }: Counts) -> CountsForm {
    CountsForm { same, added, gone, changed }
}

fn text(report: &RebuildForm) -> String {
    let rows = if report.rows > 0 { format!(", {} rows differ", report.rows) } else { String::new() };
    let mut lines = vec![format!("{:<11} {}{rows}", report.layer, report.outcome)];
    lines.extend(report.difference.iter().flat_map(format_difference));
    lines.join("\n")
}

/// Formats a difference for people, one line per item.
pub(super) fn format_difference(difference: &DifferenceForm) -> Vec<String> {
    let line = |what: &str, of: &CountsForm| {
        let CountsForm { same, added, gone, changed } = of;
        format!("  {what:<9} {added} added, {gone} gone, {changed} changed, {same} the same")
    };
    let mut lines = vec![line("entities", &difference.entities), line("facts", &difference.facts)];
    lines.extend(difference.examples.iter().map(|example| {
        let text = example.text.as_deref().unwrap_or("the event is forgotten");
        format!("  {:<9} {}: {text} ({})", example.change, example.predicate, example.event)
    }));
    lines
}
