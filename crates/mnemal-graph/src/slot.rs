//! Slots: groups of claims that can exclude each other.

use mnemal_core::{Act, Cardinality, EntityId, Fact, Predicate, Support, Value, WorldTime};
use mnemal_extract::predicate;

use crate::cardinality::Cardinalities;
use crate::interval::begin;

/// How the values of a slot exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExclusionRule {
    /// One value for life.
    One,
    /// One value at a time. A slot with one possible value only starts and ends.
    Now,
    /// An event.
    Event,
}

/// The key shared by claims that are weighed together. Claims outside a slot never end its facts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) subject: EntityId,
    /// Predicate, topic and, where each value stands alone, its key.
    pub(crate) key: String,
    pub(crate) rule: ExclusionRule,
}

/// A claim in its slot.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) predicate: Predicate,
    pub(crate) topic: Option<String>,
    /// The object after merges.
    pub(crate) object: Value,
    /// The key that distinguishes the values of the slot.
    pub(crate) value: String,
    pub(crate) support: Support,
    /// The earliest moment from which it may be valid, where a later decision overrode the time before.
    pub(crate) floor: Option<WorldTime>,
    /// The latest moment from which it is valid, where a later decision says that the value was over by then.
    pub(crate) ceiling: Option<WorldTime>,
}

impl Claim {
    /// Returns the stated start.
    pub(crate) fn valid_at(&self) -> Option<WorldTime> {
        self.floor.or(self.support.valid_at)
    }

    /// Returns the moment from which it states the value as valid: its start, else when it was said.
    pub(crate) fn begin(&self) -> WorldTime {
        let begin = self.floor.unwrap_or_else(|| begin(&self.support));
        self.ceiling.map_or(begin, |ceiling| begin.min(ceiling))
    }

    /// Whether it states both a start and an end.
    pub(crate) fn is_bounded(&self) -> bool {
        let support = &self.support;
        self.valid_at().zip(support.invalid_at).is_some_and(|(from, end)| from < end)
    }

    /// Whether it asserts its value, with or without a stated end.
    pub(crate) fn is_assertion(&self) -> bool {
        self.support.act == Act::Assert
    }
}

/// Seconds in a day.
const DAY: i64 = 86_400;

/// Places a claim in its slot. `held` gives the cardinality of its predicate, `canon` maps to the canonical entity.
pub(crate) fn place(
    predicate: &Predicate,
    topic: Option<&str>,
    support: &Support,
    held: &Cardinalities,
    canon: impl Fn(EntityId) -> EntityId,
) -> (Slot, Claim) {
    let object = match &support.object {
        Value::Entity(id) => Value::Entity(canon(*id)),
        literal @ Value::Literal { .. } => literal.clone(),
    };
    let info = predicate::of(predicate.as_str());
    let name = predicate.as_str();
    let (of_topic, of_object) = (topic.unwrap_or_default(), object.key());
    let (rule, key, value) = match held.of(predicate) {
        Cardinality::One => (ExclusionRule::One, name.to_owned(), of_object),
        Cardinality::Now => (ExclusionRule::Now, name.to_owned(), of_object),
        // Without a topic the values may be about different things: tea and trains can both be preferred.
        Cardinality::NowPerTopic if of_topic.is_empty() => {
            (ExclusionRule::Now, format!("{name}  {of_object}"), of_object)
        }
        Cardinality::NowPerTopic => (ExclusionRule::Now, format!("{name} {of_topic}"), of_object),
        Cardinality::Event => {
            let day = support.valid_at.map(|at| at.as_seconds().div_euclid(DAY).to_string());
            let day = day.unwrap_or_default();
            (ExclusionRule::Event, format!("{name} {of_topic} {of_object} {day}"), of_object)
        }
        _ if name == "relative" && matches!(of_topic, "mother" | "father") => {
            (ExclusionRule::One, format!("{name} {of_topic}"), of_object)
        }
        _ if name == "knows" && of_topic == "boss" => {
            (ExclusionRule::Now, format!("{name} {of_topic}"), of_object)
        }
        _ => match info.and_then(|info| info.opposite.as_deref()) {
            Some(opposite) => {
                (ExclusionRule::Now, format!("{} {of_object}", name.min(opposite)), name.to_owned())
            }
            None => (ExclusionRule::Now, format!("{name} {of_topic} {of_object}"), of_object),
        },
    };
    let slot = Slot { subject: canon(support.subject), key, rule };
    let topic = topic.map(str::to_owned);
    (
        slot,
        Claim {
            predicate: predicate.clone(),
            topic,
            object,
            value,
            support: support.clone(),
            floor: None,
            ceiling: None,
        },
    )
}

/// Returns the claims of a stored fact, each in its slot.
pub(crate) fn places<'f>(
    fact: &'f Fact,
    held: &'f Cardinalities,
    canon: impl Fn(EntityId) -> EntityId + Copy + 'f,
) -> impl Iterator<Item = (Slot, Claim)> + 'f {
    let topic = fact.topic.as_deref();
    fact.supports.iter().map(move |support| place(&fact.predicate, topic, support, held, canon))
}
