//! `memory_summary`: a node of the summary tree, in extracted sentences.

use mnemal::Memory;
use mnemal_core::{ErrorKind, NodePath};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::Tool;

/// Maximum number of listed child nodes. Source: own default; the line stays short.
const BELOW: usize = 20;

/// Returns a summary; that of the space without a key.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Summary, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let key = arguments.text("key")?.unwrap_or_else(|| "root".to_owned());
    let path: NodePath = key.trim().parse().map_err(|_| {
        CorrectableError::new(
            "key must be root, channel:…, session:…, day:…, or one that this tool listed below another.",
        )
    })?;
    let gaps = memory.admin().engine().refresh_summaries().await?;
    let tree = match memory.summaries().stored_tree(&path, 1).await {
        Ok(tree) => tree.value,
        // The space is empty.
        Err(error) if error.kind() == ErrorKind::NotFound && path == NodePath::Root => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let standing = tree.iter().find(|standing| standing.depth == 0);
    let mut tail = Remarks::new(arguments.notes);
    let engine = memory.admin().engine();
    let below: Vec<String> =
        tree.iter().filter(|one| one.depth == 1).take(BELOW).map(|one| one.node.path.to_string()).collect();
    let text = standing.map(mnemal::summaries::SummaryState::text).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect();
    let names = if below.is_empty() { Vec::new() } else { vec![format!("Below it: {}", below.join(", "))] };
    let all: Vec<String> = lines.iter().cloned().chain(names).collect();
    let block = memory.admin().fence(&all, tail.room(engine, ceiling));
    if block.cut > 0 {
        tail.say(format!("{} more lines; raise max_tokens.", block.cut));
    }
    tail.gaps(&gaps);
    let shown: Vec<&String> = block.lines.iter().take(lines.len()).collect();
    let mut structured = json!({
        "key": path.to_string(),
        "events": standing.map_or(0, |standing| standing.node.events),
        "behind": standing.map_or(0, |standing| standing.behind),
        "lines": shown,
        "below": block.lines.get(lines.len()).map(|_| below).unwrap_or_default(),
        "truncated": block.cut > 0,
    });
    super::fact_lines::truncate_lists(&mut structured, &["lines", "below"], |text| {
        engine.count_tokens(text).0 <= ceiling
    });
    let head = if all.is_empty() { "Nothing was said yet." } else { block.text.as_str() };
    Ok(ToolAnswer { text: tail.behind(head, engine, ceiling), structured })
}
