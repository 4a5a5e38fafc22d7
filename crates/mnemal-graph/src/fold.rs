//! The fold: what an event does to entities and facts. Pure; the same events give the same rows.

mod decide;
mod ended;
mod held;
mod read;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemal_core::{
    Act, Cardinality, EntityId, EntityKind, Event, EventId, Extraction, Fact, FactId, GraphDelta, MentionRow,
    NewEvent, Predicate, Producer, Role, Ruling, SessionId, Source, Span, Support, Timestamp, Value,
    derived_id,
};

use mnemal_extract::Ending;

use self::held::Held;
use self::read::{said_names, said_roles};
use crate::cardinality::Cardinalities;
use crate::interval::{Version, weigh};
use crate::names::{Names, Said, Saying, Shift};
use crate::resolve::{self, Company};
use crate::slot::{Claim, Slot, place, places};

/// What "I left Alba" may end. Source: own choice of `predicates.toml` of the extractor.
const LEFT: [&str; 4] = ["lives_in", "works_at", "studies_at", "member_of"];

/// Rows that an entity is written in: itself, a name, a source. Most have one of each.
const ENTITY_ROWS: usize = 3;
/// About what a believed fact with its claims takes in memory, and what an entity in a company takes.
///
/// Source: own measurement, ADR 36.
const FACT_BYTES: usize = 1_500;
const PAIR_BYTES: usize = 32;

/// Rows under construction, with what is known of those that they rest on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    pub(crate) names: Names,
    /// How many values predicates hold.
    pub(crate) held: Cardinalities,
    /// The facts that are believed, by subject; a subject that is not here was not loaded.
    facts: HashMap<EntityId, Held>,
    /// What was named together; an entity that is not here was not loaded.
    company: Company,
    /// What each conversation named, and when last; one that is not here was not loaded.
    sessions: HashMap<SessionId, BTreeMap<EntityId, Timestamp>>,
    /// Whether there is nothing to load.
    is_whole: bool,
    put: BTreeMap<FactId, Fact>,
    mentions: BTreeMap<(EventId, EntityId), MentionRow>,
}

/// What one event says, and who read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'e> {
    pub(crate) event: &'e Event,
    pub(crate) kept: &'e NewEvent,
    pub(crate) extraction: &'e Extraction,
    pub(crate) producer: &'e Producer,
}

impl<'e> Reading<'e> {
    fn said(&self) -> Said<'e> {
        Said { event: self.event, occurred_at: self.kept.occurred_at, producer: self.producer }
    }

    fn is_echo(&self, span: Span) -> bool {
        self.event.echo.iter().any(|echo| span.start < echo.end && echo.start < span.end)
    }
}

/// A claim with its entities, before it is put into its slot.
#[derive(Clone, Debug)]
struct Resolved {
    predicate: Predicate,
    topic: Option<String>,
    support: Support,
}

impl Fold {
    /// Starts a fold of a log from its begin: there is nothing else to know.
    pub(crate) fn whole(names: Names) -> Self {
        Self { names, is_whole: true, ..Self::default() }
    }

    /// Starts from stored entities and what is stored of predicates; facts and company are loaded as they are needed.
    pub(crate) fn from_names(names: Names, held: Cardinalities) -> Self {
        Self { names, held, ..Self::default() }
    }

    /// Returns about how many bytes are held that can be loaded.
    pub(crate) fn weight(&self) -> usize {
        let facts: usize = self.facts.values().map(Held::len).sum();
        let named: usize = self.sessions.values().map(BTreeMap::len).sum();
        let company: usize = self.company.values().map(BTreeSet::len).sum();
        facts * FACT_BYTES + (named + company) * PAIR_BYTES
    }

    /// Whether there is nothing to load.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the conversation and the candidates whose company is not known yet.
    pub(crate) fn unknown_company(&self, reading: Reading<'_>) -> (bool, Vec<EntityId>) {
        if self.is_whole {
            return (false, Vec::new());
        }
        let is_new = !self.sessions.contains_key(&reading.kept.session);
        let named = said_names(reading.extraction)
            .flat_map(|(name, kind)| resolve::candidates(&self.names, name, kind).into_keys());
        let related = said_roles(reading.extraction)
            .flat_map(|(role, name)| resolve::relatives(&self.names, &role, name));
        // Who is taken for one of them is named as one of them.
        let parts = named.chain(related).flat_map(|id| self.names.same_as(id));
        let unknown: BTreeSet<EntityId> = parts.filter(|id| !self.company.contains_key(id)).collect();
        (is_new, unknown.into_iter().collect())
    }

    /// Returns whom a conversation named, as far as it was loaded.
    pub(crate) fn named_in(&self, session: &SessionId) -> BTreeSet<EntityId> {
        let named = self.sessions.get(session);
        named.into_iter().flat_map(BTreeMap::keys).map(|id| self.names.canon(*id)).collect()
    }

    /// Takes in what a conversation named.
    pub(crate) fn know_session(&mut self, session: SessionId, rows: &[MentionRow]) {
        let named = self.sessions.entry(session).or_default();
        for row in rows {
            let last = named.entry(row.entity).or_insert(row.occurred_at);
            *last = (*last).max(row.occurred_at);
        }
    }

    /// Takes in what entities were named with: `named` says where they are named, `with` what is named there.
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

    /// Returns the subjects whose facts are not loaded, among those that an event concerns.
    pub(crate) fn unknown_subjects(&self, subjects: &BTreeSet<EntityId>) -> Vec<EntityId> {
        if self.is_whole {
            return Vec::new();
        }
        subjects.iter().filter(|id| !self.facts.contains_key(id)).copied().collect()
    }

    /// Takes in the believed facts of subjects.
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

    /// Finds out what an event changes in who is whom.
    pub(crate) fn shift(&self, event: &Event, pending: &mut Pending) {
        pending.shift = self.names.shift(&pending.sayings, event.id, pending.undone);
    }

    /// Weighs what an event says against what is believed. The subjects of `pending` must be loaded.
    pub(crate) fn weigh(&mut self, reading: Reading<'_>, pending: &Pending) {
        let said = reading.said();
        let mut slots = self.rule(reading.event.id, pending);
        self.names.follow(&pending.shift, said);
        if let Some((id, name)) = &pending.renamed {
            self.names.choose(*id, name, said);
        }
        let mut moved = self.displaced(&pending.shift.from);
        if let Some(decision) = pending.undone {
            self.names.unchoose(decision, said);
            self.names.untell(decision, said);
            moved.append(&mut self.resting_on(pending));
        }
        let decided =
            (reading.event.role == Role::Decision).then(|| self.named_objects(&pending.claims, reading));
        let withdrawals = self.withdrawals(pending, reading);
        for claim in &pending.claims {
            self.held.meet(&claim.predicate);
        }
        let (names, held) = (&self.names, &self.held);
        let canon = |id| names.canon(id);
        for (_, before) in &moved {
            // What stays where it was is weighed again too, without what goes.
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
        let said = said.filter(|claim| !ended::is_ended(claim, &over));
        let claims = said.chain(&over).chain(&withdrawals);
        for claim in claims {
            let Some(claim) = self.ended(claim) else { continue };
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

    /// Returns what a claim of an end ends. Who leaves Alba leaves a job or a home, and only what is known tells which; whoever
    /// leaves a person that is neither has ended nothing of these.
    fn ended<'c>(&self, claim: &'c Resolved) -> Option<Cow<'c, Resolved>> {
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
        let mut meant: Vec<&Fact> = known.into_iter().flat_map(Held::facts).filter(is_meant).collect();
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
        Some(Cow::Owned(Resolved { predicate: fact.predicate.clone(), topic: fact.topic.clone(), support }))
    }

    /// Returns the name of a value, in small letters.
    fn name_of(&self, object: &Value) -> String {
        let entity = object.entity().and_then(|id| self.names.get(self.names.canon(id)));
        match (entity, object) {
            (Some(entity), _) => entity.name.to_lowercase(),
            (None, Value::Literal { text, .. }) => text.to_lowercase(),
            (None, Value::Entity(_)) => String::new(),
        }
    }

    /// Takes in how many values a predicate holds from now on, by a ruling or because one is taken back; returns the slots that
    /// are weighed again by it. The facts of that predicate must be loaded.
    fn rule(&mut self, event: EventId, pending: &Pending) -> BTreeMap<Slot, Vec<Claim>> {
        let mut slots = BTreeMap::new();
        let Some(predicate) = self.ruled(pending) else { return slots };
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
            // What shared a slot with it is weighed again too, without it.
            let (names, held) = (&self.names, &self.held);
            let after = places(&fact, held, |id| names.canon(id)).map(|(slot, _)| slot);
            slots.extend(before.into_iter().chain(after).map(|slot| (slot, Vec::new())));
            self.hold(fact);
        }
        slots
    }

    /// Returns the predicate about which an event rules, or takes a ruling back.
    pub(crate) fn ruled(&self, pending: &Pending) -> Option<Predicate> {
        match (&pending.ruling, pending.undone) {
            (Some((predicate, ..)), _) => Some(predicate.clone()),
            (None, undone) => self.held.ruled_by(undone?).cloned(),
        }
    }

    /// Takes out the facts about or leading to these entities that now are about others, each with the slots in which it was.
    fn displaced(&mut self, entities: &BTreeSet<EntityId>) -> Vec<(Fact, Vec<Slot>)> {
        // Hardly any event says who is whom, and the rest of them shall not cost what is believed of everybody.
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

    /// Takes out the facts that rest on what is taken back, each with the slots in which it was.
    fn resting_on(&mut self, pending: &Pending) -> Vec<(Fact, Vec<Slot>)> {
        let rests = |fact: &Fact| fact.supports.iter().any(|one| pending.takes_back(one));
        self.facts.values_mut().flat_map(|facts| facts.take(rests)).collect()
    }

    /// Puts what the claims of one slot come to in the place of what was believed.
    fn settle(&mut self, slot: &Slot, mut claims: Vec<Claim>, reading: Reading<'_>, ordinal: &mut u32) {
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
            // It came and went with one event, so nobody ever believed it.
            self.put.remove(&fact.id);
            return;
        }
        fact.expired_at = Some(at);
        self.put.insert(fact.id, fact);
    }

    /// Takes out what changed since the last call.
    pub(crate) fn take_delta(&mut self) -> GraphDelta {
        GraphDelta {
            entities: self.names.take_changed(),
            facts: std::mem::take(&mut self.put).into_values().collect(),
            mentions: std::mem::take(&mut self.mentions).into_values().collect(),
            ..GraphDelta::default()
        }
    }

    /// Returns how many rows changed since the last [`take_delta`](Self::take_delta), those of sources included.
    pub(crate) fn pending_rows(&self) -> usize {
        let facts: usize = self.put.values().map(|fact| 1 + fact.supports.len()).sum();
        facts + self.mentions.len() + ENTITY_ROWS * self.names.n_changed()
    }
}

/// What an event says, resolved and not weighed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    claims: Vec<Resolved>,
    /// Who turned out to be whom, or not.
    sayings: Vec<Saying>,
    /// What that changes.
    shift: Shift,
    mentioned: BTreeMap<EntityId, Span>,
    subjects: BTreeSet<EntityId>,
    /// The decision that is taken back.
    pub(crate) undone: Option<EventId>,
    /// The turn in which a model found the claims that are taken back.
    found_in: Option<EventId>,
    /// Of which predicate it is said how many values it holds, and whether a person decides so.
    ruling: Option<(Predicate, bool, Cardinality)>,
    /// What the speaker's words end.
    ended: Option<(EntityId, Vec<Ending>)>,
    /// Whom a person gave which name.
    renamed: Option<(EntityId, String)>,
    /// Words of which a person said that they are wrong, or that they hold after all.
    withdrawn: Option<(Vec<Source>, Act)>,
    /// The note of which this is a new version, as the conversation of its versions.
    replaced: Option<SessionId>,
}

impl Pending {
    /// Returns whose facts must be loaded before they are weighed.
    pub(crate) fn subjects(&self) -> BTreeSet<EntityId> {
        let speaker = self.ended.iter().map(|(speaker, _)| speaker);
        self.subjects.iter().chain(&self.shift.from).chain(&self.shift.to).chain(speaker).copied().collect()
    }

    /// Returns those whose facts as an object must be loaded too.
    pub(crate) fn objects(&self) -> Vec<EntityId> {
        self.shift.from.iter().copied().collect()
    }

    /// Says that the decision that is taken back is what a model found in a turn.
    pub(crate) fn take_back_found_in(&mut self, turn: EventId) {
        self.found_in = Some(turn);
    }

    /// Whether a claim rests on what is taken back.
    fn takes_back(&self, support: &Support) -> bool {
        let event = Some(support.source.event);
        event == self.undone || event == self.found_in && support.is_of_model()
    }

    /// Says what a person decided about words: that they are wrong, or that they hold after all.
    fn withdraw(&mut self, words: &[Source], act: Act) {
        self.withdrawn = (!words.is_empty()).then(|| (words.to_vec(), act));
    }

    /// Says that what earlier versions of a note say holds no more, unless this one says it again.
    pub(crate) fn replace(&mut self, versions: &SessionId) {
        self.replaced = Some(versions.clone());
    }

    /// Returns the events whose words a person decided about.
    pub(crate) fn withdrawn_from(&self) -> Vec<EventId> {
        let sources = self.withdrawn.iter().flat_map(|(sources, _)| sources);
        sources.map(|source| source.event).collect()
    }

    /// Adds subjects whose facts must be loaded.
    pub(crate) fn concern(&mut self, subjects: impl IntoIterator<Item = EntityId>) {
        self.subjects.extend(subjects);
    }
}

/// Names a version by the event that brings it about: the first half is that of the event's id, which begins with its time, the
/// second is a hash. So the facts of one event stand side by side in an index, behind those of earlier events (ADR 2).
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

/// Whether a version keeps what a fact rests on and adds what is heard now. What a merge brings was known before and of
/// another: with it the fact is another version, or the past would change.
fn goes_on(fact: &Fact, version: &Version, now: Timestamp) -> bool {
    let (known, heard) = (BySource::new(&fact.supports), BySource::new(&version.supports));
    known.all().all(|support| heard.has(support))
        && heard.all().all(|support| support.recorded_at == now || known.has(support))
}

/// What a fact rests on, found by its source: of somebody who is talked of every day there are thousands.
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

fn fact(id: FactId, subject: EntityId, version: Version, reading: Reading<'_>) -> Fact {
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
