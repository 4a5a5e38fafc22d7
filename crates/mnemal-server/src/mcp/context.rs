//! `memory_context`: the context for a task.

use mnemal::Memory;
use mnemal_core::{OmittedReason, Section};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::Tool;

/// Assembles a context.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Context, given);
    let query = arguments.text("query")?.unwrap_or_default();
    let session = arguments.session()?;
    let unknown = arguments.notes.clone();
    let ceiling = arguments.ceiling("budget_tokens")?;
    let mut tail = Remarks::new(arguments.notes);
    let engine = memory.admin().engine();
    let mut request = memory.context(query).budget(tail.room(engine, ceiling));
    if let Some(session) = session {
        request = request.session(session);
    }
    let context = request.await?;
    let counts = &context.receipt.omitted_counts;
    let omitted: u32 = counts.iter().map(|(_, count)| count).sum();
    let cut = |reason: OmittedReason| matches!(reason, OmittedReason::Budget | OmittedReason::SectionFull);
    let cut: u32 = counts.iter().filter(|(reason, _)| cut(*reason)).map(|(_, count)| count).sum();
    let sections: Vec<Value> = context
        .sections
        .iter()
        .filter(|section| section.lines > 0)
        .map(|section| {
            json!({"section": section.section.as_str(), "lines": section.lines, "tokens": section.tokens.0})
        })
        .collect();
    // Working memory entries appear in a section, but are no lines of the receipt.
    let is_empty = context.receipt.lines.is_empty() && sections.is_empty();
    let head = match (is_empty, cut) {
        (false, _) => context.text.clone(),
        (true, 0) => "Nothing relevant is known yet.".to_owned(),
        (true, _) => format!("Nothing of what is known fits into {ceiling} tokens; raise budget_tokens."),
    };
    if is_empty {
        // That sentence covers truncation already.
        tail = Remarks::new(unknown);
    } else if cut > 0 {
        tail.say(format!("{cut} more; narrow the query or raise budget_tokens."));
    }
    tail.gaps(&context.gaps);
    let structured = json!({
        "recall_id": context.receipt.id.to_string(),
        "tokens": context.tokens.0,
        "no_match": context.no_match,
        "sections": sections,
        "omitted_count": omitted,
        "truncated": cut > 0,
    });
    Ok(ToolAnswer { text: tail.behind(&head, engine, ceiling), structured })
}

/// Returns the user's preferences as a block for models; empty if there are none.
pub(super) async fn of_preferences(memory: &Memory, ceiling: u32) -> mnemal_core::Result<String> {
    let context = memory.context("").budget(ceiling).sections(vec![Section::Preferences]).await?;
    Ok(if context.receipt.lines.is_empty() { String::new() } else { context.value.text })
}
