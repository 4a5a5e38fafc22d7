//! One turn of a session, from the log or from the host.

use mnemal_core::{ChannelId, Event, EventId, Level, Result, Role, Span, Speaker, Timestamp, Zone};
use mnemal_summaries::{Utterance, compress as form};
use mnemal_text::Language;

use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::{DEFAULT_CHANNEL, Message};

/// A turn as it appears in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTurn {
    /// The event; `None` in an engine without a log.
    pub event: Option<EventId>,
    /// The speaker: a name, else `user` or `agent`.
    pub speaker: String,
    /// The text.
    pub text: String,
}

/// One turn with the fields that its entry needs.
#[derive(Clone, Debug)]
pub(super) struct SessionTurn {
    pub(super) spoken: PromptTurn,
    pub(super) role: Role,
    pub(super) level: Level,
    pub(super) echo: Vec<Span>,
    pub(super) at: (Timestamp, Zone),
    pub(super) channel: ChannelId,
}

impl PromptTurn {
    pub(super) fn line(&self) -> String {
        form::line(&Utterance { speaker: Some(&self.speaker), text: &self.text, echo: &[] })
    }
}

impl SessionTurn {
    pub(super) fn logged(event: &Event) -> Option<Self> {
        let kept = event.body()?;
        Some(Self {
            spoken: prompt_turn(Some(event.id), kept.speaker.as_ref(), event.role, &kept.content),
            role: event.role,
            level: event.level,
            echo: event.echo.clone(),
            at: (kept.occurred_at, kept.zone.clone()),
            channel: kept.channel.clone(),
        })
    }

    pub(super) fn from_message(message: Message, memory: &Memory) -> Result<Self> {
        let role = message.kind.role();
        Ok(Self {
            spoken: prompt_turn(None, message.speaker.as_ref(), role, &message.content),
            role,
            level: message.origin.level(),
            echo: Vec::new(),
            at: (message.occurred_at.unwrap_or_else(|| memory.engine.now()), message.zone),
            channel: message.channel.map_or_else(|| ChannelId::new(DEFAULT_CHANNEL), Ok)?,
        })
    }

    pub(super) fn whole(&self) -> Utterance<'_> {
        Utterance { speaker: Some(&self.spoken.speaker), text: &self.spoken.text, echo: &self.echo }
    }
}

fn prompt_turn(event: Option<EventId>, speaker: Option<&Speaker>, role: Role, text: &str) -> PromptTurn {
    let name = if role == Role::Assistant { "agent" } else { "user" };
    let speaker = speaker.map_or(name, Speaker::as_str).to_owned();
    PromptTurn { event, speaker, text: text.to_owned() }
}

/// Returns the time and the zone of the last turn.
pub(super) fn ends(turns: &[SessionTurn]) -> (Timestamp, Zone) {
    turns.last().map_or_else(|| (Timestamp::EPOCH, Zone::utc()), |turn| turn.at.clone())
}

/// Returns extracted sentences of the turns; content of level external is excluded, so that it does not become a statement of the
/// engine.
pub(super) fn shortened(engine: &Engine, turns: &[SessionTurn]) -> String {
    let said: Vec<Utterance<'_>> =
        turns.iter().filter(|turn| turn.level > Level::External).map(SessionTurn::whole).collect();
    let language = Language::from_code(&engine.settings().recall.language).unwrap_or(Language::English);
    form::shorten(language, &said)
}
