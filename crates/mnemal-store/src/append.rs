//! Group append: batches of several callers in one transaction; one caller's refusal does not affect the others.

use std::collections::{BTreeMap, HashMap, HashSet};

use mnemal_core::{
    AppendOutcome, BLOCK_ROWS, Decision, Error, ErrorKind, EventId, EventKind, Result, Role, Seq, Timestamp,
};

use crate::admit::{self, Dimensions};
use crate::block::{IndexRow, pack};
use crate::codec::{corrupt, encode};
use crate::entry::Prepared;
use crate::sql::{Row, Step, Transaction, Value};
use crate::statement;

/// Outcome of a group.
#[derive(Debug)]
pub(crate) struct GroupOutcome {
    /// One answer per caller, in order.
    pub(crate) answers: Vec<Result<Vec<AppendOutcome>>>,
    /// Rows added to the index.
    pub(crate) indexed: u64,
    /// Whether anything was written.
    pub(crate) wrote: bool,
}

/// Writes a group. Rejections are answers; an error means that the transaction must be rolled back.
///
/// `models` caches vector dimensions and grows; after an error it must be reloaded.
pub(crate) async fn append(
    group: &[&[Prepared]],
    models: &mut Dimensions,
    transaction: &mut dyn Transaction,
) -> Result<GroupOutcome> {
    let known = look_up(group, transaction).await?;
    let mut plan = Plan { known, ..Plan::default() };
    let mut planned = Vec::with_capacity(group.len());
    for batch in group {
        let answer = match new_models(batch, models, transaction).await {
            Ok(dimensions) => take(&mut plan, batch, transaction).await.map(|places| (places, dimensions)),
            Err(error) => Err(error),
        };
        planned.push(match answer {
            Ok((places, dimensions)) => {
                for (model, values) in &dimensions {
                    let args = vec![model.as_str().into(), (*values).into()];
                    transaction.run(Step::new(statement::INSERT_MODEL, args)).await?;
                }
                models.extend(dimensions);
                Ok(places)
            }
            Err(error) if refuses(&error) => Err(error),
            Err(error) => return Err(error),
        });
    }
    let (seqs, indexed) = write(&plan.fresh, transaction).await?;
    let appended = |place: EntryOutcome| match place {
        EntryOutcome::Known(id, seq) => Ok(AppendOutcome { id, seq, fresh: false }),
        EntryOutcome::Fresh { id, number, first } => {
            let seq = *seqs.get(number).ok_or_else(|| Error::internal("an event without a position"))?;
            Ok(AppendOutcome { id, seq, fresh: first })
        }
    };
    let answers = planned.into_iter().map(|places| places?.into_iter().map(appended).collect()).collect();
    Ok(GroupOutcome { answers, indexed, wrote: !seqs.is_empty() })
}

/// Returns the outcomes of the batches that are stored already; `None` for one of which no event is. A batch is stored whole or not
/// at all, and an entry of a stored batch whose id is not there repeats a key.
#[cfg(feature = "postgres")]
pub(crate) async fn stored_outcomes(
    group: &[&[Prepared]],
    transaction: &mut dyn Transaction,
) -> Result<Vec<Option<Vec<AppendOutcome>>>> {
    let ids = || group.iter().flat_map(|batch| batch.iter()).map(|prepared| prepared.entry.id);
    let spots = crate::erase::spots(ids(), transaction).await?;
    let known = look_up(group, transaction).await?;
    let outcome = |prepared: &Prepared| {
        let (id, key) = (prepared.entry.id, prepared.entry.event.idempotency_key.as_ref());
        if let Some(spot) = spots.get(&id) {
            return Some(AppendOutcome { id, seq: spot.seq, fresh: true });
        }
        match known.keys.get(key?) {
            Some((EntryOutcome::Known(id, seq), _)) => {
                Some(AppendOutcome { id: *id, seq: *seq, fresh: false })
            }
            _ => None,
        }
    };
    let of_batch = |batch: &&[Prepared]| {
        let is_stored = batch.iter().any(|prepared| spots.contains_key(&prepared.entry.id));
        if is_stored { batch.iter().map(outcome).collect() } else { None }
    };
    Ok(group.iter().map(of_batch).collect())
}

/// Whether an error concerns one caller's batch and not the database.
fn refuses(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Invalid)
}

/// Plans a batch; if it is rejected, the first rejected entry determines the error.
async fn take<'a>(
    plan: &mut Plan<'a>,
    batch: &'a [Prepared],
    transaction: &mut dyn Transaction,
) -> Result<Vec<EntryOutcome>> {
    match plan.take(batch) {
        Err(error) if error.kind() == ErrorKind::Invalid => {
            // An earlier entry may have an id that is stored, which else only the insert would tell.
            plan.known.ids = stored(batch.iter().map(|prepared| prepared.entry.id), transaction).await?;
            let again = plan.take(batch);
            plan.known.ids.clear();
            again
        }
        answer => answer,
    }
}

/// Outcome of one entry.
#[derive(Clone, Copy, Debug)]
enum EntryOutcome {
    /// It repeats a stored event.
    Known(EventId, Seq),
    /// It is the `number`th new event, or repeats it.
    Fresh { id: EventId, number: usize, first: bool },
}

/// The state of a key: the event, and the hash of its body unless that was erased.
type KeyState = (EntryOutcome, Option<Vec<u8>>);

#[derive(Default)]
struct StoredKeys {
    keys: HashMap<String, KeyState>,
    parents: HashSet<EventId>,
    /// Stored ids of a batch that is rejected anyway.
    ids: HashSet<EventId>,
}

/// Decides batch by batch which entries are new.
#[derive(Default)]
struct Plan<'a> {
    known: StoredKeys,
    fresh: Vec<&'a Prepared>,
}

impl<'a> Plan<'a> {
    /// Accepts a whole batch or nothing of it.
    fn take(&mut self, batch: &'a [Prepared]) -> Result<Vec<EntryOutcome>> {
        let mut keys: HashMap<&str, KeyState> = HashMap::new();
        let mut ids: HashSet<EventId> = HashSet::with_capacity(batch.len());
        let mut places = Vec::with_capacity(batch.len());
        let mut fresh = Vec::with_capacity(batch.len());
        for prepared in batch {
            let (entry, event) = (&prepared.entry, &prepared.entry.event);
            let key = event.idempotency_key.as_deref();
            let known = key.and_then(|key| self.known.keys.get(key).or_else(|| keys.get(key)));
            if let Some((place, hash)) = known {
                if hash.as_ref().is_some_and(|hash| hash.as_slice() != entry.body_hash) {
                    return Err(refusal(
                        ErrorKind::Conflict,
                        entry.id,
                        "its idempotency key names another body",
                    ));
                }
                places.push(match *place {
                    EntryOutcome::Fresh { id, number, .. } => {
                        EntryOutcome::Fresh { id, number, first: false }
                    }
                    place @ EntryOutcome::Known(..) => place,
                });
                continue;
            }
            if ids.contains(&entry.id) || self.known.ids.contains(&entry.id) {
                return Err(refusal(ErrorKind::Conflict, entry.id, "the id is known"));
            }
            let there = |id: &EventId| ids.contains(id) || self.known.parents.contains(id);
            if event.parent.is_some_and(|parent| !there(&parent)) {
                return Err(refusal(ErrorKind::Invalid, entry.id, "its parent is unknown"));
            }
            let place =
                EntryOutcome::Fresh { id: entry.id, number: self.fresh.len() + fresh.len(), first: true };
            ids.insert(entry.id);
            if let Some(key) = key {
                keys.insert(key, (place, Some(entry.body_hash.to_vec())));
            }
            places.push(place);
            fresh.push(prepared);
        }
        self.known.keys.extend(keys.into_iter().map(|(key, known)| (key.to_owned(), known)));
        self.known.parents.extend(ids);
        self.fresh.extend(fresh);
        Ok(places)
    }
}

fn refusal(kind: ErrorKind, id: EventId, why: &str) -> Error {
    Error::new(kind, format!("cannot append event {id}: {why}"))
}

/// Reads which keys and parents of the group are stored; no query when there are none.
async fn look_up(group: &[&[Prepared]], transaction: &mut dyn Transaction) -> Result<StoredKeys> {
    let events = || group.iter().flat_map(|batch| batch.iter()).map(|prepared| &prepared.entry.event);
    let mut known = StoredKeys::default();
    let keys = events().filter_map(|event| event.idempotency_key.as_deref()).map(Value::from).collect();
    for (sql, args) in statement::EVENTS_BY_KEY.lookups(keys) {
        for mut row in transaction.rows(sql, args).await? {
            let key = row.text()?;
            let place = EntryOutcome::Known(EventId(row.id()?), Seq(row.count()?));
            known.keys.insert(key, (place, row.opt_blob()?));
        }
    }
    known.parents = stored(events().filter_map(|event| event.parent), transaction).await?;
    Ok(known)
}

/// Returns which of some ids are stored.
async fn stored(
    ids: impl Iterator<Item = EventId>,
    transaction: &mut dyn Transaction,
) -> Result<HashSet<EventId>> {
    let mut stored = HashSet::new();
    for (sql, args) in statement::PLACES_BY_ID.lookups(ids.map(Value::from).collect()) {
        for mut row in transaction.rows(sql, args).await? {
            stored.insert(EventId(row.id()?));
        }
    }
    Ok(stored)
}

/// Returns the new models of the batch; rejects vectors whose dimensions differ from their model's.
async fn new_models(
    batch: &[Prepared],
    models: &mut Dimensions,
    transaction: &mut dyn Transaction,
) -> Result<Dimensions> {
    let mut found = Dimensions::new();
    for index in batch.iter().filter_map(|prepared| prepared.entry.index.as_ref()) {
        for (model, vector) in &index.vectors {
            if !models.contains_key(model) && !found.contains_key(model) {
                *models = stored_models(transaction).await?;
            }
            match models.get(model) {
                Some(expected) => admit::same(model, *expected, vector.codes().len())?,
                None => admit::agree(&mut found, model, vector)?,
            }
        }
    }
    Ok(found)
}

/// Reads the dimensions of all models.
pub(crate) async fn stored_models(transaction: &mut dyn Transaction) -> Result<Dimensions> {
    read_models(transaction.rows(statement::MODELS, Vec::new()).await?)
}

/// Reads what [`statement::MODELS`] answers.
pub(crate) fn read_models(rows: Vec<Row>) -> Result<Dimensions> {
    let mut models = Dimensions::new();
    for mut row in rows {
        let model = mnemal_core::ModelId::new(row.text()?).map_err(|_| corrupt("a model has no name"))?;
        let dimensions = usize::try_from(row.count()?).unwrap_or(usize::MAX);
        models.insert(model, dimensions);
    }
    Ok(models)
}

/// Assigns positions and times to the new events, and writes them with their index rows.
async fn write(fresh: &[&Prepared], transaction: &mut dyn Transaction) -> Result<(Vec<Seq>, u64)> {
    if fresh.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let (first, mut last) = advance(fresh, transaction).await?;
    let mut seqs = Vec::with_capacity(fresh.len());
    let mut rows = Vec::with_capacity(fresh.len());
    let mut index = Vec::new();
    for (prepared, number) in fresh.iter().zip(first..) {
        let entry = &prepared.entry;
        last = entry.recorded_at.as_micros().max(last + 1);
        let recorded_at = Timestamp::from_micros(last)
            .map_err(|error| Error::invalid("the log cannot record anything after 9999").because(error))?;
        rows.push(prepared.columns(Seq(number), recorded_at)?);
        seqs.push(Seq(number));
        if let Some(terms) = &entry.index {
            index.push(IndexRow { id: entry.id, seq: Seq(number), event: &entry.event, index: terms });
        }
    }
    for step in statement::INSERT_EVENTS.steps(rows) {
        transaction.later(step.sql, step.args);
    }
    let forgets =
        |prepared: &&&Prepared| matches!(prepared.entry.event.kind, EventKind::Decision(Decision::Forget(_)));
    for prepared in fresh.iter().filter(forgets) {
        transaction.later(statement::START_FORGETTING, vec![prepared.entry.id.into()]);
    }
    for step in statement::ADD_TO_TALLIES.steps(tallies(fresh, &seqs)) {
        transaction.later(step.sql, step.args);
    }
    for chunk in index.chunks(BLOCK_ROWS) {
        let (from, to) = (chunk.first().map_or(0, |row| row.seq.0), chunk.last().map_or(0, |row| row.seq.0));
        let args = vec![from.into(), to.into(), chunk.len().into(), encode(&pack(chunk)).into()];
        transaction.later(statement::INSERT_BLOCK, args);
    }
    Ok((seqs, index.len() as u64))
}

/// Returns the increments of the tallies of conversations and of decisions: events, and the sum of their positions.
fn tallies(fresh: &[&Prepared], seqs: &[Seq]) -> Vec<Vec<Value>> {
    let mut grown: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (prepared, seq) in fresh.iter().zip(seqs) {
        let event = &prepared.entry.event;
        let session = format!("session/{}", event.session.as_str());
        let decision = (event.kind.role() == Role::Decision).then(|| "decisions".to_owned());
        for name in [Some(session), decision].into_iter().flatten() {
            let (events, sum) = grown.entry(name).or_default();
            *events += 1;
            *sum += seq.0;
        }
    }
    grown.into_iter().map(|(name, (events, sum))| vec![name.into(), events.into(), sum.into()]).collect()
}

/// Advances head and clock of the space; returns the first new position and the last time before it.
async fn advance(fresh: &[&Prepared], transaction: &mut dyn Transaction) -> Result<(u64, i64)> {
    let behind = |(place, prepared): (usize, &&Prepared)| {
        let more = i64::try_from(fresh.len() - 1 - place).unwrap_or(i64::MAX);
        prepared.entry.recorded_at.as_micros().saturating_add(more)
    };
    let latest = fresh.iter().enumerate().map(behind).max().unwrap_or_default();
    let args = vec![fresh.len().into(), latest.into()];
    let mut answer = transaction.rows(statement::ADVANCE, args).await?;
    let row = answer.first_mut().ok_or_else(|| corrupt("the space has no row"))?;
    let (head, before) = (row.count()?, row.int()?);
    Ok((head + 1 - fresh.len() as u64, before))
}
