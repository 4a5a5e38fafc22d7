//! `memory_dream`: runs or previews a consolidation cycle.

use mnemal::Memory;
use mnemal::dream::DreamMode;
use mnemal_core::OwnerId;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::bounded_list::{ListRow, render_rows};
use crate::mcp::tool::Tool;

/// Ceiling of the answer, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Runs a consolidation cycle; all of its operations can be undone.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Dream, given);
    let run = if arguments.flag("dry_run")? == Some(false) { DreamMode::Asked } else { DreamMode::Dry };
    let engine = memory.admin().engine();
    let owner = OwnerId::new(format!("mcp-dream-{}-{:x}", std::process::id(), engine.now().as_micros()))?;
    let cycle = engine.dream(&owner, run).await?;
    let mut tail = Remarks::new(arguments.notes);
    let (done, verb) = match run {
        DreamMode::Dry => ("would do", "Call again with dry_run=false to do it."),
        _ => ("did", "The user can take each back with `mnemal undo`."),
    };
    if !cycle.failed.is_empty() {
        tail.say(format!("Failed: {}.", cycle.failed.join(", ")));
    }
    if cycle.waiting > 0 {
        tail.say(format!("{} more wait for the next time.", cycle.waiting));
    }
    let row = |judged: &mnemal::dream::DreamOutcome| {
        let operation = &judged.proposal.operation;
        let notes: Vec<String> = operation.kind.names().iter().map(ToString::to_string).collect();
        ListRow {
            line: format!("{} {}: {}", operation.kind.as_str(), notes.join(", "), operation.because),
            fields: json!({
                "event_id": judged.event.map(|event| event.to_string()),
                "operation": operation.kind.as_str(),
                "notes": notes,
            }),
        }
    };
    let rows: Vec<ListRow> = cycle.accepted().map(row).collect();
    if !rows.is_empty() {
        tail.say(verb);
    }
    let answer =
        render_rows(memory, "operations", &rows, CEILING, &tail).with("dry_run", run == DreamMode::Dry);
    let head = if rows.is_empty() {
        format!("The dream {done} nothing: {} notes are in order.", cycle.live)
    } else {
        answer.text.clone()
    };
    Ok(ToolAnswer { text: tail.behind(&head, engine, CEILING), structured: answer.structured })
}
