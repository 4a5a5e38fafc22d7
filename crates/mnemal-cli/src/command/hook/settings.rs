//! The section `[hooks]` of the settings.

use serde::{Deserialize, Serialize};

/// Settings of hooks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HookSettings {
    /// Whether text is injected.
    pub(super) recall: bool,
    /// Maximum length of an injected text, in tokens.
    pub(super) recall_tokens: u32,
    /// Maximum number of recalled lines for a prompt.
    pub(super) recall_items: usize,
    /// Time limit of an injecting event, in milliseconds from the start of the process.
    pub(super) deadline_ms: u64,
    /// Whether conversations are captured.
    pub(super) capture: Capture,
    /// Roles that are captured.
    pub(super) capture_roles: Vec<CapturedRole>,
}

/// Whether conversations are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Capture {
    /// When a turn ends, before a compaction, and at the end of a session.
    Turn,
    /// Never.
    Off,
}

/// A role that can be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CapturedRole {
    User,
    Assistant,
    Tool,
}

/// Maximum length of an injected text, in tokens. Source: own default, little of a typical context window.
const RECALL_TOKENS: u32 = 600;
/// Maximum number of recalled lines. Source: own default; more distract a model.
const RECALL_ITEMS: usize = 6;
/// Time limit, in milliseconds. Source: own default; a person does not notice it before an answer.
const DEADLINE_MS: u64 = 800;

impl HookSettings {
    /// Returns the limits of injection, in the form of a settings file.
    pub(crate) fn injected(&self) -> toml::Table {
        let numbers = [
            ("recall_tokens", i64::from(self.recall_tokens)),
            ("recall_items", i64::try_from(self.recall_items).unwrap_or(i64::MAX)),
        ];
        numbers.into_iter().map(|(key, number)| (key.to_owned(), number.into())).collect()
    }
}

impl Default for HookSettings {
    fn default() -> Self {
        Self {
            recall: true,
            recall_tokens: RECALL_TOKENS,
            recall_items: RECALL_ITEMS,
            deadline_ms: DEADLINE_MS,
            capture: Capture::Turn,
            capture_roles: vec![CapturedRole::User, CapturedRole::Assistant, CapturedRole::Tool],
        }
    }
}

impl From<CapturedRole> for mnemal::Role {
    fn from(role: CapturedRole) -> Self {
        match role {
            CapturedRole::User => Self::User,
            CapturedRole::Assistant => Self::Assistant,
            CapturedRole::Tool => Self::Tool,
        }
    }
}
