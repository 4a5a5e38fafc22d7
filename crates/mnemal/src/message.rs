//! What a host logs, in the shape it has at hand.

use std::fmt::Write as _;

use mnemal_core::{
    AgentId, ChannelId, EventId, EventKind, InstallationKey, Level, Metadata, NewEvent, Origin, Result,
    SessionId, Speaker, Timestamp, ToolName, UserId, Zone,
};
use mnemal_events::LONGEST_KEY;
use mnemal_extract::{SpeakerLabel, speaker_label};

/// Session of a write that names none. Source: SURFACES 1.1.
pub(crate) const DEFAULT_SESSION: &str = "default";
/// Channel of a write that names none. Source: SURFACES 1.1.
pub(crate) const DEFAULT_CHANNEL: &str = "lib";

/// One turn, call, result or observation; what is left out is filled in from the `Memory` that logs it.
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
    /// Makes a turn of the user: the words that the host captured from the person itself.
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(EventKind::UserMessage, Origin::UserDirect, content)
    }

    /// Makes a turn of the agent.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(EventKind::AssistantMessage, Origin::Assistant, content)
    }

    /// Makes a call of a tool; the content is its arguments as the host has them.
    pub fn tool_call(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolCall { tool }, Origin::Assistant, content)
    }

    /// Makes an answer of a tool.
    pub fn tool_result(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolResult { tool, ok: true }, Origin::ToolExternal, content)
    }

    /// Makes a failure of a tool.
    pub fn tool_failure(tool: ToolName, content: impl Into<String>) -> Self {
        Self::of(EventKind::ToolResult { tool, ok: false }, Origin::ToolExternal, content)
    }

    /// Makes an observation of the host.
    pub fn observation(content: impl Into<String>) -> Self {
        Self::of(EventKind::Observation, Origin::ToolExternal, content)
    }

    /// Makes a document that was fed in.
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

    /// Says that nobody can tell whether these are the user's own words, as when a model's runtime hands them on: they have
    /// the origin of what a tool says, whoever speaks.
    pub fn hearsay(mut self) -> Self {
        self.origin = Origin::ToolExternal;
        self
    }

    /// Sets the conversation.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the place.
    pub fn channel(mut self, channel: ChannelId) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Sets the event that this one answers.
    pub fn parent(mut self, parent: EventId) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Sets who speaks; indexed with the text. What stands under the label of a machine, as `assistant` or `bot`, is no turn of the
    /// user.
    pub fn speaker(mut self, speaker: Speaker) -> Self {
        self.speaker = Some(speaker);
        self
    }

    /// Sets whose record it is.
    pub fn user_id(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    /// Sets which agent's record it is.
    pub fn agent_id(mut self, agent: AgentId) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets when it happened, and in which zone; without it the clock says.
    pub fn occurred_at(mut self, at: Timestamp, zone: Zone) -> Self {
        self.occurred_at = Some(at);
        self.zone = zone;
        self
    }

    /// Sets the zone in which it is said, whenever that is.
    pub fn zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Names the call, so that a repetition has one effect. The log keeps the name.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        (self.idempotency_key, self.is_name_hidden) = (Some(key.into()), false);
        self
    }

    /// The same with a name that somebody else chose and that may say whom the call is about: the log keeps its keyed hash.
    pub fn hidden_idempotency_key(mut self, key: impl Into<String>) -> Self {
        (self.idempotency_key, self.is_name_hidden) = (Some(key.into()), true);
        self
    }

    /// Adds a free field.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Fills in what is missing.
    pub(crate) fn into_event(mut self, defaults: &Defaults<'_>) -> Result<NewEvent> {
        let label = self.speaker.as_ref().and_then(|speaker| speaker_label(speaker.as_str()));
        if self.kind == EventKind::UserMessage && label.is_some_and(SpeakerLabel::is_machine) {
            // A machine is nobody's mouth, whatever role its host gives it.
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

/// What a message takes over from where it is logged.
pub(crate) struct Defaults<'a> {
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) user: Option<&'a UserId>,
    pub(crate) agent: Option<&'a AgentId>,
    pub(crate) now: Timestamp,
    /// What names of calls are hashed with.
    pub(crate) key: &'a InstallationKey,
}

/// Returns what the log keeps of a call's name, which may say whom the call is about: its keyed hash. One that the log refuses is
/// left to it.
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

/// A turn of the user, said plainly.
impl From<&str> for Message {
    fn from(content: &str) -> Self {
        Self::user(content)
    }
}
