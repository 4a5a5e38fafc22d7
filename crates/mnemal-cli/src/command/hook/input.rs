//! The input of a hook: one JSON object; every field is optional, and unknown fields are ignored.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use mnemal::SessionId;
use mnemal::context::marker;
use serde_json::{Map, Value};

use super::HookTarget;
use crate::host::{Capture, Event};

/// Maximum size of the document, in bytes. Source: own choice; a prompt is at most a few megabytes of pasted text.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The kind of a session start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// A new session.
    Startup,
    /// A resumed session; earlier blocks are still in its window.
    Resume,
    /// A cleared session, with an empty window.
    Clear,
    /// A compacted session: earlier blocks are gone.
    Compact,
}

/// An event from the client.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) session: Option<SessionId>,
    pub(super) transcript: Option<PathBuf>,
    /// The client's working directory, which determines the space.
    pub(super) folder: Option<PathBuf>,
    pub(super) prompt: String,
    pub(super) start: Start,
    /// What was said, where no transcript has it: messages `{role, content, id, session_id}`, in order.
    pub(super) said: Vec<Map<String, Value>>,
}

/// Pointers to the conversation's name. Source: Claude Code, Codex, Gemini CLI and our plugins; Cursor.
const SESSION: [&str; 2] = ["/session_id", "/conversation_id"];
/// Pointers to the working directory, of the same hosts.
const FOLDER: [&str; 2] = ["/cwd", "/workspace_roots/0"];
/// Pointers to what a person wrote; the second is of early versions of Claude Code.
const PROMPT: [&str; 2] = ["/prompt", "/user_prompt"];
/// Pointer to what an agent wrote. Source: Cursor.
const REPLY: &str = "/text";
/// Pointer to the name of a turn. Source: Cursor.
const TURN: &str = "/generation_id";
/// Pointer to the messages of a conversation. Source: our plugins.
const MESSAGES: &str = "/messages";

/// Reads the client's document, up to the maximum size.
pub(super) fn read(from: impl Read) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(LONGEST).read_to_end(&mut text).context("cannot read stdin")?;
    Ok(text)
}

impl Input {
    /// Parses the document; the error never quotes it.
    pub(super) fn new(text: &[u8], (_, hooks, event): HookTarget) -> Result<Self> {
        let document: Option<Value> = serde_json::from_slice(text).ok().filter(Value::is_object);
        let document = document.context("stdin holds no JSON object")?;
        let text =
            |pointer: &str| document.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let first = |pointers: [&str; 2]| pointers.into_iter().find_map(text);
        let session = first(SESSION);
        let said = match hooks.capture {
            Capture::Transcript(_) => Vec::new(),
            Capture::Words if event == Event::UserPromptSubmit => words("user", first(PROMPT), text(TURN)),
            Capture::Words => words("assistant", text(REPLY), text(TURN)),
            Capture::Messages => messages(&document),
        };
        Ok(Self {
            session: session.map(SessionId::new).transpose()?,
            transcript: text("/transcript_path").map(PathBuf::from),
            folder: first(FOLDER).map(PathBuf::from),
            // Gemini CLI puts the words of hooks there, in a run without a terminal before the first prompt.
            prompt: marker::without_host_context(first(PROMPT).unwrap_or_default()),
            start: match text("/source") {
                Some("resume") => Start::Resume,
                Some("clear") => Start::Clear,
                Some("compact") => Start::Compact,
                _ => Start::Startup,
            },
            said: said.into_iter().map(|message| of_session(message, session)).collect(),
        })
    }
}

/// Returns a message of the words, if there are any. The turn names it, so that an event that comes twice is stored once.
fn words(role: &str, content: Option<&str>, turn: Option<&str>) -> Vec<Map<String, Value>> {
    let message: Option<Map<String, Value>> = content.map(|content| {
        let turn = turn.map(|turn| ("id", format!("{turn} {role}")));
        let fields = [("role", role.to_owned()), ("content", content.to_owned())].into_iter().chain(turn);
        fields.map(|(field, text)| (field.to_owned(), text.into())).collect()
    });
    message.into_iter().collect()
}

fn messages(document: &Value) -> Vec<Map<String, Value>> {
    let all = document.pointer(MESSAGES).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(Value::as_object).cloned().collect()
}

fn of_session(mut message: Map<String, Value>, session: Option<&str>) -> Map<String, Value> {
    if let Some(session) = session {
        message.insert("session_id".to_owned(), session.into());
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::host::Host;

    fn read(host: &str, event: Event, text: &str) -> Result<Input> {
        let host = Host::named(host).unwrap();
        Input::new(text.as_bytes(), (host, host.hooks.as_ref().unwrap(), event))
    }

    #[test]
    fn every_field_may_be_missing_and_types_that_are_wrong_count_as_missing() {
        let text = "{\"session_id\": 7, \"cwd\": null, \"user_prompt\": \"x\", \"new\": {}}";
        let input = read("claude-code", Event::UserPromptSubmit, text).unwrap();
        assert_eq!((input.session, input.folder, input.prompt.as_str()), (None, None, "x"));
        assert_eq!((input.start, input.said.len()), (Start::Startup, 0));
        for broken in ["", "[]", "{", "\"text\"", "{\"session_id\": \"a\"} and more"] {
            assert!(read("claude-code", Event::Stop, broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_words_of_hooks_are_no_part_of_a_prompt() {
        let text = "{\"prompt\": \"<hook_context>old</hook_context>\\n\\nwhich port?<hook_context>more</hook_context>\"}";
        let input = read("gemini-cli", Event::UserPromptSubmit, text).unwrap();
        assert_eq!(input.prompt.trim(), "which port?");
    }

    #[test]
    fn words_and_messages_are_taken_from_hosts_without_a_transcript() {
        let prompt = "{\"conversation_id\": \"c\", \"generation_id\": \"g\", \"prompt\": \"we use pnpm\", \
                      \"workspace_roots\": [\"/shop\", \"/other\"]}";
        let input = read("cursor", Event::UserPromptSubmit, prompt).unwrap();
        assert_eq!(input.folder.as_deref(), Some(std::path::Path::new("/shop")));
        let said = Value::from(input.said);
        let message = json!({"role": "user", "content": "we use pnpm", "id": "g user", "session_id": "c"});
        assert_eq!(said, json!([message]));
        assert!(read("cursor", Event::Stop, prompt).unwrap().said.is_empty(), "an answer has its own field");
        let turn = "{\"session_id\": \"s\", \"messages\": [{\"id\": \"m\", \"role\": \"user\", \"content\": \"hi\"}, 7]}";
        let said = Value::from(read("opencode", Event::Stop, turn).unwrap().said);
        assert_eq!(said, json!([{"id": "m", "role": "user", "content": "hi", "session_id": "s"}]));
        assert!(
            read("codex", Event::Stop, turn).unwrap().said.is_empty(),
            "its transcript is the one source"
        );
    }
}
