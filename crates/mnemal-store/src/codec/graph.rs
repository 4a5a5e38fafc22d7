//! Stored form of an entity and of a fact. Both are rewritten with each event that adds to them, and a context reads some
//! hundred.
//!
//! Byte 0 is the version of the format, bytes 1 to 8 are the first bytes of BLAKE3 over the rest. Then come the texts and the
//! named entities, each once; the rest refers to them by number. Numbers are varints, ids their bytes, and the times of a
//! support differences from those of the preceding one. Legacy rows are JSON ([`row::graph`](crate::row::graph)).

use std::collections::HashMap;

use mnemal_core::{
    Act, Confidence, Entity, EntityId, EntityKind, EntityMerge, EntityName, EventId, Fact, FactId,
    FactStatus, Granularity, IdentityClaim, IdentityKind, NamingDecision, Predicate, Producer, Reason,
    Result, RuleId, SessionId, Source, Span, Speaker, Supersession, Support, Timestamp, Value, WorldTime,
};

use super::bytes::{Input, corrupt, put_id, put_length, put_share, put_small, put_text, put_varint, zigzag};
use super::{level, level_code, seal, unsealed};
use crate::entry::{trust, trust_code};
use crate::row::{named, required};

/// Version of fact rows; incremented with every change of the format.
const FACT: u8 = 1;
/// Version of entity rows; the first had no decisions.
const ENTITY: u8 = 2;
/// Typical upper size of a support in bytes. Source: own measurement.
const SUPPORT: usize = 64;
/// Typical upper size of a row without its supports, in bytes. Source: own measurement.
const MOSTLY: usize = 512;

/// Interned values, referenced by number in order of first use.
#[derive(Debug, Default)]
struct Interner<'r> {
    texts: HashMap<&'r str, usize>,
    entities: HashMap<EntityId, usize>,
}

/// A row that is being written.
struct RowWriter<'r> {
    called: Interner<'r>,
    /// The interned texts, in stored form.
    texts: Vec<u8>,
    /// The interned entities, in stored form.
    entities: Vec<u8>,
    rest: Vec<u8>,
}

impl<'r> RowWriter<'r> {
    fn new(capacity: usize) -> Self {
        Self {
            called: Interner::default(),
            texts: Vec::with_capacity(MOSTLY),
            entities: Vec::new(),
            rest: Vec::with_capacity(capacity),
        }
    }

    fn text(&mut self, text: &'r str) {
        let place = self.intern(text);
        put_length(&mut self.rest, place);
    }

    fn opt_text(&mut self, text: Option<&'r str>) {
        let place = text.map_or(0, |text| self.intern(text) + 1);
        put_length(&mut self.rest, place);
    }

    fn intern(&mut self, text: &'r str) -> usize {
        let next = self.called.texts.len();
        *self.called.texts.entry(text).or_insert_with(|| {
            put_text(&mut self.texts, text);
            next
        })
    }

    fn entity(&mut self, id: EntityId) {
        let next = self.called.entities.len();
        let place = *self.called.entities.entry(id).or_insert_with(|| {
            put_id(&mut self.entities, id.0);
            next
        });
        put_length(&mut self.rest, place);
    }

    fn id(&mut self, id: u128) {
        put_id(&mut self.rest, id);
    }

    fn signed(&mut self, number: i64) {
        put_varint(&mut self.rest, zigzag(number));
    }

    fn opt_signed(&mut self, number: Option<i64>) {
        self.rest.push(u8::from(number.is_some()));
        if let Some(number) = number {
            self.signed(number);
        }
    }

    fn producer(&mut self, producer: &'r Producer) {
        self.text(&producer.id);
        put_small(&mut self.rest, producer.version);
    }

    fn end(self, version: u8) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.texts.len() + self.entities.len() + self.rest.len() + 16);
        out.extend_from_slice(&[version, 0, 0, 0, 0, 0, 0, 0, 0]);
        put_length(&mut out, self.called.texts.len());
        out.extend_from_slice(&self.texts);
        put_length(&mut out, self.called.entities.len());
        out.extend_from_slice(&self.entities);
        out.extend_from_slice(&self.rest);
        seal(&mut out);
        out
    }
}

/// Writes a fact.
pub(crate) fn encode_fact(fact: &Fact) -> Vec<u8> {
    let mut out = RowWriter::new(fact.supports.len() * SUPPORT + MOSTLY);
    out.id(fact.id.0);
    out.entity(fact.subject);
    out.text(fact.predicate.as_str());
    out.opt_text(fact.topic.as_deref());
    put_value(&mut out, &fact.object);
    out.text(fact.act.as_str());
    for at in [fact.valid_at, fact.invalid_at] {
        out.opt_signed(at.map(WorldTime::as_seconds));
    }
    for grain in [fact.valid_grain, fact.invalid_grain] {
        out.opt_text(grain.map(Granularity::as_str));
    }
    out.signed(fact.created_at.as_micros());
    out.opt_signed(fact.expired_at.map(Timestamp::as_micros));
    out.text(fact.status.as_str());
    out.opt_text(fact.superseded.as_ref().map(|by| by.reason.as_str()));
    if let Some(by) = &fact.superseded {
        out.id(by.by.0);
        out.text(by.rule.as_str());
    }
    out.rest.extend_from_slice(&[trust_code(fact.trust), level_code(fact.level)]);
    out.producer(&fact.producer);
    put_length(&mut out.rest, fact.supports.len());
    let mut before = (fact.created_at.as_micros(), fact.created_at.as_micros());
    for support in &fact.supports {
        put_support(&mut out, support, &mut before);
    }
    out.end(FACT)
}

fn put_value<'r>(out: &mut RowWriter<'r>, value: &'r Value) {
    match value {
        Value::Entity(id) => {
            out.rest.push(0);
            out.entity(*id);
        }
        Value::Literal { text, key } => {
            out.rest.push(1);
            out.text(text);
            out.text(key);
        }
    }
}

fn put_support<'r>(out: &mut RowWriter<'r>, support: &'r Support, before: &mut (i64, i64)) {
    out.id(support.source.event.0);
    put_small(&mut out.rest, support.source.span.start);
    put_small(&mut out.rest, support.source.span.end);
    out.text(support.rule.as_str());
    out.entity(support.subject);
    put_value(out, &support.object);
    out.text(support.act.as_str());
    for at in [support.valid_at, support.invalid_at] {
        out.opt_signed(at.map(WorldTime::as_seconds));
    }
    out.opt_text(support.grain.map(Granularity::as_str));
    let (occurred, recorded) = (support.occurred_at.as_micros(), support.recorded_at.as_micros());
    out.signed(occurred.wrapping_sub(before.0));
    out.signed(recorded.wrapping_sub(before.1));
    *before = (occurred, recorded);
    out.text(support.session.as_str());
    out.opt_text(support.speaker.as_ref().map(Speaker::as_str));
    out.rest.extend_from_slice(&[trust_code(support.trust), level_code(support.level)]);
    put_share(&mut out.rest, support.confidence.get());
}

/// Writes an entity.
pub(crate) fn encode_entity(entity: &Entity) -> Vec<u8> {
    let mut out = RowWriter::new(entity.sources.len() * size_of::<EventId>() + MOSTLY);
    out.id(entity.id.0);
    out.text(entity.kind.as_str());
    out.opt_text(entity.kind_word.as_deref());
    out.text(&entity.name);
    out.text(&entity.made_as);
    for names in [&entity.names, &entity.chosen] {
        put_length(&mut out.rest, names.len());
        for name in names {
            out.text(&name.text);
            out.text(&name.key);
            out.id(name.source.0);
            for at in [name.occurred_at, name.recorded_at] {
                out.signed(at.as_micros());
            }
            out.opt_signed(name.expired_at.map(Timestamp::as_micros));
        }
    }
    put_length(&mut out.rest, entity.roles.len());
    for (owner, role) in &entity.roles {
        out.entity(*owner);
        out.text(role);
    }
    put_length(&mut out.rest, entity.merges.len());
    for merge in &entity.merges {
        out.entity(merge.into);
        out.id(merge.source.0);
        out.signed(merge.created_at.as_micros());
        out.opt_signed(merge.expired_at.map(Timestamp::as_micros));
    }
    put_length(&mut out.rest, entity.identity_claims.len());
    for claim in &entity.identity_claims {
        out.entity(claim.other);
        out.text(claim.kind.as_str());
        out.id(claim.source.0);
        put_small(&mut out.rest, claim.ordinal);
    }
    put_length(&mut out.rest, entity.sources.len());
    for event in &entity.sources {
        out.id(event.0);
    }
    put_length(&mut out.rest, entity.decisions.len());
    for by in &entity.decisions {
        out.id(by.decision.0);
        out.opt_signed(by.expired_at.map(Timestamp::as_micros));
    }
    out.signed(entity.created_at.as_micros());
    out.producer(&entity.producer);
    out.end(ENTITY)
}

/// A row that is being read.
struct RowReader<'a> {
    texts: Vec<&'a str>,
    entities: Vec<EntityId>,
    rest: Input<'a>,
}

impl<'a> RowReader<'a> {
    fn open(stored: &'a [u8], version: u8, what: &str) -> Result<Self> {
        let mut rest = unsealed(stored, version, what)?;
        let texts = rest.count(1)?;
        let texts = (0..texts).map(|_| rest.str()).collect::<Result<_>>()?;
        let entities = rest.count(size_of::<EntityId>())?;
        let entities = (0..entities).map(|_| rest.id().map(EntityId)).collect::<Result<_>>()?;
        Ok(Self { texts, entities, rest })
    }

    fn text(&mut self) -> Result<&'a str> {
        let place = self.rest.length()?;
        required(self.texts.get(place).copied())
    }

    fn opt_text(&mut self) -> Result<Option<&'a str>> {
        match self.rest.length()? {
            0 => Ok(None),
            place => required(self.texts.get(place - 1).copied()).map(Some),
        }
    }

    fn entity(&mut self) -> Result<EntityId> {
        let place = self.rest.length()?;
        required(self.entities.get(place).copied())
    }

    fn event(&mut self) -> Result<EventId> {
        self.rest.id().map(EventId)
    }

    fn opt_signed(&mut self) -> Result<Option<i64>> {
        match self.rest.byte()? {
            0 => Ok(None),
            1 => self.rest.signed().map(Some),
            _ => Err(corrupt("a mark is neither yes nor no")),
        }
    }

    fn time(&mut self) -> Result<Timestamp> {
        time(self.rest.signed()?)
    }

    fn opt_time(&mut self) -> Result<Option<Timestamp>> {
        self.opt_signed()?.map(time).transpose()
    }

    fn opt_world(&mut self) -> Result<Option<WorldTime>> {
        Ok(self.opt_signed()?.map(WorldTime::from_seconds))
    }

    fn grain(&mut self) -> Result<Option<Granularity>> {
        self.opt_text()?.map(|name| required(Granularity::from_name(name))).transpose()
    }

    fn act(&mut self) -> Result<Act> {
        required(Act::from_name(self.text()?))
    }

    fn rule(&mut self) -> Result<RuleId> {
        named(RuleId::new(self.text()?))
    }

    fn producer(&mut self) -> Result<Producer> {
        Ok(Producer { id: self.text()?.to_owned(), version: self.rest.small()? })
    }

    fn value(&mut self) -> Result<Value> {
        match self.rest.byte()? {
            0 => self.entity().map(Value::Entity),
            1 => Ok(Value::Literal { text: self.text()?.to_owned(), key: self.text()?.to_owned() }),
            _ => Err(corrupt("an unknown kind of value")),
        }
    }

    /// Reads a counted list, with at least `width` bytes per value.
    fn many<T>(&mut self, width: usize, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.rest.count(width)?;
        (0..count).map(|_| one(self)).collect()
    }

    fn end(&self) -> Result<()> {
        if self.rest.0.is_empty() { Ok(()) } else { Err(corrupt("a row goes on behind its end")) }
    }
}

fn time(micros: i64) -> Result<Timestamp> {
    named(Timestamp::from_micros(micros))
}

/// Reads a fact. Counts are checked against the available bytes before anything is allocated.
///
/// # Errors
/// `Corrupt` for anything that [`encode_fact`] does not write; never panics, never allocates more than the bytes justify.
pub(crate) fn decode_fact(stored: &[u8]) -> Result<Fact> {
    let mut stored = RowReader::open(stored, FACT, "a fact")?;
    let from = &mut stored;
    let id = FactId(from.rest.id()?);
    let subject = from.entity()?;
    let predicate = named(Predicate::new(from.text()?))?;
    let topic = from.opt_text()?.map(str::to_owned);
    let (object, act) = (from.value()?, from.act()?);
    let (valid_at, invalid_at) = (from.opt_world()?, from.opt_world()?);
    let (valid_grain, invalid_grain) = (from.grain()?, from.grain()?);
    let (created_at, expired_at) = (from.time()?, from.opt_time()?);
    let status = required(FactStatus::from_name(from.text()?))?;
    let superseded = match from.opt_text()? {
        None => None,
        Some(reason) => Some(Supersession {
            reason: required(Reason::from_name(reason))?,
            by: EventId(from.rest.id()?),
            rule: from.rule()?,
        }),
    };
    let (trust, level) = (trust(from.rest.byte()?)?, level(from.rest.byte()?)?);
    let producer = from.producer()?;
    let mut before = (created_at.as_micros(), created_at.as_micros());
    let supports = from.many(36, |from| support(from, &mut before))?;
    from.end()?;
    Ok(Fact {
        id,
        subject,
        predicate,
        topic,
        object,
        act,
        valid_at,
        invalid_at,
        valid_grain,
        invalid_grain,
        created_at,
        expired_at,
        status,
        superseded,
        supports,
        trust,
        level,
        producer,
    })
}

fn support(from: &mut RowReader<'_>, before: &mut (i64, i64)) -> Result<Support> {
    let event = from.event()?;
    let source = Source { event, span: Span { start: from.rest.small()?, end: from.rest.small()? } };
    let (rule, subject, object, act) = (from.rule()?, from.entity()?, from.value()?, from.act()?);
    let (valid_at, invalid_at, grain) = (from.opt_world()?, from.opt_world()?, from.grain()?);
    before.0 = before.0.wrapping_add(from.rest.signed()?);
    before.1 = before.1.wrapping_add(from.rest.signed()?);
    Ok(Support {
        source,
        rule,
        subject,
        object,
        act,
        valid_at,
        invalid_at,
        grain,
        occurred_at: time(before.0)?,
        recorded_at: time(before.1)?,
        session: named(SessionId::new(from.text()?))?,
        speaker: named(from.opt_text()?.map(Speaker::new).transpose())?,
        trust: trust(from.rest.byte()?)?,
        level: level(from.rest.byte()?)?,
        confidence: Confidence::new(from.rest.share()?),
    })
}

/// Reads an entity.
///
/// # Errors
/// As [`decode_fact`].
pub(crate) fn decode_entity(stored: &[u8]) -> Result<Entity> {
    let version = if stored.first() == Some(&1) { 1 } else { ENTITY };
    let mut stored = RowReader::open(stored, version, "an entity")?;
    let from = &mut stored;
    let id = EntityId(from.rest.id()?);
    let kind = required(EntityKind::from_name(from.text()?))?;
    let kind_word = from.opt_text()?.map(str::to_owned);
    let (name, made_as) = (from.text()?.to_owned(), from.text()?.to_owned());
    let (names, chosen) = (from.many(21, entity_name)?, from.many(21, entity_name)?);
    let roles = from.many(2, |from| Ok((from.entity()?, from.text()?.to_owned())))?;
    let merges = from.many(19, |from| {
        Ok(EntityMerge {
            into: from.entity()?,
            source: from.event()?,
            created_at: from.time()?,
            expired_at: from.opt_time()?,
        })
    })?;
    let identity_claims = from.many(19, |from| {
        Ok(IdentityClaim {
            other: from.entity()?,
            kind: required(IdentityKind::from_name(from.text()?))?,
            source: from.event()?,
            ordinal: from.rest.small()?,
        })
    })?;
    let sources = from.many(size_of::<EventId>(), RowReader::event)?;
    let named_by = |from: &mut RowReader<'_>| {
        Ok(NamingDecision { decision: from.event()?, expired_at: from.opt_time()? })
    };
    let decisions = if version == 1 { Vec::new() } else { from.many(17, named_by)? };
    let (created_at, producer) = (from.time()?, from.producer()?);
    from.end()?;
    Ok(Entity {
        id,
        kind,
        kind_word,
        name,
        made_as,
        names,
        chosen,
        roles,
        merges,
        identity_claims,
        sources,
        decisions,
        created_at,
        producer,
    })
}

fn entity_name(from: &mut RowReader<'_>) -> Result<EntityName> {
    Ok(EntityName {
        text: from.text()?.to_owned(),
        key: from.text()?.to_owned(),
        source: from.event()?,
        occurred_at: from.time()?,
        recorded_at: from.time()?,
        expired_at: from.opt_time()?,
    })
}

#[cfg(test)]
mod tests {
    use mnemal_core::{Level, Trust};

    use super::*;
    use crate::row::graph::{read_entity, read_fact};

    fn at(micros: i64) -> Timestamp {
        Timestamp::EPOCH.plus_micros(micros)
    }

    fn literal(text: &str) -> Value {
        Value::Literal { text: text.to_owned(), key: text.to_lowercase() }
    }

    fn a_support(event: u128, rule: &str) -> Support {
        Support {
            source: Source { event: EventId(event), span: Span { start: 3, end: 900 } },
            rule: RuleId::new(rule).unwrap(),
            subject: EntityId(7),
            object: literal("Lisbon"),
            act: Act::Assert,
            valid_at: Some(WorldTime::from_seconds(-5)),
            invalid_at: None,
            grain: Some(Granularity::Month),
            occurred_at: at(1_000),
            recorded_at: at(2_000_000),
            session: SessionId::new("monday").unwrap(),
            speaker: Some(Speaker::new("Ana").unwrap()),
            trust: Trust::User,
            level: Level::User,
            confidence: Confidence::new(0.83),
        }
    }

    /// A fact with every optional part present.
    fn a_fact() -> Fact {
        let other = Support {
            object: Value::Entity(EntityId(9)),
            act: Act::Plan,
            invalid_at: Some(WorldTime::from_seconds(i64::MAX)),
            valid_at: None,
            grain: None,
            occurred_at: at(5),
            recorded_at: at(1_999_999),
            session: SessionId::new("sunday").unwrap(),
            speaker: None,
            trust: Trust::Inferred,
            level: Level::External,
            subject: EntityId(9),
            ..a_support(u128::MAX, "en.lives.2")
        };
        Fact {
            id: FactId(1 << 120),
            subject: EntityId(7),
            predicate: Predicate::new("lives_in").unwrap(),
            topic: Some("home".to_owned()),
            object: literal("Lisbon"),
            act: Act::Assert,
            valid_at: Some(WorldTime::from_seconds(i64::MIN)),
            invalid_at: Some(WorldTime::from_seconds(12)),
            valid_grain: Some(Granularity::Month),
            invalid_grain: Some(Granularity::Day),
            created_at: at(3_000_000),
            expired_at: Some(at(9_000_000)),
            status: FactStatus::Superseded,
            superseded: Some(Supersession {
                reason: Reason::UserCorrection,
                by: EventId(8),
                rule: RuleId::new("en.lives.2").unwrap(),
            }),
            supports: vec![a_support(2, "en.lives.1"), other, a_support(3, "en.lives.1")],
            trust: Trust::User,
            level: Level::User,
            producer: Producer { id: "graph rules 8".to_owned(), version: 5 },
        }
    }

    fn a_name(text: &str, expired_at: Option<Timestamp>) -> EntityName {
        EntityName {
            text: text.to_owned(),
            key: text.to_lowercase(),
            source: EventId(2),
            occurred_at: at(7),
            recorded_at: at(8),
            expired_at,
        }
    }

    fn an_entity() -> Entity {
        Entity {
            id: EntityId(7),
            kind: EntityKind::Person,
            kind_word: Some("neighbour".to_owned()),
            name: "Ana".to_owned(),
            made_as: "my sister".to_owned(),
            names: vec![a_name("Ana", None), a_name("Annie", Some(at(20)))],
            chosen: vec![a_name("Ána", None)],
            roles: vec![(EntityId(1), "sister".to_owned()), (EntityId(7), "friend".to_owned())],
            merges: vec![EntityMerge {
                into: EntityId(9),
                source: EventId(4),
                created_at: at(1),
                expired_at: Some(at(2)),
            }],
            identity_claims: vec![IdentityClaim {
                other: EntityId(9),
                kind: IdentityKind::Merged,
                source: EventId(4),
                ordinal: 3,
            }],
            sources: vec![EventId(2), EventId(u128::MAX)],
            decisions: [None, Some(at(11))]
                .map(|expired_at| NamingDecision { decision: EventId(2), expired_at })
                .to_vec(),
            created_at: at(9),
            producer: Producer { id: "graph rules 8".to_owned(), version: 5 },
        }
    }

    /// Rows with every optional part absent.
    fn bare() -> (Fact, Entity) {
        let fact = Fact {
            topic: None,
            object: Value::Entity(EntityId(7)),
            valid_at: None,
            invalid_at: None,
            valid_grain: None,
            invalid_grain: None,
            expired_at: None,
            status: FactStatus::Candidate,
            superseded: None,
            supports: Vec::new(),
            ..a_fact()
        };
        let entity = Entity {
            kind_word: None,
            names: Vec::new(),
            chosen: Vec::new(),
            roles: Vec::new(),
            merges: Vec::new(),
            identity_claims: Vec::new(),
            sources: Vec::new(),
            decisions: Vec::new(),
            name: String::new(),
            ..an_entity()
        };
        (fact, entity)
    }

    #[test]
    fn what_is_written_is_read() -> Result<()> {
        let (fact, entity) = bare();
        for fact in [fact, a_fact()] {
            assert_eq!(decode_fact(&encode_fact(&fact))?, fact);
        }
        for entity in [entity, an_entity()] {
            assert_eq!(decode_entity(&encode_entity(&entity))?, entity);
        }
        Ok(())
    }

    #[test]
    fn a_support_more_takes_little_where_it_says_the_same() {
        let with = |supports: Vec<Support>| encode_fact(&Fact { supports, ..a_fact() }).len();
        let one = with(vec![a_support(2, "en.lives.1")]);
        let hundred = with((2..102).map(|event| a_support(event, "en.lives.1")).collect());
        assert!(hundred < one + 99 * SUPPORT, "{one} and {hundred} bytes");
    }

    #[test]
    fn damage_is_told_and_never_read() {
        let (fact, entity) = (encode_fact(&a_fact()), encode_entity(&an_entity()));
        for stored in [&fact, &entity] {
            for place in 0..stored.len() {
                let mut damaged = stored.clone();
                damaged[place] ^= 1;
                assert!(decode_fact(&damaged).is_err() && decode_entity(&damaged).is_err(), "byte {place}");
                let cut = stored.get(..place).unwrap_or_default();
                assert!(decode_fact(cut).is_err() && decode_entity(cut).is_err(), "cut at {place}");
            }
        }
    }

    #[test]
    fn bytes_under_a_right_checksum_are_not_believed() {
        let (fact, entity) = (encode_fact(&a_fact()), encode_entity(&an_entity()));
        for stored in [&fact, &entity] {
            for place in 9..stored.len() {
                for byte in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut forged = stored.clone();
                    forged[place] = byte;
                    seal(&mut forged);
                    // Whatever is read is a value of its type, and is written as it was read.
                    if let Ok(fact) = decode_fact(&forged) {
                        assert_eq!(decode_fact(&encode_fact(&fact)).ok(), Some(fact));
                    }
                    if let Ok(entity) = decode_entity(&forged) {
                        assert_eq!(decode_entity(&encode_entity(&entity)).ok(), Some(entity));
                    }
                }
            }
        }
    }

    #[test]
    fn rows_of_before_are_read() -> Result<()> {
        let (event, other) = (EventId(2), EventId(u128::MAX));
        let (subject, nine, id) = (EntityId(7), EntityId(9), FactId(1 << 120));
        let fact = format!(
            r#"{{"id":"{id}","subject":"{subject}","predicate":"lives_in","topic":"home",
            "object":{{"literal":["Lisbon","lisbon"]}},"act":"assert","valid_at":{least},"invalid_at":12,
            "valid_grain":"month","invalid_grain":"day","created_at":3000000,"expired_at":9000000,
            "status":"superseded","superseded":["user_correction","{by}","en.lives.2"],"supports":[
            {{"source":["{event}",3,900],"rule":"en.lives.1","subject":"{subject}",
            "object":{{"literal":["Lisbon","lisbon"]}},"act":"assert","valid_at":-5,"invalid_at":null,
            "grain":"month","occurred_at":1000,"recorded_at":2000000,"session":"monday","speaker":"Ana",
            "trust":{user},"level":2,"confidence":0.8299999833106995}},
            {{"source":["{other}",3,900],"rule":"en.lives.2","subject":"{nine}","object":{{"entity":"{nine}"}},
            "act":"plan","valid_at":null,"invalid_at":{most},"occurred_at":5,"recorded_at":1999999,
            "session":"sunday","speaker":null,"trust":{inferred},"level":0,"confidence":0.8299999833106995}},
            {{"source":["{third}",3,900],"rule":"en.lives.1","subject":"{subject}",
            "object":{{"literal":["Lisbon","lisbon"]}},"act":"assert","valid_at":-5,"invalid_at":null,
            "grain":"month","occurred_at":1000,"recorded_at":2000000,"session":"monday","speaker":"Ana",
            "trust":{user},"level":2,"confidence":0.8299999833106995}}],
            "trust":{user},"level":2,"producer":["graph rules 8",5]}}"#,
            by = EventId(8),
            third = EventId(3),
            least = i64::MIN,
            most = i64::MAX,
            user = trust_code(Trust::User),
            inferred = trust_code(Trust::Inferred),
        );
        assert_eq!(read_fact(&fact)?, a_fact());
        let entity = format!(
            r#"{{"id":"{subject}","kind":"person","kind_word":"neighbour","name":"Ana","made_as":"my sister",
            "names":[["Ana","ana","{event}",7,8],["Annie","annie","{event}",7,8,20]],
            "chosen":[["Ána","ána","{event}",7,8]],"roles":[["{one}","sister"],["{subject}","friend"]],
            "joined":[["{nine}","{by}",1,2]],"ties":[["{nine}","merged","{by}",3]],
            "sources":["{event}","{other}"],"created_at":9,"producer":["graph rules 8",5]}}"#,
            one = EntityId(1),
            by = EventId(4),
        );
        assert_eq!(read_entity(&entity)?, Entity { decisions: Vec::new(), ..an_entity() });
        Ok(())
    }

    #[test]
    fn entities_of_the_first_version_are_read() -> Result<()> {
        let (_, entity) = bare();
        let mut stored = encode_entity(&entity);
        // Behind the decisions stand the time and the producer, of a byte each but for its version.
        assert_eq!(stored.remove(stored.len() - 4), 0);
        stored[0] = 1;
        seal(&mut stored);
        assert_eq!(decode_entity(&stored)?, entity);
        Ok(())
    }
}
