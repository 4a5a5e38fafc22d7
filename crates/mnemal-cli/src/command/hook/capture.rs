//! Capture of what was said: the new part of a transcript, or the words of an event.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use mnemal::events::{Cursor, LinePolicy, OwnHistory, Position};
use mnemal::settings::SummaryBy;
use mnemal::types::ChannelId;
use mnemal::{EventFilter, ImportFormat, ImportOptions, Memory, Settings, Within};
use serde_json::{Map, Value};

use super::HookTarget;
use super::input::Input;
use super::mark::{Mark, MarkFile};
use super::settings::{Capture, HookSettings};
use crate::args::Global;
use crate::host::{Capture as Source, Event, Host};
use crate::output::Output;
use crate::paths::SpacePaths;

/// Time limit for learning from a turn. Source: own default, that of the graph.
const LEARNING: std::time::Duration = std::time::Duration::from_millis(200);

/// Captures what was said since the last time; before a compaction also stores a summary of the compacted part.
pub(super) async fn run(
    global: &Global,
    input: &Input,
    settings: &HookSettings,
    meant: HookTarget,
) -> Result<()> {
    if settings.capture == Capture::Off {
        return Ok(());
    }
    let (host, hooks, event) = meant;
    let transcript = match hooks.capture {
        Source::Transcript(format) => Some(Transcript::open(input, format)?),
        Source::Words | Source::Messages => None,
    };
    let place = SpacePaths::find(global)?;
    // With the secondary spaces, because text injected from them is an echo too.
    let memory = crate::command::open(global, &Output::new(global)).await?;
    let taken = match transcript {
        Some(transcript) => transcript.taken(&memory, settings, &place).await?,
        None => told(&memory, settings, (host, &input.said)).await?,
    };
    // An error is reported after the remaining work.
    let compressed = compress(&memory, event, input).await;
    if let Some((marks, position)) = &taken.reached {
        marks.write(Mark::new(*position, head(&memory).await?))?;
        if event == Event::SessionEnd {
            marks.sweep(memory.admin().engine().now());
        }
    }
    // No background process may be running, so the graph is folded here; the remaining lag is folded at the next turn.
    let _behind = memory.facts().graph().await;
    let _behind = memory.admin().engine().fold_within(LEARNING).await;
    // A reader in another process can keep the write-ahead log; nothing is lost then.
    let _settled = crate::command::checkpoint(global, &memory, Ok(0)).await;
    compressed?;
    let (broken, from) = (taken.broken, &taken.from);
    anyhow::ensure!(broken == 0, "{broken} lines of {from} could not be read");
    Ok(())
}

/// What was stored.
#[derive(Debug)]
struct Stored {
    /// Number of unreadable lines.
    broken: u64,
    /// Their source.
    from: String,
    /// How far a transcript was read.
    reached: Option<(MarkFile, Position)>,
}

/// A transcript that a client writes.
#[derive(Debug)]
struct Transcript {
    path: PathBuf,
    file: File,
    format: ImportFormat,
}

impl Transcript {
    fn open(input: &Input, format: ImportFormat) -> Result<Self> {
        let path = input.transcript.clone().context("the event names no transcript")?;
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { path, file, format })
    }

    /// Stores the part after the last position.
    async fn taken(self, memory: &Memory, settings: &HookSettings, place: &SpacePaths) -> Result<Stored> {
        let marks = MarkFile::of(&self.path, place)?;
        let from = marks.read().position(head(memory).await?);
        let what = (self.format, options(self.path.display().to_string(), memory, settings));
        let reader = BufReader::with_capacity(1 << 18, self.file);
        let mut reached = None;
        let report = memory
            .events()
            .follow(reader, from, what, &mut |_, position| {
                reached = Some(position);
                // The events are stored; without the mark the next hook reads them again.
                let _unmarked = marks.write(Mark::new(position, Cursor::START));
            })
            .await?;
        let from = self.path.display().to_string();
        Ok(Stored { broken: report.broken, from, reached: reached.map(|position| (marks, position)) })
    }
}

/// Stores messages that an event carries.
async fn told(
    memory: &Memory,
    settings: &HookSettings,
    (host, said): (&Host, &[Map<String, Value>]),
) -> Result<Stored> {
    let from = "the event".to_owned();
    if said.is_empty() {
        return Ok(Stored { broken: 0, from, reached: None });
    }
    let now = memory.admin().engine().now();
    let lines = said.iter().enumerate().map(|(place, message)| {
        let mut message = message.clone();
        message.entry("created_at").or_insert_with(|| now.to_string().into());
        message.entry("id").or_insert_with(|| format!("{now} {place}").into());
        format!("{}\n", Value::from(message))
    });
    let text: String = lines.collect();
    let channel = Some(ChannelId::new(host.name)?);
    let options = ImportOptions { channel, ..options(host.name.to_owned(), memory, settings) };
    let what = (ImportFormat::OpenAi, options);
    let reader = std::io::Cursor::new(text.into_bytes());
    let report = memory.events().follow(reader, Position::default(), what, &mut |_, _| ()).await?;
    Ok(Stored { broken: report.broken, from, reached: None })
}

fn options(source: String, memory: &Memory, settings: &HookSettings) -> ImportOptions {
    ImportOptions {
        origin: OwnHistory::Captured,
        lenient: LinePolicy::Yes,
        zone: crate::time::here(memory.admin().engine().now()),
        roles: Within::Only(settings.capture_roles.iter().map(|role| (*role).into()).collect()),
        ..ImportOptions::new(source, memory.admin().engine().now())
    }
}

/// Compresses the conversation before the host compacts it, and at the end of a turn if it is due. The host waits for a hook, so
/// no model is asked.
async fn compress(memory: &Memory, event: Event, input: &Input) -> mnemal::Result<()> {
    let Some(session) = &input.session else { return Ok(()) };
    if event == Event::PreCompact {
        // The window loses what it was shown, and not every client says so afterwards.
        memory.admin().clear_shown(session).await?;
    }
    let call = memory.events().compress(session.clone());
    let call = match event {
        Event::PreCompact => call.keep_last(0),
        Event::Stop if compresses(memory.admin().engine().settings()) => call.if_due(),
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
    let newest = memory.events().latest(&EventFilter::all(), NonZeroUsize::MIN).await?;
    Ok(Cursor(newest.first().map(|event| event.seq)))
}
