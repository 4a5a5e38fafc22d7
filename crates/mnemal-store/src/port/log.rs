//! The log.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    Appended, ChannelId, Cursor, Error, Event, EventFilter, EventId, LogEntry, Result, Role, Seq, SessionId,
    SessionSummary, Tombstone, TombstoneHash,
};

use crate::codec::{corrupt, role_code};
use crate::entry::{self, Prepared};
use crate::erase::{Adopt, Erase, tombstone_sum};
use crate::sql::{Row, Sql, Value};
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
    if let [only] = ids
        && found.is_empty()
    {
        return Err(absent(sql, *only).await?);
    }
    let one = |id: &EventId| found.get(id).cloned().ok_or_else(|| Error::not_found(format!("no event {id}")));
    ids.iter().map(one).collect()
}

/// Says that an event is not there, after a look at the whole log: an index may be damaged.
async fn absent(sql: &dyn Sql, id: EventId) -> Result<Error> {
    for (text, args) in statement::EVENTS_BY_WALK.lookups(vec![id.into()]) {
        if !sql.rows(text, args).await?.is_empty() {
            return Err(corrupt("the index of ids lacks an event"));
        }
    }
    Ok(Error::not_found(format!("no event {id}")))
}

pub(crate) async fn scan(
    sql: &dyn Sql,
    filter: &EventFilter,
    after: Cursor,
    limit: NonZeroUsize,
) -> Result<Vec<Event>> {
    let by_session = filter.session.only().is_some();
    let text = if by_session { statement::SCAN_SESSION } else { statement::SCAN };
    let whole = *filter == EventFilter::all();
    let head = if whole { super::index::mark(sql).await?.head.count() } else { 0 };
    let rows = sql.rows(text, arguments(filter, after.count(), limit.get())).await?;
    let events: Vec<Event> = rows.into_iter().map(entry::event).collect::<Result<_>>()?;
    if whole {
        let reached = after.count() + events.len() as u64;
        let dense = events.iter().zip(after.count() + 1..).all(|(event, seq)| event.seq.0 == seq);
        if !dense || (events.len() < limit.get() && reached < head) {
            return Err(corrupt("events are missing from the log"));
        }
    }
    Ok(events)
}

pub(crate) async fn latest(sql: &dyn Sql, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
    let by_session = filter.session.only().is_some();
    let text = if by_session { statement::LATEST_SESSION } else { statement::LATEST };
    let whole = *filter == EventFilter::all();
    let head = if whole { super::index::mark(sql).await?.head.count() } else { 0 };
    let rows = sql.rows(text, arguments(filter, 0, limit.get())).await?;
    let events: Vec<Event> = rows.into_iter().map(entry::event).collect::<Result<_>>()?;
    if whole {
        let first = events.first().map_or(0, |event| event.seq.0);
        let dense = events.iter().zip((1..=first).rev()).all(|(event, seq)| event.seq.0 == seq);
        let ends = events.len() == limit.get() || events.len() as u64 == first;
        if !dense || !ends || first < head {
            return Err(corrupt("events are missing from the log"));
        }
    }
    Ok(events)
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

/// Lists conversations; the names and times are those of the first and the last event, whose checksums cover them.
pub(crate) async fn sessions(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
    let mut groups = Vec::new();
    for mut row in sql.rows(statement::SESSIONS, vec![limit.get().into()]).await? {
        groups.push((row.text()?, row.count()?, row.count()?, row.count()?));
    }
    let mut ends = HashMap::with_capacity(groups.len() * 2);
    let seqs = groups.iter().flat_map(|(_, _, first, last)| [Value::from(*first), Value::from(*last)]);
    for (text, args) in statement::EVENTS_AT.lookups(seqs.collect()) {
        for row in sql.rows(text, args).await? {
            let event = entry::event(row)?;
            ends.insert(event.seq.0, event);
        }
    }
    groups.into_iter().map(|group| summary(group, &ends)).collect()
}

/// A conversation as its index has it: name, events, first and last position.
type Group = (String, u64, u64, u64);

fn summary((name, events, first, last): Group, ends: &HashMap<u64, Event>) -> Result<SessionSummary> {
    let end = |seq: u64| {
        let kept = ends.get(&seq).and_then(Event::kept).filter(|kept| kept.session.as_str() == name);
        kept.ok_or_else(|| corrupt("a conversation is not the one of its events"))
    };
    let (first, last) = (end(first)?, end(last)?);
    Ok(SessionSummary {
        session: first.session.clone(),
        channel: last.channel.clone(),
        events,
        first_at: first.occurred_at,
        last_at: last.occurred_at,
    })
}

pub(crate) async fn erase(sql: &dyn Sql, tombstones: &[Tombstone]) -> Result<u64> {
    sql.commit(Box::new(Erase(tombstones.to_vec()))).await
}

pub(crate) async fn tombstones(sql: &dyn Sql) -> Result<Vec<Tombstone>> {
    let rows = sql.rows(statement::TOMBSTONES, Vec::new()).await?;
    rows.into_iter().map(tombstone).collect()
}

/// Reads a tombstone and compares it with its checksum.
pub(crate) fn tombstone(mut row: Row) -> Result<Tombstone> {
    let event = EventId(row.id()?);
    let body = <[u8; 16]>::try_from(row.blob()?).map_err(|_| corrupt("a tombstone has the wrong length"))?;
    let sentences = row.blob()?;
    let (hashes, sum) = sentences.as_chunks::<16>();
    let sentences = hashes.iter().map(|hash| TombstoneHash(*hash)).collect();
    let stone = Tombstone { event, body: TombstoneHash(body), sentences, at: row.time()? };
    // Those of the first version have no checksum.
    if sum.is_empty() || sum == tombstone_sum(&stone) {
        Ok(stone)
    } else {
        Err(corrupt("a tombstone does not match its checksum"))
    }
}

pub(crate) async fn adopt(sql: &dyn Sql, tombstones: &[Tombstone]) -> Result<()> {
    sql.commit(Box::new(Adopt(tombstones.to_vec()))).await.map(drop)
}

/// Returns up to `limit` indexed events behind a position: what the index must hold.
pub(crate) async fn indexed(sql: &dyn Sql, after: Seq, limit: usize) -> Result<Vec<(Seq, EventId)>> {
    let rows = sql.rows(statement::INDEXED, vec![after.0.into(), limit.into()]).await?;
    rows.into_iter().map(|mut row| Ok((Seq(row.count()?), EventId(row.id()?)))).collect()
}
