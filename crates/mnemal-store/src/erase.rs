//! Writes that change stored data: erasing events, adding late vectors, sealing blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use mnemal_core::{Error, ErrorKind, EventId, Result, Seq, Timestamp, Tombstone};

use crate::block::retain;
use crate::codec::{checksum, corrupt, decode, encode};
use crate::port::graph;
use crate::sql::{Row, Step, Transaction, Value, Work};
use crate::{entry, removal, statement};

/// The position of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventPosition {
    pub(crate) seq: Seq,
    pub(crate) erased: bool,
    pub(crate) indexed: bool,
}

/// Looks events up; unknown ones are omitted.
pub(crate) async fn spots(
    ids: impl Iterator<Item = EventId>,
    transaction: &mut dyn Transaction,
) -> Result<HashMap<EventId, EventPosition>> {
    let mut spots = HashMap::new();
    for (sql, args) in statement::PLACES_BY_ID.lookups(ids.map(Value::from).collect()) {
        for mut row in transaction.rows(sql, args).await? {
            let (id, spot) = position(&mut row)?;
            spots.insert(id, spot);
        }
    }
    Ok(spots)
}

fn position(row: &mut Row) -> Result<(EventId, EventPosition)> {
    let (id, seq) = (EventId(row.id()?), Seq(row.count()?));
    Ok((id, EventPosition { seq, erased: row.opt_time()?.is_some(), indexed: row.int()? == 1 }))
}

/// Erases events.
#[derive(Debug)]
pub(crate) struct EraseEvents(pub(crate) Vec<Tombstone>);

#[async_trait]
impl Work for EraseEvents {
    fn kind(&self) -> &'static str {
        "erase"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let spots = spots(self.0.iter().map(|stone| stone.event), transaction).await?;
        let mut fresh: BTreeMap<EventId, (&Tombstone, EventPosition)> = BTreeMap::new();
        for stone in &self.0 {
            let missing = || Error::not_found(format!("cannot erase event {}: it is not there", stone.event));
            let spot = spots.get(&stone.event).ok_or_else(missing)?;
            if !spot.erased {
                fresh.entry(stone.event).or_insert((stone, *spot));
            }
        }
        if fresh.is_empty() {
            return Ok(0);
        }
        empty(&fresh, transaction).await?;
        let indexed = fresh.values().filter(|(_, spot)| spot.indexed).map(|(_, spot)| spot.seq).collect();
        clear_index(&indexed, transaction).await?;
        clear_learnings(fresh.keys().copied(), transaction).await?;
        clear_graph(fresh.keys().copied().collect(), transaction).await?;
        hollow_summaries(fresh.keys().copied(), transaction).await?;
        let rows = fresh.values().map(|(stone, _)| tombstone_row(stone)).collect();
        for step in statement::INSERT_TOMBSTONES.steps(rows) {
            transaction.later(step.sql, step.args);
        }
        transaction.run(Step::rows(statement::MORE_FORGETS, Vec::new(), 1)).await?;
        Ok(fresh.len() as u64)
    }
}

/// Removes events from the tallies of their conversations, erases their bodies, and updates their checksums.
async fn empty(
    fresh: &BTreeMap<EventId, (&Tombstone, EventPosition)>,
    transaction: &mut dyn Transaction,
) -> Result<()> {
    let ids: Vec<Value> = fresh.keys().copied().map(Value::from).collect();
    for step in removal::LEAVE_TALLIES.removals(ids.clone()) {
        transaction.later(step.sql, step.args);
    }
    let mut moments: BTreeMap<Timestamp, Vec<Value>> = BTreeMap::new();
    for (stone, _) in fresh.values() {
        moments.entry(stone.at).or_default().push(stone.event.into());
    }
    let mut erased = 0;
    for (at, events) in moments {
        for mut step in removal::ERASE_EVENTS.removals(events) {
            step.args.insert(0, at.into());
            erased += transaction.run(step).await?;
        }
    }
    if erased != fresh.len() as u64 {
        return Err(Error::new(ErrorKind::Conflict, "somebody else erased some of the events in between"));
    }
    for (sql, args) in statement::EVENTS_BY_ID.lookups(ids) {
        for row in transaction.rows(sql, args).await? {
            let id = row.rest().get(1).cloned().ok_or_else(|| corrupt("an event has no id"))?;
            transaction.later(removal::SEAL_ERASED, vec![entry::checksum_of_erased(&row).into(), id]);
        }
    }
    transaction.later(removal::DELETE_EMPTY_TALLIES, Vec::new());
    Ok(())
}

/// Adopts unknown tombstones.
#[derive(Debug)]
pub(crate) struct AdoptTombstones(pub(crate) Vec<Tombstone>);

#[async_trait]
impl Work for AdoptTombstones {
    fn kind(&self) -> &'static str {
        "erase"
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        let mut adopted = 0;
        for step in statement::ADOPT_TOMBSTONES.steps(self.0.iter().map(tombstone_row).collect()) {
            adopted += transaction.run(step).await?;
        }
        if adopted > 0 {
            transaction.run(Step::rows(statement::MORE_FORGETS, Vec::new(), 1)).await?;
        }
        Ok(adopted)
    }
}

/// Rewrites every block that holds one of these rows.
async fn clear_index(gone: &BTreeSet<Seq>, transaction: &mut dyn Transaction) -> Result<()> {
    let mut next = gone.first().copied();
    while let Some(seq) = next {
        let mut found = transaction.rows(statement::BLOCK_OF, vec![seq.0.into()]).await?;
        let Some(row) = found.first_mut() else { break };
        let (first, last) = (row.int()?, row.count()?);
        if last >= seq.0 {
            let rest = retain(decode(&row.blob()?)?, |seq| !gone.contains(&seq));
            let step = match rest.seqs.last() {
                None => Step::rows(removal::DELETE_BLOCK, vec![first.into()], 1),
                Some(end) => {
                    let args = vec![first.into(), end.0.into(), rest.len().into(), encode(&rest).into()];
                    Step::rows(removal::REWRITE_BLOCK, args, 1)
                }
            };
            transaction.run(step).await?;
        }
        next = gone.range(Seq(last.max(seq.0) + 1)..).next().copied();
    }
    Ok(())
}

/// Removes learnings whose sources are all erased; the projector derives the others again.
async fn clear_learnings(
    events: impl Iterator<Item = EventId>,
    transaction: &mut dyn Transaction,
) -> Result<()> {
    let mut touched = BTreeSet::new();
    for (sql, args) in statement::LEARNINGS_OF.lookups(events.map(Value::from).collect()) {
        for mut row in transaction.rows(sql, args).await? {
            touched.insert(row.blob()?);
        }
    }
    let touched: Vec<Value> = touched.into_iter().map(Value::from).collect();
    let gone = removal::DELETE_ERASED_LEARNINGS.removals(touched.clone());
    for step in gone.chain(removal::DELETE_LOOSE_SOURCES.removals(touched)) {
        transaction.later(step.sql, step.args);
    }
    Ok(())
}

/// Removes every record of the graph that rests on one of these events, and the mentions in them; the projector derives
/// again what rests on others too.
async fn clear_graph(events: Vec<EventId>, transaction: &mut dyn Transaction) -> Result<()> {
    let mut touched = BTreeSet::new();
    let events: Vec<Value> = events.into_iter().map(Value::from).collect();
    for (sql, args) in statement::GRAPH_OF.lookups(events.clone()) {
        for mut row in transaction.rows(sql, args).await? {
            touched.insert(row.blob()?);
        }
    }
    let touched: Vec<Value> = touched.into_iter().map(Value::from).collect();
    for step in graph::removal_of(&touched, events) {
        transaction.later(step.sql, step.args);
    }
    Ok(())
}

/// Removes the text of every summary node that rests on one of these events; the projector rebuilds it.
async fn hollow_summaries(
    events: impl Iterator<Item = EventId>,
    transaction: &mut dyn Transaction,
) -> Result<()> {
    let mut touched = BTreeSet::new();
    for (sql, args) in statement::SUMMARIES_OF.lookups(events.map(Value::from).collect()) {
        for mut row in transaction.rows(sql, args).await? {
            touched.insert(row.text()?);
        }
    }
    let paths: Vec<Value> = touched.iter().map(|path| path.as_str().into()).collect();
    let erased = removal::ERASED_SUMMARIES.removals(paths.clone());
    for step in erased.chain(removal::DELETE_SUMMARY_SOURCES.removals(paths)) {
        transaction.later(step.sql, step.args);
    }
    Ok(())
}

/// Returns the checksum of a tombstone, which is stored after the hashes of its sentences.
pub(crate) fn tombstone_sum(stone: &Tombstone) -> [u8; 8] {
    let mut bytes = stone.event.0.to_be_bytes().to_vec();
    bytes.extend(stone.body.0);
    bytes.extend(stone.sentences.iter().flat_map(|hash| hash.0));
    bytes.extend(stone.at.as_micros().to_be_bytes());
    checksum(&bytes)
}

/// Returns the columns of a tombstone.
fn tombstone_row(stone: &Tombstone) -> Vec<Value> {
    let mut sentences: Vec<u8> = stone.sentences.iter().flat_map(|hash| hash.0).collect();
    sentences.extend(tombstone_sum(stone));
    vec![stone.event.into(), stone.body.0.to_vec().into(), sentences.into(), Timestamp::into(stone.at)]
}
