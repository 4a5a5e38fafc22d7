//! Importer for chat-completion messages: one per line, or one conversation per line.

use std::collections::HashMap;

use mnemal_core::{EventId, EventKind, Metadata, ToolName};
use mnemal_extract::{SpeakerLabel, speaker_label};
use serde_json::Value;

use super::json::{self, Object};
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

/// Calls that await their result, of the whole file or of one conversation.
#[derive(Debug, Default)]
pub(super) struct OpenAi {
    calls: Calls,
}

type Calls = HashMap<String, (EventId, String)>;

/// The position of a message.
struct MessagePosition {
    session: String,
    /// Identifies a message without an id.
    source: Vec<String>,
}

impl OpenAi {
    pub(super) fn read(
        &mut self,
        record: &Object,
        moments: &TimeParser,
        turns: &mut Turns,
    ) -> Result<(), String> {
        if record.get("_type").and_then(Value::as_str) == Some("metadata") {
            turns.take_session(record.get("key").and_then(Value::as_str));
            turns.remark("an entry of the program");
            return Ok(());
        }
        let Some(messages) = record.get("messages") else {
            let session = session(record).unwrap_or_else(|| turns.stem());
            let place = MessagePosition { session, source: vec![turns.file(), turns.line.to_string()] };
            return message(record, place, (moments, turns, &mut self.calls));
        };
        let messages = messages.as_array().ok_or("field `messages` is not a list")?;
        let named = session(record).or_else(|| json::loose_name(record, "id"));
        let session = named.clone().unwrap_or_else(|| format!("{}:{}", turns.stem(), turns.line));
        let conversation = named.unwrap_or_else(|| format!("{}:{}", turns.file(), turns.line));
        let started = turns.time(moments.read(created(record)));
        let mut calls = Calls::new();
        if let Some((at, _)) = &started {
            turns.note_time(&session, None, *at);
        }
        for (place, entry) in messages.iter().enumerate() {
            let Some(record) = entry.as_object() else {
                turns.fail(format!("message {} is not an object", place + 1));
                continue;
            };
            let source = vec![conversation.clone(), place.to_string()];
            let of = MessagePosition { session: session.clone(), source };
            if let Err(why) = message(record, of, (moments, turns, &mut calls)) {
                turns.fail(format!("message {}: {why}", place + 1));
            }
        }
        Ok(())
    }
}

fn session(record: &Object) -> Option<String> {
    let fields = ["session_id", "conversation_id", "thread_id", "session"];
    fields.into_iter().find_map(|field| json::loose_name(record, field))
}

fn created(record: &Object) -> Option<&Value> {
    ["created_at", "timestamp", "created", "time", "ts"].iter().find_map(|field| record.get(*field))
}

fn message(
    record: &Object,
    place: MessagePosition,
    (moments, turns, calls): (&TimeParser, &mut Turns, &mut Calls),
) -> Result<(), String> {
    let role = json::text(record, "role")?;
    let (content, other) = json::content(record.get("content"))?;
    let at = turns.time(moments.read(created(record)));
    if let Some((at, _)) = &at {
        turns.note_time(&place.session, None, *at);
    }
    let source = match json::loose_name(record, "id") {
        Some(id) => vec![place.session.clone(), id],
        None => place.source,
    };
    let mut said = ParsedRecord {
        user: None,
        kind: EventKind::UserMessage,
        content,
        session: place.session,
        conv: None,
        speaker: json::loose(record, "name").map(str::to_owned),
        human: false,
        at,
        metadata: Metadata::new(),
        parent: None,
        source,
    };
    if other {
        turns.remark("a part that is not text");
    }
    let is_machine = said.speaker.as_deref().and_then(speaker_label).is_some_and(SpeakerLabel::is_machine);
    match speaker_label(role) {
        Some(SpeakerLabel::System) => turns.remark("instructions of the host"),
        // Some hosts write every turn as the user's, and say by a name who speaks.
        Some(SpeakerLabel::User) if is_machine => assistant(record, said, turns, calls)?,
        Some(SpeakerLabel::User) => {
            said.human = true;
            emit(&said, turns)?;
        }
        Some(SpeakerLabel::Assistant) => assistant(record, said, turns, calls)?,
        Some(SpeakerLabel::Tool) => answer(record, said, turns, calls)?,
        None => return Err("field `role` is none of system, developer, user, assistant, tool".to_owned()),
    }
    Ok(())
}

fn emit(said: &ParsedRecord, turns: &mut Turns) -> Result<Option<EventId>, String> {
    if said.content.trim().is_empty() {
        turns.remark("no text");
        return Ok(None);
    }
    turns.emit(said).map(Some)
}

fn assistant(
    record: &Object,
    mut said: ParsedRecord,
    turns: &mut Turns,
    calls: &mut Calls,
) -> Result<(), String> {
    said.kind = EventKind::AssistantMessage;
    said.speaker = None;
    let asked = match record.get("tool_calls") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(calls)) => calls,
        Some(_) => return Err("field `tool_calls` is not a list".to_owned()),
    };
    let (session, at, source) = (said.session.clone(), said.at.clone(), said.source.clone());
    let parent = if said.content.trim().is_empty() && !asked.is_empty() { None } else { emit(&said, turns)? };
    for (place, call) in asked.iter().enumerate() {
        let function =
            call.get("function").and_then(Value::as_object).ok_or("a tool call without a function")?;
        let tool = json::text(function, "name")?;
        let name = ToolName::new(tool).map_err(|why| why.to_string())?;
        let mut source = source.clone();
        source.push(format!("call {place}"));
        let id = turns.emit(&ParsedRecord {
            user: None,
            kind: EventKind::ToolCall { tool: name },
            content: json::maybe_text(function, "arguments")?.unwrap_or_default().to_owned(),
            session: session.clone(),
            conv: None,
            speaker: None,
            human: false,
            at: at.clone(),
            metadata: Metadata::new(),
            parent,
            source,
        })?;
        if let Some(call_id) = call.get("id").and_then(Value::as_str) {
            calls.insert(call_id.to_owned(), (id, tool.to_owned()));
        }
    }
    Ok(())
}

fn answer(
    record: &Object,
    mut said: ParsedRecord,
    turns: &mut Turns,
    calls: &mut Calls,
) -> Result<(), String> {
    let call = json::loose(record, "tool_call_id").and_then(|call| calls.remove(call));
    let tool = said.speaker.take().or_else(|| call.as_ref().map(|(_, tool)| tool.clone()));
    let tool = ToolName::new(tool.unwrap_or_else(|| "tool".to_owned())).map_err(|why| why.to_string())?;
    // The shape has no field for failure; tools say it in their first word.
    let ok = !said.content.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("error:"));
    said.kind = EventKind::ToolResult { tool, ok };
    said.parent = call.map(|(id, _)| id);
    turns.emit(&said).map(|_| ())
}
