//! The answer to a client.

use serde::Serialize;

/// An answer; the empty one is `{}`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reply {
    /// For the model, added to the user's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Output>,
    /// For the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    hook_event_name: String,
    additional_context: String,
}

impl Reply {
    /// Creates an answer that injects a block; empty for an empty block.
    pub(super) fn injecting(event_name: String, block: String) -> Self {
        let output = Output { hook_event_name: event_name, additional_context: block };
        let has_text = !output.additional_context.is_empty();
        Self { hook_specific_output: has_text.then_some(output), system_message: None }
    }

    /// Adds a message for the person.
    pub(super) fn telling(mut self, message: Option<String>) -> Self {
        self.system_message = message;
        self
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
