//! `memory_categories`: the categories of notes.

use mnemal::Memory;
use mnemal_core::Category;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::store::category_of;
use crate::mcp::tool::Tool;

/// Lists categories, by name.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Categories, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let parent = arguments.text("prefix")?.map(|name| category_of(name.trim())).transpose()?;
    let mut tail = Remarks::new(arguments.notes);
    let mut counts = memory.preferences().categories().await?;
    counts.retain(|(category, _)| parent.as_ref().is_none_or(|parent| category.is_within(parent)));
    let engine = memory.admin().engine();
    let room = tail.room(engine, ceiling);
    let all = counts.len();
    let (mut lines, mut listed) = (Vec::new(), Vec::new());
    for (category, count) in &counts {
        let line = line(category, *count);
        let form = json!({"category": category.as_str(), "count": count});
        let more: Vec<Value> = listed.iter().cloned().chain([form]).collect();
        let text = format!("{}\n{line}", lines.join("\n"));
        if engine.count_tokens(&text).0 > room
            || engine.count_tokens(&json!({"categories": more}).to_string()).0 > ceiling
        {
            break;
        }
        lines.push(line);
        listed = more;
    }
    let left = all - lines.len();
    if left > 0 {
        tail.say(format!("{left} more; narrow the prefix or raise max_tokens."));
    }
    let head = if lines.is_empty() { "No notes are filed.".to_owned() } else { lines.join("\n") };
    let structured = json!({"categories": listed, "truncated": left > 0});
    Ok(ToolAnswer { text: tail.behind(&head, engine, ceiling), structured })
}

fn line(category: &Category, count: u64) -> String {
    format!("{category}: {count}")
}
