//! Entities, facts and mentions, and the cursor that moves with them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, AsOf, Cursor, DeadLetter, Entity, EntityFilter, EntityId, EventId, Fact, FactFilter, GraphDelta,
    Layer, MentionFilter, MentionRow, Result, SessionId, Source, Span, Within, facts_as_of,
};

use super::projection;
use crate::codec::corrupt;
use crate::many::Many;
use crate::row::graph;
use crate::sql::{Batch, Row, Sql, Step, Value};
use crate::{removal, statement};

const LAYER: Layer = Layer::Graph;

pub(crate) async fn cursor(sql: &dyn Sql) -> Result<Cursor> {
    projection::cursor(sql, LAYER).await
}

pub(crate) async fn dead_letters(sql: &dyn Sql, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
    projection::dead_letters(sql, LAYER, limit).await
}

pub(crate) async fn reset(sql: &dyn Sql) -> Result<()> {
    let mut steps: Vec<Step> = removal::RESET_GRAPH.iter().map(|text| Step::new(text, Vec::new())).collect();
    steps.extend(projection::reset(LAYER));
    sql.commit(Box::new(Batch(steps))).await.map(drop)
}

pub(crate) async fn apply(sql: &dyn Sql, delta: &GraphDelta, advance: &Advance) -> Result<()> {
    let mut steps = projection::advance(LAYER, advance);
    entity_steps(&mut steps, delta)?;
    fact_steps(&mut steps, delta)?;
    mention_steps(&mut steps, delta);
    sql.commit(Box::new(Batch(steps))).await.map(drop)
}

fn entity_steps(steps: &mut Vec<Step>, delta: &GraphDelta) -> Result<()> {
    let ids = || delta.entities.iter().map(|entity| entity.id);
    for id in ids().chain(delta.remove_entities.iter().copied()) {
        steps.push(Step::new(removal::DELETE_GRAPH_SOURCES, vec![bytes(id.0)]));
        steps.push(Step::new(removal::DELETE_ENTITY_NAMES, vec![bytes(id.0)]));
    }
    for id in &delta.remove_entities {
        steps.push(Step::new(removal::DELETE_ENTITY, vec![bytes(id.0)]));
    }
    let row = |entity: &Entity| {
        let joined: Value = entity.joined.last().map(|joined| bytes(joined.into.0)).into();
        Ok(vec![bytes(entity.id.0), joined, graph::write_entity(entity)?.into()])
    };
    steps.extend(statement::INSERT_ENTITIES.steps(delta.entities.iter().map(row).collect::<Result<_>>()?));
    let names = delta.entities.iter().flat_map(|entity| {
        entity.names.iter().map(|name| vec![name.key.as_str().into(), bytes(entity.id.0)])
    });
    steps.extend(statement::INSERT_ENTITY_NAMES.steps(names.collect()));
    let sources = delta
        .entities
        .iter()
        .flat_map(|entity| entity.sources.iter().map(|event| vec![bytes(entity.id.0), (*event).into()]));
    steps.extend(statement::INSERT_GRAPH_SOURCES.steps(sources.collect()));
    for id in ids() {
        steps.push(Step::new(removal::DELETE_ERASED_ENTITY, vec![bytes(id.0)]));
        steps.push(Step::new(removal::DELETE_LOOSE_NAMES, vec![bytes(id.0)]));
        steps.push(Step::new(removal::DELETE_LOOSE_GRAPH_SOURCES, vec![bytes(id.0)]));
    }
    Ok(())
}

fn fact_steps(steps: &mut Vec<Step>, delta: &GraphDelta) -> Result<()> {
    let ids = || delta.facts.iter().map(|fact| fact.id);
    for id in ids().chain(delta.remove_facts.iter().copied()) {
        steps.push(Step::new(removal::DELETE_GRAPH_SOURCES, vec![bytes(id.0)]));
    }
    for id in &delta.remove_facts {
        steps.push(Step::new(removal::DELETE_FACT, vec![bytes(id.0)]));
    }
    steps.extend(statement::INSERT_FACTS.steps(delta.facts.iter().map(columns).collect::<Result<_>>()?));
    let sources = delta
        .facts
        .iter()
        .flat_map(|fact| fact.supports.iter().map(|one| vec![bytes(fact.id.0), one.source.event.into()]));
    steps.extend(statement::INSERT_GRAPH_SOURCES.steps(sources.collect()));
    for id in ids() {
        steps.push(Step::new(removal::DELETE_ERASED_FACT, vec![bytes(id.0)]));
        steps.push(Step::new(removal::DELETE_LOOSE_GRAPH_SOURCES, vec![bytes(id.0)]));
    }
    Ok(())
}

fn columns(fact: &Fact) -> Result<Vec<Value>> {
    Ok(vec![
        bytes(fact.id.0),
        bytes(fact.subject.0),
        fact.predicate.as_str().into(),
        fact.object.entity().map(|id| bytes(id.0)).into(),
        fact.created_at.into(),
        fact.expired_at.into(),
        graph::write_fact(fact)?.into(),
    ])
}

fn mention_steps(steps: &mut Vec<Step>, delta: &GraphDelta) {
    for (event, entity) in &delta.remove_mentions {
        steps.push(Step::new(removal::DELETE_MENTION, vec![(*event).into(), bytes(entity.0)]));
    }
    let row = |mention: &MentionRow| {
        vec![
            mention.source.event.into(),
            bytes(mention.entity.0),
            i64::from(mention.source.span.start).into(),
            i64::from(mention.source.span.end).into(),
            mention.session.as_str().into(),
            mention.occurred_at.into(),
        ]
    };
    steps.extend(statement::INSERT_MENTIONS.steps(delta.mentions.iter().map(row).collect()));
    let mut events: Vec<EventId> = delta.mentions.iter().map(|mention| mention.source.event).collect();
    events.dedup();
    for event in events {
        steps.push(Step::new(removal::DELETE_ERASED_MENTIONS, vec![event.into()]));
    }
}

fn bytes(id: u128) -> Value {
    Value::Blob(id.to_be_bytes().to_vec())
}

fn ids(ids: &[EntityId]) -> Vec<Value> {
    ids.iter().map(|id| bytes(id.0)).collect()
}

pub(crate) async fn entities(sql: &dyn Sql, filter: &EntityFilter) -> Result<Vec<Entity>> {
    let rows = match (&filter.ids, &filter.key, &filter.joined) {
        (Within::Only(wanted), _, _) => lookup(sql, &statement::ENTITIES_BY_ID, ids(wanted)).await?,
        (_, Within::Only(key), _) => sql.rows(statement::ENTITIES_NAMED, vec![key.as_str().into()]).await?,
        (_, _, Within::Only(into)) => sql.rows(statement::ENTITIES_JOINED, vec![bytes(into.0)]).await?,
        _ => sql.rows(statement::ENTITIES, Vec::new()).await?,
    };
    let mut found = BTreeMap::new();
    for mut row in rows {
        let (id, body) = (row.id()?, row.text()?);
        let entity = graph::read_entity(&body)?;
        if entity.id.0 != id {
            return Err(corrupt("an entity has another's place"));
        }
        found.insert(entity.id, entity);
    }
    Ok(found.into_values().filter(|entity| filter.accepts(entity)).collect())
}

pub(crate) async fn facts(sql: &dyn Sql, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Fact>> {
    // Nothing that was believed before is believed as of the end of time.
    let rows =
        if as_of.is_present() { BELIEVED.read(sql, filter).await? } else { EVERY.read(sql, filter).await? };
    Ok(facts_as_of(rows, as_of))
}

pub(crate) async fn history(sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
    let mut facts = EVERY.read(sql, filter).await?;
    facts.sort_by_key(|fact| (fact.created_at, fact.id));
    Ok(facts)
}

pub(crate) async fn believed(sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
    BELIEVED.read(sql, filter).await
}

/// The statements for one choice of versions.
struct Ways {
    slot: &'static str,
    subjects: &'static Many,
    objects: &'static Many,
    sources: &'static Many,
    all: &'static str,
}

const EVERY: Ways = Ways {
    slot: statement::FACTS_OF_SLOT,
    subjects: &statement::FACTS_OF_SUBJECTS,
    objects: &statement::FACTS_OF_OBJECTS,
    sources: &statement::FACTS_OF_SOURCES,
    all: statement::FACTS,
};
const BELIEVED: Ways = Ways {
    slot: statement::BELIEVED_OF_SLOT,
    subjects: &statement::BELIEVED_OF_SUBJECTS,
    objects: &statement::BELIEVED_OF_OBJECTS,
    sources: &statement::BELIEVED_OF_SOURCES,
    all: statement::BELIEVED,
};

impl Ways {
    /// Reads by the narrowest index that a filter has, by id.
    async fn read(&self, sql: &dyn Sql, filter: &FactFilter) -> Result<Vec<Fact>> {
        let rows = match (filter.subjects.only().map(Vec::as_slice), &filter.predicate) {
            (Some([subject]), Within::Only(predicate)) => {
                sql.rows(self.slot, vec![bytes(subject.0), predicate.as_str().into()]).await?
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
        let mut found = BTreeMap::new();
        for mut row in rows {
            let (id, body) = (row.id()?, row.text()?);
            let fact = graph::read_fact(&body)?;
            if fact.id.0 != id {
                return Err(corrupt("a fact has another's place"));
            }
            found.insert(fact.id, fact);
        }
        Ok(found.into_values().filter(|fact| filter.accepts(fact)).collect())
    }
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

async fn lookup(sql: &dyn Sql, many: &'static Many, values: Vec<Value>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (text, args) in many.lookups(values) {
        rows.extend(sql.rows(text, args).await?);
    }
    Ok(rows)
}
