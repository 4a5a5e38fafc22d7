//! `mnemal session list|show|compress|rm`.

use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::events::Selector;
use mnemal::summaries::{CompressedSession, CompressionReason};
use mnemal::{Error, Memory, Message, SessionId};
use serde::{Deserialize, Serialize};

use crate::args::{Filter, Global, LogList, Session, SessionCompress};
use crate::config;
use crate::confirm::RunMode;
use crate::output::Output;

/// Lists sessions, or shows, compresses or erases one.
pub(super) async fn run(memory: &Memory, global: &Global, call: Session, output: &Output) -> Result<u8> {
    match call {
        Session::List { limit } => super::log::sessions(memory, limit, output).await,
        Session::Show { id, last } => super::log::list(memory, &turns(id, last), output).await,
        Session::Compress(call) => compress(memory, global, &call, output).await,
        Session::Rm { id, dry_run } => {
            let selector = Selector::Session(SessionId::new(id)?);
            super::forget::erase(memory, (selector, Vec::new()), RunMode::from(dry_run), global, output).await
        }
    }
}

/// Returns the request for the last turns of people and agents in a session.
fn turns(id: String, last: usize) -> LogList {
    let roles = ["user", "assistant"].map(str::to_owned).to_vec();
    let filter = Filter { session: Some(id), roles, ..Filter::default() };
    LogList { filter, limit: last, sessions: false, quarantined: false }
}

async fn compress(memory: &Memory, global: &Global, call: &SessionCompress, output: &Output) -> Result<u8> {
    let mut ask = memory.events().compress(SessionId::new(&call.id)?).keep_last(call.keep_last);
    if let Some(window) = call.window {
        ask = ask.window(window);
    }
    if let Some(path) = &call.history {
        if config::is_on(global)? {
            return Err(
                Error::invalid("a log has the turns: --history is for where memory is switched off").into()
            );
        }
        ask = ask.history(history(path)?);
    }
    let done = if call.if_due { ask.if_due().await? } else { ask.await? };
    output.answer(&CompressForm::from(&done.value), || done.prompt())?;
    Ok(super::gaps(&done.gaps, global, output))
}

/// A line of `--history`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryForm {
    role: String,
    content: String,
}

/// Reads the turns of a session from a file, or from stdin for `-`.
fn history(path: &Path) -> Result<Vec<Message>> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.with_context(|| format!("cannot read {shown}"))?;
    let mut turns = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: String| Error::invalid(format!("line {number} of {shown}: {what}"));
        let turn: HistoryForm = serde_json::from_str(line).map_err(|cause| wrong(cause.to_string()))?;
        turns.push(match turn.role.as_str() {
            "user" => Message::user(turn.content),
            "assistant" => Message::assistant(turn.content),
            other => return Err(wrong(format!("a role is user or assistant, not {other}")).into()),
        });
    }
    Ok(turns)
}

#[derive(Serialize)]
struct CompressForm<'c> {
    summary: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consolidated_through: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<&'static str>,
    turns: Vec<TurnForm<'c>>,
}

/// A turn that is kept verbatim.
#[derive(Serialize)]
struct TurnForm<'c> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    speaker: &'c str,
    text: &'c str,
}

impl<'c> From<&'c CompressedSession> for CompressForm<'c> {
    fn from(done: &'c CompressedSession) -> Self {
        let entry = done.entry.as_ref();
        let turn = |one: &'c mnemal::summaries::PromptTurn| TurnForm {
            event_id: one.event.map(|id| id.to_string()),
            speaker: &one.speaker,
            text: &one.text,
        };
        Self {
            summary: &done.summary,
            memory_id: entry.map(|entry| entry.note.to_string()),
            key: entry.map(|entry| entry.key.as_str()),
            event_id: entry.map(|entry| entry.event.to_string()),
            consolidated_through: entry.map(|entry| entry.through.to_string()),
            method: entry.map(|entry| entry.method.as_str()),
            due: done.due.map(CompressionReason::as_str),
            turns: done.turns.iter().map(turn).collect(),
        }
    }
}
