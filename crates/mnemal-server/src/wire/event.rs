//! Events, their acknowledgements, and their sessions.

use mnemal::events::{Ack, Durability, ReleaseOutcome};
use mnemal::recall::ReadMark;
use mnemal_core::{Body, Decision, Event, EventId, EventKind, SessionSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::fields::{Fields, event_fields};

/// An event of the log.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct EventForm {
    /// Its id.
    id: String,
    /// Its place in the log.
    seq: u64,
    /// `message`, `tool_call`, `tool_result`, `observation`, `document`, `decision`, `operation` or `erased`.
    r#type: &'static str,
    /// Who speaks: `user`, `assistant`, `tool`, `document` or `decision`.
    role: &'static str,
    /// `inbound` from people and the world, `outbound` from the agent, or `internal`.
    direction: &'static str,
    /// The words; none when it is erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The tool of a call or result.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// Whether a result is a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    /// The event that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<String>,
    /// The name of who speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Where it takes place.
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    /// The person whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The agent whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// Who put the words in.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    /// How far it may be believed.
    trust: &'static str,
    /// What it may become.
    level: &'static str,
    /// The rule that held it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<String>,
    /// What its writer added.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Fields>,
    /// When it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    occurred_at: Option<String>,
    /// When it was recorded.
    recorded_at: String,
    /// When it was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    erased_at: Option<String>,
    /// What somebody decided about the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    /// What the dream did.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
    /// The decision that took it back; of what the dream did and of decisions about facts, entities and releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_by: Option<String>,
    /// How far notes and facts are read in it: `pending`, `complete`, `skipped` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    extraction: Option<&'static str>,
}

impl EventForm {
    /// Returns the form of an event with its extraction status.
    pub fn read(event: &Event, mark: &ReadMark) -> Self {
        Self { extraction: Some(mark.of(event).as_str()), ..Self::from(event) }
    }

    /// Adds the decision that took it back.
    pub(crate) fn undone_by(self, decision: Option<&EventId>) -> Self {
        Self { undone_by: decision.map(ToString::to_string), ..self }
    }
}

impl From<&Event> for EventForm {
    fn from(event: &Event) -> Self {
        let kept = event.body();
        let said = kept.map(|kept| &kept.kind);
        let (tool_name, ok) = match said {
            Some(EventKind::ToolCall { tool }) => (Some(tool.to_string()), None),
            Some(EventKind::ToolResult { tool, ok }) => (Some(tool.to_string()), Some(*ok)),
            _ => (None, None),
        };
        let (decision, operation) = match said {
            Some(EventKind::Decision(decision)) => (Some(verb(decision)), None),
            Some(EventKind::Operation(operation)) => (None, Some(operation.kind.as_str())),
            _ => (None, None),
        };
        Self {
            id: event.id.to_string(),
            seq: event.seq.0,
            r#type: said.map_or("erased", kind),
            role: event.role.as_str(),
            direction: said.map_or("internal", direction),
            content: kept.map(|kept| kept.content.clone()),
            tool_name,
            ok,
            parent_id: kept.and_then(|kept| kept.parent).map(|id| id.to_string()),
            speaker: kept.and_then(|kept| kept.speaker.as_ref()).map(ToString::to_string),
            session: kept.map(|kept| kept.session.to_string()),
            channel: kept.map(|kept| kept.channel.to_string()),
            user: kept.and_then(|kept| kept.user.as_ref()).map(ToString::to_string),
            agent: kept.and_then(|kept| kept.agent.as_ref()).map(ToString::to_string),
            origin: kept.map(|kept| kept.origin.as_str()),
            trust: event.trust.as_str(),
            level: event.level.as_str(),
            quarantined: event.quarantined.as_ref().map(ToString::to_string),
            metadata: kept.filter(|kept| !kept.metadata.is_empty()).map(|kept| event_fields(&kept.metadata)),
            occurred_at: kept.map(|kept| kept.occurred_at.to_string()),
            recorded_at: event.recorded_at.to_string(),
            erased_at: match event.body {
                Body::Erased { at } => Some(at.to_string()),
                Body::Present(_) => None,
            },
            decision,
            operation,
            undone_by: None,
            extraction: None,
        }
    }
}

pub(super) fn kind(of: &EventKind) -> &'static str {
    match of {
        EventKind::UserMessage | EventKind::AssistantMessage => "message",
        EventKind::ToolCall { .. } => "tool_call",
        EventKind::ToolResult { .. } => "tool_result",
        EventKind::Observation => "observation",
        EventKind::Document => "document",
        EventKind::Decision(_) => "decision",
        EventKind::Operation(_) => "operation",
        _ => "other",
    }
}

fn direction(of: &EventKind) -> &'static str {
    match of {
        EventKind::UserMessage
        | EventKind::Observation
        | EventKind::Document
        | EventKind::ToolResult { .. } => "inbound",
        EventKind::AssistantMessage | EventKind::ToolCall { .. } => "outbound",
        _ => "internal",
    }
}

fn verb(of: &Decision) -> &'static str {
    match of {
        Decision::Remember(_) => "remember",
        Decision::Archive(_) => "archive",
        Decision::Restore(_) => "restore",
        Decision::Reject(_) => "reject",
        Decision::Forget(_) => "forget",
        Decision::Fact(_) => "correct",
        Decision::Merge { .. } => "merge",
        Decision::Split { .. } => "split",
        Decision::Undo { .. } => "undo",
        Decision::Cardinality { .. } => "cardinality",
        Decision::Release { .. } => "release",
        Decision::Feedback { .. } => "feedback",
        _ => "other",
    }
}

/// An acknowledged event.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ack")]
pub struct AckForm {
    /// Its id.
    pub id: String,
    /// Its place in the log.
    seq: u64,
    /// `disk` survives a power cut, `process` the end of the process.
    durability: &'static str,
    /// Whether it was there already.
    duplicate: bool,
    /// Secrets that were replaced.
    redactions: u32,
    /// The rule that holds it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<String>,
}

impl From<&Ack> for AckForm {
    fn from(ack: &Ack) -> Self {
        Self {
            id: ack.id.to_string(),
            seq: ack.seq.0,
            durability: durability(ack.durability),
            duplicate: ack.duplicate,
            redactions: ack.redactions,
            quarantined: ack.quarantined.as_ref().map(ToString::to_string),
        }
    }
}

/// What a rule holds back, and may be used.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Released")]
pub struct ReleasedForm {
    /// What is held back, and stays so.
    pub id: String,
    /// What says it again at its own level, and is found.
    pub copy_id: String,
    /// The decision in the log; to take it back holds it back again.
    pub event_id: String,
    /// Whether it was decided now, and not before.
    pub created: bool,
}

impl From<&ReleaseOutcome> for ReleasedForm {
    fn from(released: &ReleaseOutcome) -> Self {
        Self {
            id: released.event.to_string(),
            copy_id: released.copy.to_string(),
            event_id: released.decision.to_string(),
            created: released.created,
        }
    }
}

/// Returns the durability of an acknowledgement.
pub fn durability(of: Durability) -> &'static str {
    match of {
        Durability::Disk => "disk",
        Durability::Process => "process",
        Durability::Dropped => "dropped",
    }
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub struct SessionForm {
    /// Its id.
    pub id: String,
    /// Where it takes place.
    pub channel: String,
    /// Its events.
    pub event_count: u64,
    /// When it began.
    pub first_at: String,
    /// When the newest event happened.
    pub last_at: String,
}

impl From<&SessionSummary> for SessionForm {
    fn from(one: &SessionSummary) -> Self {
        Self {
            id: one.session.to_string(),
            channel: one.channel.to_string(),
            event_count: one.events,
            first_at: one.first_at.to_string(),
            last_at: one.last_at.to_string(),
        }
    }
}
