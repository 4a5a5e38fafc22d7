//! `mnemal import`, and `mnemal log add -`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use mnemal::{
    Engine, ImportFormat, ImportOptions, ImportReport, Layer, Lenient, Memory, OwnHistory, Scope, SessionId,
    Within,
};
use serde::Serialize;

use crate::args::{self, Global, Import, LogAdd};
use crate::output::Output;
use crate::place::Place;
use crate::{config, wire};

/// Most time for learning from what was imported; what is left is read when it is asked for. Source: own default.
const READING: Duration = Duration::from_mins(10);

/// Reads a file into the space, or with `--dry-run` into a space that is thrown away.
pub(super) async fn run(global: &Global, call: &Import, output: &Output) -> Result<u8> {
    let memory = if call.dry_run { rehearsal(global)? } else { super::open_one(global, output).await? };
    let options = ImportOptions {
        origin: if call.own_history { OwnHistory::Yes } else { OwnHistory::No },
        lenient: if call.lenient { Lenient::Yes } else { Lenient::No },
        conv: call.conv.clone().map_or(Within::All, Within::Only),
        ..ImportOptions::new(call.path.display().to_string(), memory.engine().now())
    };
    let (reader, bytes): (Box<dyn BufRead + Send>, Option<u64>) = if call.path.as_os_str() == "-" {
        (Box::new(BufReader::new(std::io::stdin())), None)
    } else {
        let file = File::open(&call.path).with_context(|| format!("cannot open {}", call.path.display()))?;
        let bytes = file.metadata().ok().map(|file| file.len());
        (Box::new(BufReader::with_capacity(1 << 18, file)), bytes)
    };
    let bar = progress(bytes, output);
    let report = memory
        .import(reader, format(call.format), options, &mut |report| bar.set_position(report.bytes))
        .await;
    bar.finish_and_clear();
    let mut report = report?;
    report.gaps.retain(|gap| gap.layer != Layer::Learnings);
    report.gaps.extend(memory.engine().fold_within(READING).await);
    tell(&report, call.dry_run.then_some("would have "), output)?;
    super::settled(&memory, Ok(super::gaps(&report.gaps, global, output))).await
}

/// Reads messages from stdin into one conversation.
pub(super) async fn messages(memory: &Memory, global: &Global, call: &LogAdd, output: &Output) -> Result<u8> {
    let session: SessionId = super::log::session_of(call.session.clone())?;
    let options = ImportOptions {
        origin: OwnHistory::Yes,
        session: Some(session),
        ..ImportOptions::new("stdin", memory.engine().now())
    };
    let reader = BufReader::new(std::io::stdin());
    let report = memory.import(reader, ImportFormat::OpenAi, options, &mut |_| ()).await?;
    tell(&report, None, output)?;
    Ok(super::gaps(&report.gaps, global, output))
}

/// A space in memory with the user's settings.
fn rehearsal(global: &Global) -> Result<Memory> {
    let place = Place::find(global)?;
    let engine = Engine::builder().with_settings(config::read(global)?).in_memory()?;
    Ok(engine.memory(Scope::whole(place.space)))
}

fn format(of: args::ImportFormat) -> ImportFormat {
    match of {
        args::ImportFormat::Auto => ImportFormat::Auto,
        args::ImportFormat::Jsonl => ImportFormat::Mnemal,
        args::ImportFormat::Neutral => ImportFormat::Neutral,
        args::ImportFormat::Openai => ImportFormat::OpenAi,
        args::ImportFormat::ClaudeCode => ImportFormat::ClaudeCode,
    }
}

fn progress(bytes: Option<u64>, output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    match bytes {
        Some(bytes) => {
            let style =
                ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}");
            ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }
        None => ProgressBar::new_spinner(),
    }
}

#[derive(Serialize)]
struct Report {
    format: &'static str,
    lines: u64,
    bytes: u64,
    stored: u64,
    duplicates: u64,
    forgotten: u64,
    empty: u64,
    redactions: u64,
    quarantined: u64,
    skipped: Vec<Skip>,
    skipped_total: u64,
    refused: Vec<Refusal>,
    gaps: Vec<wire::GapForm>,
}

#[derive(Serialize)]
struct Skip {
    line: u64,
    why: String,
}

#[derive(Serialize)]
struct Refusal {
    record: String,
    why: String,
}

fn tell(report: &mnemal::Degraded<ImportReport>, would: Option<&str>, output: &Output) -> Result<()> {
    let taken = &report.taken;
    let form = Report {
        format: report.format.map_or("auto", ImportFormat::as_str),
        lines: report.lines,
        bytes: report.bytes,
        stored: taken.stored,
        duplicates: taken.duplicates,
        forgotten: taken.forgotten,
        empty: taken.empty,
        redactions: taken.redactions,
        quarantined: taken.quarantined,
        skipped: report.skipped.iter().map(|one| Skip { line: one.line, why: one.why.to_string() }).collect(),
        skipped_total: report.skipped_total,
        refused: taken
            .refused
            .iter()
            .map(|one| Refusal { record: one.record.clone(), why: one.why.clone() })
            .collect(),
        gaps: wire::gaps(&report.gaps),
    };
    output.answer(&form, || text(&form, would.unwrap_or_default()))
}

fn text(form: &Report, would: &str) -> String {
    let mut lines = vec![format!(
        "{would}imported {} events from {} lines ({}); {} were known already",
        form.stored, form.lines, form.format, form.duplicates
    )];
    for (count, what) in [
        (form.redactions, "secrets were replaced"),
        (form.quarantined, "events are held back by a rule"),
        (form.forgotten, "events were forgotten here and stay away"),
        (form.empty, "records have no text"),
    ] {
        if count > 0 {
            lines.push(format!("  {count} {what}"));
        }
    }
    for refused in &form.refused {
        lines.push(format!("  not stored: {}: {}", refused.record, refused.why));
    }
    for skip in &form.skipped {
        lines.push(format!("  line {}: {}", skip.line, skip.why));
    }
    let more = form.skipped_total.saturating_sub(form.skipped.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more lines"));
    }
    lines.join("\n")
}
