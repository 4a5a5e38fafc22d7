//! Learnings.

use mnemal_core::{
    AgentId, Category, EventId, Learning, LearningId, LearningKind, LearningStatus, NoteKey, Producer,
    Result, SessionId, Source, Span, Tag, Timestamp, UserId,
};
use serde::{Deserialize, Serialize};

use super::decision::importance_of;
use super::{known, named};
use crate::{codec, entry};

#[derive(Deserialize, Serialize)]
struct LearningRow {
    id: String,
    kind: String,
    key: Option<String>,
    version: u32,
    category: String,
    tags: Vec<String>,
    importance: f64,
    content: String,
    session: String,
    user: Option<String>,
    agent: Option<String>,
    sources: Vec<(String, u32, u32)>,
    trust: u8,
    level: u8,
    status: String,
    expires_at: Option<i64>,
    created_at: i64,
    expired_at: Option<i64>,
    producer: (String, u32),
}

/// Writes a learning.
pub(crate) fn write(learning: &Learning) -> Result<String> {
    let text = |name: &str| name.to_owned();
    super::write_sealed(&LearningRow {
        id: learning.id.to_string(),
        kind: text(learning.kind.as_str()),
        key: learning.key.as_ref().map(|key| text(key.as_str())),
        version: learning.version,
        category: text(learning.category.as_str()),
        tags: learning.tags.iter().map(|tag| text(tag.as_str())).collect(),
        importance: f64::from(learning.importance.get()),
        content: learning.content.clone(),
        session: text(learning.session.as_str()),
        user: learning.user.as_ref().map(|user| text(user.as_str())),
        agent: learning.agent.as_ref().map(|agent| text(agent.as_str())),
        sources: learning.sources.iter().map(source_row).collect(),
        trust: entry::trust_code(learning.trust),
        level: codec::level_code(learning.level),
        status: text(learning.status.as_str()),
        expires_at: learning.expires_at.map(Timestamp::as_micros),
        created_at: learning.created_at.as_micros(),
        expired_at: learning.expired_at.map(Timestamp::as_micros),
        producer: (learning.producer.id.clone(), learning.producer.version),
    })
}

/// Reads a learning.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<Learning> {
    let row: LearningRow = super::read_sealed(stored)?;
    let time = |micros: Option<i64>| named(micros.map(Timestamp::from_micros).transpose());
    let statuses = [LearningStatus::Active, LearningStatus::Superseded, LearningStatus::Archived];
    Ok(Learning {
        id: named(row.id.parse::<LearningId>())?,
        kind: known(LearningKind::from_name(&row.kind))?,
        key: named(row.key.map(NoteKey::new).transpose())?,
        version: row.version,
        category: named(Category::new(row.category))?,
        tags: named(row.tags.into_iter().map(Tag::new).collect())?,
        importance: named(importance_of(row.importance))?,
        content: row.content,
        session: named(SessionId::new(row.session))?,
        user: named(row.user.map(UserId::new).transpose())?,
        agent: named(row.agent.map(AgentId::new).transpose())?,
        sources: row.sources.iter().map(source_of).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        status: known(statuses.into_iter().find(|status| status.as_str() == row.status))?,
        expires_at: time(row.expires_at)?,
        created_at: known(time(Some(row.created_at))?)?,
        expired_at: time(row.expired_at)?,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
    })
}

pub(super) fn source_row(source: &Source) -> (String, u32, u32) {
    (source.event.to_string(), source.span.start, source.span.end)
}

pub(super) fn source_of((event, start, end): &(String, u32, u32)) -> Result<Source> {
    let event = named(event.parse::<EventId>())?;
    Ok(Source { event, span: Span { start: *start, end: *end } })
}
