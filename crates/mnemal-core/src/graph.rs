//! Entities and facts of the knowledge graph, folded from the extracted claims of the log.

mod entity;

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub use self::entity::{Entity, EntityMerge, EntityName, IdentityClaim, IdentityKind, NamingDecision};
use crate::{
    Act, AsOf, Confidence, EntityId, EntityKind, EventId, FactId, Granularity, Level, Predicate, Producer,
    RuleId, Ruling, SessionId, Source, Speaker, Timestamp, Trust, Within, WorldTime,
};

/// A mention of an entity in an event; at most one per entity and event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionRow {
    /// Its source, with the bytes of the first occurrence.
    pub source: Source,
    /// The entity.
    pub entity: EntityId,
    /// The conversation.
    pub session: SessionId,
    /// Time of the statement.
    pub occurred_at: Timestamp,
}

/// The object of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An entity: the fact is an edge.
    Entity(EntityId),
    /// A literal.
    Literal {
        /// As first written.
        text: String,
        /// Canonical key, equal for words of equal meaning.
        key: String,
    },
}

impl Value {
    /// Returns the entity, if it is one.
    pub fn entity(&self) -> Option<EntityId> {
        match self {
            Self::Entity(id) => Some(*id),
            Self::Literal { .. } => None,
        }
    }

    /// Returns the key by which two values are the same.
    pub fn key(&self) -> String {
        match self {
            Self::Entity(id) => id.to_string(),
            Self::Literal { key, .. } => format!("={key}"),
        }
    }
}

/// The status of a fact; nothing is overwritten.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactStatus {
    /// Stated once, or with low confidence; visible, but not injected.
    Candidate,
    /// Currently valid.
    Active,
    /// Another value is equally likely; a person must decide.
    Disputed,
    /// Ended, or replaced by a newer value; it stays true for its time.
    Superseded,
    /// A person rejected it.
    Rejected,
}

impl FactStatus {
    /// All of them, in declaration order.
    pub const ALL: [Self; 5] =
        [Self::Candidate, Self::Active, Self::Disputed, Self::Superseded, Self::Rejected];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Active => "active",
            Self::Disputed => "disputed",
            Self::Superseded => "superseded",
            Self::Rejected => "rejected",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The reason why a fact no longer holds.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A newer value arrived later.
    NewerValue,
    /// A person corrected it.
    UserCorrection,
    /// A value that was already known is newer.
    Backfill,
    /// Its end was stated.
    Ended,
    /// A person said that it was never true.
    Rejected,
}

impl Reason {
    /// All of them, in declaration order.
    pub const ALL: [Self; 5] =
        [Self::NewerValue, Self::UserCorrection, Self::Backfill, Self::Ended, Self::Rejected];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NewerValue => "newer_value",
            Self::UserCorrection => "user_correction",
            Self::Backfill => "backfill",
            Self::Ended => "ended",
            Self::Rejected => "rejected",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

/// The supersession of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supersession {
    /// The reason.
    pub reason: Reason,
    /// The event that caused it; the newer value is in it.
    pub by: EventId,
    /// The rule that matched there.
    pub rule: RuleId,
}

/// One claim in support of a fact, as extracted, before conflict resolution.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Its clause.
    pub source: Source,
    /// The rule that matched; `decision` for a person's decision.
    pub rule: RuleId,
    /// The subject, before any merge.
    pub subject: EntityId,
    /// The object, before any merge.
    pub object: Value,
    /// The act.
    pub act: Act,
    /// Start of validity, if the words state one.
    pub valid_at: Option<WorldTime>,
    /// Exclusive end of validity, if the words state one.
    pub invalid_at: Option<WorldTime>,
    /// The granularity of these times in the words; `None` where they name none, and for a person's decision.
    pub grain: Option<Granularity>,
    /// Time of the statement.
    pub occurred_at: Timestamp,
    /// Time of arrival at the engine.
    pub recorded_at: Timestamp,
    /// The conversation; together with the speaker, it makes two claims independent.
    pub session: SessionId,
    /// The speaker.
    pub speaker: Option<Speaker>,
    /// Its trust.
    pub trust: Trust,
    /// Its level.
    pub level: Level,
    /// The probability that it is faithful to the words.
    pub confidence: Confidence,
}

/// Rule name of a person's decision. Source: own choice; packs name theirs `en.lives_in.live`.
const DECISION: &str = "decision";
/// Rule name of a language model's claim. Source: own choice.
const MODEL: &str = "model";
/// Rule name of a retraction: "it's not hazelnuts, it's walnuts". Source: own choice.
const CORRECTION: &str = "correction";
/// Rule name for the effect of a decision about a learning with the same words. Source: own choice.
const WITHDRAWAL: &str = "withdrawal";

impl Support {
    /// Returns the rule name of a person's decision.
    pub fn decision_rule() -> &'static str {
        DECISION
    }

    /// Returns the rule name of a retracted statement, made by mistake or in jest.
    pub fn correction_rule() -> &'static str {
        CORRECTION
    }

    /// Returns the rule name for the effect of a decision about a learning with the same words.
    pub fn withdrawal_rule() -> &'static str {
        WITHDRAWAL
    }

    /// Returns the rule name of a language model's claim, where the rules found nothing certain.
    pub fn model_rule() -> &'static str {
        MODEL
    }

    /// Whether a language model found it.
    pub fn is_of_model(&self) -> bool {
        self.rule.as_str() == MODEL
    }

    /// Whether a person decided it explicitly.
    pub fn is_decided(&self) -> bool {
        self.rule.as_str() == DECISION
    }

    /// Whether it says that the fact was never true: a decision, or a correction of an earlier statement.
    pub fn is_rejection(&self) -> bool {
        self.act == Act::Negative && (self.is_decided() || self.rule.as_str() == CORRECTION)
    }

    /// Whether it follows from a decision about a learning with the same words: negative after a rejection, asserting after a
    /// restore. It adds no weight, and affects only earlier records.
    pub fn is_withdrawal(&self) -> bool {
        self.rule.as_str() == WITHDRAWAL
    }

    /// Whether it asserts the fact, and neither ends nor rejects it.
    pub fn says_so(&self) -> bool {
        !self.act.is_of_past() && !self.is_rejection() && !self.is_withdrawal()
    }

    /// Whether it asserts the fact, from a source other than the agent or memory itself.
    fn counts(&self) -> bool {
        self.trust >= Trust::Document && self.says_so()
    }
}

/// A fact: an edge if its object is an entity, else an attribute. One version in belief time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Derived from the event that caused this version.
    pub id: FactId,
    /// The subject.
    pub subject: EntityId,
    /// The predicate.
    pub predicate: Predicate,
    /// The topic in lower case, for predicates with one value per topic, and for roles.
    pub topic: Option<String>,
    /// The object.
    pub object: Value,
    /// `Assert`, `Plan` for an intention, `Negative` for a known absence.
    pub act: Act,
    /// Start of world time; `None` for unknown.
    pub valid_at: Option<WorldTime>,
    /// Exclusive end of world time; `None` for still valid.
    pub invalid_at: Option<WorldTime>,
    /// The granularity of `valid_at`: "in March 2022" is known to the month. `None` where no words name it.
    pub valid_grain: Option<Granularity>,
    /// The granularity of `invalid_at`.
    pub invalid_grain: Option<Granularity>,
    /// Start of belief time of this version; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// End of belief time, when this version was replaced or removed.
    pub expired_at: Option<Timestamp>,
    /// Its status.
    pub status: FactStatus,
    /// Its supersession, if any.
    pub superseded: Option<Supersession>,
    /// Its supports, by source; never empty.
    pub supports: Vec<Support>,
    /// Trust of its decisive supports, which are those of the highest level and trust.
    pub trust: Trust,
    /// Level of its decisive supports.
    pub level: Level,
    /// Its producer.
    pub producer: Producer,
}

/// The predicate of a plan. Source: `predicates.toml` of the extractor.
const PLAN: &str = "plan";
/// Strength of one support, and of each further one. Source: own choice; computed instead of counted up (NB-09).
const STRENGTH: (f32, f32) = (0.5, 0.1);
/// Events up to strength 1. Source: follows from `STRENGTH`.
const MOST_EVENTS: usize = 6;
/// The rank of a fact of strength 1. Source: six events give that strength.
const HIGHEST_RANK: u8 = 7;
/// Confidence gained by a second independent support. Source: own choice; it lifts a likely candidate to an active fact.
const INDEPENDENT: f32 = 0.15;

impl Fact {
    /// Returns the start of validity as text, as far as it is known; see [`WorldTime::text`].
    pub fn since(&self) -> Option<String> {
        self.valid_at.map(|at| at.text(self.valid_grain))
    }

    /// Returns the end of validity as text, as far as it is known.
    pub fn until(&self) -> Option<String> {
        self.invalid_at.map(|at| at.text(self.invalid_grain))
    }

    /// Returns the strength, 0 to 1: `min(1, 0.5 + 0.1 × (n − 1))` for n distinct events that assert the fact from a source
    /// other than the agent or memory itself; 0 without one.
    ///
    /// It is computed from the set of events, so re-reading an event changes nothing.
    pub fn strength(&self) -> f32 {
        match self.n_events() {
            0 => 0.0,
            n => (STRENGTH.0 + STRENGTH.1 * (n - 1) as f32).min(1.0),
        }
    }

    /// Whether a source other than the agent or memory itself asserts it: its strength is above 0.
    pub fn is_said(&self) -> bool {
        self.supports.iter().any(Support::counts)
    }

    /// Returns its rank for reads that are limited to the strongest facts: 0 for an ended or rejected fact, 1 for one with an
    /// end that was in the future when it was stated, else 1 plus 1 for each event that [`strength`](Self::strength) counts, up
    /// to 7, the maximum.
    pub fn rank(&self) -> u8 {
        if self.is_over() || self.status == FactStatus::Rejected {
            return 0;
        }
        if self.invalid_at.is_some() {
            return 1;
        }
        u8::try_from(self.n_events()).map_or(HIGHEST_RANK, |n| n.saturating_add(1).min(HIGHEST_RANK))
    }

    /// Returns how many events count, up to six, the maximum.
    fn n_events(&self) -> usize {
        let mut known: [Option<EventId>; MOST_EVENTS] = [None; MOST_EVENTS];
        let mut count = 0;
        for support in self.supports.iter().filter(|support| support.counts()) {
            let event = Some(support.source.event);
            let Some(free) = known.get_mut(count) else { break };
            *free = event;
            count += usize::from(known.iter().position(|one| *one == event) == Some(count));
        }
        count
    }

    /// Returns the probability that it is faithful to the words: the highest of its supports, .15 more for two independent
    /// ones, 1 where a person decided.
    pub fn confidence(&self) -> Confidence {
        let best = self.supports.iter().map(|support| support.confidence.get()).fold(0.0, f32::max);
        if self.supports.iter().any(|support| support.is_decided() && support.says_so()) {
            return Confidence::new(1.0);
        }
        let more = if self.independent() > 1 { INDEPENDENT } else { 0.0 };
        Confidence::new(best + more)
    }

    /// Returns the number of independent conversations and speakers that assert it, excluding the agent, memory and the engine.
    pub fn independent(&self) -> usize {
        let voices: BTreeSet<_> = self
            .supports
            .iter()
            .filter(|support| support.counts())
            .map(|support| (&support.session, &support.speaker))
            .collect();
        voices.len()
    }

    /// Whether it had ended when it was last stated, or was superseded.
    fn is_over(&self) -> bool {
        let last = self.supports.iter().map(|one| one.occurred_at).max();
        let last = last.map(|at| WorldTime::from_seconds(at.as_micros().div_euclid(1_000_000)));
        self.invalid_at.is_some_and(|end| self.superseded.is_some() || last.is_none_or(|last| end <= last))
    }

    /// Whether it is a plan that has not taken place yet.
    pub fn is_plan(&self) -> bool {
        self.act == Act::Plan || self.predicate.as_str() == PLAN
    }

    /// Whether it holds in the world at a moment: `valid_at ≤ world < invalid_at`. A plan holds as a plan until its time is
    /// over.
    pub fn holds_at(&self, world: Timestamp) -> bool {
        let world = WorldTime::from_seconds(world.as_micros().div_euclid(1_000_000));
        if self.is_plan() {
            return self.plan_end().is_none_or(|end| world < end);
        }
        self.valid_at.is_none_or(|from| from <= world) && self.invalid_at.is_none_or(|end| world < end)
    }

    /// Returns the end of a plan: the end of its time, else of the unit in which it begins.
    fn plan_end(&self) -> Option<WorldTime> {
        let of_unit = || Some(self.valid_at?.after(self.valid_grain.unwrap_or(Granularity::Day)));
        self.invalid_at.or_else(of_unit)
    }

    /// Returns the time of its first statement.
    pub fn first_said(&self) -> Option<Timestamp> {
        self.supports.iter().map(|one| one.occurred_at).min()
    }

    /// Whether no words place it before its first statement: it is shown as of that time, although nothing had stated it yet.
    pub fn is_said_after(&self, world: Timestamp) -> bool {
        self.first_said().is_some_and(|first| first > world)
    }

    /// Whether this version was believed at a moment: `created_at ≤ belief < expired_at`.
    pub fn is_believed_at(&self, belief: Timestamp) -> bool {
        self.created_at <= belief && self.expired_at.is_none_or(|end| belief < end)
    }
}

/// A selection of entities. Every field is explicit: start from [`EntityFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct EntityFilter {
    /// These.
    pub ids: Within<Vec<EntityId>>,
    /// Entities with a name of one of these keys.
    pub keys: Within<Vec<String>>,
    /// Entities last merged into this one, whether still merged or not.
    pub merged_into: Within<EntityId>,
    /// One kind.
    pub kind: Within<EntityKind>,
}

impl EntityFilter {
    /// Returns the filter that every entity passes.
    pub fn all() -> Self {
        Self { ids: Within::All, keys: Within::All, merged_into: Within::All, kind: Within::All }
    }

    /// Whether an entity passes; the reference that every store must agree with.
    pub fn accepts(&self, entity: &Entity) -> bool {
        self.ids.only().is_none_or(|ids| ids.contains(&entity.id))
            && self.keys.only().is_none_or(|keys| entity.names.iter().any(|name| keys.contains(&name.key)))
            && self.merged_into.contains_opt(entity.merges.last().map(|merge| &merge.into))
            && self.kind.contains(&entity.kind)
    }
}

/// A selection of facts. Every field is explicit: start from [`FactFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct FactFilter {
    /// Facts about one of these.
    pub subjects: Within<Vec<EntityId>>,
    /// Facts whose object is one of these.
    pub objects: Within<Vec<EntityId>>,
    /// With one of these predicates.
    pub predicates: Within<Vec<Predicate>>,
    /// Facts with a support in one of these events.
    pub sources: Within<Vec<EventId>>,
}

impl FactFilter {
    /// Returns the filter that every fact passes.
    pub fn all() -> Self {
        Self { subjects: Within::All, objects: Within::All, predicates: Within::All, sources: Within::All }
    }

    /// Whether a fact passes; the reference that every store must agree with.
    pub fn accepts(&self, fact: &Fact) -> bool {
        let of_sources =
            |events: &Vec<EventId>| fact.supports.iter().any(|one| events.contains(&one.source.event));
        let leads = |ids: &Vec<EntityId>| fact.object.entity().is_some_and(|id| ids.contains(&id));
        self.subjects.only().is_none_or(|ids| ids.contains(&fact.subject))
            && self.objects.only().is_none_or(leads)
            && self.predicates.only().is_none_or(|predicates| predicates.contains(&fact.predicate))
            && self.sources.only().is_none_or(of_sources)
    }
}

/// A selection of mentions. Every field is explicit: start from [`MentionFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct MentionFilter {
    /// In these events.
    pub events: Within<Vec<EventId>>,
    /// Of these entities.
    pub entities: Within<Vec<EntityId>>,
    /// In one conversation.
    pub session: Within<SessionId>,
}

impl MentionFilter {
    /// Returns the filter that every mention passes.
    pub fn all() -> Self {
        Self { events: Within::All, entities: Within::All, session: Within::All }
    }

    /// Whether a mention passes; the reference that every store must agree with.
    pub fn accepts(&self, mention: &MentionRow) -> bool {
        self.events.only().is_none_or(|events| events.contains(&mention.source.event))
            && self.entities.only().is_none_or(|ids| ids.contains(&mention.entity))
            && self.session.contains(&mention.session)
    }
}

/// The changes of one fold; applied in one transaction with the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphDelta {
    /// New entities, and those that changed.
    pub entities: Vec<Entity>,
    /// Entities without a remaining source.
    pub remove_entities: Vec<EntityId>,
    /// New facts, and those that ended, were superseded or gained a support.
    pub facts: Vec<Fact>,
    /// Facts without a remaining source.
    pub remove_facts: Vec<FactId>,
    /// New mentions; a known one is not written again.
    pub mentions: Vec<MentionRow>,
    /// Mentions that were resolved differently, by event and entity.
    pub remove_mentions: Vec<(EventId, EntityId)>,
    /// The new edition of the rows, if it changed.
    pub edition: Option<Edition>,
}

/// Metadata of the graph's rows as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edition {
    /// The producer that folded the log from its start into these rows, without forgotten events; `None` while the rows differ
    /// from the log: they need a rebuild.
    pub producer: Option<Producer>,
    /// Changes of the last rebuild, known before the first row was replaced; or the changes that another producer would make,
    /// where [`Difference::by`] is not `producer`.
    pub difference: Option<Difference>,
    /// Cardinality rulings of this space, in log order. A predicate outside the built-in table is listed from its first claim
    /// on, even without a ruling.
    pub predicates: BTreeMap<Predicate, Vec<Ruling>>,
}

/// The differences between rebuilt rows and the rows that they replace. It holds no content: the words of a source are only in
/// the log, and are erased with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// The producer of the newer rows; `None` where an earlier version did not record it.
    pub by: Option<Producer>,
    /// Entities, identified by id.
    pub entities: Counts,
    /// Versions of facts, identified by source, subject, predicate, topic, value and belief time, whatever their producer.
    pub facts: Counts,
    /// Rows that differ in any bit, ids and producers included; 0 where both are equal.
    pub rows: u64,
    /// Example facts, at most [`Difference::EXAMPLES`] of each kind.
    pub examples: Vec<Example>,
}

impl Difference {
    /// Most examples of each kind. Source: own choice, as many as a person reads before agreeing.
    pub const EXAMPLES: usize = 5;

    /// Whether both state the same, and only ids, producers or confidences differ.
    pub fn is_silent(&self) -> bool {
        let same = |counts: &Counts| (counts.added, counts.gone, counts.changed) == (0, 0, 0);
        same(&self.entities) && same(&self.facts)
    }
}

/// Counts of differing records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In both, with the same content.
    pub same: u64,
    /// Only among the new rows.
    pub added: u64,
    /// Only among the old rows.
    pub gone: u64,
    /// In both, with other times, another status or other names.
    pub changed: u64,
}

/// How a record differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is new.
    Added,
    /// It was removed.
    Gone,
    /// Its content changed.
    Changed,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Added, Self::Gone, Self::Changed];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Gone => "gone",
            Self::Changed => "changed",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.as_str() == name)
    }
}

/// A differing fact, by the clause that it was extracted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The difference.
    pub change: Change,
    /// Its predicate.
    pub predicate: Predicate,
    /// Its first source.
    pub source: Source,
}

impl GraphDelta {
    /// Returns the number of touched rows.
    pub fn len(&self) -> usize {
        self.entities.len()
            + self.remove_entities.len()
            + self.facts.len()
            + self.remove_facts.len()
            + self.mentions.len()
            + self.remove_mentions.len()
    }

    /// Whether it touches no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Filters facts to those that hold and are believed as of a moment, each with the supports known then; ordered by subject,
/// predicate, topic, start, value. Rejected facts are left out; unchanged shared facts stay shared.
pub fn facts_as_of(facts: impl IntoIterator<Item = Arc<Fact>>, as_of: AsOf) -> Vec<Arc<Fact>> {
    let is_known = |support: &Support| support.recorded_at <= as_of.belief;
    let mut facts: Vec<Arc<Fact>> = facts
        .into_iter()
        .filter(|fact| {
            fact.status != FactStatus::Rejected
                && fact.is_believed_at(as_of.belief)
                && fact.holds_at(as_of.world)
        })
        .map(|mut fact| {
            if !fact.supports.iter().all(is_known) {
                Arc::make_mut(&mut fact).supports.retain(is_known);
            }
            fact
        })
        .collect();
    sort_facts(&mut facts);
    facts
}

/// Keeps the `most` strongest facts by [`Fact::rank`], then by id, in that order, each once.
pub fn strongest_facts(mut facts: Vec<Fact>, most: NonZeroUsize) -> Vec<Fact> {
    facts.sort_by_cached_key(|fact| (Reverse(fact.rank()), fact.id));
    facts.dedup_by_key(|fact| fact.id);
    facts.truncate(most.get());
    facts
}

/// Orders facts by subject, predicate, topic, start, value, id.
pub fn sort_facts<F: Borrow<Fact>>(facts: &mut [F]) {
    fn order(fact: &Fact) -> impl Ord + '_ {
        (fact.subject, &fact.predicate, &fact.topic, fact.valid_at, &fact.object, fact.id)
    }
    facts.sort_by(|one, other| order(one.borrow()).cmp(&order(other.borrow())));
}
