//! `memory_dream`: runs or previews a consolidation cycle.

use mnemal::{DreamRun, Memory};
use mnemal_core::OwnerId;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{Answer, Mistake, Tail};
use crate::mcp::arguments::Arguments;
use crate::mcp::listed::{Row, listed};
use crate::mcp::tool::Tool;

/// Ceiling of the answer, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Runs a consolidation cycle; all of its operations can be undone.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<Answer, Mistake> {
    let arguments = Arguments::new(Tool::Dream, given);
    let run = if arguments.flag("dry_run")? == Some(false) { DreamRun::Asked } else { DreamRun::Dry };
    let engine = memory.engine();
    let owner = OwnerId::new(format!("mcp-dream-{}-{:x}", std::process::id(), engine.now().as_micros()))?;
    let cycle = engine.dream(&owner, run).await?;
    let mut tail = Tail::new(arguments.notes);
    let (done, verb) = match run {
        DreamRun::Dry => ("would do", "Call again with dry_run=false to do it."),
        _ => ("did", "The user can take each back with `mnemal undo`."),
    };
    if !cycle.failed.is_empty() {
        tail.say(format!("Failed: {}.", cycle.failed.join(", ")));
    }
    if cycle.waiting > 0 {
        tail.say(format!("{} more wait for the next time.", cycle.waiting));
    }
    let row = |judged: &mnemal::DreamJudged| {
        let operation = &judged.proposal.operation;
        let notes: Vec<String> = operation.deed.names().iter().map(ToString::to_string).collect();
        Row {
            line: format!("{} {}: {}", operation.deed.as_str(), notes.join(", "), operation.because),
            fields: json!({
                "event_id": judged.event.map(|event| event.to_string()),
                "operation": operation.deed.as_str(),
                "notes": notes,
            }),
        }
    };
    let rows: Vec<Row> = cycle.accepted().map(row).collect();
    if !rows.is_empty() {
        tail.say(verb);
    }
    let answer = listed(memory, "operations", &rows, CEILING, &tail).with("dry_run", run == DreamRun::Dry);
    let head = if rows.is_empty() {
        format!("The dream {done} nothing: {} notes are in order.", cycle.live)
    } else {
        answer.text.clone()
    };
    Ok(Answer { text: tail.behind(&head, engine, CEILING), structured: answer.structured })
}
