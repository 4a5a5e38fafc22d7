//! Receipts, and what each session was shown.
//!
//! A receipt is one row, because one is written with every context: which events it rests on stands in its body alone, and an
//! erase, which is rare, looks through all of them (ADR 57). What a session was shown rests on events that a receipt of that
//! session names, for as long as it is kept, so that it is found by its receipts (ADR 100). Files of before have tables of both
//! too, which empty by themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, EventId, FactId, LearningId, Receipt, ReceiptId, ReceiptLine, RecordRef, Result, Seen,
    SeenItem, SessionId, Source, Span, Timestamp,
};

use super::working::SWEPT;
use crate::codec::corrupt;
use crate::hash::push_digits;
use crate::row::receipt;
use crate::sql::{Sql, Step, Transaction, Value, Work};
use crate::{removal, serve, statement};

/// Receipts that are looked through at once by an erase. Source: own default, about two megabytes.
const PAGE: usize = 100;
/// Receipts that a sweep removes in one transaction, so that it stays short; one has some twenty kilobytes. Source: ADR 108.
const RECEIPTS: u64 = 16;
/// Bytes of the name of an event: `evt_` and 26 letters.
const NAME: usize = 30;

pub(crate) async fn put(sql: &dyn Sql, put: &Receipt) -> Result<()> {
    let id = Value::Blob(put.id.0.to_be_bytes().to_vec());
    let row = vec![id, put.session.as_str().into(), put.at.into(), receipt::write(put)?.into()];
    let shown = if put.session.is_nobody() { Vec::new() } else { shown(put)? };
    let work = PutReceipt { row, session: put.session.clone(), at: put.at, shown };
    sql.commit_for_now(Box::new(work)).await.map(drop).map_err(|error| match error.kind() {
        ErrorKind::Conflict => Error::new(ErrorKind::Conflict, format!("receipt {} is known", put.id)),
        _ => error,
    })
}

/// One thing that a session was shown: record and hash, and on what it rests.
type Item = (Vec<u8>, Vec<u8>);

/// What a receipt shows, each thing once.
fn shown(receipt: &Receipt) -> Result<Vec<Item>> {
    let lines: BTreeMap<(RecordRef, [u8; 16]), &ReceiptLine> =
        receipt.lines.iter().map(|line| ((line.record, line.content_hash), line)).collect();
    let item = |((record, hash), line): (&(RecordRef, [u8; 16]), &&ReceiptLine)| {
        Ok(([record_bytes(*record)?.as_slice(), hash].concat(), sources_bytes(&line.sources)))
    };
    lines.iter().map(item).collect()
}

/// Stores a receipt, and what its session was shown.
#[derive(Debug)]
struct PutReceipt {
    row: Vec<Value>,
    session: SessionId,
    at: Timestamp,
    shown: Vec<Item>,
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
        transaction.shown().trim();
        self.show(transaction)?;
        let mut version = transaction.last(statement::DATA_VERSION, Vec::new()).await?;
        let version = version.first_mut().ok_or_else(|| corrupt("a file has no version"))?.int()?;
        if !transaction.shown().holds(version) {
            // Another connection may have removed what was taken as written.
            self.show(transaction)?;
        }
        Ok(1)
    }
}

impl PutReceipt {
    /// Writes what the connection does not know as written.
    fn show(&self, transaction: &mut dyn Transaction) -> Result<()> {
        let known = transaction.shown();
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

/// How long a row of what a session was shown stays as it is, in microseconds. Source: as in [`statement::INSERT_SEEN`].
const LEFT_AS_IT_IS: i64 = 3_600_000_000;
/// Most rows of what sessions were shown that a connection remembers.
///
/// Source: own default; the lines of some dozen conversations, under a megabyte.
const MOST_SHOWN: usize = 4_096;

/// What a write connection has written of what sessions were shown: a conversation is shown most of its lines with each of its
/// turns, and they need not be written each time.
///
/// Holds as long as nobody else writes to the file, and nothing of it is removed.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// What the file tells of commits by others.
    version: Option<i64>,
    /// By session and item.
    rows: HashMap<SessionId, HashMap<Vec<u8>, Row>>,
    /// How many items there are.
    count: usize,
}

/// One item as it was written.
#[derive(Debug)]
struct Row {
    sources: Vec<u8>,
    at: Timestamp,
}

impl Shown {
    /// Forgets everything: some of it may have been removed, or was not committed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Forgets what is too much.
    fn trim(&mut self) {
        if self.count > MOST_SHOWN {
            self.forget();
        }
    }

    /// Whether nobody else has written since; forgets everything if somebody has.
    fn holds(&mut self, version: i64) -> bool {
        let holds = self.version.is_none_or(|known| known == version);
        if !holds {
            self.forget();
        }
        self.version = Some(version);
        holds
    }

    /// Whether an item must be written; takes it as written then.
    fn is_due(&mut self, session: &SessionId, item: &[u8], sources: &[u8], at: Timestamp) -> bool {
        let written = self.rows.get(session).and_then(|items| items.get(item));
        let age = |since: Timestamp| at.as_micros().saturating_sub(since.as_micros());
        if written.is_some_and(|row| row.sources == sources && age(row.at) <= LEFT_AS_IT_IS) {
            return false;
        }
        let items = self.rows.entry(session.clone()).or_default();
        let row = Row { sources: sources.to_vec(), at };
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

/// The events that lines and omissions of a receipt rest on.
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
    let mut receipt = receipt::read(&row.text()?)?;
    let gone = erased(sql, rests_on(&receipt)).await?;
    serve::cleanse(&mut receipt, |event| gone.contains(&event));
    Ok(receipt)
}

pub(crate) async fn latest(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<Receipt>> {
    let limit = i64::try_from(limit.get()).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for mut row in sql.rows(statement::LATEST_RECEIPTS, vec![Value::Int(limit)]).await? {
        found.push(receipt::read(&row.text()?)?);
    }
    let gone = erased(sql, found.iter().flat_map(rests_on).collect()).await?;
    for receipt in &mut found {
        serve::cleanse(receipt, |event| gone.contains(&event));
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

pub(crate) async fn seen(sql: &dyn Sql, session: &SessionId) -> Result<Seen> {
    // Most rest on one event, of which the row itself says whether it is erased.
    let (mut items, mut others) = (Vec::new(), BTreeSet::new());
    for mut row in sql.rows(statement::SEEN, vec![session.as_str().into()]).await? {
        let record = record(&row.blob()?)?;
        let hash = <[u8; 16]>::try_from(row.blob()?).map_err(|_| corrupt("a hash has the wrong length"))?;
        let sources = sources(&row.blob()?)?;
        if row.int()? == 0 {
            others.extend(sources.iter().skip(1).map(|source| source.event));
            items.push(SeenItem { record, content_hash: hash, sources });
        }
    }
    let gone = erased(sql, others).await?;
    items.retain(|item| !serve::rests_on(&item.sources, |event| gone.contains(&event)));
    Ok(Seen { items })
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
        transaction.shown().forget();
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

/// Drops some of what was shown before a moment, the oldest; answers how many receipts went.
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
        transaction.shown().forget();
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

/// Returns the receipts of which the body names one of these events. Those of a context that is assembled meanwhile are not
/// among them; they show nothing of an erased event either, because each is compared with the log when it is asked for.
async fn resting(sql: &dyn Sql, events: &BTreeSet<EventId>) -> Result<Vec<Vec<u8>>> {
    let wanted: HashSet<String> = events.iter().map(EventId::to_string).collect();
    let (mut after, mut found) = (Vec::new(), Vec::new());
    loop {
        let rows = sql.rows(statement::RECEIPTS_AFTER, vec![after.clone().into(), PAGE.into()]).await?;
        let is_last = rows.len() < PAGE;
        for mut row in rows {
            let (id, body) = (row.blob()?, row.text()?);
            after.clone_from(&id);
            let mut named = body.match_indices(EventId::PREFIX).filter_map(|(at, _)| body.get(at..at + NAME));
            if named.any(|name| wanted.contains(name)) {
                found.push(id);
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}

/// Removes what rests on erased events.
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
        transaction.shown().forget();
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
    /// Cleanses the receipts; answers how much went, and for whose sessions they are.
    async fn receipts(&self, transaction: &mut dyn Transaction) -> Result<(u64, BTreeSet<SessionId>)> {
        let (mut removed, mut sessions) = (0, BTreeSet::new());
        for id in &self.receipts {
            for mut row in transaction.rows(statement::RECEIPT, vec![id.clone().into()]).await? {
                let mut receipt = receipt::read(&row.text()?)?;
                removed += serve::cleanse(&mut receipt, |event| self.events.contains(&event));
                let args = vec![id.clone().into(), receipt::write(&receipt)?.into()];
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
                if serve::rests_on(&sources(&row.blob()?)?, |event| self.events.contains(&event)) {
                    let args = vec![session.as_str().into(), record.into(), hash.into()];
                    removed += transaction.run(Step::new(removal::DELETE_SEEN, args)).await?;
                }
            }
        }
        Ok(removed)
    }
}

/// A record as 17 bytes that sort as records do.
fn record_bytes(record: RecordRef) -> Result<Vec<u8>> {
    let (kind, id) = match record {
        RecordRef::Event(id) => (0, id.0),
        RecordRef::Learning(id) => (1, id.0),
        RecordRef::Fact(id) => (2, id.0),
        _ => return Err(Error::new(ErrorKind::Unsupported, format!("cannot store what {record} names"))),
    };
    Ok(std::iter::once(kind).chain(id.to_be_bytes()).collect())
}

fn record(bytes: &[u8]) -> Result<RecordRef> {
    let [kind, id @ ..] = bytes else { return Err(corrupt("a record has no kind")) };
    let id = <[u8; 16]>::try_from(id).map_err(|_| corrupt("a record has the wrong length"))?;
    match kind {
        0 => Ok(RecordRef::Event(EventId(u128::from_be_bytes(id)))),
        1 => Ok(RecordRef::Learning(LearningId(u128::from_be_bytes(id)))),
        2 => Ok(RecordRef::Fact(FactId(u128::from_be_bytes(id)))),
        _ => Err(corrupt("an unknown kind of record")),
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
