//! `mnemal recover`.

use anyhow::Result;
use mnemal::Engine;
use mnemal::admin::RecoveryReport;
use serde::Serialize;

use crate::args::{Global, Recover};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::{config, wire};

#[derive(Serialize)]
struct RecoverForm {
    space: String,
    database: String,
    kept: u64,
    erased: u64,
    damaged: u64,
    /// Lost position ranges, first and last.
    missing: Vec<(u64, u64)>,
    refused: Vec<RefusalForm>,
    tombstones: u64,
    /// New path of the damaged file.
    aside: Option<String>,
    /// New path of the unreadable installation key.
    damaged_key: Option<String>,
    gaps: Vec<wire::GapForm>,
}

#[derive(Serialize)]
struct RefusalForm {
    event_id: String,
    why: String,
}

/// Recovers the space's file in place or into another file.
pub(super) async fn run(global: &Global, call: &Recover, output: &Output) -> Result<u8> {
    let place = SpacePaths::find(global)?;
    let builder = Engine::builder().with_settings(config::read(global)?).with_key_file(&place.key);
    let saved = builder.recover(place.storage.file()?, call.out.as_deref()).await?;
    let report = report(&place, &saved);
    output.answer(&report, || text(&report))?;
    Ok(super::gaps(&saved.gaps, global, output))
}

fn report(place: &SpacePaths, saved: &RecoveryReport) -> RecoverForm {
    let refusal =
        |(id, why): &(mnemal::EventId, String)| RefusalForm { event_id: id.to_string(), why: why.clone() };
    RecoverForm {
        space: place.space.to_string(),
        database: saved.file.display().to_string(),
        kept: saved.kept,
        erased: saved.erased,
        damaged: saved.damaged,
        missing: saved.missing.iter().map(|(first, last)| (first.0, last.0)).collect(),
        refused: saved.refused.iter().map(refusal).collect(),
        tombstones: saved.tombstones,
        aside: saved.aside.as_ref().map(|aside| aside.display().to_string()),
        damaged_key: saved.damaged_key.as_ref().map(|key| key.display().to_string()),
        gaps: wire::gaps(&saved.gaps),
    }
}

fn text(report: &RecoverForm) -> String {
    let mut lines = vec![format!(
        "saved {} events, {} erased ones and {} tombstones of space {} in {}",
        report.kept, report.erased, report.tombstones, report.space, report.database
    )];
    let lost: u64 = report.missing.iter().map(|(first, last)| last - first + 1).sum();
    if lost > 0 {
        let ranges = report.missing.iter().map(|(first, last)| {
            if first == last { first.to_string() } else { format!("{first} to {last}") }
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        lines.push(format!("  {lost} positions are lost: {ranges}; the others were numbered anew"));
    }
    if report.damaged > 0 {
        lines.push(format!("  {} rows do not match their checksum", report.damaged));
    }
    for refused in &report.refused {
        lines.push(format!("  not stored: {}: {}", refused.event_id, refused.why));
    }
    if let Some(aside) = &report.aside {
        lines.push(format!(
            "  the damaged file is {aside}; nothing was deleted, and a forget does not reach it"
        ));
    }
    if let Some(key) = &report.damaged_key {
        lines.push(format!(
            "  the installation's key was damaged and is now {key}; the new one knows what was forgotten before by its id only"
        ));
    }
    lines.push("  receipts of earlier contexts are not saved".to_owned());
    lines.join("\n")
}
