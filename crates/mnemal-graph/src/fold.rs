//! The fold: applies an event to entities and facts. Pure: the same events give the same rows.

mod decide;
mod endings;
mod read;
mod subject_facts;
mod succession;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemal_core::{
    Act, Cardinality, EntityId, EntityKind, Event, EventId, Extraction, Fact, FactId, GraphDelta, MentionRow,
    NewEvent, Predicate, Producer, Role, Ruling, SessionId, Source, Span, Support, Timestamp, Value,
    derived_id,
};

use mnemal_extract::Ending;

use self::read::{said_names, said_roles};
use self::subject_facts::SubjectFacts;
use crate::cardinality::Cardinalities;
use crate::interval::{Version, weigh};
use crate::names::{IdentityChange, IdentityStatement, Names, Statement};
use crate::resolve::{self, CooccurrenceMap};
use crate::slot::{Claim, Slot, place, places};

/// Predicates that "I left Alba" may end. Source: own choice from `predicates.toml` of the extractor.
const LEFT: [&str; 4] = ["lives_in", "works_at", "studies_at", "member_of"];

/// Rows per entity: itself, a name, a source. Most have one of each.
const ENTITY_ROWS: usize = 3;
/// Approximate memory of a believed fact with its claims, and of one co-occurrence entry.
///
/// Source: own measurement, ADR 36.
const FACT_BYTES: usize = 1_500;
const PAIR_BYTES: usize = 32;

/// Rows under construction, with the loaded state that they depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    pub(crate) names: Names,
    /// The predicate cardinalities.
    pub(crate) held: Cardinalities,
    /// The believed facts by subject; a missing subject was not loaded.
    facts: HashMap<EntityId, SubjectFacts>,
    /// The co-occurrences; a missing entity was not loaded.
    company: CooccurrenceMap,
    /// The entities each session mentioned, and when last; a missing session was not loaded.
    sessions: HashMap<SessionId, BTreeMap<EntityId, Timestamp>>,
    /// Whether everything is in memory and nothing has to be loaded.
    is_whole: bool,
    put: BTreeMap<FactId, Fact>,
    mentions: BTreeMap<(EventId, EntityId), MentionRow>,
}

/// What one event says, and which producer read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtractedEvent<'e> {
    pub(crate) event: &'e Event,
    pub(crate) kept: &'e NewEvent,
    pub(crate) extraction: &'e Extraction,
    pub(crate) producer: &'e Producer,
}

impl<'e> ExtractedEvent<'e> {
    fn statement(&self) -> Statement<'e> {
        Statement { event: self.event, occurred_at: self.kept.occurred_at, producer: self.producer }
    }

    fn is_echo(&self, span: Span) -> bool {
        self.event.echo.iter().any(|echo| span.start < echo.end && echo.start < span.end)
    }
}

/// A claim with resolved entities, before it is placed in its slot.
#[derive(Clone, Debug)]
struct ResolvedClaim {
    predicate: Predicate,
    topic: Option<String>,
    support: Support,
}

impl Fold {
    /// Starts a fold at the beginning of a log, with nothing to load.
    pub(crate) fn whole(names: Names) -> Self {
        Self { names, is_whole: true, ..Self::default() }
    }

    /// Starts from stored entities and cardinalities; facts and co-occurrences are loaded on demand.
    pub(crate) fn from_names(names: Names, held: Cardinalities) -> Self {
        Self { names, held, ..Self::default() }
    }

    /// Returns the approximate size, in bytes, of the state that can be reloaded.
    pub(crate) fn weight(&self) -> usize {
        let facts: usize = self.facts.values().map(SubjectFacts::len).sum();
        let named: usize = self.sessions.values().map(BTreeMap::len).sum();
        let company: usize = self.company.values().map(BTreeSet::len).sum();
        facts * FACT_BYTES + (named + company) * PAIR_BYTES
    }

    /// Whether nothing has to be loaded.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns whether the session must be loaded, and the candidates whose co-occurrences are not loaded.
    pub(crate) fn unknown_company(&self, reading: ExtractedEvent<'_>) -> (bool, Vec<EntityId>) {
        if self.is_whole {
            return (false, Vec::new());
        }
        let is_new = !self.sessions.contains_key(&reading.kept.session);
        let named = said_names(reading.extraction)
            .flat_map(|(name, kind)| resolve::candidates(&self.names, name, kind).into_keys());
        let related = said_roles(reading.extraction)
            .flat_map(|(role, name)| resolve::relatives(&self.names, &role, name));
        // A mention of a merged entity counts as a mention of all of its parts.
        let parts = named.chain(related).flat_map(|id| self.names.same_as(id));
        let unknown: BTreeSet<EntityId> = parts.filter(|id| !self.company.contains_key(id)).collect();
        (is_new, unknown.into_iter().collect())
    }

    /// Returns the entities that a session mentioned, as far as it was loaded.
    pub(crate) fn named_in(&self, session: &SessionId) -> BTreeSet<EntityId> {
        let named = self.sessions.get(session);
        named.into_iter().flat_map(BTreeMap::keys).map(|id| self.names.canon(*id)).collect()
    }

    /// Loads the mentions of a session.
    pub(crate) fn know_session(&mut self, session: SessionId, rows: &[MentionRow]) {
        let named = self.sessions.entry(session).or_default();
        for row in rows {
            let last = named.entry(row.entity).or_insert(row.occurred_at);
            *last = (*last).max(row.occurred_at);
        }
    }

    /// Loads the co-occurrences of entities: `named` holds their mentions, `with` the mentions in the same events.
    pub(crate) fn know_company(&mut self, entities: &[EntityId], named: &[MentionRow], with: &[MentionRow]) {
        let mut there: HashMap<EventId, Vec<EntityId>> = HashMap::new();
        for row in with {
            there.entry(row.source.event).or_default().push(row.entity);
        }
        for id in entities {
            self.company.entry(*id).or_default();
        }
        for row in named {
            let company = self.company.entry(row.entity).or_default();
            let others = there.get(&row.source.event).into_iter().flatten();
            company.extend(others.filter(|other| **other != row.entity));
        }
    }

    /// Returns the subjects of an event whose facts are not loaded.
    pub(crate) fn unknown_subjects(&self, subjects: &BTreeSet<EntityId>) -> Vec<EntityId> {
        if self.is_whole {
            return Vec::new();
        }
        subjects.iter().filter(|id| !self.facts.contains_key(id)).copied().collect()
    }

    /// Loads the believed facts of subjects.
    pub(crate) fn know_facts(&mut self, subjects: &[EntityId], facts: Vec<Fact>) {
        for subject in subjects {
            self.facts.entry(*subject).or_default();
        }
        for fact in facts {
            self.hold(fact);
        }
    }

    fn hold(&mut self, fact: Fact) {
        let (names, held) = (&self.names, &self.held);
        self.facts.entry(fact.subject).or_default().insert(fact, held, |id| names.canon(id));
    }

    /// Computes the identity changes (merges and splits) that an event causes.
    pub(crate) fn shift(&self, event: &Event, pending: &mut PendingClaims) {
        pending.shift = self.names.shift(&pending.sayings, event.id, pending.undone);
    }

    /// Weighs the claims of an event against the believed facts. The subjects of `pending` must be loaded.
    pub(crate) fn weigh(&mut self, reading: ExtractedEvent<'_>, pending: &PendingClaims) {
        let said = reading.statement();
        let mut slots = self.rule(reading.event.id, pending);
        self.names.follow(&pending.shift, said);
        if let Some((id, name)) = &pending.renamed {
            self.names.choose(*id, name, said);
        }
        let mut moved = self.take_displaced(&pending.shift.from);
        if let Some(decision) = pending.undone {
            self.names.unchoose(decision, said);
            self.names.withdraw(decision, said);
            moved.append(&mut self.resting_on(pending));
        }
        let decided =
            (reading.event.role == Role::Decision).then(|| self.named_objects(&pending.claims, reading));
        let mut withdrawals = self.withdrawals(pending, reading);
        withdrawals.extend(self.corrections(pending, reading));
        for claim in &pending.claims {
            self.held.meet(&claim.predicate);
        }
        let (names, held) = (&self.names, &self.held);
        let canon = |id| names.canon(id);
        for (_, before) in &moved {
            // The former slots are weighed again, without the facts removed from them.
            slots.extend(before.iter().map(|slot| (slot.clone(), Vec::new())));
        }
        for (fact, _) in &moved {
            let rest = places(fact, held, canon).filter(|(_, claim)| !pending.takes_back(&claim.support));
            for (slot, claim) in rest {
                slots.entry(slot).or_default().push(claim);
            }
        }
        let over = self.over(reading, pending);
        let said = decided.as_ref().unwrap_or(&pending.claims).iter();
        let said = said.filter(|claim| !endings::is_ended(claim, &over));
        let claims = said.chain(&over).chain(&withdrawals);
        for claim in claims {
            let Some(claim) = self.matching_end(claim) else { continue };
            let topic = claim.topic.as_deref();
            let (slot, claim) = place(&claim.predicate, topic, &claim.support, held, canon);
            slots.entry(slot).or_default().push(claim);
        }
        for (fact, _) in moved {
            self.expire(fact, reading.event.recorded_at);
        }
        let mut ordinal = 0;
        for (slot, claims) in slots {
            self.settle(&slot, claims, reading, &mut ordinal);
        }
    }

    /// Returns the claim that an end applies to. "I left Alba" can end a job or a home, and only the known facts tell
    /// which; leaving a person ends neither.
    fn matching_end<'c>(&self, claim: &'c ResolvedClaim) -> Option<Cow<'c, ResolvedClaim>> {
        let is_left = claim.support.act == Act::End && LEFT.contains(&claim.predicate.as_str());
        if !is_left || claim.support.is_decided() {
            return Some(Cow::Borrowed(claim));
        }
        let known = self.facts.get(&self.names.canon(claim.support.subject));
        let name = self.name_of(&claim.support.object);
        let is_meant = |fact: &&Fact| {
            LEFT.contains(&fact.predicate.as_str())
                && fact.act == Act::Assert
                && fact.superseded.is_none()
                && self.name_of(&fact.object) == name
        };
        let mut meant: Vec<&Fact> =
            known.into_iter().flat_map(SubjectFacts::facts).filter(is_meant).collect();
        meant.sort_by_key(|fact| (fact.predicate != claim.predicate, fact.id));
        let Some(fact) = meant.first() else {
            let who = claim.support.object.entity().and_then(|id| self.names.get(id));
            let is_person = who.is_some_and(|entity| entity.kind == EntityKind::Person);
            return (!is_person).then_some(Cow::Borrowed(claim));
        };
        if fact.predicate == claim.predicate && fact.object.key() == claim.support.object.key() {
            return Some(Cow::Borrowed(claim));
        }
        let support = Support { object: fact.object.clone(), ..claim.support.clone() };
        Some(Cow::Owned(ResolvedClaim {
            predicate: fact.predicate.clone(),
            topic: fact.topic.clone(),
            support,
        }))
    }

    /// Returns the name of a value, in lowercase.
    fn name_of(&self, object: &Value) -> String {
        let entity = object.entity().and_then(|id| self.names.get(self.names.canon(id)));
        match (entity, object) {
            (Some(entity), _) => entity.name.to_lowercase(),
            (None, Value::Literal { text, .. }) => text.to_lowercase(),
            (None, Value::Entity(_)) => String::new(),
        }
    }

    /// Applies a cardinality ruling or its undo; returns the slots to weigh again. The facts of that predicate must be
    /// loaded.
    fn rule(&mut self, event: EventId, pending: &PendingClaims) -> BTreeMap<Slot, Vec<Claim>> {
        let mut slots = BTreeMap::new();
        let Some(predicate) = self.ruled_predicate(pending) else { return slots };
        let before = self.held.of(&predicate);
        match (pending.ruling.as_ref(), pending.undone) {
            (Some((_, is_decided, cardinality)), _) => {
                let ruling = Ruling { by: event, is_decided: *is_decided, cardinality: *cardinality };
                self.held.rule(&predicate, ruling);
            }
            (None, Some(undone)) => self.held.take_back(&predicate, undone),
            (None, None) => {}
        }
        if self.held.of(&predicate) == before {
            return slots;
        }
        let is_meant = |fact: &Fact| fact.predicate == predicate;
        let moved: Vec<(Fact, Vec<Slot>)> =
            self.facts.values_mut().flat_map(|facts| facts.take(is_meant)).collect();
        for (fact, before) in moved {
            // Facts that shared a slot with it are weighed again too, without it.
            let (names, held) = (&self.names, &self.held);
            let after = places(&fact, held, |id| names.canon(id)).map(|(slot, _)| slot);
            slots.extend(before.into_iter().chain(after).map(|slot| (slot, Vec::new())));
            self.hold(fact);
        }
        slots
    }

    /// Returns the predicate that an event rules on, or whose ruling it undoes.
    pub(crate) fn ruled_predicate(&self, pending: &PendingClaims) -> Option<Predicate> {
        match (&pending.ruling, pending.undone) {
            (Some((predicate, ..)), _) => Some(predicate.clone()),
            (None, undone) => self.held.ruled_by(undone?).cloned(),
        }
    }

    /// Removes the facts with these entities as subject or object that now belong to other entities, each with its former
    /// slots.
    fn take_displaced(&mut self, entities: &BTreeSet<EntityId>) -> Vec<(Fact, Vec<Slot>)> {
        // Few events change an identity, and the others should not pay for a scan over all facts.
        if entities.is_empty() {
            return Vec::new();
        }
        let (names, held) = (&self.names, &self.held);
        let canon = |id| names.canon(id);
        let is_near = |fact: &Fact| {
            entities.contains(&fact.subject) || fact.object.entity().is_some_and(|id| entities.contains(&id))
        };
        let is_displaced = |fact: &Fact| {
            places(fact, held, canon)
                .any(|(slot, claim)| slot.subject != fact.subject || claim.object.key() != fact.object.key())
        };
        let is_meant = |fact: &Fact| is_near(fact) && is_displaced(fact);
        self.facts.values_mut().flat_map(|facts| facts.take(is_meant)).collect()
    }

    /// Removes the facts that rest on undone words, each with its former slots.
    fn resting_on(&mut self, pending: &PendingClaims) -> Vec<(Fact, Vec<Slot>)> {
        let rests = |fact: &Fact| fact.supports.iter().any(|one| pending.takes_back(one));
        self.facts.values_mut().flat_map(|facts| facts.take(rests)).collect()
    }

    /// Replaces the believed facts of one slot by the versions that its claims give.
    fn settle(
        &mut self,
        slot: &Slot,
        mut claims: Vec<Claim>,
        reading: ExtractedEvent<'_>,
        ordinal: &mut u32,
    ) {
        let (names, held) = (&self.names, &self.held);
        let canon = |id| names.canon(id);
        let mut before: Vec<Fact> = self.facts.entry(slot.subject).or_default().take_slot(slot);
        claims.extend(before.iter().flat_map(|fact| places(fact, held, canon)).map(|(_, claim)| claim));
        let mut fresh = Vec::new();
        for version in weigh(slot.rule, claims) {
            match before
                .iter()
                .position(|fact| says(fact, &version) && goes_on(fact, &version, reading.event.recorded_at))
            {
                Some(place) => {
                    let mut fact = before.swap_remove(place);
                    if fact.supports != version.supports {
                        fact.supports = version.supports;
                        self.put.insert(fact.id, fact.clone());
                    }
                    self.hold(fact);
                }
                None => fresh.push(version),
            }
        }
        for fact in before {
            self.expire(fact, reading.event.recorded_at);
        }
        fresh.sort_by_cached_key(order);
        for version in fresh {
            let id = fact_id(reading.producer, reading.event.id, *ordinal);
            *ordinal += 1;
            let fact = fact(id, slot.subject, version, reading);
            self.put.insert(id, fact.clone());
            self.hold(fact);
        }
    }

    /// Ends the belief in a version.
    fn expire(&mut self, mut fact: Fact, at: Timestamp) {
        if fact.created_at == at {
            // Created and expired by the same event, so it was never believed.
            self.put.remove(&fact.id);
            return;
        }
        fact.expired_at = Some(at);
        self.put.insert(fact.id, fact);
    }

    /// Takes the changes since the last call.
    pub(crate) fn take_delta(&mut self) -> GraphDelta {
        GraphDelta {
            entities: self.names.take_changed(),
            facts: std::mem::take(&mut self.put).into_values().collect(),
            mentions: std::mem::take(&mut self.mentions).into_values().collect(),
            ..GraphDelta::default()
        }
    }

    /// Returns the number of changed rows since the last [`take_delta`](Self::take_delta), sources included.
    pub(crate) fn pending_rows(&self) -> usize {
        let facts: usize = self.put.values().map(|fact| 1 + fact.supports.len()).sum();
        facts + self.mentions.len() + ENTITY_ROWS * self.names.n_changed()
    }
}

/// An event's resolved claims and identity statements, not weighed yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingClaims {
    claims: Vec<ResolvedClaim>,
    /// Identity statements: which entities are the same, and which are not.
    sayings: Vec<IdentityStatement>,
    /// The identity changes that follow.
    shift: IdentityChange,
    mentioned: BTreeMap<EntityId, Span>,
    subjects: BTreeSet<EntityId>,
    /// The decision to undo.
    pub(crate) undone: Option<EventId>,
    /// The turn whose model-extracted claims are undone.
    found_in: Option<EventId>,
    /// A cardinality ruling: the predicate, whether a person decides, and the cardinality.
    ruling: Option<(Predicate, bool, Cardinality)>,
    /// The endings that the speaker's words state.
    ended: Option<(EntityId, Vec<Ending>)>,
    /// The entity that a person renamed, and its new name.
    renamed: Option<(EntityId, String)>,
    /// Words that a person withdrew or restored.
    withdrawn: Option<(Vec<Source>, Act)>,
    /// The note that this event is a new version of, as the session of its versions.
    replaced: Option<SessionId>,
}

impl PendingClaims {
    /// Returns the subjects whose facts must be loaded before weighing.
    pub(crate) fn subjects(&self) -> BTreeSet<EntityId> {
        let speaker = self.ended.iter().map(|(speaker, _)| speaker);
        self.subjects.iter().chain(&self.shift.from).chain(&self.shift.to).chain(speaker).copied().collect()
    }

    /// Returns the entities whose facts as an object must be loaded too.
    pub(crate) fn objects(&self) -> Vec<EntityId> {
        self.shift.from.iter().copied().collect()
    }

    /// Marks the undone decision as a model finding in this turn.
    pub(crate) fn take_back_found_in(&mut self, turn: EventId) {
        self.found_in = Some(turn);
    }

    /// Whether a claim rests on undone words.
    fn takes_back(&self, support: &Support) -> bool {
        let event = Some(support.source.event);
        event == self.undone || event == self.found_in && support.is_of_model()
    }

    /// Records a person's decision to withdraw or restore words.
    fn withdraw(&mut self, words: &[Source], act: Act) {
        self.withdrawn = (!words.is_empty()).then(|| (words.to_vec(), act));
    }

    /// Ends what earlier versions of a note said, unless this version says it again.
    pub(crate) fn replace(&mut self, versions: &SessionId) {
        self.replaced = Some(versions.clone());
    }

    /// Returns the events whose words a person withdrew or restored.
    pub(crate) fn withdrawn_from(&self) -> Vec<EventId> {
        let sources = self.withdrawn.iter().flat_map(|(sources, _)| sources);
        sources.map(|source| source.event).collect()
    }

    /// Adds subjects whose facts must be loaded.
    pub(crate) fn concern(&mut self, subjects: impl IntoIterator<Item = EntityId>) {
        self.subjects.extend(subjects);
    }
}

/// Makes the id of a version from the event that creates it: the first half is that of the event's id, which begins
/// with its time, the second is a hash. The facts of one event are thus adjacent in an index, after those of earlier
/// events (ADR 2).
fn fact_id(producer: &Producer, event: EventId, ordinal: u32) -> FactId {
    let hash = derived_id("fact", producer, &[event], ordinal);
    FactId(event.0 & !u128::from(u64::MAX) | hash & u128::from(u64::MAX))
}

fn says(fact: &Fact, version: &Version) -> bool {
    fact.predicate == version.predicate
        && fact.topic == version.topic
        && fact.object.key() == version.object.key()
        && fact.act == version.act
        && (fact.valid_at, fact.invalid_at) == (version.valid_at, version.invalid_at)
        && (fact.valid_grain, fact.invalid_grain) == (version.valid_grain, version.invalid_grain)
        && fact.status == version.status
        && fact.superseded == version.superseded
        && (fact.level, fact.trust) == (version.level, version.trust)
}

/// Whether a version keeps the supports of a fact and only adds newly heard claims. Claims added by a merge were
/// recorded earlier for another entity, so they make a new version; otherwise the past would change.
fn goes_on(fact: &Fact, version: &Version, now: Timestamp) -> bool {
    let (known, heard) = (BySource::new(&fact.supports), BySource::new(&version.supports));
    known.all().all(|support| heard.has(support))
        && heard.all().all(|support| support.recorded_at == now || known.has(support))
}

/// The supports of a fact, by source: a frequently mentioned entity has thousands.
struct BySource<'a>(Vec<&'a Support>);

impl<'a> BySource<'a> {
    fn new(supports: &'a [Support]) -> Self {
        let mut supports: Vec<&Support> = supports.iter().collect();
        supports.sort_by_key(|support| support.source);
        Self(supports)
    }

    fn all(&self) -> impl Iterator<Item = &'a Support> {
        self.0.iter().copied()
    }

    fn has(&self, wanted: &Support) -> bool {
        let first = self.0.partition_point(|support| support.source < wanted.source);
        let of_source = self.0.iter().skip(first).take_while(|support| support.source == wanted.source);
        of_source.into_iter().any(|support| *support == wanted)
    }
}

fn order(version: &Version) -> (String, Option<String>, String, Option<mnemal_core::WorldTime>, u8) {
    let act = match version.act {
        Act::Assert | Act::End | Act::Past | Act::Earlier => 0,
        Act::Plan => 1,
        Act::Negative => 2,
    };
    let predicate = version.predicate.as_str().to_owned();
    (predicate, version.topic.clone(), version.object.key(), version.valid_at, act)
}

fn fact(id: FactId, subject: EntityId, version: Version, reading: ExtractedEvent<'_>) -> Fact {
    Fact {
        id,
        subject,
        predicate: version.predicate,
        topic: version.topic,
        object: version.object,
        act: version.act,
        valid_at: version.valid_at,
        invalid_at: version.invalid_at,
        valid_grain: version.valid_grain,
        invalid_grain: version.invalid_grain,
        created_at: reading.event.recorded_at,
        expired_at: None,
        status: version.status,
        superseded: version.superseded,
        supports: version.supports,
        trust: version.trust,
        level: version.level,
        producer: reading.producer.clone(),
    }
}
