//! The conversations of an account export of ChatGPT: a list of trees of messages, of which one branch is shown.

use std::collections::HashSet;

use mnemal_core::{EventId, EventKind, Metadata, ToolName};
use serde_json::Value;

use super::json::{self, Object};
use super::moment::Moments;
use super::reader::OTHER_BRANCH;
use super::turn::{Said, Turns};

/// What is the same for all messages of a conversation.
struct Conversation<'r> {
    id: String,
    title: Option<&'r str>,
    started: Option<(mnemal_core::Timestamp, mnemal_core::Zone)>,
}

/// Reads a conversation: the branch from the root to `current_node`.
pub(super) fn read(record: &Object, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
    let nodes = record.get("mapping").and_then(Value::as_object).ok_or("field `mapping` is missing")?;
    let id = match json::name(record, "conversation_id")? {
        Some(id) => Some(id),
        None => json::name(record, "id")?,
    };
    let conversation = Conversation {
        id: id.unwrap_or_else(|| format!("{}:{}", turns.stem(), turns.line)),
        title: json::maybe_text(record, "title")?.filter(|title| !title.is_empty()),
        started: moments.read(record.get("create_time"))?,
    };
    if let Some((at, _)) = &conversation.started {
        turns.note_time(&conversation.id, None, *at);
    }
    let branch = branch(nodes, json::maybe_text(record, "current_node")?)?;
    let shown: HashSet<&str> = branch.iter().map(|(name, _)| *name).collect();
    let has_message = |node: &Value| node.get("message").is_some_and(Value::is_object);
    for _ in nodes.iter().filter(|(name, node)| !shown.contains(name.as_str()) && has_message(node)) {
        turns.remark(OTHER_BRANCH);
    }
    let mut last = None;
    for (name, node) in branch {
        if let Some(message) = node.get("message").and_then(Value::as_object) {
            last = say(&conversation, (name, message), last, (moments, turns))?.or(last);
        }
    }
    Ok(())
}

/// Returns the nodes from the root to the one that is shown last.
fn branch<'n>(nodes: &'n Object, current: Option<&str>) -> Result<Vec<(&'n str, &'n Value)>, String> {
    let mut next = current.ok_or("field `current_node` is missing")?;
    let mut branch = Vec::new();
    while let Some((name, node)) = nodes.get_key_value(next) {
        if branch.len() >= nodes.len() {
            return Err("the tree of messages goes round in a circle".to_owned());
        }
        branch.push((name.as_str(), node));
        match node.get("parent") {
            Some(Value::String(parent)) => next = parent,
            _ => break,
        }
    }
    if branch.is_empty() {
        return Err("field `current_node` names no message".to_owned());
    }
    branch.reverse();
    Ok(branch)
}

fn say(
    conversation: &Conversation<'_>,
    (name, message): (&str, &Object),
    parent: Option<EventId>,
    (moments, turns): (&Moments, &mut Turns),
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
        "assistant" => match json::maybe_text(message, "recipient")? {
            None | Some("all" | "") => EventKind::AssistantMessage,
            Some(tool) => EventKind::ToolCall { tool: ToolName::new(tool).map_err(|why| why.to_string())? },
        },
        "tool" => {
            let tool = json::maybe_text(author, "name")?.filter(|name| !name.is_empty()).unwrap_or("tool");
            EventKind::ToolResult { tool: ToolName::new(tool).map_err(|why| why.to_string())?, ok: true }
        }
        _ => return Err("a role is none of system, user, assistant, tool".to_owned()),
    };
    let mut metadata = Metadata::from([("source_id".to_owned(), name.to_owned())]);
    if let Some(title) = conversation.title {
        metadata.insert("title".to_owned(), title.to_owned());
    }
    let said = Said {
        human: kind == EventKind::UserMessage,
        kind,
        content,
        session: conversation.id.clone(),
        conv: None,
        speaker: None,
        at: moments.read(message.get("create_time"))?,
        source: vec![conversation.id.clone(), name.to_owned()],
        parent,
        metadata,
    };
    turns.say(&said).map(Some)
}

fn is_hidden(message: &Object) -> bool {
    let metadata = message.get("metadata").and_then(Value::as_object);
    metadata.is_some_and(|metadata| {
        json::is_set(metadata, "is_visually_hidden_from_conversation")
            || json::is_set(metadata, "is_user_system_message")
    })
}

/// Returns what a message says; notes what of it is no text.
fn text(message: &Object, turns: &mut Turns) -> Result<Option<String>, String> {
    let content = message.get("content").and_then(Value::as_object).ok_or("a message without content")?;
    let said = match json::maybe_text(content, "content_type")?.unwrap_or("text") {
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
    if said.trim().is_empty() {
        turns.remark("no text");
        return Ok(None);
    }
    Ok(Some(said))
}
