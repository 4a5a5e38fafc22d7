//! The answer to a client.

use serde::Serialize;

use super::HookTarget;
use crate::host::{Event, ReplyShape};

/// An answer: what is injected, and what the person is told.
#[derive(Debug, Default)]
pub(super) struct Reply {
    block: Option<String>,
    message: Option<String>,
}

/// The form of Claude Code, Codex, Gemini CLI and our plugins; the empty one is `{}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Nested<'a> {
    /// For the model, added to the user's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Output<'a>>,
    /// For the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// The form of Cursor. Source: its documentation of hooks, and for the context of a prompt its version 3.20.
#[derive(Debug, Serialize)]
struct Flat<'a> {
    /// Whether a prompt is sent; only the event of a prompt asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

impl Reply {
    /// Creates an answer that injects a block; empty for an empty block.
    pub(super) fn injecting(block: String) -> Self {
        Self { block: Some(block).filter(|block| !block.is_empty()), message: None }
    }

    /// Adds a message for the person.
    pub(super) fn telling(mut self, message: Option<String>) -> Self {
        self.message = message;
        self
    }

    /// Writes the answer in the form of the host.
    pub(super) fn json(&self, (_, hooks, event): HookTarget) -> String {
        let block = self.block.as_deref();
        let written = match hooks.answer {
            ReplyShape::Nested => {
                let output = |text| Output { hook_event_name: hooks.name(event), additional_context: text };
                let hook_specific_output = block.map(output);
                serde_json::to_string(&Nested {
                    hook_specific_output,
                    system_message: self.message.as_deref(),
                })
            }
            ReplyShape::Flat => {
                let goes_on = (event == Event::UserPromptSubmit).then_some(true);
                serde_json::to_string(&Flat { r#continue: goes_on, additional_context: block })
            }
        };
        written.unwrap_or_else(|_| "{}".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;

    fn written(host: &str, event: Event, block: &str) -> String {
        let host = Host::named(host).unwrap();
        Reply::injecting(block.to_owned()).json((host, host.hooks.as_ref().unwrap(), event))
    }

    #[test]
    fn each_host_is_answered_in_its_form() {
        let nested = |name: &str| {
            format!(
                "{{\"hookSpecificOutput\":{{\"hookEventName\":\"{name}\",\"additionalContext\":\"known\"}}}}"
            )
        };
        for (host, event, expect) in [
            ("claude-code", Event::UserPromptSubmit, nested("UserPromptSubmit")),
            ("codex", Event::SessionStart, nested("SessionStart")),
            ("gemini-cli", Event::UserPromptSubmit, nested("BeforeAgent")),
            ("cursor", Event::SessionStart, "{\"additional_context\":\"known\"}".to_owned()),
            (
                "cursor",
                Event::UserPromptSubmit,
                "{\"continue\":true,\"additional_context\":\"known\"}".to_owned(),
            ),
        ] {
            assert_eq!(written(host, event, "known"), expect, "{host}");
        }
        assert_eq!(written("codex", Event::Stop, ""), "{}");
        assert_eq!(written("cursor", Event::Stop, ""), "{}");
        assert_eq!(written("cursor", Event::UserPromptSubmit, ""), "{\"continue\":true}");
    }
}
