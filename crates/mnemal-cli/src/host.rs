//! Hosts: the programs with an agent that mnemal can be put into, what their settings look like, and what they tell a hook.

mod event;
mod spot;
mod table;

use std::time::Duration;

use mnemal::ImportFormat;

pub(crate) use self::event::Event;
pub(crate) use self::spot::Spot;
pub(crate) use self::table::HOSTS;

/// A program with an agent.
#[derive(Debug)]
pub(crate) struct Host {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// The MCP server in its settings.
    pub(crate) server: McpServer,
    /// Its hooks; `None` if it has none that carry a conversation.
    pub(crate) hooks: Option<Hooks>,
    /// What a person has to do after a change.
    pub(crate) then: Option<&'static str>,
}

/// The place and the form of the MCP server in the settings of a host.
#[derive(Debug)]
pub(crate) struct McpServer {
    /// Files of the user, newest first: the first one that exists is changed, else the first one is made.
    pub(crate) user: &'static [Spot],
    /// Files of a project, in the same way; empty if there are none.
    pub(crate) project: &'static [Spot],
    pub(crate) format: Format,
    /// The key of the table of servers.
    pub(crate) key: &'static str,
    pub(crate) entry: ServerEntry,
}

/// The format of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with optional comments and trailing commas.
    Json,
    Toml,
}

/// The form of an MCP server that is started as a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEntry {
    /// `command` and `args`.
    Plain,
    /// These, and `type = "stdio"`.
    Typed,
    /// `command` as a list, and `type = "local"`.
    Local,
}

/// Hooks of a host: where they are set up, and what it sends and expects.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// Files of the user, as for the server.
    pub(crate) user: &'static [Spot],
    /// Files of a project.
    pub(crate) project: &'static [Spot],
    pub(crate) wiring: Wiring,
    /// The events, in the host's spelling, in the order of a session.
    pub(crate) events: &'static [(&'static str, Event)],
    pub(crate) capture: Capture,
    pub(crate) answer: ReplyShape,
}

/// The form in which hooks are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wiring {
    /// Groups of commands below `hooks` and the event, with time limits in a part of a second, and a longest one in seconds at the
    /// end of a session.
    Groups { per_second: u32, end: u32 },
    /// Commands below `hooks` and the event, with time limits in seconds, in a file that states its version.
    Commands { version: u32 },
    /// A file of its own with this program.
    Plugin(&'static str),
}

/// The source of a host's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    /// The events name a transcript in this format.
    Transcript(ImportFormat),
    /// The events carry what was said: a prompt, or an answer.
    Words,
    /// The event at the end of a turn carries a list of messages.
    Messages,
}

/// The form of an answer to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyShape {
    /// `hookSpecificOutput`, as Claude Code introduced it.
    Nested,
    /// `additional_context`, as in Cursor.
    Flat,
}

/// Seconds between the end of a hook's work and the end of a host's patience. Source: own choice; enough to start a process and
/// to log why it ended.
const MARGIN: u32 = 1;

impl Host {
    /// Finds a host by its name on the command line.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.name == name)
    }
}

impl Hooks {
    /// Finds an event by the host's name for it; case and separators do not matter.
    pub(crate) fn event(&self, name: &str) -> Option<Event> {
        let bare = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
        self.events.iter().find(|(of_host, _)| bare(of_host) == bare(name)).map(|(_, event)| *event)
    }

    /// Returns the host's name for an event.
    pub(crate) fn name(&self, event: Event) -> &'static str {
        self.events.iter().find(|(_, known)| *known == event).map_or("", |(name, _)| *name)
    }

    /// Whether an event carries words that are captured while the host waits for its context.
    pub(crate) fn carries_words(&self, event: Event) -> bool {
        self.capture == Capture::Words && event == Event::UserPromptSubmit
    }

    /// Returns how long the host waits for an event, in seconds.
    pub(crate) fn patience(&self, event: Event) -> u32 {
        match self.wiring {
            Wiring::Groups { end, .. } if event == Event::SessionEnd => end,
            // The words are stored after the answer.
            _ if self.carries_words(event) => Event::Stop.patience(),
            _ => event.patience(),
        }
    }

    /// Returns how long a hook may work on an event where the host has a limit of its own, which no setting moves.
    pub(crate) fn most(&self, event: Event) -> Option<Duration> {
        match self.wiring {
            Wiring::Groups { end, .. } if event == Event::SessionEnd => {
                Some(Duration::from_secs(end.saturating_sub(MARGIN).into()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_host_has_a_name_of_its_own_and_settings_of_the_user() {
        let names: BTreeSet<&str> = HOSTS.iter().map(|host| host.name).collect();
        assert_eq!(names.len(), HOSTS.len());
        for host in &HOSTS {
            assert!(!host.server.user.is_empty(), "{}", host.name);
            assert!(Host::named(host.name).is_some());
        }
        assert!(Host::named("emacs").is_none());
    }

    #[test]
    fn every_event_is_known_by_the_name_of_its_host_in_each_spelling() {
        for hooks in HOSTS.iter().filter_map(|host| host.hooks.as_ref()) {
            for (name, event) in hooks.events {
                assert_eq!(hooks.event(name), Some(*event));
                assert_eq!(hooks.event(hooks.name(*event)), Some(*event));
            }
            assert_eq!(hooks.event("pre-tool-use"), None);
        }
        let claude = Host::named("claude-code").unwrap().hooks.as_ref().unwrap();
        assert_eq!(claude.event("user-prompt-submit"), Some(Event::UserPromptSubmit));
        let gemini = Host::named("gemini-cli").unwrap().hooks.as_ref().unwrap();
        assert_eq!(gemini.event("BeforeAgent"), Some(Event::UserPromptSubmit));
        assert_eq!(gemini.event("UserPromptSubmit"), None);
    }
}
