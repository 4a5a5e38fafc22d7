//! Settings files of Claude Code: hooks in its settings, and the MCP server in its own file.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::edit;
use crate::command::hook::{CLIENT, Event};
use crate::paths::variable;

/// The program's name on the path.
const PROGRAM: &str = "mnemal";

/// The new state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileState {
    /// The file has this content.
    Text(String),
    /// The file is removed, because nothing is left in it.
    Nothing,
}

/// The scope of the client's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsScope {
    /// Those of the user.
    Global,
    /// Those of the project in the working directory.
    Project,
}

/// A part of the client's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsPart {
    /// The commands that run at events.
    Hooks,
    /// The MCP server.
    Server,
}

impl SettingsPart {
    /// Returns the path of the settings file.
    pub(super) fn file(self, reach: SettingsScope) -> Result<PathBuf> {
        if reach == SettingsScope::Project {
            let folder = std::env::current_dir().context("there is no working directory")?;
            return Ok(match self {
                Self::Hooks => folder.join(".claude").join("settings.json"),
                Self::Server => folder.join(".mcp.json"),
            });
        }
        let home = || variable("HOME").map(PathBuf::from).context("there is no home directory");
        let own = variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        Ok(match (self, own) {
            (Self::Hooks, Some(own)) => own.join("settings.json"),
            (Self::Hooks, None) => home()?.join(".claude").join("settings.json"),
            (Self::Server, Some(own)) => own.join(".claude.json"),
            (Self::Server, None) => home()?.join(".claude.json"),
        })
    }

    /// Adds our missing entries; `None` if the text cannot be edited. Without a text the file is created.
    pub(super) fn added(self, text: Option<&str>) -> Option<String> {
        let mut text = text.map(str::to_owned);
        for (path, value) in self.entries() {
            // An earlier version ran in the background of the client, which may end first.
            let mended = text.as_deref().and_then(|text| {
                edit::remove(text, &path, &|found| is_ours(found, &value) && runs_beside(found))
            });
            text = Some(match mended.or(text) {
                Some(text) if has(&text, &path, &value) => text,
                Some(text) => edit::insert(&text, &path, &value)?,
                None => edit::new_file(&path, &value),
            });
        }
        text
    }

    /// Removes our entries; `None` if the text cannot be parsed.
    pub(super) fn removed(self, text: &str) -> Option<FileState> {
        super::jsonc::JsoncNode::read(text)?;
        let mut now = text.to_owned();
        for (path, value) in self.entries().into_iter().rev() {
            while let Some(less) = edit::remove(&now, &path, &|found| is_ours(found, &value)) {
                if edit::is_bare(&less, &now) {
                    return Some(FileState::Nothing);
                }
                now = less;
            }
        }
        Some(FileState::Text(now))
    }

    fn entries(self) -> Vec<(Vec<&'static str>, Value)> {
        match self {
            Self::Server => {
                let server = json!({"type": "stdio", "command": PROGRAM, "args": ["mcp"]});
                vec![(vec!["mcpServers", PROGRAM], server)]
            }
            Self::Hooks => {
                Event::ALL.iter().map(|event| (vec!["hooks", event.as_str(), ""], group(*event))).collect()
            }
        }
    }
}

/// Returns the entry of an event. Source: Claude Code's hook settings, with time limits in seconds.
///
/// Every hook runs in the foreground: `claude -p` of version 2.1.197 kills background hooks when it ends, so nothing would be
/// captured.
fn group(event: Event) -> Value {
    let command = format!("{PROGRAM} hook {CLIENT} {}", event.as_str());
    let timeout = match event {
        Event::SessionStart | Event::UserPromptSubmit => 5,
        Event::Stop | Event::SubagentStop => 15,
        Event::PreCompact | Event::SessionEnd => 10,
    };
    json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]})
}

/// Whether an entry is ours, even with changed limits.
fn is_ours(found: &Value, value: &Value) -> bool {
    let commands = |group: &Value| -> Vec<Value> {
        let hooks = group.get("hooks").and_then(Value::as_array).cloned().unwrap_or_default();
        hooks.iter().filter_map(|hook| hook.get("command").cloned()).collect()
    };
    if value.get("hooks").is_some() { commands(found) == commands(value) } else { found == value }
}

/// Whether the client runs a hook in the background.
fn runs_beside(group: &Value) -> bool {
    let hooks = group.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|hooks| hooks.iter().any(|hook| hook.get("async") == Some(&Value::Bool(true))))
}

/// Whether our entry exists already.
fn has(text: &str, path: &[&str], value: &Value) -> bool {
    edit::remove(text, path, &|found| is_ours(found, value)).is_some()
}
