//! Serialized form of the export lines. The format is stable for as long as its version number stands.

use mnemal_core::{
    AgentId, Cardinality, Category, ChannelId, Decision, Error, Event, EventId, EventKind, FactChoice,
    FactDecision, Forget, Importance, Judgment, LearningKind, Metadata, NewEvent, NoteKey, NoteTarget,
    Origin, Predicate, Remember, Result, Role, RuleId, Selector, SessionId, Source, Span, Speaker, Tag,
    Tombstone, TombstoneHash, ToolName, UserId, Value, WorldTime, Zone,
};
use serde::{Deserialize, Serialize};

use super::operation::OperationLine;
use crate::import::parse_time;
use crate::log::RestoreRecord;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: String,
    pub(crate) version: u32,
    pub(crate) space: String,
    pub(crate) exported_at: String,
    pub(crate) counts: Counts,
}

/// How many lines of each kind follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) tombstones: u64,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ExportLine {
    Tombstone(TombstoneLine),
    Event(Box<EventLine>),
    Erased(ErasedLine),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TombstoneLine {
    event: String,
    body: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sentences: Vec<String>,
    at: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasedLine {
    id: String,
    recorded_at: String,
    role: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventLine {
    id: String,
    recorded_at: String,
    kind: ExportKind,
    content: String,
    session: String,
    channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    occurred_at: String,
    zone: (String, i32),
    origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quarantined: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    echo: Vec<(u32, u32)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ExportKind {
    UserMessage,
    AssistantMessage,
    ToolCall {
        tool: String,
    },
    ToolResult {
        tool: String,
        ok: bool,
    },
    Observation,
    Document,
    Remember(Note),
    Archive(TargetLine),
    Restore(TargetLine),
    Reject(TargetLine),
    ForgetEvents {
        selected: Vec<String>,
        events: Vec<String>,
    },
    ForgetKey {
        key: String,
        events: Vec<String>,
    },
    ForgetSession {
        session: String,
        events: Vec<String>,
    },
    ForgetUser {
        user: String,
        events: Vec<String>,
    },
    Fact(FactLine),
    Merge {
        one: String,
        into: String,
    },
    Split {
        one: String,
        from: String,
    },
    Undo {
        decision: String,
    },
    Cardinality {
        predicate: String,
        cardinality: String,
    },
    Release {
        event: String,
        copy: String,
    },
    Feedback {
        recall: String,
        record: String,
        verdict: String,
    },
    Operation(OperationLine),
    /// A kind that this version of the layout does not know; it cannot be read back.
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    kind: String,
    category: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    importance: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

impl ExportLine {
    pub(crate) fn tombstone(tombstone: &Tombstone) -> Self {
        Self::Tombstone(TombstoneLine {
            event: tombstone.event.to_string(),
            body: hex(&tombstone.body),
            sentences: tombstone.sentences.iter().map(hex).collect(),
            at: tombstone.at.to_string(),
        })
    }

    pub(crate) fn erased(event: &Event) -> Self {
        let role = event.role.as_str().to_owned();
        Self::Erased(ErasedLine {
            id: event.id.to_string(),
            recorded_at: event.recorded_at.to_string(),
            role,
        })
    }

    pub(crate) fn event(event: &Event, kept: &NewEvent) -> Self {
        Self::Event(Box::new(EventLine {
            id: event.id.to_string(),
            recorded_at: event.recorded_at.to_string(),
            kind: ExportKind::from(&kept.kind),
            content: kept.content.clone(),
            session: kept.session.to_string(),
            channel: kept.channel.to_string(),
            parent: kept.parent.map(|id| id.to_string()),
            speaker: kept.speaker.as_ref().map(ToString::to_string),
            user: kept.user.as_ref().map(ToString::to_string),
            agent: kept.agent.as_ref().map(ToString::to_string),
            occurred_at: kept.occurred_at.to_string(),
            zone: (kept.zone.name.clone(), kept.zone.offset_seconds),
            origin: kept.origin.as_str().to_owned(),
            idempotency_key: kept.idempotency_key.clone(),
            metadata: kept.metadata.clone(),
            quarantined: event.quarantined.as_ref().map(ToString::to_string),
            echo: event.echo.iter().map(|span| (span.start, span.end)).collect(),
        }))
    }
}

impl TombstoneLine {
    pub(crate) fn read(self) -> Result<Tombstone> {
        Ok(Tombstone {
            event: self.event.parse()?,
            body: unhex(&self.body)?,
            sentences: self.sentences.iter().map(|hash| unhex(hash)).collect::<Result<_>>()?,
            at: parse_time::own(&self.at)?,
        })
    }
}

impl ErasedLine {
    /// Returns the event's id and what is known of it besides its tombstone.
    pub(crate) fn read(self) -> Result<(EventId, mnemal_core::Timestamp, Role)> {
        let role = Role::from_name(&self.role).ok_or_else(|| Error::invalid("an unknown role"))?;
        Ok((self.id.parse()?, parse_time::own(&self.recorded_at)?, role))
    }
}

impl EventLine {
    pub(crate) fn read(self) -> Result<RestoreRecord> {
        let span = |(start, end)| Span { start, end };
        let id = self.id.parse()?;
        let recorded_at = parse_time::own(&self.recorded_at)?;
        let quarantined = self.quarantined.map(RuleId::new).transpose()?;
        let echo = self.echo.into_iter().map(span).collect();
        let event = NewEvent {
            kind: self.kind.read()?,
            content: self.content,
            session: SessionId::new(self.session)?,
            channel: ChannelId::new(self.channel)?,
            parent: self.parent.map(|id| id.parse()).transpose()?,
            speaker: self.speaker.map(Speaker::new).transpose()?,
            user: self.user.map(UserId::new).transpose()?,
            agent: self.agent.map(AgentId::new).transpose()?,
            occurred_at: parse_time::own(&self.occurred_at)?,
            zone: Zone { name: self.zone.0, offset_seconds: self.zone.1 },
            origin: Origin::from_name(&self.origin).ok_or_else(|| Error::invalid("an unknown origin"))?,
            idempotency_key: self.idempotency_key,
            metadata: self.metadata,
        };
        Ok(RestoreRecord::Event { id, recorded_at, event: Box::new(event), quarantined, echo })
    }
}

impl From<&EventKind> for ExportKind {
    fn from(kind: &EventKind) -> Self {
        match kind {
            EventKind::UserMessage => Self::UserMessage,
            EventKind::AssistantMessage => Self::AssistantMessage,
            EventKind::ToolCall { tool } => Self::ToolCall { tool: tool.to_string() },
            EventKind::ToolResult { tool, ok } => Self::ToolResult { tool: tool.to_string(), ok: *ok },
            EventKind::Observation => Self::Observation,
            EventKind::Document => Self::Document,
            EventKind::Decision(decision) => Self::decision(decision),
            EventKind::Operation(operation) => Self::Operation(OperationLine::from(operation)),
            _ => Self::Unknown,
        }
    }
}

impl ExportKind {
    fn decision(decision: &Decision) -> Self {
        match decision {
            Decision::Remember(note) => Self::Remember(Note {
                key: note.key.as_ref().map(ToString::to_string),
                kind: note.kind.as_str().to_owned(),
                category: note.category.to_string(),
                tags: note.tags.iter().map(ToString::to_string).collect(),
                importance: note.importance.get(),
                expires_at: note.expires_at.map(|at| at.to_string()),
            }),
            Decision::Archive(target) => Self::Archive(TargetLine::from(target)),
            Decision::Restore(target) => Self::Restore(TargetLine::from(target)),
            Decision::Reject(target) => Self::Reject(TargetLine::from(target)),
            Decision::Forget(forget) => {
                let events = texts(&forget.events);
                match &forget.selector {
                    Selector::Events(selected) => Self::ForgetEvents { selected: texts(selected), events },
                    Selector::Key(key) => Self::ForgetKey { key: key.to_string(), events },
                    Selector::Session(session) => {
                        Self::ForgetSession { session: session.to_string(), events }
                    }
                    Selector::User(user) => Self::ForgetUser { user: user.to_string(), events },
                    _ => Self::Unknown,
                }
            }
            Decision::Fact(fact) => Self::Fact(FactLine::from(fact)),
            Decision::Merge { one, into } => Self::Merge { one: one.to_string(), into: into.to_string() },
            Decision::Split { one, from } => Self::Split { one: one.to_string(), from: from.to_string() },
            Decision::Undo { decision } => Self::Undo { decision: decision.to_string() },
            Decision::Cardinality { predicate, cardinality } => Self::Cardinality {
                predicate: predicate.to_string(),
                cardinality: cardinality.as_str().to_owned(),
            },
            Decision::Release { event, copy } => {
                Self::Release { event: event.to_string(), copy: copy.to_string() }
            }
            Decision::Feedback { recall, record, verdict } => Self::Feedback {
                recall: recall.to_string(),
                record: record.to_string(),
                verdict: verdict.as_str().to_owned(),
            },
            _ => Self::Unknown,
        }
    }

    fn read(self) -> Result<EventKind> {
        let forget = |selector, events: &[String]| {
            Ok(EventKind::Decision(Decision::Forget(Forget { selector, events: ids(events)? })))
        };
        match self {
            Self::UserMessage => Ok(EventKind::UserMessage),
            Self::AssistantMessage => Ok(EventKind::AssistantMessage),
            Self::ToolCall { tool } => Ok(EventKind::ToolCall { tool: ToolName::new(tool)? }),
            Self::ToolResult { tool, ok } => Ok(EventKind::ToolResult { tool: ToolName::new(tool)?, ok }),
            Self::Observation => Ok(EventKind::Observation),
            Self::Document => Ok(EventKind::Document),
            Self::Remember(note) => Ok(EventKind::Decision(Decision::Remember(note.read()?))),
            Self::Archive(target) => Ok(EventKind::Decision(Decision::Archive(target.read()?))),
            Self::Restore(target) => Ok(EventKind::Decision(Decision::Restore(target.read()?))),
            Self::Reject(target) => Ok(EventKind::Decision(Decision::Reject(target.read()?))),
            Self::ForgetEvents { selected, events } => forget(Selector::Events(ids(&selected)?), &events),
            Self::ForgetKey { key, events } => forget(Selector::Key(NoteKey::new(key)?), &events),
            Self::ForgetSession { session, events } => {
                forget(Selector::Session(SessionId::new(session)?), &events)
            }
            Self::ForgetUser { user, events } => forget(Selector::User(UserId::new(user)?), &events),
            Self::Fact(fact) => Ok(EventKind::Decision(Decision::Fact(fact.read()?))),
            Self::Merge { one, into } => {
                Ok(EventKind::Decision(Decision::Merge { one: one.parse()?, into: into.parse()? }))
            }
            Self::Split { one, from } => {
                Ok(EventKind::Decision(Decision::Split { one: one.parse()?, from: from.parse()? }))
            }
            Self::Undo { decision } => {
                Ok(EventKind::Decision(Decision::Undo { decision: decision.parse()? }))
            }
            Self::Cardinality { predicate, cardinality } => Ok(EventKind::Decision(Decision::Cardinality {
                predicate: Predicate::new(predicate)?,
                cardinality: cardinality_of(&cardinality)?,
            })),
            Self::Release { event, copy } => {
                Ok(EventKind::Decision(Decision::Release { event: event.parse()?, copy: copy.parse()? }))
            }
            Self::Feedback { recall, record, verdict } => Ok(EventKind::Decision(Decision::Feedback {
                recall: recall.parse()?,
                record: record.parse()?,
                verdict: Judgment::from_name(&verdict).ok_or_else(|| Error::invalid("an unknown verdict"))?,
            })),
            Self::Operation(line) => Ok(EventKind::Operation(line.read()?)),
            Self::Unknown => Err(Error::invalid("an event of an unknown kind")),
        }
    }
}

/// The words of an event: its id, and where they begin and end.
type SourceLine = (String, u32, u32);

/// Which note or learning a decision is about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<SourceLine>,
}

impl From<&NoteTarget> for TargetLine {
    fn from(target: &NoteTarget) -> Self {
        Self { key: target.key.as_ref().map(ToString::to_string), sources: source_lines(&target.sources) }
    }
}

impl TargetLine {
    fn read(self) -> Result<NoteTarget> {
        Ok(NoteTarget { key: self.key.map(NoteKey::new).transpose()?, sources: sources(self.sources)? })
    }
}

fn source_lines(sources: &[Source]) -> Vec<SourceLine> {
    sources.iter().map(|one| (one.event.to_string(), one.span.start, one.span.end)).collect()
}

fn sources(lines: Vec<SourceLine>) -> Result<Vec<Source>> {
    let read =
        |(event, start, end): SourceLine| Ok(Source { event: event.parse()?, span: Span { start, end } });
    lines.into_iter().map(read).collect()
}

/// A decision about a fact.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactLine {
    subject: String,
    predicate: String,
    topic: Option<String>,
    /// The value if it is an entity; else its words and their key.
    entity: Option<String>,
    words: Option<(String, String)>,
    choice: Choice,
    /// The words on which the fact rests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<SourceLine>,
}

/// Times are seconds since the Unix epoch; they may lie before it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Choice {
    Add { valid_at: Option<i64>, invalid_at: Option<i64> },
    End { at: i64 },
    Reject,
}

impl From<&FactDecision> for FactLine {
    fn from(fact: &FactDecision) -> Self {
        let seconds = WorldTime::as_seconds;
        Self {
            subject: fact.subject.to_string(),
            predicate: fact.predicate.to_string(),
            topic: fact.topic.clone(),
            entity: fact.object.entity().map(|id| id.to_string()),
            words: match &fact.object {
                Value::Entity(_) => None,
                Value::Literal { text, key } => Some((text.clone(), key.clone())),
            },
            choice: match fact.choice {
                FactChoice::Add { valid_at, invalid_at } => {
                    Choice::Add { valid_at: valid_at.map(seconds), invalid_at: invalid_at.map(seconds) }
                }
                FactChoice::End { at } => Choice::End { at: seconds(at) },
                FactChoice::Reject => Choice::Reject,
            },
            sources: source_lines(&fact.sources),
        }
    }
}

impl FactLine {
    fn read(self) -> Result<FactDecision> {
        let time = WorldTime::from_seconds;
        Ok(FactDecision {
            subject: self.subject.parse()?,
            predicate: Predicate::new(self.predicate)?,
            topic: self.topic,
            object: match (self.entity, self.words) {
                (Some(id), None) => Value::Entity(id.parse()?),
                (None, Some((text, key))) => Value::Literal { text, key },
                _ => return Err(Error::invalid("a fact has one value")),
            },
            choice: match self.choice {
                Choice::Add { valid_at, invalid_at } => {
                    FactChoice::Add { valid_at: valid_at.map(time), invalid_at: invalid_at.map(time) }
                }
                Choice::End { at } => FactChoice::End { at: time(at) },
                Choice::Reject => FactChoice::Reject,
            },
            sources: sources(self.sources)?,
        })
    }
}

impl Note {
    fn read(self) -> Result<Remember> {
        Ok(Remember {
            key: self.key.map(NoteKey::new).transpose()?,
            kind: LearningKind::from_name(&self.kind)
                .ok_or_else(|| Error::invalid("an unknown kind of note"))?,
            category: Category::new(self.category)?,
            tags: self.tags.into_iter().map(Tag::new).collect::<Result<_>>()?,
            importance: Importance::new(self.importance)?,
            expires_at: self.expires_at.map(|at| parse_time::own(&at)).transpose()?,
        })
    }
}

pub(super) fn texts(ids: &[EventId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

pub(super) fn ids(texts: &[String]) -> Result<Vec<EventId>> {
    texts.iter().map(|id| id.parse()).collect()
}

fn hex(hash: &TombstoneHash) -> String {
    format!("{:032x}", u128::from_be_bytes(hash.0))
}

fn unhex(text: &str) -> Result<TombstoneHash> {
    let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = digits.then(|| u128::from_str_radix(text, 16).ok()).flatten();
    number
        .map(|number| TombstoneHash(number.to_be_bytes()))
        .ok_or_else(|| Error::invalid("not a hash of a tombstone"))
}

/// Reads how many values a predicate holds.
pub(super) fn cardinality_of(name: &str) -> Result<Cardinality> {
    Cardinality::from_name(name).ok_or_else(|| Error::invalid("an unknown cardinality"))
}
