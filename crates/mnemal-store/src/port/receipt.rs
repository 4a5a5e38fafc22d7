//! Receipts, and what each session was shown.
//!
//! A receipt is one row, because one is written with every context: which events it rests on stands in its body alone, and an
//! erase, which is rare, looks through all of them (ADR 57). Files of before have a table of that too, which empties by itself.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, EventId, FactId, LearningId, Receipt, ReceiptId, ReceiptLine, RecordRef, Result, Seen,
    SeenItem, SessionId, Source, Span, Timestamp,
};

use super::working::SWEPT;
use crate::codec::corrupt;
use crate::row::receipt;
use crate::sql::{Batch, Sql, Step, Transaction, Value, Work};
use crate::{removal, serve, statement};

/// Receipts that are looked through at once by an erase. Source: own default, about two megabytes.
const PAGE: usize = 100;
/// Receipts that a sweep removes in one transaction, so that it stays short; one has some twenty kilobytes. Source: ADR 111.
const RECEIPTS: u64 = 16;
/// Bytes of the name of an event: `evt_` and 26 letters.
const NAME: usize = 30;

pub(crate) async fn put(sql: &dyn Sql, put: &Receipt) -> Result<()> {
    let id = Value::Blob(put.id.0.to_be_bytes().to_vec());
    let args = vec![id, put.session.as_str().into(), put.at.into(), receipt::write(put)?.into()];
    let mut steps = vec![Step::new(statement::INSERT_RECEIPT, args)];
    if !put.session.is_nobody() {
        steps.extend(shown_steps(put)?);
    }
    sql.commit(Box::new(Batch::new("receipts", steps))).await.map(drop).map_err(|error| match error.kind() {
        ErrorKind::Conflict => Error::new(ErrorKind::Conflict, format!("receipt {} is known", put.id)),
        _ => error,
    })
}

/// What the session was shown, with what that rests on.
fn shown_steps(put: &Receipt) -> Result<[Step; 2]> {
    let shown: BTreeMap<(RecordRef, [u8; 16]), &ReceiptLine> =
        put.lines.iter().map(|line| ((line.record, line.content_hash), line)).collect();
    let (mut rows, mut sources) = (String::from("["), String::from("["));
    for ((record, hash), line) in &shown {
        let record = record_bytes(*record)?;
        push_row(&mut rows, &[&record, hash, &sources_bytes(&line.sources)]);
        for source in &line.sources {
            push_row(&mut sources, &[&source.event.0.to_be_bytes(), &record]);
        }
    }
    rows.push(']');
    sources.push(']');
    let session = || Value::from(put.session.as_str());
    Ok([
        Step::new(statement::INSERT_SEEN, vec![session(), put.at.into(), rows.into()]),
        Step::new(statement::INSERT_SEEN_SOURCES, vec![session(), sources.into()]),
    ])
}

/// Adds a list of bytes, each in hexadecimal digits, to a list of lists.
fn push_row(rows: &mut String, columns: &[&[u8]]) {
    rows.push_str(if rows.len() > 1 { ",[" } else { "[" });
    for (place, bytes) in columns.iter().enumerate() {
        rows.push_str(if place > 0 { ",\"" } else { "\"" });
        for byte in *bytes {
            rows.extend([byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or('0')));
        }
        rows.push('"');
    }
    rows.push(']');
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
    let mut gone = HashSet::new();
    for (text, args) in
        statement::ERASED_OF.lookups(rests_on(&receipt).into_iter().map(Value::from).collect())
    {
        for mut row in sql.rows(text, args).await? {
            gone.insert(EventId(row.id()?));
        }
    }
    serve::cleanse(&mut receipt, |event| gone.contains(&event));
    Ok(receipt)
}

pub(crate) async fn seen(sql: &dyn Sql, session: &SessionId) -> Result<Seen> {
    let (mut items, mut gone) = (Vec::new(), HashSet::new());
    for mut row in sql.rows(statement::SEEN, vec![session.as_str().into()]).await? {
        if row.int()? == 1 {
            gone.insert(EventId(row.id()?));
            continue;
        }
        let record = record(&row.blob()?)?;
        let hash = <[u8; 16]>::try_from(row.blob()?).map_err(|_| corrupt("a hash has the wrong length"))?;
        items.push(SeenItem { record, content_hash: hash, sources: sources(&row.blob()?)? });
    }
    items.retain(|item| !serve::rests_on(&item.sources, |event| gone.contains(&event)));
    Ok(Seen { items })
}

pub(crate) async fn clear_seen(sql: &dyn Sql, session: &SessionId) -> Result<()> {
    let step = |text| Step::new(text, vec![session.as_str().into()]);
    let batch = Batch::new("receipts", vec![step(removal::CLEAR_SEEN), step(removal::CLEAR_SEEN_SOURCES)]);
    sql.commit(Box::new(batch)).await.map(drop)
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
        let removed = self.receipts(transaction).await? + self.seen(transaction).await?;
        for event in &self.events {
            transaction.run(Step::new(removal::DELETE_RECEIPT_SOURCES, vec![(*event).into()])).await?;
            transaction.run(Step::new(removal::DELETE_SEEN_SOURCES, vec![(*event).into()])).await?;
        }
        Ok(removed)
    }
}

impl EraseShown {
    fn ids(&self) -> Vec<Value> {
        self.events.iter().map(|event| (*event).into()).collect()
    }

    async fn receipts(&self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut removed = 0;
        for id in &self.receipts {
            for mut row in transaction.rows(statement::RECEIPT, vec![id.clone().into()]).await? {
                let mut receipt = receipt::read(&row.text()?)?;
                removed += serve::cleanse(&mut receipt, |event| self.events.contains(&event));
                let args = vec![id.clone().into(), receipt::write(&receipt)?.into()];
                transaction.run(Step::rows(removal::CLEANSE_RECEIPT, args, 1)).await?;
            }
        }
        Ok(removed)
    }

    async fn seen(&self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut removed = 0;
        for (text, args) in statement::SEEN_OF.lookups(self.ids()) {
            for mut row in transaction.rows(text, args).await? {
                let (session, record, hash) = (row.text()?, row.blob()?, row.blob()?);
                if serve::rests_on(&sources(&row.blob()?)?, |event| self.events.contains(&event)) {
                    let args = vec![session.into(), record.into(), hash.into()];
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
