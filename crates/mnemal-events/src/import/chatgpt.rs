//! Importer for the conversations of a ChatGPT account export: a list of message trees with one visible branch each.

mod branch;

use mnemal_core::{EventId, EventKind, Metadata, Timestamp, ToolName, Zone};
use serde_json::Value;

use super::json::{self, Object};
use super::parse_time::TimeParser;
use super::reader::OTHER_BRANCH;
use super::turn::{ParsedRecord, Turns};

/// Delimiters of a citation mark. Source: exports of 2025 and 2026.
const CITATION: (char, char) = ('\u{e200}', '\u{e201}');
/// Delimiters of a citation mark in older exports.
const OLD_CITATION: (char, char) = ('【', '】');

/// Data common to all messages of a conversation.
struct Conversation<'r> {
    id: String,
    title: Option<&'r str>,
}

/// Reads a conversation: the branch from the root to the message that is shown last.
pub(super) fn read(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let nodes = record.get("mapping").and_then(Value::as_object).ok_or("field `mapping` is missing")?;
    if json::is_set(record, "is_do_not_remember") {
        turns.remark("a conversation that is not to be remembered");
        return Ok(());
    }
    let id = json::loose_name(record, "conversation_id").or_else(|| json::loose_name(record, "id"));
    let conversation = Conversation {
        id: id.unwrap_or_else(|| format!("{}:{}", turns.stem(), turns.line)),
        title: json::loose(record, "title").filter(|title| !title.is_empty()),
    };
    if let Some((at, _)) = started(record, moments, turns) {
        turns.note_time(&conversation.id, None, at);
    }
    let (branch, others) = branch::visible(nodes, json::loose(record, "current_node"))?;
    for _ in 0..others {
        turns.remark(OTHER_BRANCH);
    }
    let mut last = None;
    for (name, node) in branch {
        let Some(message) = node.get("message").and_then(Value::as_object) else {
            if node.get("message").is_some_and(|message| !message.is_null()) {
                turns.fail(format!("message {name} is not an object"));
            }
            continue;
        };
        match emit(&conversation, (name, message), last, (moments, turns)) {
            Ok(said) => last = said.or(last),
            Err(why) => turns.fail(format!("message {name}: {why}")),
        }
    }
    Ok(())
}

/// Returns the start time of a conversation, else the time of its last change.
fn started(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Option<(Timestamp, Zone)> {
    for field in ["create_time", "update_time"] {
        match moments.read(record.get(field)) {
            Ok(Some(at)) => return Some(at),
            Ok(None) => {}
            Err(why) => turns.fail(format!("field `{field}`: {why}")),
        }
    }
    None
}

fn emit(
    conversation: &Conversation<'_>,
    (name, message): (&str, &Object),
    parent: Option<EventId>,
    (moments, turns): (&TimeParser, &mut Turns),
) -> Result<Option<EventId>, String> {
    let author = message.get("author").and_then(Value::as_object).ok_or("a message without an author")?;
    let role = json::text(author, "role")?;
    if role == "system" || is_hidden(message) {
        turns.remark("instructions of the host");
        return Ok(None);
    }
    let Some(content) = text(message, turns)? else { return Ok(None) };
    let kind = match role {
        "user" => EventKind::UserMessage,
        "assistant" => match json::loose(message, "recipient") {
            None | Some("all" | "") => EventKind::AssistantMessage,
            Some(tool) => EventKind::ToolCall { tool: ToolName::new(tool).map_err(|why| why.to_string())? },
        },
        "tool" => {
            let tool = json::loose(author, "name").filter(|name| !name.is_empty()).unwrap_or("tool");
            EventKind::ToolResult { tool: ToolName::new(tool).map_err(|why| why.to_string())?, ok: true }
        }
        _ => return Err("a role is none of system, user, assistant, tool".to_owned()),
    };
    let mut metadata = Metadata::from([("source_id".to_owned(), name.to_owned())]);
    if let Some(title) = conversation.title {
        metadata.insert("title".to_owned(), title.to_owned());
    }
    let said = ParsedRecord {
        user: None,
        human: kind == EventKind::UserMessage,
        kind,
        content,
        session: conversation.id.clone(),
        conv: None,
        speaker: None,
        at: turns.time(moments.read(message.get("create_time"))),
        source: vec![conversation.id.clone(), name.to_owned()],
        parent,
        metadata,
    };
    turns.emit(&said).map(Some)
}

fn is_hidden(message: &Object) -> bool {
    let metadata = message.get("metadata").and_then(Value::as_object);
    metadata.is_some_and(|metadata| {
        json::is_set(metadata, "is_visually_hidden_from_conversation")
            || json::is_set(metadata, "is_user_system_message")
    })
}

/// Returns the text of a message; notes parts without text.
fn text(message: &Object, turns: &mut Turns) -> Result<Option<String>, String> {
    let content = message.get("content").and_then(Value::as_object).ok_or("a message without content")?;
    let said = match json::loose(content, "content_type").unwrap_or("text") {
        "thoughts" | "reasoning_recap" => {
            turns.remark("a thought of the agent");
            return Ok(None);
        }
        "user_editable_context" | "model_editable_context" => {
            turns.remark("instructions of the host");
            return Ok(None);
        }
        _ if content.contains_key("parts") => {
            let (text, other) = json::content(content.get("parts"))?;
            if other {
                turns.remark("a part that is not text");
            }
            text
        }
        _ => ["text", "result"]
            .iter()
            .find_map(|field| content.get(*field)?.as_str())
            .unwrap_or_default()
            .to_owned(),
    };
    let said = without_citations(&said, message);
    if said.trim().is_empty() {
        turns.remark("no text");
        return Ok(None);
    }
    Ok(Some(said))
}

/// Replaces each citation mark by the words that the program shows for it, which may be none.
fn without_citations(text: &str, message: &Object) -> String {
    if !text.contains([CITATION.0, OLD_CITATION.0]) {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    let metadata = message.get("metadata").and_then(Value::as_object);
    let references =
        metadata.and_then(|metadata| metadata.get("content_references")).and_then(Value::as_array);
    for reference in references.into_iter().flatten() {
        let mark = reference.get("matched_text").and_then(Value::as_str).unwrap_or_default();
        // Of a list of sources at the end the mark is one space.
        if mark.starts_with([CITATION.0, OLD_CITATION.0]) {
            text = text.replace(mark, reference.get("alt").and_then(Value::as_str).unwrap_or_default());
        }
    }
    while let Some(start) = text.find(CITATION.0) {
        let rest = text.get(start..).unwrap_or_default();
        let end = rest.find(CITATION.1).map_or(CITATION.0.len_utf8(), |end| end + CITATION.1.len_utf8());
        text.replace_range(start..start + end, "");
    }
    text
}
