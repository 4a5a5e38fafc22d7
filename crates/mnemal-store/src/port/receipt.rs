//! Receipts, and the records that each session was shown.
//!
//! A receipt is one row, because one is written with every context: its source events are only in its body, and an erase, which
//! is rare, scans all of them (ADR 17). The sources of a session's shown records are also in a receipt of that session, for as
//! long as it is kept, so that they are found through its receipts (ADR 17). Older files have tables for both, which empty
//! over time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, EventId, Receipt, ReceiptId, ReceiptLine, RecordRef, Result, SeenRecord, SeenRecords,
    SessionId, Source, Span, Timestamp,
};

use super::working::SWEPT;
use crate::codec::corrupt;
use crate::codec::receipt::{decode, encode, record, record_bytes};
use crate::hash::push_digits;
use crate::row::receipt;
use crate::sql::{Row as SqlRow, Sql, Step, Transaction, Value, Work};
use crate::{ordering, removal, statement};

/// Receipts that an erase reads at once. Source: own default, about two megabytes.
const PAGE: usize = 100;
/// Receipts that a sweep removes in one transaction, so that it stays short; one has some twenty kilobytes. Source: ADR 9.
const RECEIPTS: u64 = 16;
/// Bytes of the name of an event: `evt_` and 26 letters.
const NAME: usize = 30;
/// Bytes of an id.
const ID: usize = 16;

pub(crate) async fn put(sql: &dyn Sql, put: &Receipt) -> Result<()> {
    let id = Value::Blob(put.id.0.to_be_bytes().to_vec());
    let row = vec![id, put.session.as_str().into(), put.at.into(), encode(put)?.into()];
    let shown = if put.session.is_nobody() { Vec::new() } else { shown_items(put)? };
    let work = PutReceipt { row, session: put.session.clone(), at: put.at, shown };
    sql.commit_for_now(Box::new(work)).await.map(drop).map_err(|error| match error.kind() {
        ErrorKind::Conflict => Error::new(ErrorKind::Conflict, format!("receipt {} is known", put.id)),
        _ => error,
    })
}

/// A shown record: record and hash, and its sources.
type ShownItem = (Vec<u8>, Vec<u8>);

/// Returns the records that a receipt shows, each once.
fn shown_items(receipt: &Receipt) -> Result<Vec<ShownItem>> {
    let lines: BTreeMap<(RecordRef, [u8; 16]), &ReceiptLine> =
        receipt.lines.iter().map(|line| ((line.record, line.content_hash), line)).collect();
    let item = |((record, hash), line): (&(RecordRef, [u8; 16]), &&ReceiptLine)| {
        Ok(([record_bytes(*record)?.as_slice(), hash].concat(), sources_bytes(&line.sources)))
    };
    lines.iter().map(item).collect()
}

/// Stores a receipt, and marks its records as shown.
#[derive(Debug)]
struct PutReceipt {
    row: Vec<Value>,
    session: SessionId,
    at: Timestamp,
    shown: Vec<ShownItem>,
}

#[async_trait]
impl Work for PutReceipt {
    fn kind(&self) -> &'static str {
        "receipts"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        transaction.later(statement::INSERT_RECEIPT, std::mem::take(&mut self.row));
        if self.shown.is_empty() {
            return Ok(1);
        }
        transaction.shown_cache().trim();
        self.show(transaction)?;
        let mut version = transaction.last(statement::DATA_VERSION, Vec::new()).await?;
        let version = version.first_mut().ok_or_else(|| corrupt("a file has no version"))?.int()?;
        if !transaction.shown_cache().is_current(version) {
            // Another connection may have removed what was taken as written.
            self.show(transaction)?;
        }
        Ok(1)
    }
}

impl PutReceipt {
    /// Writes the records that are not cached as written.
    fn show(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let known = transaction.shown_cache();
        let mut rows = HexRows::default();
        for (item, sources) in &self.shown {
            if known.is_due(&self.session, item, sources, self.at) {
                rows.push(&[item, sources]);
            }
        }
        if !rows.is_empty() {
            let args = vec![self.session.as_str().into(), self.at.into(), rows.json()?.into()];
            transaction.later(statement::INSERT_SEEN, args);
        }
        Ok(())
    }
}

/// How long a shown record is not rewritten, in microseconds. Source: as in [`statement::INSERT_SEEN`].
const LEFT_AS_IT_IS: i64 = 3_600_000_000;
/// Most shown records that a connection caches.
///
/// Source: own default; the lines of some dozen conversations, under a megabyte.
const MOST_SHOWN: usize = 4_096;

/// Cache of the shown records that a write connection has written: a conversation is shown most of its lines with each turn,
/// and they need not be written each time.
///
/// Valid as long as no other connection writes to the file, and no shown record is removed.
#[derive(Debug, Default)]
pub(crate) struct ShownCache {
    /// The data version, which reveals commits of others.
    version: Option<i64>,
    /// By session and item.
    rows: HashMap<SessionId, HashMap<Vec<u8>, WrittenItem>>,
    /// How many items there are.
    count: usize,
}

/// One item as it was written.
#[derive(Debug)]
struct WrittenItem {
    sources: Vec<u8>,
    at: Timestamp,
}

impl ShownCache {
    /// Clears the cache: some records may have been removed, or were not committed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Clears the cache if it is too large.
    fn trim(&mut self) {
        if self.count > MOST_SHOWN {
            self.forget();
        }
    }

    /// Whether no other connection has written since; clears the cache otherwise.
    fn is_current(&mut self, version: i64) -> bool {
        let holds = self.version.is_none_or(|known| known == version);
        if !holds {
            self.forget();
        }
        self.version = Some(version);
        holds
    }

    /// Whether a record must be written; marks it as written.
    fn is_due(&mut self, session: &SessionId, item: &[u8], sources: &[u8], at: Timestamp) -> bool {
        let written = self.rows.get(session).and_then(|items| items.get(item));
        let age = |since: Timestamp| at.as_micros().saturating_sub(since.as_micros());
        if written.is_some_and(|row| row.sources == sources && age(row.at) <= LEFT_AS_IT_IS) {
            return false;
        }
        let items = self.rows.entry(session.clone()).or_default();
        let row = WrittenItem { sources: sources.to_vec(), at };
        self.count += usize::from(items.insert(item.to_vec(), row).is_none());
        true
    }
}

/// Rows of bytes as a JSON list of texts: the columns of a row one after the other, in hexadecimal digits.
#[derive(Debug, Default)]
struct HexRows(Vec<u8>);

impl HexRows {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&mut self, columns: &[&[u8]]) {
        self.0.extend_from_slice(if self.is_empty() { b"[\"" } else { b",\"" });
        for column in columns {
            push_digits(&mut self.0, column);
        }
        self.0.push(b'"');
    }

    fn json(mut self) -> Result<String> {
        self.0.extend_from_slice(if self.0.is_empty() { b"[]" } else { b"]" });
        String::from_utf8(self.0).map_err(|cause| Error::internal("digits are no text").because(cause))
    }
}

/// Reads a receipt: binary, or JSON in legacy rows.
fn read(row: &mut SqlRow) -> Result<Receipt> {
    match row.next() {
        Value::Blob(stored) => decode(&stored),
        Value::Text(stored) => receipt::read(&stored),
        _ => Err(corrupt("a receipt is missing")),
    }
}

/// The source events of a receipt's lines and omissions.
fn rests_on(receipt: &Receipt) -> BTreeSet<EventId> {
    let sources = receipt.lines.iter().flat_map(|line| line.sources.iter().map(|source| source.event));
    let omitted = receipt.omitted.iter().filter_map(|omitted| match omitted.record {
        RecordRef::Event(id) => Some(id),
        _ => None,
    });
    sources.chain(omitted).collect()
}

pub(crate) async fn get(sql: &dyn Sql, id: ReceiptId) -> Result<Receipt> {
    let mut rows = sql.rows(statement::RECEIPT, vec![Value::Blob(id.0.to_be_bytes().to_vec())]).await?;
    let row = rows.first_mut().ok_or_else(|| Error::not_found(format!("no receipt {id}")))?;
    let mut receipt = read(row)?;
    let gone = erased(sql, rests_on(&receipt)).await?;
    ordering::cleanse(&mut receipt, |event| gone.contains(&event));
    Ok(receipt)
}

pub(crate) async fn latest(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
    list(sql, statement::LATEST_RECEIPTS, vec![most(limit)]).await
}

pub(crate) async fn between(
    sql: &dyn Sql,
    (since, until): (Timestamp, Timestamp),
    limit: NonZeroUsize,
) -> Result<Vec<Receipt>> {
    list(sql, statement::RECEIPTS_BETWEEN, vec![since.into(), until.into(), most(limit)]).await
}

fn most(limit: NonZeroUsize) -> Value {
    Value::Int(i64::try_from(limit.get()).unwrap_or(i64::MAX))
}

/// Reads receipts, without what was erased since.
async fn list(sql: &dyn Sql, text: &'static str, args: Vec<Value>) -> Result<Vec<Receipt>> {
    let mut found = Vec::new();
    for mut row in sql.rows(text, args).await? {
        found.push(read(&mut row)?);
    }
    let gone = erased(sql, found.iter().flat_map(rests_on).collect()).await?;
    for receipt in &mut found {
        ordering::cleanse(receipt, |event| gone.contains(&event));
    }
    Ok(found)
}

/// Returns those of some events that are erased.
async fn erased(sql: &dyn Sql, events: BTreeSet<EventId>) -> Result<HashSet<EventId>> {
    let mut gone = HashSet::new();
    for (text, args) in statement::ERASED_OF.lookups(events.into_iter().map(Value::from).collect()) {
        for mut row in sql.rows(text, args).await? {
            gone.insert(EventId(row.id()?));
        }
    }
    Ok(gone)
}

pub(crate) async fn seen(sql: &dyn Sql, session: &SessionId) -> Result<SeenRecords> {
    // Most rest on one event, of which the row itself says whether it is erased.
    let (mut items, mut others) = (Vec::new(), BTreeSet::new());
    for mut row in sql.rows(statement::SEEN, vec![session.as_str().into()]).await? {
        let record = record(&row.blob()?)?;
        let hash = <[u8; 16]>::try_from(row.blob()?).map_err(|_| corrupt("a hash has the wrong length"))?;
        let sources = sources(&row.blob()?)?;
        if row.int()? == 0 {
            others.extend(sources.iter().skip(1).map(|source| source.event));
            items.push(SeenRecord { record, content_hash: hash, sources });
        }
    }
    let gone = erased(sql, others).await?;
    items.retain(|item| !ordering::rests_on(&item.sources, |event| gone.contains(&event)));
    Ok(SeenRecords { items })
}

pub(crate) async fn clear_seen(sql: &dyn Sql, session: &SessionId) -> Result<()> {
    sql.commit(Box::new(ClearSeen(session.clone()))).await.map(drop)
}

/// Removes what a session was shown.
#[derive(Debug)]
struct ClearSeen(SessionId);

#[async_trait]
impl Work for ClearSeen {
    fn kind(&self) -> &'static str {
        "receipts"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        transaction.shown_cache().forget();
        for text in [removal::CLEAR_SEEN, removal::CLEAR_SEEN_SOURCES] {
            transaction.later(text, vec![self.0.as_str().into()]);
        }
        Ok(0)
    }
}

pub(crate) async fn sweep(sql: &dyn Sql, before: Timestamp) -> Result<u64> {
    let mut all = 0;
    loop {
        let left = Arc::new(AtomicBool::new(false));
        all += sql.commit(Box::new(Sweep { before, left: Arc::clone(&left) })).await?;
        if !left.load(Ordering::Acquire) {
            return Ok(all);
        }
    }
}

/// Removes the oldest shown records and receipts from before a moment; returns the number of receipts.
#[derive(Debug)]
struct Sweep {
    before: Timestamp,
    /// Whether more may be left.
    left: Arc<AtomicBool>,
}

#[async_trait]
impl Work for Sweep {
    fn kind(&self) -> &'static str {
        "sweep"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let step = |text| Step::new(text, vec![self.before.into(), RECEIPTS.into()]);
        let seen = |text| Step::new(text, vec![self.before.into(), SWEPT.into()]);
        transaction.shown_cache().forget();
        transaction.run(step(removal::SWEEP_RECEIPT_SOURCES)).await?;
        let swept = transaction.run(step(removal::SWEEP_RECEIPTS)).await?;
        transaction.run(seen(removal::SWEEP_SEEN_SOURCES)).await?;
        let shown = transaction.run(seen(removal::SWEEP_SEEN)).await?;
        self.left.store(swept == RECEIPTS || shown == SWEPT, Ordering::Release);
        Ok(swept)
    }
}

pub(crate) async fn erase(sql: &dyn Sql, sources: &[EventId]) -> Result<u64> {
    let events: BTreeSet<EventId> = sources.iter().copied().collect();
    let receipts = resting(sql, &events).await?;
    sql.commit(Box::new(EraseShown { events, receipts })).await
}

/// Returns the receipts whose body names one of these events. Those of a context being assembled are missed; they do not show
/// an erased event either, because each is compared with the log when it is read.
async fn resting(sql: &dyn Sql, events: &BTreeSet<EventId>) -> Result<Vec<Vec<u8>>> {
    let wanted = EventIdSearch::new(events);
    let (mut after, mut found) = (Vec::new(), Vec::new());
    loop {
        let rows = sql.rows(statement::RECEIPTS_AFTER, vec![after.clone().into(), PAGE.into()]).await?;
        let is_last = rows.len() < PAGE;
        for mut row in rows {
            let id = row.blob()?;
            after.clone_from(&id);
            if wanted.is_named_in(&row.next()) {
                found.push(id);
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}

/// Event ids that are searched for in stored receipts without decoding them, so that a damaged receipt does not stop an erase.
#[derive(Debug)]
struct EventIdSearch {
    names: HashSet<String>,
    ids: HashSet<[u8; ID]>,
    /// The endings of the ids: the last two bytes exclude most positions of a receipt.
    ends: Vec<bool>,
}

impl EventIdSearch {
    fn new(events: &BTreeSet<EventId>) -> Self {
        let mut wanted = Self { names: HashSet::new(), ids: HashSet::new(), ends: vec![false; 1 << 16] };
        for event in events {
            let id = event.0.to_be_bytes();
            wanted.names.insert(event.to_string());
            wanted.ids.insert(id);
            if let Some(end) = wanted.ends.get_mut(end(&id)) {
                *end = true;
            }
        }
        wanted
    }

    fn is_named_in(&self, body: &Value) -> bool {
        match body {
            Value::Text(body) => {
                let names = body.match_indices(EventId::PREFIX).filter_map(|(at, _)| body.get(at..at + NAME));
                names.into_iter().any(|name| self.names.contains(name))
            }
            Value::Blob(body) => body
                .array_windows::<ID>()
                .any(|id| self.ends.get(end(id)).is_some_and(|is_one| *is_one) && self.ids.contains(id)),
            _ => false,
        }
    }
}

/// The last two bytes of an id as a number.
fn end(id: &[u8; ID]) -> usize {
    let [.., high, low] = *id;
    usize::from(u16::from_be_bytes([high, low]))
}

/// Removes records that rest on erased events.
#[derive(Debug)]
struct EraseShown {
    events: BTreeSet<EventId>,
    /// Receipts that name one of them.
    receipts: Vec<Vec<u8>>,
}

#[async_trait]
impl Work for EraseShown {
    fn kind(&self) -> &'static str {
        "erase"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        transaction.shown_cache().forget();
        let (removed, sessions) = self.receipts(transaction).await?;
        let removed = removed + self.seen(transaction, sessions).await?;
        for event in &self.events {
            transaction.run(Step::new(removal::DELETE_RECEIPT_SOURCES, vec![(*event).into()])).await?;
            transaction.run(Step::new(removal::DELETE_SEEN_SOURCES, vec![(*event).into()])).await?;
        }
        Ok(removed)
    }
}

impl EraseShown {
    /// Removes lines from the receipts; returns how many, and the affected sessions.
    async fn receipts(&self, transaction: &mut dyn Transaction) -> Result<(u64, BTreeSet<SessionId>)> {
        let (mut removed, mut sessions) = (0, BTreeSet::new());
        for id in &self.receipts {
            for mut row in transaction.rows(statement::RECEIPT, vec![id.clone().into()]).await? {
                let mut receipt = read(&mut row)?;
                removed += ordering::cleanse(&mut receipt, |event| self.events.contains(&event));
                let args = vec![id.clone().into(), encode(&receipt)?.into()];
                transaction.run(Step::rows(removal::CLEANSE_RECEIPT, args, 1)).await?;
                sessions.insert(receipt.session);
            }
        }
        Ok((removed, sessions))
    }

    async fn seen(&self, transaction: &mut dyn Transaction, sessions: BTreeSet<SessionId>) -> Result<u64> {
        let mut removed = 0;
        for session in sessions {
            for mut row in transaction.rows(statement::SEEN, vec![session.as_str().into()]).await? {
                let (record, hash) = (row.blob()?, row.blob()?);
                if ordering::rests_on(&sources(&row.blob()?)?, |event| self.events.contains(&event)) {
                    let args = vec![session.as_str().into(), record.into(), hash.into()];
                    removed += transaction.run(Step::new(removal::DELETE_SEEN, args)).await?;
                }
            }
        }
        Ok(removed)
    }
}

/// Sources as 24 bytes each: event, start, end.
fn sources_bytes(sources: &[Source]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sources.len() * 24);
    for source in sources {
        bytes.extend_from_slice(&source.event.0.to_be_bytes());
        bytes.extend_from_slice(&source.span.start.to_be_bytes());
        bytes.extend_from_slice(&source.span.end.to_be_bytes());
    }
    bytes
}

fn sources(bytes: &[u8]) -> Result<Vec<Source>> {
    let (rows, rest) = bytes.as_chunks::<24>();
    if !rest.is_empty() {
        return Err(corrupt("sources have the wrong length"));
    }
    let source = |row: &[u8; 24]| {
        let bits = |bytes: &[u8]| bytes.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let (event, span) = row.split_at(16);
        let (start, end) = span.split_at(4);
        let short = |bytes| u32::try_from(bits(bytes)).unwrap_or_default();
        Source { event: EventId(bits(event)), span: Span { start: short(start), end: short(end) } }
    };
    Ok(rows.iter().map(source).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_found_in_receipts_of_both_forms_and_none_that_ends_alike() {
        let (one, alike) = (EventId(7 << 64 | 0xabcd), EventId(8 << 64 | 0xabcd));
        let wanted = EventIdSearch::new(&BTreeSet::from([one, EventId(3)]));
        let bytes =
            |id: EventId| Value::Blob([&[1, 2, 0xab, 0xcd], id.0.to_be_bytes().as_slice(), &[0]].concat());
        let text = |id: EventId| Value::Text(format!("[\"evt_\",\"{id}\",3]"));
        assert!(wanted.is_named_in(&bytes(one)) && wanted.is_named_in(&text(one)));
        assert!(!wanted.is_named_in(&bytes(alike)) && !wanted.is_named_in(&text(alike)));
    }
}
