//! The log.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    Appended, ChannelId, Cursor, Error, Event, EventFilter, EventId, LogEntry, Result, Role, Seq, SessionId,
    SessionSummary, Tombstone, TombstoneHash,
};

use crate::codec::{corrupt, role_code};
use crate::entry::{self, Prepared};
use crate::erase::{Erase, tombstone_row};
use crate::sql::{Batch, Row, Sql, Value};
use crate::{admit, statement};

pub(crate) async fn head(sql: &dyn Sql) -> Result<Cursor> {
    Ok(super::index::mark(sql).await?.head)
}

pub(crate) async fn append(sql: &dyn Sql, batch: &[LogEntry]) -> Result<Vec<Appended>> {
    admit::batch(batch)?;
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    sql.append(batch.iter().map(Prepared::new).collect::<Result<_>>()?).await
}

pub(crate) async fn get(sql: &dyn Sql, ids: &[EventId]) -> Result<Vec<Event>> {
    let mut found = HashMap::with_capacity(ids.len());
    for (text, args) in statement::EVENTS_BY_ID.lookups(ids.iter().map(|id| Value::from(*id)).collect()) {
        for row in sql.rows(text, args).await? {
            let event = entry::event(row)?;
            found.insert(event.id, event);
        }
    }
    let one = |id: &EventId| found.get(id).cloned().ok_or_else(|| Error::not_found(format!("no event {id}")));
    ids.iter().map(one).collect()
}

pub(crate) async fn scan(
    sql: &dyn Sql,
    filter: &EventFilter,
    after: Cursor,
    limit: NonZeroUsize,
) -> Result<Vec<Event>> {
    let by_session = filter.session.only().is_some();
    let text = if by_session { statement::SCAN_SESSION } else { statement::SCAN };
    let rows = sql.rows(text, arguments(filter, after.count(), limit.get())).await?;
    rows.into_iter().map(entry::event).collect()
}

pub(crate) async fn latest(sql: &dyn Sql, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
    let by_session = filter.session.only().is_some();
    let text = if by_session { statement::LATEST_SESSION } else { statement::LATEST };
    let rows = sql.rows(text, arguments(filter, 0, limit.get())).await?;
    rows.into_iter().map(entry::event).collect()
}

/// Returns the arguments of the filtering statements; null asks nothing.
pub(crate) fn arguments(filter: &EventFilter, after: u64, limit: usize) -> Vec<Value> {
    let mask = |roles: &Vec<Role>| roles.iter().fold(0_i64, |mask, role| mask | 1 << role_code(*role));
    vec![
        after.into(),
        limit.into(),
        filter.session.only().map(SessionId::as_str).into(),
        filter.channel.only().map(ChannelId::as_str).into(),
        filter.speaker.only().map(mnemal_core::Speaker::as_str).into(),
        filter.user.only().map(mnemal_core::UserId::as_str).into(),
        filter.agent.only().map(mnemal_core::AgentId::as_str).into(),
        filter.roles.only().map(mask).into(),
        filter.since.into(),
        filter.until.into(),
        filter.quarantined.only().map(|held| u8::from(*held)).into(),
        filter.erased.only().map(|erased| u8::from(*erased)).into(),
    ]
}

pub(crate) async fn sessions(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
    let rows = sql.rows(statement::SESSIONS, vec![limit.get().into()]).await?;
    rows.into_iter().map(summary).collect()
}

fn summary(mut row: Row) -> Result<SessionSummary> {
    Ok(SessionSummary {
        session: SessionId::new(row.text()?).map_err(|_| corrupt("a session has no name"))?,
        channel: ChannelId::new(row.text()?).map_err(|_| corrupt("a channel has no name"))?,
        events: row.count()?,
        first_at: row.time()?,
        last_at: row.time()?,
    })
}

pub(crate) async fn erase(sql: &dyn Sql, tombstones: &[Tombstone]) -> Result<u64> {
    sql.commit(Box::new(Erase(tombstones.to_vec()))).await
}

pub(crate) async fn tombstones(sql: &dyn Sql) -> Result<Vec<Tombstone>> {
    let rows = sql.rows(statement::TOMBSTONES, Vec::new()).await?;
    rows.into_iter().map(tombstone).collect()
}

fn tombstone(mut row: Row) -> Result<Tombstone> {
    let event = EventId(row.id()?);
    let body = <[u8; 16]>::try_from(row.blob()?).map_err(|_| corrupt("a tombstone has the wrong length"))?;
    let sentences = row.blob()?;
    let (hashes, rest) = sentences.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(corrupt("a tombstone has the wrong length"));
    }
    let sentences = hashes.iter().map(|hash| TombstoneHash(*hash)).collect();
    Ok(Tombstone { event, body: TombstoneHash(body), sentences, at: row.time()? })
}

pub(crate) async fn adopt(sql: &dyn Sql, tombstones: &[Tombstone]) -> Result<()> {
    let steps = statement::ADOPT_TOMBSTONES.steps(tombstones.iter().map(tombstone_row).collect());
    sql.commit(Box::new(Batch(steps))).await.map(drop)
}

/// Returns up to `limit` indexed events behind a position: what the index must hold.
pub(crate) async fn indexed(sql: &dyn Sql, after: Seq, limit: usize) -> Result<Vec<(Seq, EventId)>> {
    let rows = sql.rows(statement::INDEXED, vec![after.0.into(), limit.into()]).await?;
    rows.into_iter().map(|mut row| Ok((Seq(row.count()?), EventId(row.id()?)))).collect()
}
