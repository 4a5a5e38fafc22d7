//! Importer for a Claude account export: conversations, projects with documents, and the stored user memory.

mod branch;

use mnemal_core::{EventId, EventKind, Metadata, Timestamp, Zone};
use serde_json::Value;

use super::json::{self, Object};
use super::note;
use super::parse_time::TimeParser;
use super::reader::OTHER_BRANCH;
use super::turn::{ParsedRecord, Turns};

/// Placeholder that the export writes for a tool call. Source: exports of 2024 to 2026.
const PLACEHOLDER: &str = "This block is not supported on your current device yet.";

/// Reads a record of `conversations.json`, `projects.json` or `memories.json`.
pub(super) fn read(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    if record.contains_key("chat_messages") {
        return conversation(record, moments, turns);
    }
    if record.contains_key("docs") || record.contains_key("prompt_template") {
        project(record, moments, turns);
        return Ok(());
    }
    if record.contains_key("conversations_memory") || record.contains_key("project_memories") {
        return memories(record, turns);
    }
    Err("neither a conversation, nor a project, nor memories".to_owned())
}

fn conversation(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let id = id(record, turns);
    let messages =
        record.get("chat_messages").and_then(Value::as_array).ok_or("field `chat_messages` is not a list")?;
    let title = json::loose(record, "name").filter(|title| !title.is_empty());
    if let Some((at, _)) = started(record, moments, turns) {
        turns.note_time(&id, None, at);
    }
    let shown = branch::visible(messages, json::loose(record, "current_leaf_message_uuid"));
    let mut last: Option<EventId> = None;
    for (place, message) in messages.iter().enumerate() {
        let Some(message) = message.as_object() else {
            turns.fail(format!("message {} is not an object", place + 1));
            continue;
        };
        if !shown.contains(&place) {
            turns.remark(OTHER_BRANCH);
            continue;
        }
        let whole = MessagePosition { id: &id, title, place };
        match emit(&whole, message, last, (moments, turns)) {
            Ok(said) => last = said.or(last),
            Err(why) => turns.fail(format!("message {}: {why}", place + 1)),
        }
    }
    Ok(())
}

/// Returns the name of a conversation or project; without one, its position in the file.
fn id(record: &Object, turns: &mut Turns) -> String {
    json::loose_name(record, "uuid").unwrap_or_else(|| {
        turns.fail("field `uuid` is missing".to_owned());
        format!("{}:{}", turns.stem(), turns.line)
    })
}

/// Returns the start time of a conversation, else the time of its last change.
fn started(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Option<(Timestamp, Zone)> {
    for field in ["created_at", "updated_at"] {
        match moments.read(record.get(field)) {
            Ok(Some(at)) => return Some(at),
            Ok(None) => {}
            Err(why) => turns.fail(format!("field `{field}`: {why}")),
        }
    }
    None
}

/// A message's conversation, and its position there.
struct MessagePosition<'r> {
    id: &'r str,
    title: Option<&'r str>,
    place: usize,
}

fn emit(
    whole: &MessagePosition<'_>,
    message: &Object,
    parent: Option<EventId>,
    (moments, turns): (&TimeParser, &mut Turns),
) -> Result<Option<EventId>, String> {
    let sender = match json::text(message, "sender") {
        Ok("human") => Ok(EventKind::UserMessage),
        Ok("assistant") => Ok(EventKind::AssistantMessage),
        Ok("system") => {
            turns.remark("instructions of the host");
            return Ok(None);
        }
        Ok(_) => Err("field `sender` is neither human nor assistant".to_owned()),
        Err(why) => Err(why),
    };
    let kind = sender.clone().unwrap_or(EventKind::AssistantMessage);
    let name = json::loose_name(message, "uuid").unwrap_or_else(|| whole.place.to_string());
    let mut metadata = Metadata::from([("source_id".to_owned(), name.clone())]);
    metadata.extend(whole.title.map(|title| ("title".to_owned(), title.to_owned())));
    let said = ParsedRecord {
        user: None,
        human: kind == EventKind::UserMessage,
        content: text(message, turns),
        kind,
        session: whole.id.to_owned(),
        conv: None,
        speaker: None,
        at: turns.time(moments.read(message.get("created_at"))),
        source: vec![whole.id.to_owned(), name],
        parent,
        metadata,
    };
    let mut last = None;
    if let Err(why) = sender {
        // Its speaker is unknown; the attached files are stored all the same.
        attachments(message, &said, turns)?;
        return Err(why);
    }
    if said.content.trim().is_empty() {
        turns.remark("no text");
    } else {
        last = Some(turns.emit(&said)?);
    }
    attachments(message, &said, turns)?;
    Ok(last)
}

/// Returns the text of a message: its text parts, else its field `text`.
fn text(message: &Object, turns: &mut Turns) -> String {
    let parts = message.get("content").filter(|content| !content.is_null());
    if parts.is_some_and(|parts| !parts.is_array()) {
        turns.fail("field `content` is not a list".to_owned());
    }
    let parts = parts.filter(|parts| parts.is_array());
    let (said, _) = json::content(parts).unwrap_or_default();
    for part in parts.and_then(Value::as_array).into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            None | Some("text") => {}
            Some("thinking") => turns.remark("a thought of the agent"),
            Some(_) => turns.remark("a part that is not text"),
        }
    }
    let said = without_placeholders(&said);
    if said.trim().is_empty() {
        without_placeholders(json::loose(message, "text").unwrap_or_default())
    } else {
        said
    }
}

/// Removes the placeholders of tool calls, with their fences.
fn without_placeholders(text: &str) -> String {
    if !text.contains(PLACEHOLDER) {
        return text.to_owned();
    }
    let fenced = format!("```\n{PLACEHOLDER}\n```");
    let rest = text.replace(&fenced, "\n").replace(PLACEHOLDER, "");
    let paragraphs: Vec<&str> = rest.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
    paragraphs.join("\n\n")
}

/// Stores the text of a message's attached files; it has no speaker.
fn attachments(message: &Object, said: &ParsedRecord, turns: &mut Turns) -> Result<(), String> {
    let attached = message.get("attachments").and_then(Value::as_array);
    for (place, file) in attached.into_iter().flatten().enumerate() {
        let Some(file) = file.as_object() else { continue };
        let content = json::loose(file, "extracted_content").unwrap_or_default().to_owned();
        if content.trim().is_empty() {
            turns.remark("a file without text");
            continue;
        }
        let mut source = said.source.clone();
        source.push(format!("file {place}"));
        let name = json::loose(file, "file_name").filter(|name| !name.is_empty());
        let metadata = name.map(|name| ("file".to_owned(), name.to_owned())).into_iter().collect();
        turns.emit(&ParsedRecord {
            user: None,
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

fn project(record: &Object, moments: &TimeParser, turns: &mut Turns) {
    let id = id(record, turns);
    let started = started(record, moments, turns);
    if json::loose(record, "prompt_template").is_some_and(|prompt| !prompt.trim().is_empty()) {
        turns.remark("instructions of the host");
    }
    for (place, document) in record.get("docs").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let whole = MessagePosition { id: &id, title: json::loose(record, "name"), place };
        if let Err(why) = document_of(&whole, document, started.clone(), (moments, turns)) {
            turns.fail(format!("document {}: {why}", place + 1));
        }
    }
}

fn document_of(
    whole: &MessagePosition<'_>,
    document: &Value,
    started: Option<(Timestamp, Zone)>,
    (moments, turns): (&TimeParser, &mut Turns),
) -> Result<(), String> {
    let document = document.as_object().ok_or("it is not an object")?;
    let content = json::maybe_text(document, "content")?.unwrap_or_default().to_owned();
    if content.trim().is_empty() {
        turns.remark("no text");
        return Ok(());
    }
    let name = json::loose_name(document, "uuid").unwrap_or_else(|| whole.place.to_string());
    let mut metadata = Metadata::from([("source_id".to_owned(), name.clone())]);
    let title = whole.title.filter(|title| !title.is_empty());
    metadata.extend(title.map(|title| ("title".to_owned(), title.to_owned())));
    let file = json::loose(document, "filename");
    metadata.extend(file.map(|file| ("file".to_owned(), file.to_owned())));
    let at = turns.time(moments.read(document.get("created_at"))).or(started);
    turns.emit(&ParsedRecord {
        user: None,
        kind: EventKind::Document,
        human: false,
        content,
        session: format!("project:{}", whole.id),
        conv: None,
        speaker: None,
        at,
        source: vec![whole.id.to_owned(), name],
        parent: None,
        metadata,
    })?;
    Ok(())
}

fn memories(record: &Object, turns: &mut Turns) -> Result<(), String> {
    match json::maybe_text(record, "conversations_memory") {
        Ok(text) => paragraphs(text.unwrap_or_default(), "conversations", turns)?,
        Err(why) => turns.fail(why),
    }
    let projects = record.get("project_memories").and_then(Value::as_object);
    for (project, text) in projects.into_iter().flatten() {
        match text.as_str() {
            Some(text) => paragraphs(text, project, turns)?,
            None => turns.fail("memories of a project are not text".to_owned()),
        }
    }
    Ok(())
}

/// Stores each paragraph of the program's memory as a note, filed by the heading above it; a model wrote it, so it counts as no
/// person's words.
fn paragraphs(text: &str, of: &str, turns: &mut Turns) -> Result<(), String> {
    let mut above = None;
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        if let Some(heading) = heading(paragraph) {
            above = Some(heading);
            continue;
        }
        turns.emit(&ParsedRecord {
            user: None,
            kind: note::remember(note::category(["claude", of].into_iter().chain(above)), Vec::new(), None),
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

/// Returns the text of a paragraph that is a heading: `**Work**`, `## Work`.
fn heading(paragraph: &str) -> Option<&str> {
    let bold = paragraph.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    let bold = bold.filter(|words| !words.contains("**"));
    let marked = paragraph.strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
    let words = bold.or(marked.filter(|rest| rest.starts_with(' ')))?;
    (!words.contains('\n')).then(|| words.trim().trim_end_matches(':'))
}
