//! `mnemal status`.

use std::path::Path;

use anyhow::Result;
use mnemal::admin::RecentLanguage;
use mnemal::events::LedgerKind;
use mnemal::graph::EntityFilter;
use mnemal::recall::Generation;
use mnemal::types::{GapCause, Health, Status};
use mnemal::{AsOf, FactFilter, LearningFilter, LearningKind, Memory};
use serde::Serialize;

use super::rebuild::{DifferenceForm, form, format_difference};
use crate::args::Global;
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::storage::Storage;

#[derive(Serialize)]
struct StatusReport {
    space: String,
    database: String,
    bytes: u64,
    events: u64,
    sessions: u64,
    notes: u64,
    /// `None` if the layer does not answer.
    #[serde(flatten)]
    known: RecordCounts,
    /// Memories that wait for a person's review; `None` if the layer does not answer.
    to_review: Option<usize>,
    quarantined: u64,
    erased: u64,
    languages: Vec<LanguageReport>,
    layers: Vec<LayerReport>,
    /// Tables that were missing and were recreated; reported once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_anew: Vec<&'static str>,
    /// `None` if the graph does not answer.
    graph: Option<GraphReport>,
    /// `None` if the index does not answer.
    vectors: Option<Vec<VectorReport>>,
}

/// Counts of derived records; a layer that does not answer is absent.
#[derive(Serialize)]
struct RecordCounts {
    entities: Option<usize>,
    facts: Option<usize>,
    summaries: Option<usize>,
    learnings: Option<usize>,
    /// End of the last consolidation cycle.
    last_cycle: Option<String>,
}

impl RecordCounts {
    async fn of(memory: &Memory) -> Self {
        let as_of = AsOf::present(memory.admin().engine().now());
        let graph = memory.facts().stored_graph().await.ok().map(|graph| graph.value);
        let (mut entities, mut facts) = (None, None);
        if let Some(graph) = &graph {
            entities = graph.all(&EntityFilter::all(), as_of).await.ok().map(|all| all.len());
            facts = graph.facts(&FactFilter::all(), as_of).await.ok().map(|all| all.len());
        }
        let book = memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap_or_default();
        Self {
            entities,
            facts,
            summaries: memory.admin().engine().n_summaries().await.ok(),
            learnings: memory
                .preferences()
                .learnings(&LearningFilter::all(), as_of)
                .await
                .ok()
                .map(|all| all.iter().filter(|row| row.item.kind != LearningKind::Note).count()),
            last_cycle: book.first().map(|line| line.at.to_string()),
        }
    }

    fn lines(&self) -> Vec<String> {
        let counts = [
            ("entities", self.entities),
            ("facts", self.facts),
            ("summaries", self.summaries),
            ("learnings", self.learnings),
        ];
        let count = |(name, count): (&str, Option<usize>)| count.map(|count| format!("{name:<11} {count}"));
        let mut lines: Vec<String> = counts.into_iter().filter_map(count).collect();
        lines.extend(self.last_cycle.iter().map(|at| format!("last dream  {at}")));
        lines
    }
}

#[derive(Serialize)]
struct GraphReport {
    /// Whether a rebuild is due.
    is_due: bool,
    /// Whether the rebuild waits for approval, because another extractor version gives other rows.
    is_held: bool,
    /// Number of dead letters.
    dead: usize,
    /// Changes of the last rebuild, or of the pending one.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceForm>,
}

#[derive(Serialize)]
struct VectorReport {
    model: String,
    events: u64,
    behind: u64,
    serves: bool,
}

#[derive(Serialize)]
struct LanguageReport {
    code: &'static str,
    reads: &'static str,
    turns: u64,
}

#[derive(Serialize)]
struct LayerReport {
    layer: &'static str,
    status: &'static str,
    behind: u64,
}

/// Prints the content of the space and the health of its layers.
pub(super) async fn run(global: &Global, output: &Output) -> Result<u8> {
    let place = SpacePaths::find(global)?;
    let shown = match &place.storage {
        Storage::File(file) if global.is_remote => {
            Path::new(file.file_name().unwrap_or_default()).display().to_string()
        }
        storage => storage.to_string(),
    };
    let memory = super::open_one(global, output).await?;
    let (stats, health) = (memory.admin().stats().await?, memory.admin().examine().await?);
    let report = StatusReport {
        space: place.space.to_string(),
        bytes: place.storage.bytes(),
        database: shown,
        events: stats.head.count(),
        sessions: stats.sessions,
        notes: stats.notes,
        known: RecordCounts::of(&memory).await,
        to_review: memory.preferences().to_review(&LearningFilter::all()).await.ok().map(|all| all.len()),
        quarantined: stats.quarantined,
        erased: stats.erased,
        languages: memory.admin().recent_languages().await?.iter().map(language).collect(),
        layers: health.parts.iter().map(layer).collect(),
        made_anew: memory.admin().engine().take_rebuilt_tables(),
        graph: graph(&memory).await,
        vectors: memory
            .admin()
            .engine()
            .generations()
            .await
            .ok()
            .map(|all| all.iter().map(vectors).collect()),
    };
    output.answer(&report, || text(&report))?;
    Ok(u8::from(health.status() == Status::Down))
}

async fn graph(memory: &Memory) -> Option<GraphReport> {
    let state = memory.admin().engine().graph_state().await.ok()?;
    let difference = match &state.edition.difference {
        Some(difference) => Some(form(memory, difference).await),
        None => None,
    };
    Some(GraphReport { is_due: state.is_due, is_held: state.is_held, dead: state.dead.len(), difference })
}

fn language(heard: &RecentLanguage) -> LanguageReport {
    LanguageReport { code: heard.code, reads: heard.tier.as_str(), turns: heard.turns }
}

fn vectors(of: &Generation) -> VectorReport {
    VectorReport { model: of.model.to_string(), events: of.vectors, behind: of.behind, serves: of.serves }
}

fn layer(part: &Health) -> LayerReport {
    let status = match (part.status, part.cause) {
        (_, Some(GapCause::NotConfigured)) => "not configured",
        (Status::Ok, _) => "ok",
        (Status::Degraded, _) => "degraded",
        (Status::Down, _) => "down",
    };
    LayerReport { layer: part.layer.as_str(), status, behind: part.behind }
}

fn text(report: &StatusReport) -> String {
    let mut lines = vec![
        format!("space       {}", report.space),
        format!("database    {}", super::space::database_line(&report.database, report.bytes)),
        format!("events      {} in {} conversations", report.events, report.sessions),
        format!("notes       {}", report.notes),
    ];
    lines.extend(report.known.lines());
    lines.extend(report.to_review.map(|waiting| format!("to review   {waiting}")));
    lines.extend([format!("held back   {}", report.quarantined), format!("erased      {}", report.erased)]);
    if !report.languages.is_empty() {
        let all: u64 = report.languages.iter().map(|heard| heard.turns).sum();
        let one = |heard: &LanguageReport| {
            format!("{} ({}, {} of the last {all} turns)", heard.code, heard.reads, heard.turns)
        };
        lines
            .push(format!("languages   {}", report.languages.iter().map(one).collect::<Vec<_>>().join(", ")));
    }
    for one in &report.layers {
        let behind = if one.behind > 0 { format!(", {} behind", one.behind) } else { String::new() };
        lines.push(format!("{:<11} {}{behind}", one.layer, one.status));
    }
    if !report.made_anew.is_empty() {
        let tables = report.made_anew.join(", ");
        lines.push(format!("made anew   {tables}: the tables were gone, and the log is read again"));
    }
    lines.extend(report.graph.iter().flat_map(of_graph));
    match &report.vectors {
        None => lines.push("vectors     not known: the index does not answer".to_owned()),
        Some(models) => lines.extend(models.iter().map(|one| {
            let serves = if one.serves { "serves" } else { "does not serve yet" };
            let all = one.events + one.behind;
            format!("vectors     {}: {} of {all} events, {serves}", one.model, one.events)
        })),
    }
    lines.join("\n")
}

fn of_graph(graph: &GraphReport) -> Vec<String> {
    let mut lines = Vec::new();
    if graph.is_held {
        let agree = "`mnemal rebuild --layer graph` takes it over, with `--check` it only lists it";
        lines.push(format!("graph       this version reads the log otherwise: {agree}"));
    } else if graph.is_due {
        lines.push(
            "graph       to be made anew: upkeep does it, or `mnemal rebuild --layer graph`".to_owned(),
        );
    }
    if graph.dead > 0 {
        let retry = "`mnemal rebuild --layer graph --dead` tries them again";
        lines.push(format!("graph       {} events could not be read; {retry}", graph.dead));
    }
    if let Some(difference) = &graph.difference {
        let what = if graph.is_held { "would be made anew with" } else { "made anew last with" };
        lines.push(format!("graph       {what}"));
        lines.extend(format_difference(difference));
    }
    lines
}
