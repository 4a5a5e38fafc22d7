//! Legacy JSON rows of entities and facts, and the graph's edition. New entities and facts are binary
//! ([`crate::codec::graph`]).

use std::collections::BTreeMap;

use mnemal_core::{
    Act, Cardinality, Change, Confidence, Counts, Difference, Entity, EntityId, EntityKind, EntityMerge,
    EntityName, Example, Fact, FactId, FactStatus, Granularity, IdentityClaim, IdentityKind, Predicate,
    Producer, Reason, Result, RuleId, Ruling, SessionId, Speaker, Supersession, Support, Timestamp, Value,
    WorldTime,
};
use serde::{Deserialize, Serialize};

use super::learning::{source_of, source_row};
use super::{named, required};
use crate::{codec, entry};

#[derive(Deserialize)]
struct EntityRow {
    id: String,
    kind: String,
    #[serde(default)]
    kind_word: Option<String>,
    name: String,
    #[serde(default)]
    made_as: Option<String>,
    names: Vec<NameRow>,
    #[serde(default)]
    chosen: Vec<NameRow>,
    roles: Vec<(String, String)>,
    joined: Vec<(String, String, i64, Option<i64>)>,
    #[serde(default)]
    ties: Vec<(String, String, String, u32)>,
    sources: Vec<String>,
    created_at: i64,
    producer: (String, u32),
}

/// A name with its key, its event, its time, its time of arrival and its end of belief time; the last two since names have
/// belief time.
#[derive(Deserialize)]
struct NameRow(String, String, String, i64, #[serde(default)] Option<i64>, #[serde(default)] Option<i64>);

#[derive(Deserialize)]
struct FactRow {
    id: String,
    subject: String,
    predicate: String,
    topic: Option<String>,
    object: ValueRow,
    act: String,
    valid_at: Option<i64>,
    invalid_at: Option<i64>,
    #[serde(default)]
    valid_grain: Option<String>,
    #[serde(default)]
    invalid_grain: Option<String>,
    created_at: i64,
    expired_at: Option<i64>,
    status: String,
    superseded: Option<(String, String, String)>,
    supports: Vec<SupportRow>,
    trust: u8,
    level: u8,
    producer: (String, u32),
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ValueRow {
    Entity(String),
    Literal(String, String),
}

#[derive(Deserialize)]
struct SupportRow {
    source: (String, u32, u32),
    rule: String,
    subject: String,
    object: ValueRow,
    act: String,
    valid_at: Option<i64>,
    invalid_at: Option<i64>,
    #[serde(default)]
    grain: Option<String>,
    occurred_at: i64,
    recorded_at: i64,
    session: String,
    speaker: Option<String>,
    trust: u8,
    level: u8,
    confidence: f64,
}

#[derive(Deserialize, Serialize)]
struct DifferenceRow {
    entities: [u64; 4],
    facts: [u64; 4],
    rows: u64,
    examples: Vec<(String, String, (String, u32, u32))>,
    /// Present since the producer of the newer rows is stored.
    #[serde(default)]
    by: Option<(String, u32)>,
}

/// A predicate with its rulings: the event, whether a person decided it, and the cardinality.
type PredicateRow = (String, Vec<(String, bool, String)>);

#[derive(Deserialize, Serialize)]
struct PredicatesRow {
    predicates: Vec<PredicateRow>,
}

/// Writes the cardinality rulings.
pub(crate) fn write_predicates(predicates: &BTreeMap<Predicate, Vec<Ruling>>) -> Result<String> {
    let ruling = |of: &Ruling| (of.by.to_string(), of.is_decided, of.cardinality.as_str().to_owned());
    let row = |(predicate, rulings): (&Predicate, &Vec<Ruling>)| {
        (predicate.as_str().to_owned(), rulings.iter().map(ruling).collect())
    };
    super::write_sealed(&PredicatesRow { predicates: predicates.iter().map(row).collect() })
}

/// Reads the cardinality rulings.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read_predicates(stored: &str) -> Result<BTreeMap<Predicate, Vec<Ruling>>> {
    let row: PredicatesRow = super::read_sealed(stored)?;
    let ruling = |(by, is_decided, cardinality): (String, bool, String)| {
        let cardinality = required(Cardinality::from_name(&cardinality))?;
        Ok(Ruling { by: named(by.parse())?, is_decided, cardinality })
    };
    let one = |(predicate, rulings): PredicateRow| {
        let rulings = rulings.into_iter().map(ruling).collect::<Result<_>>()?;
        Ok((named(Predicate::new(predicate))?, rulings))
    };
    row.predicates.into_iter().map(one).collect()
}

/// Writes a difference.
pub(crate) fn write_difference(difference: &Difference) -> Result<String> {
    let counts = |counts: Counts| [counts.same, counts.added, counts.gone, counts.changed];
    let example = |of: &Example| {
        (of.change.as_str().to_owned(), of.predicate.as_str().to_owned(), source_row(&of.source))
    };
    super::write_sealed(&DifferenceRow {
        entities: counts(difference.entities),
        facts: counts(difference.facts),
        rows: difference.rows,
        examples: difference.examples.iter().map(example).collect(),
        by: difference.by.as_ref().map(|by| (by.id.clone(), by.version)),
    })
}

/// Reads a difference.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read_difference(stored: &str) -> Result<Difference> {
    let row: DifferenceRow = super::read_sealed(stored)?;
    let counts = |[same, added, gone, changed]: [u64; 4]| Counts { same, added, gone, changed };
    let example = |(change, predicate, source): (String, String, (String, u32, u32))| {
        Ok(Example {
            change: required(Change::from_name(&change))?,
            predicate: named(Predicate::new(predicate))?,
            source: source_of(&source)?,
        })
    };
    Ok(Difference {
        by: row.by.map(|(id, version)| Producer { id, version }),
        entities: counts(row.entities),
        facts: counts(row.facts),
        rows: row.rows,
        examples: row.examples.into_iter().map(example).collect::<Result<_>>()?,
    })
}

/// Reads a legacy entity.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read_entity(stored: &str) -> Result<Entity> {
    let row: EntityRow = super::read_sealed(stored)?;
    let created_at = time(row.created_at)?;
    let name = |NameRow(text, key, source, at, recorded_at, expired_at): NameRow| {
        Ok(EntityName {
            text,
            key,
            source: named(source.parse())?,
            occurred_at: time(at)?,
            recorded_at: recorded_at.map_or(Ok(created_at), time)?,
            expired_at: expired_at.map(time).transpose()?,
        })
    };
    let joined = |(into, source, from, end): (String, String, i64, Option<i64>)| {
        Ok(EntityMerge {
            into: named(into.parse())?,
            source: named(source.parse())?,
            created_at: time(from)?,
            expired_at: end.map(time).transpose()?,
        })
    };
    let tie = |(other, says, source, ordinal): (String, String, String, u32)| {
        let (other, source) = (named(other.parse())?, named(source.parse())?);
        Ok(IdentityClaim { other, kind: required(IdentityKind::from_name(&says))?, source, ordinal })
    };
    let role = |(owner, role): (String, String)| Ok((named(owner.parse::<EntityId>())?, role));
    Ok(Entity {
        id: named(row.id.parse())?,
        kind: required(EntityKind::from_name(&row.kind))?,
        kind_word: row.kind_word,
        made_as: row.made_as.unwrap_or_else(|| row.name.clone()),
        name: row.name,
        names: row.names.into_iter().map(name).collect::<Result<_>>()?,
        chosen: row.chosen.into_iter().map(name).collect::<Result<_>>()?,
        roles: row.roles.into_iter().map(role).collect::<Result<_>>()?,
        merges: row.joined.into_iter().map(joined).collect::<Result<_>>()?,
        identity_claims: row.ties.into_iter().map(tie).collect::<Result<_>>()?,
        sources: row.sources.iter().map(|id| named(id.parse())).collect::<Result<_>>()?,
        decisions: Vec::new(),
        created_at,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
    })
}

/// Reads a legacy fact.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read_fact(stored: &str) -> Result<Fact> {
    let row: FactRow = super::read_sealed(stored)?;
    let superseded = |(reason, by, rule): (String, String, String)| {
        Ok(Supersession {
            reason: required(Reason::from_name(&reason))?,
            by: named(by.parse())?,
            rule: named(RuleId::new(rule))?,
        })
    };
    Ok(Fact {
        id: named(row.id.parse::<FactId>())?,
        subject: named(row.subject.parse())?,
        predicate: named(Predicate::new(row.predicate))?,
        topic: row.topic,
        object: value(row.object)?,
        act: required(Act::from_name(&row.act))?,
        valid_at: row.valid_at.map(WorldTime::from_seconds),
        invalid_at: row.invalid_at.map(WorldTime::from_seconds),
        valid_grain: grain(row.valid_grain)?,
        invalid_grain: grain(row.invalid_grain)?,
        created_at: time(row.created_at)?,
        expired_at: row.expired_at.map(time).transpose()?,
        status: required(FactStatus::from_name(&row.status))?,
        superseded: row.superseded.map(superseded).transpose()?,
        supports: row.supports.into_iter().map(support).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
    })
}

fn grain(row: Option<String>) -> Result<Option<Granularity>> {
    row.map(|name| required(Granularity::from_name(&name))).transpose()
}

fn time(micros: i64) -> Result<Timestamp> {
    named(Timestamp::from_micros(micros))
}

pub(super) fn value_row(value: &Value) -> ValueRow {
    match value {
        Value::Entity(id) => ValueRow::Entity(id.to_string()),
        Value::Literal { text, key } => ValueRow::Literal(text.clone(), key.clone()),
    }
}

pub(super) fn value(row: ValueRow) -> Result<Value> {
    Ok(match row {
        ValueRow::Entity(id) => Value::Entity(named(id.parse())?),
        ValueRow::Literal(text, key) => Value::Literal { text, key },
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the confidence was an f32")]
fn support(row: SupportRow) -> Result<Support> {
    Ok(Support {
        source: source_of(&row.source)?,
        rule: named(RuleId::new(row.rule))?,
        subject: named(row.subject.parse())?,
        object: value(row.object)?,
        act: required(Act::from_name(&row.act))?,
        valid_at: row.valid_at.map(WorldTime::from_seconds),
        invalid_at: row.invalid_at.map(WorldTime::from_seconds),
        grain: grain(row.grain)?,
        occurred_at: time(row.occurred_at)?,
        recorded_at: time(row.recorded_at)?,
        session: named(SessionId::new(row.session))?,
        speaker: named(row.speaker.map(Speaker::new).transpose())?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        confidence: Confidence::new(row.confidence as f32),
    })
}
