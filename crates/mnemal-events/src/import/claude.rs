//! An account export of Claude: conversations, projects with their documents, and what the program noted of its user.

use mnemal_core::{EventId, EventKind, Metadata};
use serde_json::Value;

use super::json::{self, Object};
use super::moment::Moments;
use super::note;
use super::turn::{Said, Turns};

/// Reads a record of `conversations.json`, `projects.json` or `memories.json`.
pub(super) fn read(record: &Object, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
    if record.contains_key("chat_messages") {
        return conversation(record, moments, turns);
    }
    if record.contains_key("docs") || record.contains_key("prompt_template") {
        return project(record, moments, turns);
    }
    if record.contains_key("conversations_memory") || record.contains_key("project_memories") {
        return memories(record, turns);
    }
    Err("neither a conversation, nor a project, nor memories".to_owned())
}

fn conversation(record: &Object, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
    let id = json::text(record, "uuid")?;
    let messages =
        record.get("chat_messages").and_then(Value::as_array).ok_or("field `chat_messages` is not a list")?;
    let title = json::maybe_text(record, "name")?.filter(|title| !title.is_empty());
    if let Some((at, _)) = moments.read(record.get("created_at"))? {
        turns.note_time(id, None, at);
    }
    let mut last: Option<EventId> = None;
    for (place, message) in messages.iter().enumerate() {
        let message = message.as_object().ok_or_else(|| format!("message {} is not an object", place + 1))?;
        let kind = match json::text(message, "sender")? {
            "human" => EventKind::UserMessage,
            "assistant" => EventKind::AssistantMessage,
            _ => return Err("field `sender` is neither human nor assistant".to_owned()),
        };
        let name = json::name(message, "uuid")?.unwrap_or_else(|| place.to_string());
        let mut metadata = Metadata::from([("source_id".to_owned(), name.clone())]);
        metadata.extend(title.map(|title| ("title".to_owned(), title.to_owned())));
        let said = Said {
            human: kind == EventKind::UserMessage,
            content: text(message, turns)?,
            kind,
            session: id.to_owned(),
            conv: None,
            speaker: None,
            at: moments.read(message.get("created_at"))?,
            source: vec![id.to_owned(), name],
            parent: last,
            metadata,
        };
        if said.content.trim().is_empty() {
            turns.remark("no text");
        } else {
            last = Some(turns.say(&said)?);
        }
        attachments(message, &said, turns)?;
    }
    Ok(())
}

/// Returns what a message says: its parts of text, else its field `text`.
fn text(message: &Object, turns: &mut Turns) -> Result<String, String> {
    let (said, _) = json::content(message.get("content"))?;
    for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            None | Some("text") => {}
            Some("thinking") => turns.remark("a thought of the agent"),
            Some(_) => turns.remark("a part that is not text"),
        }
    }
    Ok(if said.trim().is_empty() {
        json::maybe_text(message, "text")?.unwrap_or_default().to_owned()
    } else {
        said
    })
}

/// Keeps the text of files that were attached to a message; nobody said it.
fn attachments(message: &Object, said: &Said, turns: &mut Turns) -> Result<(), String> {
    let attached = message.get("attachments").and_then(Value::as_array);
    for (place, file) in attached.into_iter().flatten().enumerate() {
        let Some(file) = file.as_object() else { continue };
        let content = json::maybe_text(file, "extracted_content")?.unwrap_or_default().to_owned();
        if content.trim().is_empty() {
            turns.remark("a file without text");
            continue;
        }
        let mut source = said.source.clone();
        source.push(format!("file {place}"));
        let name = json::maybe_text(file, "file_name")?.filter(|name| !name.is_empty());
        let metadata = name.map(|name| ("file".to_owned(), name.to_owned())).into_iter().collect();
        turns.say(&Said {
            kind: EventKind::Document,
            human: false,
            content,
            session: said.session.clone(),
            conv: None,
            speaker: None,
            at: said.at.clone(),
            source,
            parent: None,
            metadata,
        })?;
    }
    Ok(())
}

fn project(record: &Object, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
    let id = json::text(record, "uuid")?;
    let title = json::maybe_text(record, "name")?.unwrap_or_default();
    let started = moments.read(record.get("created_at"))?;
    if json::maybe_text(record, "prompt_template")?.is_some_and(|prompt| !prompt.trim().is_empty()) {
        turns.remark("instructions of the host");
    }
    for (place, document) in record.get("docs").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let document =
            document.as_object().ok_or_else(|| format!("document {} is not an object", place + 1))?;
        let content = json::maybe_text(document, "content")?.unwrap_or_default().to_owned();
        if content.trim().is_empty() {
            turns.remark("no text");
            continue;
        }
        let name = json::name(document, "uuid")?.unwrap_or_else(|| place.to_string());
        let mut metadata = Metadata::from([("source_id".to_owned(), name.clone())]);
        if !title.is_empty() {
            metadata.insert("title".to_owned(), title.to_owned());
        }
        let file = json::maybe_text(document, "filename")?;
        metadata.extend(file.map(|file| ("file".to_owned(), file.to_owned())));
        turns.say(&Said {
            kind: EventKind::Document,
            human: false,
            content,
            session: format!("project:{id}"),
            conv: None,
            speaker: None,
            at: moments.read(document.get("created_at"))?.or_else(|| started.clone()),
            source: vec![id.to_owned(), name],
            parent: None,
            metadata,
        })?;
    }
    Ok(())
}

fn memories(record: &Object, turns: &mut Turns) -> Result<(), String> {
    if let Some(text) = json::maybe_text(record, "conversations_memory")? {
        paragraphs(text, "conversations", turns)?;
    }
    let projects = record.get("project_memories").and_then(Value::as_object);
    for (project, text) in projects.into_iter().flatten() {
        let text = text.as_str().ok_or("memories of a project are not text")?;
        paragraphs(text, project, turns)?;
    }
    Ok(())
}

/// Keeps each paragraph of what the program noted as a note; a model wrote it, so nobody's words it is.
fn paragraphs(text: &str, of: &str, turns: &mut Turns) -> Result<(), String> {
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        turns.say(&Said {
            kind: note::kept(note::category(["claude", of]), Vec::new(), None),
            human: false,
            content: paragraph.to_owned(),
            session: "memories".to_owned(),
            conv: None,
            speaker: None,
            at: None,
            source: vec![of.to_owned()],
            parent: None,
            metadata: Metadata::new(),
        })?;
    }
    Ok(())
}
