//! `search` and `fetch`: the two tools that ChatGPT expects of a knowledge source.
//!
//! Answers are one JSON document as text, without the marker, because the client parses it; prompt-injection characters are
//! escaped in them too. `url` is the address of the resource on the same server.

use mnemal::Memory;
use mnemal_core::{ErrorKind, EventId};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, ToolAnswer};
use crate::mcp::arguments::{Arguments, MOST_TOKENS};
use crate::mcp::bounded_list::ListRow;
use crate::mcp::note;
use crate::mcp::tool::Tool;

/// Maximum length of a title, in characters. Source: own default; a line of a list.
const TITLE: usize = 80;

/// Searches notes and turns; best first.
pub(super) async fn search(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Search, given);
    arguments.all_known()?;
    let query = arguments.required("query", "say what to look for, in a few words.")?;
    let found = memory.recall(&query).await?;
    let quoted = memory.events().quote(&query, found.value.hits).budget(MOST_TOKENS).await?;
    let result = |line: &mnemal::context::QuotedLine| {
        let id = line.record.to_string();
        json!({"id": id, "title": title(&line.text), "url": url(memory, &id)})
    };
    let results: Vec<Value> = quoted.lines.iter().map(result).collect();
    Ok(text_answer(json!({"results": results})))
}

/// Returns one record.
pub(super) async fn fetch(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Fetch, given);
    arguments.all_known()?;
    let id = arguments.required("id", "give the id of a result of search.")?;
    let id = id.trim();
    let (row, text) = match (memory.preferences().learning(id).await, id.parse::<EventId>()) {
        (Ok(found), _) => (note::of_note(&found), found.content),
        (Err(error), Ok(event)) if error.kind() == ErrorKind::NotFound => {
            let event = memory.events().get(event).await?;
            let text = event.body().map(|kept| kept.content.clone()).unwrap_or_default();
            (note::of_event(&event), text)
        }
        _ => (note::of_note(&note::named(memory, id).await?), String::new()),
    };
    let ListRow { fields, .. } = row;
    let block = memory.admin().fence(&[text], MOST_TOKENS / 2);
    let text = block.lines.concat();
    let metadata: Map<String, Value> = fields
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "id" && !value.is_null() && !value.is_array())
        .map(|(name, value)| {
            (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned).into())
        })
        .collect();
    Ok(text_answer(json!({
        "id": id,
        "title": title(&text),
        "text": text,
        "url": url(memory, id),
        "metadata": metadata,
        "truncated": block.cut > 0,
    })))
}

/// Returns the beginning of a text, on one line.
fn title(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(TITLE).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

/// Returns the address of a note or an event.
fn url(memory: &Memory, id: &str) -> String {
    let sort = if id.starts_with("evt_") { "event" } else { "memory" };
    format!("memory://{}/{sort}/{id}", memory.admin().scope().space)
}

fn text_answer(structured: Value) -> ToolAnswer {
    ToolAnswer { text: structured.to_string(), structured }
}
