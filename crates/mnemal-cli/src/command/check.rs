//! `mnemal check`.

use anyhow::Result;
use mnemal::Memory;
use serde::Serialize;

use crate::output::Output;

#[derive(Serialize)]
struct Report {
    events: u64,
    index_rows: u64,
    findings: Vec<String>,
}

/// Reads everything and compares it with its checksums; a finding makes the exit code 1.
pub(super) async fn run(memory: &Memory, output: &Output) -> Result<u8> {
    let found = memory.engine().check().await?;
    let report = Report { events: found.events, index_rows: found.index_rows, findings: found.findings };
    output.answer(&report, || text(&report))?;
    Ok(u8::from(!report.findings.is_empty()))
}

fn text(report: &Report) -> String {
    let mut lines = vec![format!("{} events and {} index rows match", report.events, report.index_rows)];
    lines.extend(report.findings.iter().map(|finding| format!("damaged: {finding}")));
    if !report.findings.is_empty() {
        lines.push("run `mnemal recover`, or restore a backup".to_owned());
    }
    lines.join("\n")
}
