//! Conversion between an event and its database columns.

use mnemal_core::{
    AgentId, Body, ChannelId, Error, ErrorKind, Event, EventId, EventKind, LogEntry, Metadata, NewEvent,
    Origin, Result, RuleId, Seq, SessionId, Span, Speaker, Timestamp, ToolName, Trust, UserId, Zone,
};

use crate::codec::{self, corrupt};
use crate::row::{decision, operation};
use crate::sql::{Row, Value};

/// Columns that a checksum covers.
const COVERED: usize = 24;

/// An entry with its JSON parts serialized.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) entry: LogEntry,
    metadata: Option<String>,
    decision: Option<String>,
}

impl Prepared {
    /// Copies an entry and serializes its JSON parts.
    pub(crate) fn new(entry: &LogEntry) -> Result<Self> {
        let mut entry = entry.clone();
        if entry.quarantined.is_some() {
            entry.index = None;
        }
        let free = &entry.event.metadata;
        let metadata =
            (!free.is_empty()).then(|| serde_json::to_string(free)).transpose().map_err(unwritable)?;
        let decision = match &entry.event.kind {
            EventKind::Decision(decision) => Some(decision::write(decision)?),
            EventKind::Operation(operation) => Some(operation::write(operation)?),
            _ => None,
        };
        kind_code(&entry.event.kind)?;
        Ok(Self { entry, metadata, decision })
    }

    /// Returns the approximate size of the entry in bytes.
    pub(crate) fn size(&self) -> usize {
        let index = self.entry.index.as_ref();
        let terms = index.map_or(0, |index| index.terms.counts.len() * 12);
        self.entry.event.content.len() + terms + self.metadata.as_ref().map_or(0, String::len) + 512
    }

    /// Returns the columns of the insert.
    pub(crate) fn columns(&self, seq: Seq, recorded_at: Timestamp) -> Result<Vec<Value>> {
        let (entry, event) = (&self.entry, &self.entry.event);
        let tool = match &event.kind {
            EventKind::ToolCall { tool } | EventKind::ToolResult { tool, .. } => Some(tool.as_str()),
            _ => None,
        };
        let mut columns = Vec::with_capacity(COVERED + 3);
        columns.extend([
            seq.0.into(),
            entry.id.into(),
            recorded_at.into(),
            kind_code(&event.kind)?.into(),
            codec::role_code(event.kind.role()).into(),
            origin_code(event.origin)?.into(),
            trust_code(event.origin.trust()).into(),
            codec::level_code(event.origin.level()).into(),
            event.session.as_str().into(),
            event.channel.as_str().into(),
            event.parent.into(),
            event.speaker.as_ref().map(Speaker::as_str).into(),
            event.user.as_ref().map(UserId::as_str).into(),
            event.agent.as_ref().map(AgentId::as_str).into(),
            event.occurred_at.into(),
            event.zone.name.as_str().into(),
            i64::from(event.zone.offset_seconds).into(),
            event.idempotency_key.as_deref().into(),
            tool.into(),
            event.content.as_str().into(),
            self.metadata.as_deref().into(),
            self.decision.as_deref().into(),
            entry.quarantined.as_ref().map(RuleId::as_str).into(),
            echo_bytes(&entry.echo).into(),
        ]);
        let sum = checksum(&columns);
        columns.extend([
            Value::Int(sum),
            Value::Blob(entry.body_hash.to_vec()),
            u8::from(entry.index.is_some()).into(),
        ]);
        Ok(columns)
    }
}

/// Reads an event and checks its checksum.
///
/// # Errors
/// `Corrupt`, with the event's id where that is readable.
pub(crate) fn event(row: Row) -> Result<Event> {
    let id = match row.rest().get(1) {
        Some(Value::Blob(bytes)) => <[u8; 16]>::try_from(bytes.as_slice()).map(u128::from_be_bytes).ok(),
        _ => None,
    };
    let is_erased = row.rest().get(COVERED + 1).is_some_and(|at| *at != Value::Null);
    let sum =
        if is_erased { Some(checksum_of_erased(&row)) } else { row.rest().get(..COVERED).map(checksum) };
    read(row, sum).map_err(|error| match id {
        Some(id) => {
            Error::new(ErrorKind::Corrupt, format!("event {} is damaged", EventId(id))).because(error)
        }
        None => error,
    })
}

/// Returns the checksum of an erased event's remaining columns, which includes the time of erasure.
pub(crate) fn checksum_of_erased(row: &Row) -> i64 {
    let mut columns = row.rest().get(..COVERED).unwrap_or_default().to_vec();
    columns.extend(row.rest().get(COVERED + 1).cloned());
    checksum(&columns)
}

/// Reads an event whose columns, or whose remaining columns, have this checksum.
fn read(mut row: Row, sum: Option<i64>) -> Result<Event> {
    let (seq, id, recorded_at) = (Seq(row.count()?), EventId(row.id()?), row.time()?);
    let (kind, role, origin) = (row.code()?, codec::role(row.code()?)?, origin(row.code()?)?);
    let (trust, level) = (trust(row.code()?)?, codec::level(row.code()?)?);
    let mut columns = Columns { kind, origin, ..Columns::take(&mut row)? };
    let quarantined = row.opt_text()?.map(|rule| RuleId::new(rule).map_err(unreadable)).transpose()?;
    let echo = echo(&row.opt_blob()?.unwrap_or_default())?;
    let stored = row.opt_int()?;
    let body = match row.opt_time()? {
        // What the first version erased has no checksum.
        Some(_) if columns.content.is_some() || stored.is_some_and(|stored| Some(stored) != sum) => {
            return Err(corrupt("what is left of the row does not match its checksum"));
        }
        Some(at) => Body::Erased { at },
        None if stored != sum => return Err(corrupt("the row does not match its checksum")),
        None => Body::Present(Box::new(columns.event()?)),
    };
    Ok(Event { id, seq, recorded_at, role, trust, level, quarantined, echo, body })
}

/// The columns of a body.
struct Columns {
    kind: u8,
    origin: Origin,
    session: Option<String>,
    channel: Option<String>,
    parent: Option<u128>,
    speaker: Option<String>,
    user: Option<String>,
    agent: Option<String>,
    occurred_at: Option<Timestamp>,
    zone: Option<String>,
    offset: Option<i64>,
    key: Option<String>,
    tool: Option<String>,
    content: Option<String>,
    metadata: Option<String>,
    decision: Option<String>,
}

impl Columns {
    fn take(row: &mut Row) -> Result<Self> {
        Ok(Self {
            kind: 0,
            origin: Origin::Echo,
            session: row.opt_text()?,
            channel: row.opt_text()?,
            parent: row.opt_id()?,
            speaker: row.opt_text()?,
            user: row.opt_text()?,
            agent: row.opt_text()?,
            occurred_at: row.opt_time()?,
            zone: row.opt_text()?,
            offset: row.opt_int()?,
            key: row.opt_text()?,
            tool: row.opt_text()?,
            content: row.opt_text()?,
            metadata: row.opt_text()?,
            decision: row.opt_text()?,
        })
    }

    fn event(&mut self) -> Result<NewEvent> {
        let missing = || corrupt("a column of a body is missing");
        let metadata = match &self.metadata {
            None => Metadata::new(),
            Some(json) => serde_json::from_str(json).map_err(|_| corrupt("metadata is no JSON"))?,
        };
        let zone = Zone {
            name: self.zone.take().ok_or_else(missing)?,
            offset_seconds: self.offset.and_then(|value| i32::try_from(value).ok()).ok_or_else(missing)?,
        };
        Ok(NewEvent {
            kind: self.kind()?,
            content: self.content.take().ok_or_else(missing)?,
            session: SessionId::new(self.session.take().ok_or_else(missing)?).map_err(unreadable)?,
            channel: ChannelId::new(self.channel.take().ok_or_else(missing)?).map_err(unreadable)?,
            parent: self.parent.map(EventId),
            speaker: self.speaker.take().map(Speaker::new).transpose().map_err(unreadable)?,
            user: self.user.take().map(UserId::new).transpose().map_err(unreadable)?,
            agent: self.agent.take().map(AgentId::new).transpose().map_err(unreadable)?,
            occurred_at: self.occurred_at.ok_or_else(missing)?,
            zone,
            origin: self.origin,
            idempotency_key: self.key.take(),
            metadata,
        })
    }

    fn kind(&mut self) -> Result<EventKind> {
        let tool = self.tool.take().map(ToolName::new).transpose().map_err(unreadable)?;
        let tool = || tool.ok_or_else(|| corrupt("a tool has no name"));
        Ok(match self.kind {
            0 => EventKind::UserMessage,
            1 => EventKind::AssistantMessage,
            2 => EventKind::ToolCall { tool: tool()? },
            3 => EventKind::ToolResult { tool: tool()?, ok: true },
            4 => EventKind::ToolResult { tool: tool()?, ok: false },
            5 => EventKind::Observation,
            6 => EventKind::Document,
            7 => self.choice()?,
            _ => return Err(corrupt("an unknown kind of event")),
        })
    }

    /// Reads a decision of a person, or an operation of the engine.
    fn choice(&self) -> Result<EventKind> {
        let json = self.decision.as_deref().ok_or_else(|| corrupt("a decision is missing"))?;
        if operation::is_one(json) {
            return operation::read(json).map(EventKind::Operation);
        }
        decision::read(json).map(EventKind::Decision)
    }
}

fn kind_code(kind: &EventKind) -> Result<u8> {
    Ok(match kind {
        EventKind::UserMessage => 0,
        EventKind::AssistantMessage => 1,
        EventKind::ToolCall { .. } => 2,
        EventKind::ToolResult { ok: true, .. } => 3,
        EventKind::ToolResult { ok: false, .. } => 4,
        EventKind::Observation => 5,
        EventKind::Document => 6,
        EventKind::Decision(_) | EventKind::Operation(_) => 7,
        _ => return Err(Error::new(ErrorKind::Unsupported, "cannot store this kind of event")),
    })
}

fn origin_code(origin: Origin) -> Result<u8> {
    let place = Origin::ALL.iter().position(|known| *known == origin);
    place
        .and_then(|place| u8::try_from(place).ok())
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, "cannot store this origin"))
}

fn origin(code: u8) -> Result<Origin> {
    Origin::ALL.get(usize::from(code)).copied().ok_or_else(|| corrupt("an unknown origin"))
}

/// All trusts, in the order of their stored codes.
const TRUSTS: [Trust; 6] =
    [Trust::Echo, Trust::Inferred, Trust::Assistant, Trust::Document, Trust::Tool, Trust::User];

/// Returns the stored code of a trust.
pub(crate) fn trust_code(trust: Trust) -> u8 {
    TRUSTS
        .iter()
        .position(|known| *known == trust)
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(u8::MAX)
}

/// Reads the code of a trust.
pub(crate) fn trust(code: u8) -> Result<Trust> {
    TRUSTS.get(usize::from(code)).copied().ok_or_else(|| corrupt("an unknown trust"))
}

fn echo_bytes(echo: &[Span]) -> Option<Vec<u8>> {
    let spans = echo.iter().flat_map(|span| [span.start.to_le_bytes(), span.end.to_le_bytes()]);
    (!echo.is_empty()).then(|| spans.flatten().collect())
}

fn echo(bytes: &[u8]) -> Result<Vec<Span>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let (pairs, lone) = numbers.as_chunks::<2>();
    if !rest.is_empty() || !lone.is_empty() {
        return Err(corrupt("echo spans have the wrong length"));
    }
    let span = |[start, end]: &[[u8; 4]; 2]| Span {
        start: u32::from_le_bytes(*start),
        end: u32::from_le_bytes(*end),
    };
    Ok(pairs.iter().map(span).collect())
}

/// Hashes columns in their order, each with its type and length.
fn checksum(columns: &[Value]) -> i64 {
    let mut bytes = Vec::with_capacity(1_024);
    for value in columns {
        match value {
            Value::Null => bytes.push(0),
            Value::Int(number) => {
                bytes.push(1);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            Value::Text(text) => {
                bytes.push(2);
                bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            }
            Value::Blob(blob) => {
                bytes.push(3);
                bytes.extend_from_slice(&(blob.len() as u64).to_le_bytes());
                bytes.extend_from_slice(blob);
            }
        }
    }
    i64::from_le_bytes(codec::checksum(&bytes))
}

fn unreadable(error: Error) -> Error {
    corrupt("a name is not one").because(error)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::internal("cannot write a row as JSON").because(error)
}
