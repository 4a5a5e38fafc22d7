//! The log.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    AppendOutcome, Cursor, Error, Event, EventFilter, EventId, LogEntry, Result, Role, Seq, SessionId,
    SessionSummary, Tombstone, TombstoneHash,
};

use crate::codec::corrupt;
use crate::entry::{self, Prepared};
use crate::erase::{AdoptTombstones, EraseEvents, tombstone_sum};
use crate::sql::{Row, Sql, Value};
use crate::{admit, statement};

pub(crate) async fn head(sql: &dyn Sql) -> Result<Cursor> {
    Ok(super::index::mark(sql).await?.head)
}

pub(crate) async fn append(sql: &dyn Sql, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
    admit::batch(batch)?;
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let outcomes = sql.append(batch.iter().map(Prepared::new).collect::<Result<_>>()?).await?;
    if let Some(last) = outcomes.iter().max_by_key(|outcome| outcome.seq) {
        sql.witness().saw(last.seq.0, last.id);
    }
    Ok(outcomes)
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

/// The same, by `seq` first; by id if an event is at another position, or is requested twice.
pub(crate) async fn get_at(sql: &dyn Sql, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
    let mut found = HashMap::with_capacity(places.len());
    let seqs = places.iter().map(|(_, seq)| Value::from(seq.0));
    for (text, args) in statement::EVENTS_AT.lookups(seqs.collect()) {
        for row in sql.rows(text, args).await? {
            let event = entry::event(row)?;
            found.insert(event.id, event);
        }
    }
    let at_its_place: Option<Vec<Event>> = places.iter().map(|(id, _)| found.remove(id)).collect();
    match at_its_place {
        Some(events) => Ok(events),
        None => get(sql, &places.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await,
    }
}

/// Makes the error for a missing event, after a scan of the whole log: an index may be damaged.
async fn absent(sql: &dyn Sql, id: EventId) -> Result<Error> {
    for (text, args) in statement::EVENTS_BY_WALK.lookups(vec![id.into()]) {
        if !sql.rows(text, args).await?.is_empty() {
            return Err(corrupt("the index of ids lacks an event"));
        }
    }
    Ok(Error::not_found(format!("no event {id}")))
}

/// Rows read at once for a list.
///
/// Source: own default, about a megabyte.
const PAGE: usize = 1_000;

pub(crate) async fn scan(
    sql: &dyn Sql,
    filter: &EventFilter,
    after: Cursor,
    limit: NonZeroUsize,
) -> Result<Vec<Event>> {
    list(sql, filter, LogScan::of(filter, after.count(), ScanOrder::Forwards), limit.get()).await
}

/// A scan of the log in one direction.
#[derive(Debug)]
pub(super) struct LogScan<'f> {
    pub(super) rows: ScanRows<'f>,
    /// The position after which it continues.
    at: u64,
    way: ScanOrder,
}

/// The order of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanOrder {
    Forwards,
    Backwards,
}

/// The rows of a scan. Only selections with an index are made by the database.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScanRows<'f> {
    All,
    OfSession(&'f SessionId),
    Decisions,
}

impl<'f> LogScan<'f> {
    pub(super) fn of(filter: &'f EventFilter, at: u64, way: ScanOrder) -> Self {
        let rows = match (filter.session.only(), filter.roles.only().map(Vec::as_slice)) {
            (Some(session), _) => ScanRows::OfSession(session),
            (None, Some([Role::Decision])) => ScanRows::Decisions,
            (None, _) => ScanRows::All,
        };
        Self { rows, at, way }
    }

    /// Compares the index of the next page with its tally.
    async fn agrees(&self, sql: &dyn Sql) -> Result<()> {
        let mut args = vec![self.at.into()];
        let text = match (self.rows, self.way) {
            (ScanRows::All, _) => return Ok(()),
            (ScanRows::Decisions, ScanOrder::Forwards) => statement::SCAN_TALLY_OF_DECISIONS,
            (ScanRows::Decisions, ScanOrder::Backwards) => statement::LATEST_TALLY_OF_DECISIONS,
            (ScanRows::OfSession(session), way) => {
                args.push(session.as_str().into());
                match way {
                    ScanOrder::Forwards => statement::SCAN_TALLY_OF_SESSION,
                    ScanOrder::Backwards => statement::LATEST_TALLY_OF_SESSION,
                }
            }
        };
        let mut rows = sql.rows(text, args).await?;
        let row = rows.first_mut().ok_or_else(|| corrupt("a count has no row"))?;
        let (held, expected) = ((row.int()?, row.int()?), (row.int()?, row.int()?));
        if held == expected {
            Ok(())
        } else {
            Err(corrupt("a list does not hold the events that it must hold"))
        }
    }
}

/// Reads the next events after a position.
pub(super) async fn page(
    sql: &dyn Sql,
    (rows, way): (ScanRows<'_>, ScanOrder),
    at: u64,
    size: usize,
) -> Result<Vec<Event>> {
    let mut args = vec![at.into(), size.into()];
    let text = match (rows, way) {
        (ScanRows::All, ScanOrder::Forwards) => statement::SCAN,
        (ScanRows::All, ScanOrder::Backwards) => statement::LATEST,
        (ScanRows::Decisions, ScanOrder::Forwards) => statement::SCAN_DECISIONS,
        (ScanRows::Decisions, ScanOrder::Backwards) => statement::LATEST_DECISIONS,
        (ScanRows::OfSession(session), way) => {
            args.push(session.as_str().into());
            if way == ScanOrder::Forwards { statement::SCAN_SESSION } else { statement::LATEST_SESSION }
        }
    };
    sql.rows(text, args).await?.into_iter().map(entry::event).collect()
}

/// Reads pages until enough events pass the filter. Damage cannot hide one: the whole log must be dense, and the index of a
/// conversation or of the decisions must match its tally.
pub(super) async fn list(
    sql: &dyn Sql,
    filter: &EventFilter,
    mut walk: LogScan<'_>,
    limit: usize,
) -> Result<Vec<Event>> {
    let mut dense = match walk.rows {
        ScanRows::All => Some(DensityCheck::of(sql, &walk).await?),
        ScanRows::OfSession(_) | ScanRows::Decisions => None,
    };
    let mut found = Vec::new();
    let mut size = limit.min(PAGE);
    loop {
        walk.agrees(sql).await?;
        let page = page(sql, (walk.rows, walk.way), walk.at, size).await?;
        let is_last = page.len() < size;
        if let Some(dense) = &mut dense {
            dense.look_at(&page)?;
            if is_last {
                dense.end()?;
            }
        }
        if let Some(last) = page.last() {
            walk.at = last.seq.0;
        }
        let missing = limit - found.len();
        found.extend(page.into_iter().filter(|event| filter.accepts(event)).take(missing));
        let is_over = walk.way == ScanOrder::Forwards
            && filter.before.is_some_and(|before| walk.at.saturating_add(1) >= before.0);
        if is_last || is_over || found.len() == limit {
            return Ok(found);
        }
        // What was not found is looked for in pages that grow, so that a short list costs what it skips and not a whole page.
        size = size.saturating_mul(2).min(PAGE);
    }
}

/// Checks that a scan of the whole log covers every row: positions are consecutive.
#[derive(Debug)]
struct DensityCheck {
    /// The expected position; backward the first may be newer than the head that was read before.
    due: Option<u64>,
    way: ScanOrder,
    head: u64,
}

impl DensityCheck {
    async fn of(sql: &dyn Sql, walk: &LogScan<'_>) -> Result<Self> {
        let head = super::index::mark(sql).await?.head.count();
        let due = match walk.way {
            ScanOrder::Forwards => Some(walk.at + 1),
            // A backward scan from within the log is expected at the position before.
            ScanOrder::Backwards => (walk.at <= head).then(|| walk.at.saturating_sub(1)),
        };
        Ok(Self { due, way: walk.way, head })
    }

    /// Checks that the positions of a page are consecutive.
    fn look_at(&mut self, page: &[Event]) -> Result<()> {
        for event in page {
            let seq = event.seq.0;
            if self.due.map_or(seq < self.head, |due| seq != due) {
                return Err(lost());
            }
            self.due = Some(if self.way == ScanOrder::Forwards { seq + 1 } else { seq - 1 });
        }
        Ok(())
    }

    /// Checks that the scan reached the head, or the first event.
    fn end(&self) -> Result<()> {
        let has_ended = match (self.due, self.way) {
            (Some(due), ScanOrder::Forwards) => due > self.head,
            (Some(due), ScanOrder::Backwards) => due == 0,
            (None, _) => self.head == 0,
        };
        if has_ended { Ok(()) } else { Err(lost()) }
    }
}

pub(super) fn lost() -> Error {
    corrupt("events are missing from the log")
}

/// Returns the disagreements between tallies and the indexes of conversations and of decisions.
pub(crate) async fn disagreements(sql: &dyn Sql) -> Vec<Error> {
    let decisions = LogScan { rows: ScanRows::Decisions, at: 0, way: ScanOrder::Forwards };
    let sessions = sessions(sql, NonZeroUsize::MIN).await.map(drop);
    [sessions, decisions.agrees(sql).await].into_iter().filter_map(Result::err).collect()
}

/// Lists conversations; the names and times are those of the first and the last event, whose checksums cover them.
pub(crate) async fn sessions(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
    let mut groups = Vec::new();
    for mut row in sql.rows(statement::SESSIONS, vec![limit.get().into()]).await? {
        groups.push((row.text()?, row.count()?, row.count()?, row.count()?));
        if row.int()? != 0 {
            return Err(corrupt("the list of conversations is not the one that it must be"));
        }
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

/// Returns the number of quarantined events after a position, up to another.
pub(crate) async fn count_quarantined(sql: &dyn Sql, after: Cursor, through: Cursor) -> Result<u64> {
    let places = vec![after.count().into(), through.count().into()];
    let mut rows = sql.rows(statement::COUNT_QUARANTINED, places).await?;
    rows.first_mut().ok_or_else(|| corrupt("quarantined events are not counted"))?.count()
}

/// Returns the number of conversations, up to `most`.
pub(crate) async fn count_sessions(sql: &dyn Sql, most: NonZeroUsize) -> Result<u64> {
    let mut rows = sql.rows(statement::COUNT_SESSIONS, vec![most.get().into()]).await?;
    rows.first_mut().ok_or_else(|| corrupt("conversations are not counted"))?.count()
}

/// A conversation in its index: name, events, first and last position.
type SessionGroup = (String, u64, u64, u64);

fn summary((name, events, first, last): SessionGroup, ends: &HashMap<u64, Event>) -> Result<SessionSummary> {
    let end = |seq: u64| {
        let kept = ends.get(&seq).and_then(Event::body).filter(|kept| kept.session.as_str() == name);
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
    sql.commit(Box::new(EraseEvents(tombstones.to_vec()))).await
}

pub(crate) async fn tombstones(sql: &dyn Sql) -> Result<Vec<Tombstone>> {
    let rows = sql.rows(statement::TOMBSTONES, Vec::new()).await?;
    rows.into_iter().map(tombstone).collect()
}

/// Reads a tombstone and checks its checksum.
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
    sql.commit(Box::new(AdoptTombstones(tombstones.to_vec()))).await.map(drop)
}

/// Returns up to `limit` events after a position that must be indexed.
pub(crate) async fn indexed(sql: &dyn Sql, after: Seq, limit: usize) -> Result<Vec<(Seq, EventId)>> {
    let rows = sql.rows(statement::INDEXED, vec![after.0.into(), limit.into()]).await?;
    rows.into_iter().map(|mut row| Ok((Seq(row.count()?), EventId(row.id()?)))).collect()
}
