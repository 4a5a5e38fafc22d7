//! `mnemal check`.

use anyhow::Result;
use mnemal::Memory;
use mnemal::admin::{QualityMeasure, QualityUnit};
use serde::Serialize;

use crate::args::{Check, Global};
use crate::failure;
use crate::output::Output;
use crate::paths::SpacePaths;

#[derive(Serialize)]
struct CheckReport {
    events: u64,
    index_rows: u64,
    findings: Vec<String>,
}

/// Checks all checksums, or measures the quality of the content.
pub(super) async fn run(global: &Global, call: &Check, output: &Output) -> Result<u8> {
    let memory = super::open_one(global, output).await?;
    if !call.quality {
        return checksums(&memory, output).await;
    }
    let measures = measures(&memory, &SpacePaths::find(global)?).await?;
    output.list(&measures, &MeasuresForm { measures: &measures }, || {
        measures.iter().map(MeasureForm::line).collect::<Vec<_>>().join("\n")
    })?;
    let found = measures.iter().any(|measure| measure.result != super::doctor::OK);
    Ok(if found && global.strict { failure::GAPS } else { 0 })
}

#[derive(Serialize)]
struct MeasuresForm<'m> {
    measures: &'m [MeasureForm],
}

/// A quality measure, with the stable field names of the wire.
#[derive(Serialize)]
pub(super) struct MeasureForm {
    pub(super) name: &'static str,
    pub(super) result: &'static str,
    value: f64,
    unit: &'static str,
    of: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    fix: &'static str,
}

impl MeasureForm {
    fn new(measure: QualityMeasure) -> Self {
        Self {
            name: measure.name,
            result: if measure.is_finding { super::doctor::WARN } else { super::doctor::OK },
            value: measure.value,
            unit: match measure.unit {
                QualityUnit::Share => "share",
                QualityUnit::Records => "records",
                QualityUnit::Ratio => "ratio",
            },
            of: measure.of,
            examples: measure.examples,
            fix: measure.fix,
        }
    }

    fn line(&self) -> String {
        format!("{:<4}  {:<16}  {}", self.result, self.name, self.says())
    }

    /// Formats the measure, with the recommended fix for a finding.
    pub(super) fn says(&self) -> String {
        let value = match self.unit {
            "share" => format!("{:.1} % of {}", self.value * 100.0, self.of),
            "records" => format!("{} of {}", self.value, self.of),
            "bytes" => format!("{:.0} bytes", self.value),
            _ => format!("{:.2}", self.value),
        };
        if self.result == super::doctor::OK {
            return value;
        }
        let named =
            if self.examples.is_empty() { String::new() } else { format!(" ({})", self.examples.join(", ")) };
        format!("{value}{named}; {}", self.fix)
    }
}

/// Measures the quality of a space, and its file size per event and per valid note or fact.
pub(super) async fn measures(memory: &Memory, place: &SpacePaths) -> Result<Vec<MeasureForm>> {
    let mut measures: Vec<MeasureForm> =
        memory.admin().quality().await?.into_iter().map(MeasureForm::new).collect();
    let bytes = place.storage.bytes();
    let events = memory.admin().engine().stats().await?.head.count();
    let held = measures.iter().filter(|measure| matches!(measure.name, "orphan_notes" | "orphan_facts"));
    let memories: u64 = held.map(|measure| measure.of).sum();
    measures.extend([("bytes_per_event", events), ("bytes_per_memory", memories)].map(|(name, of)| {
        MeasureForm {
            name,
            result: super::doctor::OK,
            value: bytes as f64 / of.max(1) as f64,
            unit: "bytes",
            of,
            examples: Vec::new(),
            fix: "`mnemal rebuild` and `mnemal reindex` drop what is no longer read",
        }
    }));
    Ok(measures)
}

/// Reads everything and verifies the checksums; a finding gives exit code 1.
async fn checksums(memory: &Memory, output: &Output) -> Result<u8> {
    let found = memory.admin().engine().check().await?;
    let report = CheckReport { events: found.events, index_rows: found.index_rows, findings: found.findings };
    output.answer(&report, || text(&report))?;
    Ok(u8::from(!report.findings.is_empty()))
}

fn text(report: &CheckReport) -> String {
    let mut lines = vec![format!("{} events and {} index rows match", report.events, report.index_rows)];
    lines.extend(report.findings.iter().map(|finding| format!("damaged: {finding}")));
    if !report.findings.is_empty() {
        lines.push("run `mnemal recover`, or restore a backup".to_owned());
    }
    lines.join("\n")
}
