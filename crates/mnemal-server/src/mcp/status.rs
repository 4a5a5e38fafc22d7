//! `memory_status`: counts of the memory, and the health of its layers.

use mnemal::Memory;
use mnemal_core::{GapCause, Status};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::Tool;

/// Ceiling of the answer, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Returns counts and health.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Status, given);
    let tail = Remarks::new(arguments.notes);
    let counts = memory.admin().stats().await?;
    let health = memory.admin().examine().await?;
    let status = name(health.status());
    let parts = health.parts.iter().filter(|part| part.cause != Some(GapCause::NotConfigured));
    let layers: Vec<Value> = parts
        .map(|part| json!({"layer": part.layer.as_str(), "status": name(part.status), "behind": part.behind}))
        .collect();
    let lines: Vec<String> = layers
        .iter()
        .map(|layer| {
            let text = |name: &str| layer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            format!("- {}: {}", text("layer"), text("status"))
        })
        .collect();
    let head = format!(
        "Status {status}. {} events, {} notes, {} conversations; {} held back, {} erased.\n{}",
        counts.head.count(),
        counts.notes,
        counts.sessions,
        counts.quarantined,
        counts.erased,
        lines.join("\n"),
    );
    let structured = json!({
        "status": status,
        "events": counts.head.count(),
        "notes": counts.notes,
        "sessions": counts.sessions,
        "quarantined": counts.quarantined,
        "erased": counts.erased,
        "layers": layers,
    });
    Ok(ToolAnswer { text: tail.behind(&head, memory.admin().engine(), CEILING), structured })
}

/// The name on the wire.
fn name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Degraded => "degraded",
        Status::Down => "down",
    }
}
