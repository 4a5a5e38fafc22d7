//! Importer for Codex CLI session files, `rollout-*.jsonl`: messages, tool calls and rolled-back turns.
//!
//! Shape: `RolloutLine` in `codex-rs/protocol/src/protocol.rs` of openai/codex, as of 2026; each line is
//! `{timestamp, type, payload}`.

use std::collections::{HashMap, VecDeque};

use mnemal_core::{EventId, EventKind, Metadata, ToolName, marker};
use mnemal_extract::program_elements;
use serde_json::Value;

use super::json::{self, Object};
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

/// Starts of program-written messages. Source: openai/codex, fragments of contexts.
const PROGRAM: [&str; 4] =
    ["# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<turn_aborted>"];
/// Pending words of one kind of line that the other kind has not repeated yet.
const WAITING: usize = 64;

/// State of a session while it is read.
#[derive(Debug, Default)]
pub(super) struct Codex {
    session: Option<String>,
    /// Whether an agent of the program leads this conversation; `None` before the head of the file.
    is_side: Option<bool>,
    calls: HashMap<String, (EventId, String)>,
    /// The events of each prompt and of its replies, oldest first.
    prompts: Vec<Vec<EventId>>,
    /// Words of one kind of line that the other is expected to repeat.
    waiting: VecDeque<(bool, EventKind, String)>,
    last: Option<EventId>,
    count: u64,
}

impl Codex {
    pub(super) fn read(
        &mut self,
        record: &Object,
        moments: &TimeParser,
        turns: &mut Turns,
    ) -> Result<(), String> {
        let payload = record.get("payload").and_then(Value::as_object).ok_or("field `payload` is missing")?;
        let at = turns.time(moments.read(record.get("timestamp")));
        let kind = json::loose(payload, "type").unwrap_or_default();
        match (json::text(record, "type")?, kind) {
            ("session_meta", _) => {
                // The first head is the file's own; the file of a fork copies the history, with the heads of those before it.
                // What was copied keeps the name of its conversation, so that it is stored once.
                let id = json::loose(payload, "id").or_else(|| json::loose(payload, "session_id"));
                self.session = id.map(str::to_owned).or_else(|| self.session.take());
                self.is_side.get_or_insert_with(|| is_side(payload));
                turns.remark("an entry of the program");
            }
            ("response_item" | "event_msg", _) if self.is_side == Some(true) => {
                turns.remark("a side conversation");
            }
            ("response_item", "message") => self.message(payload, at, turns)?,
            ("response_item", "function_call" | "custom_tool_call") => self.call(payload, at, turns)?,
            ("response_item", "function_call_output" | "custom_tool_call_output") => {
                self.answer(payload, at, turns)?;
            }
            ("response_item", "reasoning") => turns.remark("a thought of the agent"),
            ("event_msg", "user_message") => {
                self.emit(EventKind::UserMessage, json::loose(payload, "message"), (false, at), turns)?;
            }
            ("event_msg", "agent_message") => {
                self.emit(EventKind::AssistantMessage, json::loose(payload, "message"), (false, at), turns)?;
            }
            ("event_msg", "thread_rolled_back") => self.roll_back(payload, turns),
            _ => turns.remark("an entry of the program"),
        }
        Ok(())
    }

    fn message(&mut self, payload: &Object, at: At, turns: &mut Turns) -> Result<(), String> {
        let (text, other) = words(payload.get("content"))?;
        if other {
            turns.remark("a part that is not text");
        }
        match json::text(payload, "role")? {
            "user" => self.emit(EventKind::UserMessage, Some(&text), (true, at), turns),
            "assistant" => self.emit(EventKind::AssistantMessage, Some(&text), (true, at), turns),
            "system" | "developer" => {
                turns.remark("instructions of the host");
                Ok(())
            }
            _ => Err("a role is none of system, developer, user, assistant".to_owned()),
        }
    }

    /// Stores words once that occur in two kinds of lines: as an item of the model's answer, and as an event.
    fn emit(
        &mut self,
        kind: EventKind,
        text: Option<&str>,
        (is_item, at): (bool, At),
        turns: &mut Turns,
    ) -> Result<(), String> {
        let content = without_elements(text.unwrap_or_default());
        let content = content.trim();
        if content.is_empty() || PROGRAM.iter().any(|start| content.starts_with(start)) {
            turns.remark("a text of the program");
            return Ok(());
        }
        let is_echo = |(of_item, of, words): &(bool, EventKind, String)| {
            *of_item != is_item && *of == kind && words == content
        };
        if let Some(place) = self.waiting.iter().position(is_echo) {
            self.waiting.remove(place);
            return Ok(());
        }
        self.waiting.push_back((is_item, kind.clone(), content.to_owned()));
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
        }
        if kind == EventKind::UserMessage {
            self.prompts.push(Vec::new());
            self.last = None;
        }
        self.put(kind, content.to_owned(), (at, self.last), turns)?;
        Ok(())
    }

    fn call(&mut self, payload: &Object, at: At, turns: &mut Turns) -> Result<(), String> {
        let tool = json::loose(payload, "name").unwrap_or("tool");
        let kind = EventKind::ToolCall { tool: ToolName::new(tool).map_err(|why| why.to_string())? };
        let input = json::loose(payload, "arguments").or_else(|| json::loose(payload, "input"));
        let id = self.put(kind, input.unwrap_or_default().to_owned(), (at, self.last), turns)?;
        if let Some(call) = json::loose(payload, "call_id") {
            self.calls.insert(call.to_owned(), (id, tool.to_owned()));
        }
        Ok(())
    }

    fn answer(&mut self, payload: &Object, at: At, turns: &mut Turns) -> Result<(), String> {
        let call = json::loose(payload, "call_id").and_then(|call| self.calls.remove(call));
        let tool = call.as_ref().map_or("tool", |(_, tool)| tool.as_str());
        let tool = ToolName::new(tool).map_err(|why| why.to_string())?;
        let output = payload.get("output");
        let whole = output.and_then(Value::as_object);
        let (content, _) = json::content(whole.map_or(output, |whole| whole.get("content")))?;
        let ok = whole.and_then(|whole| whole.get("success")).and_then(Value::as_bool) != Some(false);
        let parent = call.map(|(id, _)| id).or(self.last);
        self.put(EventKind::ToolResult { tool, ok }, content, (at, parent), turns)?;
        Ok(())
    }

    fn put(
        &mut self,
        kind: EventKind,
        content: String,
        (at, parent): (At, Option<EventId>),
        turns: &mut Turns,
    ) -> Result<EventId, String> {
        let session = self.session.clone().unwrap_or_else(|| turns.stem());
        self.count += 1;
        turns.said.clear();
        let id = turns.emit(&ParsedRecord {
            user: None,
            human: kind == EventKind::UserMessage,
            kind,
            content,
            session: session.clone(),
            conv: None,
            speaker: None,
            at,
            // Lines have no names of their own.
            source: vec![session, self.count.to_string()],
            parent,
            metadata: Metadata::new(),
        })?;
        self.last = Some(id);
        if let Some(prompt) = self.prompts.last_mut() {
            prompt.append(&mut turns.said);
        }
        Ok(id)
    }

    /// Rolls back the last prompts with all replies.
    fn roll_back(&mut self, payload: &Object, turns: &mut Turns) {
        let count = payload.get("num_turns").and_then(Value::as_u64).unwrap_or_default();
        let left = self.prompts.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        turns.withdrawn.extend(self.prompts.split_off(left).into_iter().flatten());
        self.last = self.prompts.last().and_then(|prompt| prompt.last().copied());
        turns.remark("an entry of the program");
    }
}

type At = Option<(mnemal_core::Timestamp, mnemal_core::Zone)>;

/// Whether the head of a file says that an agent of the program leads the conversation.
fn is_side(head: &Object) -> bool {
    let source = head.get("source").and_then(Value::as_object);
    json::loose(head, "thread_source") == Some("subagent")
        || source.is_some_and(|source| source.contains_key("subagent"))
}

/// Joins the texts of a message as [`json::content`] does, without the tags in which the program frames a picture; the event
/// that repeats the message lacks them.
fn words(content: Option<&Value>) -> Result<(String, bool), String> {
    let parts = match content {
        Some(Value::Array(parts)) if parts.len() > 1 => parts,
        _ => return json::content(content),
    };
    let texts: Vec<&str> = parts.iter().filter_map(json::part_text).collect();
    let other = texts.len() < parts.len();
    let own: Vec<&str> = texts.into_iter().filter(|text| !is_tag(text)).collect();
    Ok((own.join("\n"), other))
}

/// Whether a text is a tag of a picture and nothing else: `<image name=[Image #1]>`, `</image>`.
fn is_tag(text: &str) -> bool {
    let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| {
        let name = inner.trim_start_matches('/').split_whitespace().next();
        name == Some("image") && !inner.contains(['<', '>'])
    })
}

/// Returns a text without blocks of ours and elements of the program.
fn without_elements(text: &str) -> String {
    // A block of ours that lost its last line ends where its lines do, and not with the text.
    let text = &*marker::strip(text).0;
    let (mut rest, mut done) = (String::with_capacity(text.len()), 0);
    for element in program_elements(text) {
        rest.push_str(text.get(done..element.start).unwrap_or_default());
        done = element.end;
    }
    rest.push_str(text.get(done..).unwrap_or_default());
    rest
}
