//! Captures the new part of a transcript.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;

use anyhow::{Context as _, Result};
use mnemal::events::{Cursor, LinePolicy, OwnHistory};
use mnemal::settings::SummaryBy;
use mnemal::{EventFilter, ImportFormat, ImportOptions, Memory, Settings, Within};

use super::event::Event;
use super::input::Input;
use super::mark::{Mark, MarkFile};
use super::settings::{Capture, HookSettings};
use crate::args::Global;
use crate::output::Output;
use crate::paths::SpacePaths;

/// Time limit for learning from a turn. Source: own default, that of the graph.
const LEARNING: std::time::Duration = std::time::Duration::from_millis(200);

/// Captures the transcript to its end; before a compaction also stores a summary of the compacted part.
pub(super) async fn run(global: &Global, input: &Input, settings: &HookSettings, event: Event) -> Result<()> {
    if settings.capture == Capture::Off {
        return Ok(());
    }
    let transcript = input.transcript.as_ref().context("the event names no transcript")?;
    let file = File::open(transcript).with_context(|| format!("cannot read {}", transcript.display()))?;
    let place = SpacePaths::find(global)?;
    // With the secondary spaces, because text injected from them is an echo too.
    let memory = crate::command::open(global, &Output::new(global)).await?;
    let marks = MarkFile::of(transcript, &place.file)?;
    let known = marks.read();
    let from = known.position(head(&memory).await?);
    let options = ImportOptions {
        origin: OwnHistory::Captured,
        lenient: LinePolicy::Yes,
        zone: crate::time::here(memory.engine().now()),
        roles: Within::Only(settings.capture_roles.iter().map(|role| (*role).into()).collect()),
        ..ImportOptions::new(transcript.display().to_string(), memory.engine().now())
    };
    let mut reached = None;
    let what = (ImportFormat::ClaudeCode, options);
    let report = memory
        .follow(BufReader::with_capacity(1 << 18, file), from, what, &mut |_, position| {
            reached = Some(position);
            // The events are stored; without the mark the next hook reads them again.
            let _unmarked = marks.write(Mark::new(position, Cursor::START));
        })
        .await?;
    // An error is reported after the remaining work.
    let compressed = compress(&memory, event, input).await;
    if let Some(position) = reached {
        marks.write(Mark::new(position, head(&memory).await?))?;
    }
    if event == Event::SessionEnd {
        marks.sweep(memory.engine().now());
    }
    // No background process may be running, so the graph is folded here; the remaining lag is folded at the next turn.
    let _behind = memory.graph().await;
    let _behind = memory.engine().fold_within(LEARNING).await;
    // A reader in another process can keep the write-ahead log; nothing is lost then.
    let _settled = crate::command::checkpoint(global, &memory, Ok(0)).await;
    compressed?;
    let broken = report.broken;
    anyhow::ensure!(broken == 0, "{broken} lines of {} could not be read", transcript.display());
    Ok(())
}

/// Compresses the conversation before the host compacts it, and at the end of a turn if it is due. The host waits for a hook, so
/// no model is asked.
async fn compress(memory: &Memory, event: Event, input: &Input) -> mnemal::Result<()> {
    let Some(session) = &input.session else { return Ok(()) };
    let call = memory.compress(session.clone());
    let call = match event {
        Event::PreCompact => call.keep_last(0),
        Event::Stop if compresses(memory.engine().settings()) => call.if_due(),
        _ => return Ok(()),
    };
    call.draft().await?.condensed().await.map(drop)
}

/// Whether a conversation is compressed at the end of a turn; not with a model, which is left to a process that can wait.
fn compresses(settings: &Settings) -> bool {
    let by_model = settings.llm.is_asked() && settings.compress.summarizer == SummaryBy::Llm;
    settings.compress.automatic && !by_model
}

/// Returns the head of the log.
async fn head(memory: &Memory) -> Result<Cursor> {
    let newest = memory.latest(&EventFilter::all(), NonZeroUsize::MIN).await?;
    Ok(Cursor(newest.first().map(|event| event.seq)))
}
