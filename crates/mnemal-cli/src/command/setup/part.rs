//! Parts of a host's settings that are ours: their files, and their texts with and without them.

use std::path::PathBuf;

use anyhow::Result;
use mnemal::Error;
use serde_json::{Value, json};

use super::{block, edit, jsonc};
use crate::args::Setup;
use crate::host::{Event, Format, Hooks, Host, McpServer, ServerEntry, Spot, Wiring};

/// The program's name on the path.
const PROGRAM: &str = "mnemal";
/// The key of hooks in settings files, the same for all hosts.
const HOOKS: &str = "hooks";
/// The key of a file's version.
const VERSION: &str = "version";

/// The new state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The file has this content.
    Text(String),
    /// The file is removed, because nothing is left in it.
    Nothing,
}

/// The scope of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingsScope {
    /// Those of the user.
    Global,
    /// Those of the project in the working directory.
    Project,
}

/// A part of a host's settings.
#[derive(Clone, Copy, Debug)]
pub(super) enum SetupPart {
    /// The commands that run at events.
    Hooks(&'static Host, &'static Hooks),
    /// The MCP server.
    McpServer(&'static McpServer),
}

/// A value at a path of keys; an empty last key is an item of a list.
type Placed = (Vec<&'static str>, Value);

impl SetupPart {
    /// Returns the parts that a call asks for: the hooks of its host, and the server unless only the hooks are meant.
    ///
    /// # Errors
    /// `Invalid` for hooks that the host does not have.
    pub(super) fn of(call: &Setup) -> Result<Vec<Self>> {
        let (host, only_hooks) = (call.host, call.hooks);
        let hooks = host.hooks.as_ref().map(|hooks| Self::Hooks(host, hooks));
        if only_hooks && hooks.is_none() {
            return Err(Error::invalid(format!("{} has no hooks; leave --hooks out", host.title)).into());
        }
        let server = (!only_hooks).then_some(Self::McpServer(&host.server));
        Ok(hooks.into_iter().chain(server).collect())
    }

    /// Returns the files in which the part may be, the one for a new part first.
    ///
    /// # Errors
    /// When a folder is unknown.
    pub(super) fn files(self, reach: SettingsScope) -> Result<Vec<PathBuf>> {
        let spots = self.spots(reach).iter().map(|spot| spot.path()).collect::<Result<Vec<_>>>()?;
        let (mut there, missing): (Vec<_>, Vec<_>) = spots.into_iter().partition(|path| path.exists());
        there.extend(missing);
        Ok(there)
    }

    fn spots(self, reach: SettingsScope) -> &'static [Spot] {
        match (self, reach) {
            (Self::Hooks(_, hooks), SettingsScope::Global) => hooks.user,
            (Self::Hooks(_, hooks), SettingsScope::Project) => hooks.project,
            (Self::McpServer(server), SettingsScope::Global) => server.user,
            (Self::McpServer(server), SettingsScope::Project) => server.project,
        }
    }

    /// Adds our missing entries; `None` if the text cannot be edited. Without a text the file is created.
    pub(super) fn added(self, text: Option<&str>) -> Option<String> {
        match self {
            Self::Hooks(_, Hooks { wiring: Wiring::Plugin(program), .. }) => match text {
                Some(text) => is_our_plugin(text, program).then(|| (*program).to_owned()),
                None => Some((*program).to_owned()),
            },
            Self::McpServer(server) if server.format == Format::Toml => {
                block::added(text, [server.key, PROGRAM], &server_entry(server.entry))
            }
            _ => self.put(text),
        }
    }

    /// Removes our entries; `None` if the text cannot be parsed.
    pub(super) fn removed(self, text: &str) -> Option<After> {
        match self {
            Self::Hooks(_, Hooks { wiring: Wiring::Plugin(program), .. }) => {
                let is_ours = is_our_plugin(text, program);
                Some(if is_ours { After::Nothing } else { After::Text(text.to_owned()) })
            }
            Self::McpServer(server) if server.format == Format::Toml => {
                block::removed(text, [server.key, PROGRAM], &server_entry(server.entry))
            }
            _ => self.taken(text),
        }
    }

    /// Adds the entries to JSON; `None` unless all of them can be read back.
    fn put(self, text: Option<&str>) -> Option<String> {
        let mut text = text.map(str::to_owned);
        for (path, value) in self.entries() {
            // An earlier version ran in the background of the client, which may end first.
            let mended = text.as_deref().and_then(|text| {
                edit::remove(text, &path, &|found| self.is_ours(found, &value) && runs_beside(found))
            });
            text = Some(match mended.or(text) {
                Some(text) if self.has(&text, &path, &value) => text,
                Some(text) => edit::insert(&text, &path, &value)?,
                None => edit::new_file(&path, &value),
            });
        }
        let mut text = text?;
        if let Some(version) = self.version()
            && jsonc::JsoncNode::read(&text)?.member(VERSION).is_none()
        {
            text = edit::insert(&text, &[VERSION], &version)?;
        }
        self.entries().iter().all(|(path, value)| self.has(&text, path, value)).then_some(text)
    }

    /// Removes the entries from JSON.
    fn taken(self, text: &str) -> Option<After> {
        let version =
            self.version().filter(|_| is_version_ours(text)).map(|version| (vec![VERSION], version));
        let mut now = text.to_owned();
        for (path, value) in self.entries().into_iter().rev().chain(version) {
            // Our version is of no use without hooks, and stands for those of others else.
            if path == [VERSION] && jsonc::JsoncNode::read(&now)?.member(HOOKS).is_some() {
                continue;
            }
            while let Some(less) = edit::remove(&now, &path, &|found| self.is_ours(found, &value)) {
                if edit::is_bare(&less, &now) {
                    return Some(After::Nothing);
                }
                now = less;
            }
        }
        jsonc::JsoncNode::read(&now)?;
        Some(After::Text(now))
    }

    fn entries(self) -> Vec<Placed> {
        match self {
            Self::McpServer(server) => vec![(vec![server.key, PROGRAM], server_entry(server.entry))],
            Self::Hooks(host, hooks) => {
                let entry = |(name, event): &(&'static str, Event)| {
                    let command = format!("{PROGRAM} hook {} {name}", host.name);
                    (vec![HOOKS, *name, ""], hook_entry(hooks, &command, *event))
                };
                hooks.events.iter().map(entry).collect()
            }
        }
    }

    /// Returns the version that the file must state.
    fn version(self) -> Option<Value> {
        match self {
            Self::Hooks(_, Hooks { wiring: Wiring::Commands { version }, .. }) => Some((*version).into()),
            _ => None,
        }
    }

    /// Whether an entry is ours; hooks are, even with changed limits.
    fn is_ours(self, found: &Value, value: &Value) -> bool {
        match self {
            Self::Hooks(..) if value.is_object() => {
                !commands(value).is_empty() && commands(found) == commands(value)
            }
            _ => found == value,
        }
    }

    /// Whether our entry exists already.
    fn has(self, text: &str, path: &[&str], value: &Value) -> bool {
        edit::remove(text, path, &|found| self.is_ours(found, value)).is_some()
    }
}

fn server_entry(entry: ServerEntry) -> Value {
    match entry {
        ServerEntry::Plain => json!({"command": PROGRAM, "args": ["mcp"]}),
        ServerEntry::Typed => json!({"type": "stdio", "command": PROGRAM, "args": ["mcp"]}),
        ServerEntry::Local => json!({"type": "local", "command": [PROGRAM, "mcp"]}),
    }
}

/// Returns the entry of an event.
///
/// Every hook runs in the foreground: `claude -p` of version 2.1.197 kills background hooks when it ends, so nothing would be
/// captured.
fn hook_entry(hooks: &Hooks, command: &str, event: Event) -> Value {
    let seconds = hooks.patience(event);
    match hooks.wiring {
        Wiring::Groups { per_second, .. } => {
            json!({"hooks": [{"type": "command", "command": command, "timeout": seconds * per_second}]})
        }
        Wiring::Commands { .. } | Wiring::Plugin(_) => json!({"command": command, "timeout": seconds}),
    }
}

/// Returns the commands of a hook, or of a group of hooks.
fn commands(entry: &Value) -> Vec<&Value> {
    let group = entry.get(HOOKS).and_then(Value::as_array);
    let hooks = group.map_or_else(|| std::slice::from_ref(entry), Vec::as_slice);
    hooks.iter().filter_map(|hook| hook.get("command")).collect()
}

/// Whether the client runs a hook in the background.
fn runs_beside(group: &Value) -> bool {
    let hooks = group.get(HOOKS).and_then(Value::as_array);
    hooks.is_some_and(|hooks| hooks.iter().any(|hook| hook.get("async") == Some(&Value::Bool(true))))
}

/// Whether the version of a file can be ours, which is inserted after the hooks.
fn is_version_ours(text: &str) -> bool {
    let Some(root) = jsonc::JsoncNode::read(text) else { return false };
    let start = |key: &str| root.member(key).map(|member| member.start);
    start(HOOKS).zip(start(VERSION)).is_some_and(|(hooks, version)| hooks < version)
}

/// Whether a plugin file is of this or another version of ours, which has the same first line.
fn is_our_plugin(text: &str, program: &str) -> bool {
    text.lines().next() == program.lines().next()
}
