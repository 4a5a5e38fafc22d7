//! Entities and facts, folded from what extractors read in the log.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::{
    Act, AsOf, Confidence, EntityId, EntityKind, EventId, FactId, Grain, Level, Predicate, Producer, RuleId,
    Ruling, SessionId, Source, Speaker, Timestamp, Trust, Within, WorldTime,
};

/// Something with a name, or with a role for somebody: "my sister".
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Derived from its class and the key of its name.
    pub id: EntityId,
    /// What it is, as the most specific of its mentions says.
    pub kind: EntityKind,
    /// The word for that kind of an extractor that knows other kinds, as it was said first.
    pub kind_word: Option<String>,
    /// How it is shown.
    pub name: String,
    /// How it is shown as long as it has no name.
    pub made_as: String,
    /// Every name it was given, by key; empty for one that has only a role.
    pub names: Vec<EntityName>,
    /// Names that a person chose for it, oldest first; the last one that was not taken back is how it is shown.
    pub chosen: Vec<EntityName>,
    /// What it is for whom, in small letters: the owner and `sister`.
    pub roles: Vec<(EntityId, String)>,
    /// What it was taken for; the last one without an end holds. It follows from the ties of all entities.
    pub joined: Vec<Joined>,
    /// What was said of it and another, without what was taken back; in the order in which it was said.
    pub ties: Vec<Tie>,
    /// Events in which it was named or described, as far as they were read for it; never empty.
    pub sources: Vec<EventId>,
    /// Notes and other decisions that name it, where nothing else ever did; empty for one that was named otherwise. It is gone
    /// when all of them were taken back.
    pub decisions: Vec<NamedBy>,
    /// Belief time from which it was known; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// What made it.
    pub producer: Producer,
}

impl Entity {
    /// Whether it is known at a belief time: it was named by then, and not by decisions alone that were taken back by then.
    pub fn is_known_at(&self, belief: Timestamp) -> bool {
        let is_left = |by: &NamedBy| by.expired_at.is_none_or(|end| belief < end);
        self.created_at <= belief && (self.decisions.is_empty() || self.decisions.iter().any(is_left))
    }

    /// Returns what it is taken for as of a belief time, if for anything else.
    pub fn joined_at(&self, belief: Timestamp) -> Option<EntityId> {
        let holds = |joined: &&Joined| {
            joined.created_at <= belief && joined.expired_at.is_none_or(|end| belief < end)
        };
        self.joined.iter().rev().find(holds).map(|joined| joined.into)
    }
}

/// A decision that names an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedBy {
    /// The decision.
    pub decision: EventId,
    /// Belief time at which it was taken back.
    pub expired_at: Option<Timestamp>,
}

/// A name of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityName {
    /// As it was written first.
    pub text: String,
    /// The key by which it is found: folded, without titles and endings.
    pub key: String,
    /// The event that gave it.
    pub source: EventId,
    /// When that was said.
    pub occurred_at: Timestamp,
    /// Belief time from which it was known.
    pub recorded_at: Timestamp,
    /// Until when, if it was taken back.
    pub expired_at: Option<Timestamp>,
}

impl EntityName {
    /// Whether it was known as of a belief time.
    pub fn is_known_at(&self, belief: Timestamp) -> bool {
        self.recorded_at <= belief && self.expired_at.is_none_or(|end| belief < end)
    }
}

/// What was said of two entities, each as it is for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The other one; of two that are one it stands for both.
    pub other: EntityId,
    /// What was said.
    pub says: Says,
    /// The event that said so.
    pub source: EventId,
    /// Its place among all ties of the space: what was said later has a greater number.
    pub ordinal: u32,
}

/// What a tie says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A text shows that two are one; a person who parted them knows better.
    Read,
    /// A person said that two are one.
    Merged,
    /// A person said that two are two.
    Split,
}

impl Says {
    /// Returns the name in stored rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Merged => "merged",
            Self::Split => "split",
        }
    }

    /// Returns what a name means.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Read, Self::Merged, Self::Split].into_iter().find(|one| one.as_str() == name)
    }
}

/// Two entities that are taken for one; it has belief time like a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The entity that stands for both.
    pub into: EntityId,
    /// The event that said so.
    pub source: EventId,
    /// From when on it was believed.
    pub created_at: Timestamp,
    /// Until when.
    pub expired_at: Option<Timestamp>,
}

impl Joined {
    /// Whether it is still believed.
    pub fn holds(&self) -> bool {
        self.expired_at.is_none()
    }
}

/// One appearance of an entity in an event; an entity appears once in an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionRow {
    /// Where, with the bytes of the first time.
    pub source: Source,
    /// Who or what.
    pub entity: EntityId,
    /// The conversation.
    pub session: SessionId,
    /// When that was said.
    pub occurred_at: Timestamp,
}

/// The object of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Something with a name: the fact is an edge.
    Entity(EntityId),
    /// Words.
    Literal {
        /// As they were written first.
        text: String,
        /// Words of equal meaning have equal keys.
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

    /// Returns what makes two values the same.
    pub fn key(&self) -> String {
        match self {
            Self::Entity(id) => id.to_string(),
            Self::Literal { key, .. } => format!("={key}"),
        }
    }
}

/// Where a fact stands; nothing is overwritten.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactStatus {
    /// It was said once, or with less certainty; visible, not injected.
    Candidate,
    /// It holds.
    Active,
    /// Another value is as likely; a person has to say.
    Disputed,
    /// It ended, or a newer value took its place; it stays true for its time.
    Superseded,
    /// A person said that it is wrong.
    Rejected,
}

impl FactStatus {
    /// All of them, in the order of their declaration.
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

/// Why a fact no longer holds.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A newer value was heard of later.
    NewerValue,
    /// A person corrected it.
    UserCorrection,
    /// A value that was known already is newer.
    Backfill,
    /// Its end was said.
    Ended,
    /// A person said that it never was so.
    Rejected,
}

impl Reason {
    /// All of them, in the order of their declaration.
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

/// What put an end to a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// Why.
    pub reason: Reason,
    /// The event that says so; a newer value is read in it.
    pub by: EventId,
    /// The rule that read it there.
    pub rule: RuleId,
}

/// One claim that a fact rests on, as it was read, before it was weighed against others.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// The clause.
    pub source: Source,
    /// The rule that read it; `decision` where a person decided.
    pub rule: RuleId,
    /// Whom it is about, before any merge.
    pub subject: EntityId,
    /// What it says of that, before any merge.
    pub object: Value,
    /// In which sense it is said.
    pub act: Act,
    /// When it begins to hold, if the words say so.
    pub valid_at: Option<WorldTime>,
    /// The first moment at which it no longer holds, if the words say so.
    pub invalid_at: Option<WorldTime>,
    /// The unit in which the words count these times; `None` where they name none, and for what a person decided.
    pub grain: Option<Grain>,
    /// When it was said.
    pub occurred_at: Timestamp,
    /// When the engine heard of it.
    pub recorded_at: Timestamp,
    /// The conversation; with the speaker, what makes two claims independent.
    pub session: SessionId,
    /// Who said it.
    pub speaker: Option<Speaker>,
    /// How far it may be believed.
    pub trust: Trust,
    /// What it may become.
    pub level: Level,
    /// How likely it is faithful to what was said.
    pub confidence: Confidence,
}

/// The rule of what a person decided. Source: own choice; packs name theirs `en.lives_in.live`.
const DECISION: &str = "decision";
/// The rule of what a language model found. Source: own choice.
const MODEL: &str = "model";
/// The rule of what somebody took back: "it's not hazelnuts, it's walnuts". Source: own choice.
const CORRECTION: &str = "correction";
/// The rule of what follows a decision about a learning of the same words. Source: own choice.
const WITHDRAWAL: &str = "withdrawal";

impl Support {
    /// Returns the name of the rule that stands for a person's decision.
    pub fn decision_rule() -> &'static str {
        DECISION
    }

    /// Returns the name of the rule that stands for what somebody said by mistake or in jest.
    pub fn correction_rule() -> &'static str {
        CORRECTION
    }

    /// Returns the name of the rule by which a fact follows a decision about a learning of the same words.
    pub fn withdrawal_rule() -> &'static str {
        WITHDRAWAL
    }

    /// Returns the name of the rule that stands for what a language model found where the rules read nothing for certain.
    pub fn model_rule() -> &'static str {
        MODEL
    }

    /// Whether a language model found it.
    pub fn is_of_model(&self) -> bool {
        self.rule.as_str() == MODEL
    }

    /// Whether a person decided so, in so many words.
    pub fn is_decided(&self) -> bool {
        self.rule.as_str() == DECISION
    }

    /// Whether it says that it never was so: a decision, or somebody who corrects what was said before.
    pub fn is_rejection(&self) -> bool {
        self.act == Act::Negative && (self.is_decided() || self.rule.as_str() == CORRECTION)
    }

    /// Whether it follows a decision about a learning of the same words: negative where that was rejected, asserting where it was
    /// restored. It weighs nothing, and concerns what was recorded before it.
    pub fn is_withdrawal(&self) -> bool {
        self.rule.as_str() == WITHDRAWAL
    }

    /// Whether it says that something is so, neither that it is over nor that it never was.
    pub fn says_so(&self) -> bool {
        !self.act.is_of_past() && !self.is_rejection() && !self.is_withdrawal()
    }

    /// Whether it says so, and somebody other than the agent or memory itself says it.
    fn counts(&self) -> bool {
        self.trust >= Trust::Document && self.says_so()
    }
}

/// Edge and attribute in one: an edge is a fact whose object is an entity. One version in belief time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Derived from the event that brought this version about.
    pub id: FactId,
    /// Of whom.
    pub subject: EntityId,
    /// What.
    pub predicate: Predicate,
    /// For predicates that hold one value for each topic, and for roles: the topic, in small letters.
    pub topic: Option<String>,
    /// The value.
    pub object: Value,
    /// `Assert`, `Plan` for what is intended, `Negative` for what is known not to be so.
    pub act: Act,
    /// World time from which it holds; `None`: since before anybody said.
    pub valid_at: Option<WorldTime>,
    /// First moment of world time at which it no longer holds; `None`: still.
    pub invalid_at: Option<WorldTime>,
    /// How exactly `valid_at` is known: "in March 2022" to the month. `None` where no words name it.
    pub valid_grain: Option<Grain>,
    /// How exactly `invalid_at` is known.
    pub invalid_grain: Option<Grain>,
    /// Belief time from which this version was known; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// Belief time from which another version, or none, was known in its place.
    pub expired_at: Option<Timestamp>,
    /// Where it stands.
    pub status: FactStatus,
    /// What put an end to it.
    pub superseded: Option<Superseded>,
    /// What it rests on, by source; never empty.
    pub supports: Vec<Support>,
    /// That of the supports on which it stands, which are those of the highest level and trust.
    pub trust: Trust,
    /// That of the supports on which it stands.
    pub level: Level,
    /// What made it.
    pub producer: Producer,
}

/// The predicate of what is intended. Source: `predicates.toml` of the extractor.
const PLAN: &str = "plan";
/// What strength one support gives, and what each more adds. Source: NB-09.
const STRENGTH: (f32, f32) = (0.5, 0.1);
/// Events that give the strength 1. Source: follows from `STRENGTH`.
const MOST_EVENTS: usize = 6;
/// The rank of a fact of strength 1. Source: six events give that strength.
const HIGHEST_RANK: u8 = 7;
/// What a second independent support adds to a confidence. Source: EXTRACTION 8.
const INDEPENDENT: f32 = 0.15;

impl Fact {
    /// Returns since when it holds, as far as that is known; see [`WorldTime::text`].
    pub fn since(&self) -> Option<String> {
        self.valid_at.map(|at| at.text(self.valid_grain))
    }

    /// Returns until when it held, as far as that is known.
    pub fn until(&self) -> Option<String> {
        self.invalid_at.map(|at| at.text(self.invalid_grain))
    }

    /// Returns the reinforcement, 0 to 1: `min(1, 0.5 + 0.1 × (n − 1))` for n distinct events in which somebody other than
    /// the agent or memory itself says so; 0 without one.
    ///
    /// It is computed from the set of events, so that reading one of them again changes nothing.
    pub fn strength(&self) -> f32 {
        match self.n_events() {
            0 => 0.0,
            n => (STRENGTH.0 + STRENGTH.1 * (n - 1) as f32).min(1.0),
        }
    }

    /// Whether somebody other than the agent or memory itself says so: its strength is above 0.
    pub fn is_said(&self) -> bool {
        self.supports.iter().any(Support::counts)
    }

    /// Returns where it stands among others when not all are read: 0 for what is over or rejected, 1 for what has an end that was
    /// ahead when it was said, else 1 and 1 more for each event that [`strength`](Self::strength) counts, up to 7, from which on
    /// nothing is stronger.
    pub fn rank(&self) -> u8 {
        if self.is_over() || self.status == FactStatus::Rejected {
            return 0;
        }
        if self.invalid_at.is_some() {
            return 1;
        }
        u8::try_from(self.n_events()).map_or(HIGHEST_RANK, |n| n.saturating_add(1).min(HIGHEST_RANK))
    }

    /// Returns how many events count, up to six, from which on nothing is stronger.
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

    /// Returns how likely it is faithful to what was said: the most likely of its supports, .15 more where two independent
    /// ones say so, 1 where a person decided. Source: EXTRACTION 8.
    pub fn confidence(&self) -> Confidence {
        let best = self.supports.iter().map(|support| support.confidence.get()).fold(0.0, f32::max);
        if self.supports.iter().any(|support| support.is_decided() && support.says_so()) {
            return Confidence::new(1.0);
        }
        let more = if self.independent() > 1 { INDEPENDENT } else { 0.0 };
        Confidence::new(best + more)
    }

    /// Returns how many conversations and speakers say so, the agent, memory and the engine not counted.
    pub fn independent(&self) -> usize {
        let voices: BTreeSet<_> = self
            .supports
            .iter()
            .filter(|support| support.counts())
            .map(|support| (&support.session, &support.speaker))
            .collect();
        voices.len()
    }

    /// Whether it was over when it was last said, or something put an end to it.
    fn is_over(&self) -> bool {
        let last = self.supports.iter().map(|one| one.occurred_at).max();
        let last = last.map(|at| WorldTime::from_seconds(at.as_micros().div_euclid(1_000_000)));
        self.invalid_at.is_some_and(|end| self.superseded.is_some() || last.is_none_or(|last| end <= last))
    }

    /// Whether it is intended and not yet so.
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

    /// Returns the first moment at which a plan is none any more: the end of what it names, else of the unit in which it begins.
    fn plan_end(&self) -> Option<WorldTime> {
        let of_unit = || Some(self.valid_at?.after(self.valid_grain.unwrap_or(Grain::Day)));
        self.invalid_at.or_else(of_unit)
    }

    /// Returns the moment at which it was first said.
    pub fn first_said(&self) -> Option<Timestamp> {
        self.supports.iter().map(|one| one.occurred_at).min()
    }

    /// Whether no words place it at a moment before it was first said: it is shown as of then, but nobody had said it yet.
    pub fn is_said_after(&self, world: Timestamp) -> bool {
        self.first_said().is_some_and(|first| first > world)
    }

    /// Whether this version was believed at a moment: `created_at ≤ belief < expired_at`.
    pub fn is_believed_at(&self, belief: Timestamp) -> bool {
        self.created_at <= belief && self.expired_at.is_none_or(|end| belief < end)
    }
}

/// Which entities are meant. Every field is said aloud: start from [`EntityFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct EntityFilter {
    /// These.
    pub ids: Within<Vec<EntityId>>,
    /// Those of which one name has one of these keys.
    pub keys: Within<Vec<String>>,
    /// Those that were taken for this one last, whether they still are or not.
    pub joined: Within<EntityId>,
    /// One kind.
    pub kind: Within<EntityKind>,
}

impl EntityFilter {
    /// Returns the filter that every entity passes.
    pub fn all() -> Self {
        Self { ids: Within::All, keys: Within::All, joined: Within::All, kind: Within::All }
    }

    /// Whether an entity passes; the reference that every store must agree with.
    pub fn accepts(&self, entity: &Entity) -> bool {
        self.ids.only().is_none_or(|ids| ids.contains(&entity.id))
            && self.keys.only().is_none_or(|keys| entity.names.iter().any(|name| keys.contains(&name.key)))
            && self.joined.contains_opt(entity.joined.last().map(|joined| &joined.into))
            && self.kind.contains(&entity.kind)
    }
}

/// Which facts are meant. Every field is said aloud: start from [`FactFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct FactFilter {
    /// About one of these.
    pub subjects: Within<Vec<EntityId>>,
    /// That lead to one of these.
    pub objects: Within<Vec<EntityId>>,
    /// With one of these predicates.
    pub predicates: Within<Vec<Predicate>>,
    /// Those that rest on one of these events.
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

/// Which mentions are meant. Every field is said aloud: start from [`MentionFilter::all`].
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

/// What one fold changes; applied in one transaction with the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphDelta {
    /// New entities, and those that changed.
    pub entities: Vec<Entity>,
    /// Entities without a living source.
    pub remove_entities: Vec<EntityId>,
    /// New facts, and those that ended, were superseded or gained a support.
    pub facts: Vec<Fact>,
    /// Facts without a living source.
    pub remove_facts: Vec<FactId>,
    /// New mentions; one that is known is not written again.
    pub mentions: Vec<MentionRow>,
    /// Mentions that were resolved otherwise, by event and entity.
    pub remove_mentions: Vec<(EventId, EntityId)>,
    /// What the rows as a whole are from now on, where that changes.
    pub edition: Option<Edition>,
}

/// What the rows as a whole are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edition {
    /// What folded the log from its begin into these rows, without what is forgotten; `None` while the rows are not what the
    /// log gives: they shall be made anew.
    pub producer: Option<Producer>,
    /// What changed when the rows were made anew last, known before the first row was exchanged; or what would change with
    /// another reader, where [`Difference::by`] is not `producer`.
    pub difference: Option<Difference>,
    /// What was said in this space of how many values a predicate holds, in the order of the log. A predicate that is not in the
    /// shipped table is here from the first claim on that a fold met, be it with nothing said of it.
    pub predicates: BTreeMap<Predicate, Vec<Ruling>>,
}

/// How rows made anew differ from those that they take the place of. It names no content: what a source says stands in the
/// log, and is gone with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// What makes the newer rows; `None` where an earlier version did not say it.
    pub by: Option<Producer>,
    /// Entities, told apart by id.
    pub entities: Counts,
    /// Versions of facts, told apart by source, subject, predicate, topic, value and belief time, whatever made them.
    pub facts: Counts,
    /// Rows that are not the same in every bit, ids and producers included; 0 where both are equal.
    pub rows: u64,
    /// Some of the facts, at most [`Difference::EXAMPLES`] of each kind.
    pub examples: Vec<Example>,
}

impl Difference {
    /// Most examples of each kind. Source: own choice, what is read before one agrees.
    pub const EXAMPLES: usize = 5;

    /// Whether both say the same, and only ids, producers or how sure one is differ.
    pub fn is_silent(&self) -> bool {
        let same = |counts: &Counts| (counts.added, counts.gone, counts.changed) == (0, 0, 0);
        same(&self.entities) && same(&self.facts)
    }
}

/// How many records differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In both, and say the same.
    pub same: u64,
    /// Only among the new ones.
    pub added: u64,
    /// Only among the old ones.
    pub gone: u64,
    /// In both, with other times, another status or other names.
    pub changed: u64,
}

/// How a record differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is new.
    Added,
    /// It is no more.
    Gone,
    /// It says something else.
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

/// A fact that differs, by the clause that it was read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// How.
    pub change: Change,
    /// What it says of somebody.
    pub predicate: Predicate,
    /// Where it was read first.
    pub source: Source,
}

impl GraphDelta {
    /// Returns how many rows it touches.
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

/// Keeps the facts that hold and were believed as of a moment, each with the supports that were known then; by subject,
/// predicate, topic, begin, value. What a person rejected is left out; what is shared and stays as it is stays shared.
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

/// Keeps the `most` facts that stand first by [`Fact::rank`], then by id, in that order, each once.
pub fn strongest_facts(mut facts: Vec<Fact>, most: NonZeroUsize) -> Vec<Fact> {
    facts.sort_by_cached_key(|fact| (Reverse(fact.rank()), fact.id));
    facts.dedup_by_key(|fact| fact.id);
    facts.truncate(most.get());
    facts
}

/// Orders facts by subject, predicate, topic, begin, value, id.
pub fn sort_facts<F: Borrow<Fact>>(facts: &mut [F]) {
    fn order(fact: &Fact) -> impl Ord + '_ {
        (fact.subject, &fact.predicate, &fact.topic, fact.valid_at, &fact.object, fact.id)
    }
    facts.sort_by(|one, other| order(one.borrow()).cmp(&order(other.borrow())));
}
