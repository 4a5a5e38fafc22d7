//! Entities, facts and mentions, and the cursor that moves with them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AsOf, Cursor, DeadLetter, Edition, Entity, EntityFilter, EntityId, EventId, Fact, FactFilter,
    FactId, GraphDelta, Layer, MentionFilter, MentionRow, Producer, Result, SessionId, Source, Span, Within,
    facts_as_of, strongest_facts,
};

use super::projection::{self, LayerVersion};
use crate::bulk::BulkStatement;
use crate::codec::corrupt;
use crate::codec::graph::{decode_entity, decode_fact, encode_entity, encode_fact};
use crate::row::graph;
use crate::sql::{Batch, Row, Sql, Step, Transaction, Value, Work};
use crate::{removal, statement};

const LAYER: Layer = Layer::Graph;
/// The companion row of the edition with the cardinality rulings, if there are any.
const PREDICATES: &str = "graph/predicates";

pub(crate) async fn cursor(sql: &dyn Sql) -> Result<Cursor> {
    match sql.state().await {
        Some(state) => Ok(state.graph.cursor()),
        None => projection::cursor(sql, LAYER).await,
    }
}

pub(crate) async fn dead_letters(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
    projection::dead_letters(sql, LAYER, limit).await
}

pub(crate) async fn reset(sql: &dyn Sql) -> Result<()> {
    let mut steps: Vec<Step> = removal::RESET_GRAPH.iter().map(|text| Step::new(text, Vec::new())).collect();
    steps.push(Step::new(removal::DELETE_EDITION, vec![LAYER.as_str().into()]));
    steps.push(Step::new(removal::DELETE_EDITION, vec![PREDICATES.into()]));
    steps.extend(projection::reset(LAYER));
    sql.commit(Box::new(Batch::new("graph", steps))).await.map(drop)
}

pub(crate) async fn apply(sql: &dyn Sql, delta: &GraphDelta, advance: &Advance) -> Result<()> {
    let mut steps = projection::advance(LAYER, advance);
    let sources = DeltaSources::of(delta);
    remove(&mut steps, delta);
    steps.extend(statement::INSERT_ENTITIES.upserts(1, delta.entities.iter().map(entity).collect()));
    let names = delta.entities.iter().flat_map(|entity| {
        entity.names.iter().map(|name| vec![name.key.as_str().into(), bytes(entity.id.0)])
    });
    steps.extend(statement::INSERT_ENTITY_NAMES.steps(names.collect()));
    steps.extend(statement::INSERT_FACTS.upserts(1, delta.facts.iter().map(fact).collect()));
    steps.extend(statement::INSERT_GRAPH_SOURCES.steps(sources.rows()));
    steps.extend(statement::INSERT_MENTIONS.upserts(2, delta.mentions.iter().map(mention_row).collect()));
    if let Some(edition) = &delta.edition {
        steps.push(put_edition(edition)?);
        steps.push(put_predicates(edition)?);
    }
    let work = Box::new(GraphFold { batch: Batch::new("graph", steps), sources });
    let only_adds = delta.edition.is_none()
        && delta.remove_entities.is_empty()
        && delta.remove_facts.is_empty()
        && delta.remove_mentions.is_empty();
    // What is removed must not come back with a power cut.
    let done = if only_adds { sql.commit_projection(work).await } else { sql.commit(work).await };
    done.map(drop)
}

fn put_edition(edition: &Edition) -> Result<Step> {
    let (id, version) = match &edition.producer {
        Some(producer) => (producer.id.as_str().into(), i64::from(producer.version).into()),
        None => (Value::Null, Value::Null),
    };
    let difference = edition.difference.as_ref().map(graph::write_difference).transpose()?;
    Ok(Step::new(statement::PUT_EDITION, vec![LAYER.as_str().into(), id, version, difference.into()]))
}

fn put_predicates(edition: &Edition) -> Result<Step> {
    if edition.predicates.is_empty() {
        return Ok(Step::new(removal::DELETE_EDITION, vec![PREDICATES.into()]));
    }
    let row = graph::write_predicates(&edition.predicates)?;
    Ok(Step::new(statement::PUT_EDITION, vec![PREDICATES.into(), Value::Null, Value::Null, row.into()]))
}

pub(crate) async fn version(sql: &dyn Sql) -> Result<LayerVersion> {
    match sql.state().await {
        Some(state) => Ok(state.graph),
        None => projection::version(sql, LAYER).await,
    }
}

pub(crate) async fn edition(sql: &dyn Sql) -> Result<Edition> {
    let mut rows = sql.rows(statement::EDITION, vec![LAYER.as_str().into(), PREDICATES.into()]).await?;
    let Some(row) = rows.first_mut() else { return Ok(Edition::default()) };
    let (id, version) = (row.opt_text()?, row.opt_int()?);
    let version = version.map(u32::try_from).transpose().map_err(|_| corrupt("a version is out of range"))?;
    let producer = id.zip(version).map(|(id, version)| Producer { id, version });
    let difference = row.opt_text()?.map(|stored| graph::read_difference(&stored)).transpose()?;
    let predicates = row.opt_text()?.map(|stored| graph::read_predicates(&stored)).transpose()?;
    Ok(Edition { producer, difference, predicates: predicates.unwrap_or_default() })
}

/// Adds the removals. The sources of a row only grow; a superfluous one would remove the row when it is erased, and the graph
/// is then rebuilt.
fn remove(steps: &mut Vec<Step>, delta: &GraphDelta) {
    let gone = delta.remove_entities.iter().map(|id| id.0).chain(delta.remove_facts.iter().map(|id| id.0));
    steps.extend(removal::DELETE_GRAPH_SOURCES.removals(gone.map(bytes).collect()));
    let named = delta.remove_entities.iter().copied().chain(delta.entities.iter().map(|entity| entity.id));
    steps.extend(removal::DELETE_ENTITY_NAMES.removals(named.map(|id| bytes(id.0)).collect()));
    steps.extend(removal::DELETE_ENTITIES.removals(ids(&delta.remove_entities)));
    let facts = delta.remove_facts.iter().map(|id| bytes(id.0));
    steps.extend(removal::DELETE_FACTS.removals(facts.collect()));
    let place = |(event, entity): &(EventId, EntityId)| vec![(*event).into(), bytes(entity.0)];
    steps.extend(removal::DELETE_MENTIONS.steps(delta.remove_mentions.iter().map(place).collect()));
}

/// Returns the steps that remove records of any kind, and the mentions in events.
pub(crate) fn removal_of(records: &[Value], events: Vec<Value>) -> Vec<Step> {
    let of_records = [
        &removal::DELETE_FACTS,
        &removal::DELETE_ENTITIES,
        &removal::DELETE_ENTITY_NAMES,
        &removal::DELETE_GRAPH_SOURCES,
    ];
    let steps = of_records.into_iter().flat_map(|many| many.removals(records.to_vec()));
    steps.chain(removal::DELETE_MENTIONS_IN.removals(events)).collect()
}

/// The source events of a delta's rows.
#[derive(Debug)]
struct DeltaSources {
    /// Entities and facts, each with its events.
    records: Vec<(u128, Vec<EventId>)>,
    /// Events with a mention.
    mentions: BTreeSet<EventId>,
}

impl DeltaSources {
    fn of(delta: &GraphDelta) -> Self {
        let entities = delta.entities.iter().map(|entity| (entity.id.0, entity.sources.clone()));
        let events = |fact: &Fact| fact.supports.iter().map(|one| one.source.event).collect();
        let facts = delta.facts.iter().map(|fact| (fact.id.0, events(fact)));
        let mentions = delta.mentions.iter().map(|mention| mention.source.event).collect();
        Self { records: entities.chain(facts).collect(), mentions }
    }

    fn rows(&self) -> Vec<Vec<Value>> {
        let row = |(record, events): &(u128, Vec<EventId>)| {
            let record = *record;
            events.iter().map(move |event| vec![bytes(record), (*event).into()]).collect::<Vec<_>>()
        };
        self.records.iter().flat_map(row).collect()
    }

    fn events(&self) -> BTreeSet<EventId> {
        let of_records = self.records.iter().flat_map(|(_, events)| events);
        of_records.chain(&self.mentions).copied().collect()
    }
}

/// Rows and cursor; rows that rest on an event erased in the meantime are removed.
#[derive(Debug)]
struct GraphFold {
    batch: Batch,
    sources: DeltaSources,
}

#[async_trait]
impl Work for GraphFold {
    fn kind(&self) -> &'static str {
        self.batch.kind()
    }

    async fn run(&mut self, transaction: &mut dyn Transaction) -> Result<u64> {
        // First, because the rows then go along with the commit; while the transaction is open there is no other erase.
        let mut erased = BTreeSet::new();
        let events = self.sources.events().into_iter().map(Value::from).collect();
        for (text, args) in statement::ERASED_OF.lookups(events) {
            for mut row in transaction.rows(text, args).await? {
                erased.insert(EventId(row.id()?));
            }
        }
        let touched = self.batch.run(transaction).await?;
        if erased.is_empty() {
            return Ok(touched);
        }
        let records = self.sources.records.iter();
        let gone = records.filter(|(_, events)| events.iter().any(|event| erased.contains(event)));
        let gone: Vec<Value> = gone.map(|(record, _)| bytes(*record)).collect();
        for step in removal_of(&gone, erased.into_iter().map(Value::from).collect()) {
            transaction.run(step).await?;
        }
        Ok(touched)
    }
}

fn entity(entity: &Entity) -> Vec<Value> {
    let merged_into: Value = entity.merges.last().map(|merge| bytes(merge.into.0)).into();
    vec![bytes(entity.id.0), merged_into, encode_entity(entity).into()]
}

fn fact(fact: &Fact) -> Vec<Value> {
    vec![
        bytes(fact.id.0),
        bytes(fact.subject.0),
        fact.predicate.as_str().into(),
        fact.object.entity().map(|id| bytes(id.0)).into(),
        fact.created_at.into(),
        fact.expired_at.into(),
        fact.rank().into(),
        encode_fact(fact).into(),
    ]
}

fn mention_row(mention: &MentionRow) -> Vec<Value> {
    vec![
        mention.source.event.into(),
        bytes(mention.entity.0),
        i64::from(mention.source.span.start).into(),
        i64::from(mention.source.span.end).into(),
        mention.session.as_str().into(),
        mention.occurred_at.into(),
    ]
}

fn bytes(id: u128) -> Value {
    Value::Blob(id.to_be_bytes().to_vec())
}

fn ids(ids: &[EntityId]) -> Vec<Value> {
    ids.iter().map(|id| bytes(id.0)).collect()
}

/// Returns the ids of the entities with a name of one of these keys.
pub(crate) async fn named(sql: &dyn Sql, keys: &[String]) -> Result<Vec<EntityId>> {
    let keys = keys.iter().map(|key| key.as_str().into()).collect();
    let rows = lookup(sql, &statement::IDS_NAMED, keys).await?;
    rows.into_iter().map(|mut row| Ok(EntityId(row.id()?))).collect()
}

pub(crate) async fn entities(sql: &dyn Sql, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
    let rows = match (&filter.ids, &filter.keys, &filter.merged_into) {
        (Within::Only(wanted), _, _) => lookup(sql, &statement::ENTITIES_BY_ID, ids(wanted)).await?,
        (_, Within::Only(keys), _) => {
            lookup(sql, &statement::ENTITIES_NAMED, keys.iter().map(|key| key.as_str().into()).collect())
                .await?
        }
        (_, _, Within::Only(into)) => sql.rows(statement::ENTITIES_JOINED, vec![bytes(into.0)]).await?,
        _ => sql.rows(statement::ENTITIES, Vec::new()).await?,
    };
    let found = read_entities(rows)?;
    Ok(found.into_values().filter(|entity| filter.accepts(entity)).map(Arc::new).collect())
}

pub(super) fn read_entities(rows: Vec<Row>) -> Result<BTreeMap<EntityId, Entity>> {
    let mut found = BTreeMap::new();
    for mut row in rows {
        let id = row.id()?;
        let entity = match row.next() {
            Value::Blob(stored) => decode_entity(&stored)?,
            Value::Text(stored) => graph::read_entity(&stored)?,
            _ => return Err(corrupt("an entity is missing")),
        };
        if entity.id.0 != id {
            return Err(corrupt("an entity has another's place"));
        }
        found.insert(entity.id, entity);
    }
    Ok(found)
}

pub(crate) async fn facts(sql: &dyn Sql, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
    // Nothing that was believed before is believed as of the end of time.
    let rows =
        if as_of.is_present() { BELIEVED.read(sql, filter).await? } else { EVERY.read(sql, filter).await? };
    Ok(facts_as_of(rows.into_iter().map(Arc::new), as_of))
}

pub(crate) async fn strongest(
    sql: &dyn Sql,
    of: &[EntityId],
    most: NonZeroUsize,
    as_of: AsOf,
) -> Result<Vec<Fact>> {
    let mut found = Vec::new();
    if as_of.is_present() {
        for many in [&statement::STRONGEST_OF_SUBJECTS, &statement::STRONGEST_OF_OBJECTS] {
            for (text, mut args) in many.lookups(ids(of)) {
                args.push(most.get().into());
                found.extend(read_facts(sql.rows(text, args).await?)?.into_values());
            }
        }
    } else {
        let about = FactFilter { subjects: Within::Only(of.to_vec()), ..FactFilter::all() };
        let leading = FactFilter { objects: Within::Only(of.to_vec()), ..FactFilter::all() };
        found.extend(EVERY.read(sql, &about).await?);
        found.extend(EVERY.read(sql, &leading).await?);
        found.retain(|fact| fact.is_believed_at(as_of.belief));
    }
    let strongest = strongest_facts(found, most).into_iter().map(Arc::new);
    Ok(facts_as_of(strongest, as_of).into_iter().map(Arc::unwrap_or_clone).collect())
}

pub(crate) async fn history(sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
    let mut facts = EVERY.read(sql, filter).await?;
    facts.sort_by_key(|fact| (fact.created_at, fact.id));
    Ok(facts)
}

pub(crate) async fn believed(sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
    BELIEVED.read(sql, filter).await
}

/// The statements for one selection of versions.
struct FactStatements {
    /// Of one subject, which comes last, with some predicates.
    slots: &'static BulkStatement,
    subjects: &'static BulkStatement,
    objects: &'static BulkStatement,
    sources: &'static BulkStatement,
    all: &'static str,
}

const EVERY: FactStatements = FactStatements {
    slots: &statement::FACTS_OF_SLOTS,
    subjects: &statement::FACTS_OF_SUBJECTS,
    objects: &statement::FACTS_OF_OBJECTS,
    sources: &statement::FACTS_OF_SOURCES,
    all: statement::FACTS,
};
const BELIEVED: FactStatements = FactStatements {
    slots: &statement::BELIEVED_OF_SLOTS,
    subjects: &statement::BELIEVED_OF_SUBJECTS,
    objects: &statement::BELIEVED_OF_OBJECTS,
    sources: &statement::BELIEVED_OF_SOURCES,
    all: statement::BELIEVED,
};

impl FactStatements {
    /// Reads by the most selective index for a filter, by id.
    async fn read(&self, sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
        let rows = match (filter.subjects.only().map(Vec::as_slice), &filter.predicates) {
            (Some([subject]), Within::Only(predicates)) => {
                let mut rows = Vec::new();
                let predicates = predicates.iter().map(|predicate| predicate.as_str().into());
                for (text, mut args) in self.slots.lookups(predicates.collect()) {
                    args.push(bytes(subject.0));
                    rows.extend(sql.rows(text, args).await?);
                }
                rows
            }
            (Some(subjects), _) => lookup(sql, self.subjects, ids(subjects)).await?,
            (None, _) => match (&filter.objects, &filter.sources) {
                (Within::Only(objects), _) => lookup(sql, self.objects, ids(objects)).await?,
                (_, Within::Only(events)) => {
                    lookup(sql, self.sources, events.iter().map(|id| (*id).into()).collect()).await?
                }
                _ => sql.rows(self.all, Vec::new()).await?,
            },
        };
        Ok(read_facts(rows)?.into_values().filter(|fact| filter.accepts(fact)).collect())
    }
}

pub(super) fn read_facts(rows: Vec<Row>) -> Result<BTreeMap<FactId, Fact>> {
    let mut found = BTreeMap::new();
    for mut row in rows {
        let id = row.id()?;
        let fact = match row.next() {
            Value::Blob(stored) => decode_fact(&stored)?,
            Value::Text(stored) => graph::read_fact(&stored)?,
            _ => return Err(corrupt("a fact is missing")),
        };
        if fact.id.0 != id {
            return Err(corrupt("a fact has another's place"));
        }
        found.insert(fact.id, fact);
    }
    Ok(found)
}

pub(crate) async fn mentions(sql: &dyn Sql, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
    let rows = match (&filter.events, &filter.entities, &filter.session) {
        (Within::Only(events), _, _) => {
            lookup(sql, &statement::MENTIONS_OF_EVENTS, events.iter().map(|id| (*id).into()).collect())
                .await?
        }
        (_, Within::Only(wanted), _) => lookup(sql, &statement::MENTIONS_OF_ENTITIES, ids(wanted)).await?,
        (_, _, Within::Only(session)) => {
            sql.rows(statement::MENTIONS_IN_SESSION, vec![session.as_str().into()]).await?
        }
        _ => sql.rows(statement::MENTIONS, Vec::new()).await?,
    };
    let mut found: Vec<MentionRow> = rows.into_iter().map(mention).collect::<Result<_>>()?;
    found.retain(|mention| filter.accepts(mention));
    found.sort_by_key(|mention| (mention.source.event, mention.entity));
    Ok(found)
}

fn mention(mut row: Row) -> Result<MentionRow> {
    let (event, entity) = (EventId(row.id()?), EntityId(row.id()?));
    let mut place = || u32::try_from(row.count()?).map_err(|_| corrupt("a mention lies outside of any text"));
    let span = Span { start: place()?, end: place()? };
    let session =
        SessionId::new(row.text()?).map_err(|error| corrupt("a stored name is not one").because(error))?;
    Ok(MentionRow { source: Source { event, span }, entity, session, occurred_at: row.time()? })
}

async fn lookup(sql: &dyn Sql, many: &'static BulkStatement, values: Vec<Value>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (text, args) in many.lookups(values) {
        rows.extend(sql.rows(text, args).await?);
    }
    Ok(rows)
}
