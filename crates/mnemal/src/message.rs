//! Messages that a host logs, in a shape that is easy to build.

use std::fmt::Write as _;

use mnemal_core::{
    AgentId, ChannelId, EventId, EventKind, InstallationKey, Level, Metadata, NewEvent, Origin, Result,
    SessionId, Speaker, Timestamp, ToolName, UserId, Zone,
};
use mnemal_events::LONGEST_KEY;
use mnemal_extract::{SpeakerLabel, speaker_label};

/// Session of a write that names none. Source: own choice.
pub(crate) const DEFAULT_SESSION: &str = "default";
/// Channel of a write that names none. Source: own choice, the name of this surface: the library.
pub(crate) const DEFAULT_CHANNEL: &str = "lib";

/// One turn, tool call, tool result or observation; missing fields are filled in from the `Memory` that logs it.
#[derive(Clone, Debug)]
#[must_use = "a message is not stored until it is logged"]
pub struct Message {
    pub(crate) kind: EventKind,
    pub(crate) origin: Origin,
    pub(crate) content: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) channel: Option<ChannelId>,
    pub(crate) parent: Option<EventId>,
    pub(crate) speaker: Option<Speaker>,
    pub(crate) user: Option<UserId>,
    pub(crate) agent: Option<AgentId>,
    pub(crate) occurred_at: Option<Timestamp>,
    pub(crate) zone: Zone,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) is_name_hidden: bool,
    pub(crate) metadata: Metadata,
}

impl Message {
    /// Creates a turn of the user: text that the host captured from the person directly.
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(EventKind::UserMessage, Origin::UserDirect, content)
    }

    /// Creates a turn of the agent.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(EventKind::AssistantMessage, Origin::Assistant, content)
    }

    /// Creates a tool call; the content is its arguments as the host has them.
    pub fn tool_call(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolCall { tool }, Origin::Assistant, content)
    }

    /// Creates a tool result.
    pub fn tool_result(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolResult { tool, ok: true }, Origin::ToolExternal, content)
    }

    /// Creates a tool failure.
    pub fn tool_failure(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolResult { tool, ok: false }, Origin::ToolExternal, content)
    }

    /// Creates an observation of the host.
    pub fn observation(content: impl Into<String>) -> Self {
        Self::of(EventKind::Observation, Origin::ToolExternal, content)
    }

    /// Creates a document that was ingested.
    pub fn document(content: impl Into<String>) -> Self {
        Self::of(EventKind::Document, Origin::Document, content)
    }

    pub(crate) fn of(kind: EventKind, origin: Origin, content: impl Into<String>) -> Self {
        Self {
            kind,
            origin,
            content: content.into(),
            session: None,
            channel: None,
            parent: None,
            speaker: None,
            user: None,
            agent: None,
            occurred_at: None,
            zone: Zone::utc(),
            idempotency_key: None,
            is_name_hidden: false,
            metadata: Metadata::new(),
        }
    }

    /// Marks the message as not verifiably the user's own words, as when a model passes them on: it gets the origin of tool
    /// output, whoever the speaker is.
    pub fn hearsay(mut self) -> Self {
        self.origin = Origin::ToolExternal;
        self
    }

    /// Sets the session.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the channel.
    pub fn channel(mut self, channel: ChannelId) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Sets the event that this one answers.
    pub fn parent(mut self, parent: EventId) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Sets the speaker; the name is indexed with the text. A message with the label of a machine, such as `assistant` or `bot`,
    /// is not a turn of the user.
    pub fn speaker(mut self, speaker: Speaker) -> Self {
        self.speaker = Some(speaker);
        self
    }

    /// Sets the user that the record belongs to.
    pub fn user_id(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    /// Sets the agent that the record belongs to.
    pub fn agent_id(mut self, agent: AgentId) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets the time and the zone in which it happened; the clock's time by default.
    pub fn occurred_at(mut self, at: Timestamp, zone: Zone) -> Self {
        self.occurred_at = Some(at);
        self.zone = zone;
        self
    }

    /// Sets the time zone; the time stays as it is.
    pub fn zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets an idempotency key: a repeated call has one effect. The log stores the key.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        (self.idempotency_key, self.is_name_hidden) = (Some(key.into()), false);
        self
    }

    /// Sets an idempotency key from elsewhere that may identify a person: the log stores its keyed hash.
    pub fn hidden_idempotency_key(mut self, key: impl Into<String>) -> Self {
        (self.idempotency_key, self.is_name_hidden) = (Some(key.into()), true);
        self
    }

    /// Adds a metadata field.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Converts it to an event, with the defaults for missing fields.
    pub(crate) fn into_event(mut self, defaults: &Defaults<'_>) -> Result<NewEvent> {
        let label = self.speaker.as_ref().and_then(|speaker| speaker_label(speaker.as_str()));
        if self.kind == EventKind::UserMessage && label.is_some_and(SpeakerLabel::is_machine) {
            // A machine does not speak for the user, whatever role its host sets.
            self.kind = EventKind::AssistantMessage;
            if self.origin.level() == Level::User {
                self.origin = Origin::Assistant;
            }
        }
        let session = self.session.or_else(|| defaults.session.cloned());
        let is_hidden = self.is_name_hidden;
        let name = self.idempotency_key.map(|name| if is_hidden { hidden(defaults.key, name) } else { name });
        Ok(NewEvent {
            kind: self.kind,
            content: self.content,
            session: session.map_or_else(|| SessionId::new(DEFAULT_SESSION), Ok)?,
            channel: self.channel.map_or_else(|| ChannelId::new(DEFAULT_CHANNEL), Ok)?,
            parent: self.parent,
            speaker: self.speaker,
            user: self.user.or_else(|| defaults.user.cloned()),
            agent: self.agent.or_else(|| defaults.agent.cloned()),
            occurred_at: self.occurred_at.unwrap_or(defaults.now),
            zone: self.zone,
            origin: self.origin,
            idempotency_key: name,
            metadata: self.metadata,
        })
    }
}

/// The defaults of messages, from the memory that logs them.
pub(crate) struct Defaults<'a> {
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) user: Option<&'a UserId>,
    pub(crate) agent: Option<&'a AgentId>,
    pub(crate) now: Timestamp,
    /// The key of idempotency key hashes.
    pub(crate) key: &'a InstallationKey,
}

/// Returns the stored form of an idempotency key that may identify a person: its keyed hash. An invalid key is passed on
/// unchanged, and the log rejects it.
fn hidden(key: &InstallationKey, name: String) -> String {
    if name.is_empty() || name.len() > LONGEST_KEY || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return name;
    }
    let hash = key.hash("name of a call", &[name.as_bytes()]);
    hash.iter().take(16).fold("call:".to_owned(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// A turn of the user from a plain string.
impl From<&str> for Message {
    fn from(content: &str) -> Self {
        Self::user(content)
    }
}
