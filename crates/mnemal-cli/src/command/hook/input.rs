//! The input of a hook: one JSON object; every field is optional, and unknown fields are ignored.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use mnemal::SessionId;
use serde_json::{Map, Value};

use super::event::Event;

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
    name: Option<String>,
}

/// Reads the client's document, up to the maximum size.
pub(super) fn read(from: impl Read) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(LONGEST).read_to_end(&mut text).context("cannot read stdin")?;
    Ok(text)
}

impl Input {
    /// Parses the document; the error never quotes it.
    pub(super) fn new(text: &[u8]) -> Result<Self> {
        let object: Option<Map<String, Value>> = serde_json::from_slice(text).ok();
        let object = object.context("stdin holds no JSON object")?;
        let text = |field: &str| object.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        Ok(Self {
            session: text("session_id").map(SessionId::new).transpose()?,
            transcript: text("transcript_path").map(PathBuf::from),
            folder: text("cwd").map(PathBuf::from),
            prompt: text("prompt").or(text("user_prompt")).unwrap_or_default().to_owned(),
            start: match text("source") {
                Some("resume") => Start::Resume,
                Some("clear") => Start::Clear,
                Some("compact") => Start::Compact,
                _ => Start::Startup,
            },
            name: text("hook_event_name").map(str::to_owned),
        })
    }

    /// Returns the event's name for the answer, in the client's spelling.
    pub(super) fn event_name(&self, event: Event) -> String {
        let said = self.name.as_deref().filter(|name| Event::from_name(name) == Some(event));
        said.unwrap_or(event.as_str()).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_may_be_missing_and_types_that_are_wrong_count_as_missing() {
        let input =
            Input::new(b"{\"session_id\": 7, \"cwd\": null, \"user_prompt\": \"x\", \"new\": {}}").unwrap();
        assert_eq!((input.session, input.folder, input.prompt.as_str()), (None, None, "x"));
        assert_eq!(input.start, Start::Startup);
        for broken in ["", "[]", "{", "\"text\"", "{\"session_id\": \"a\"} and more"] {
            assert!(Input::new(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
