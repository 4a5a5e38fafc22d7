//! Claim resolution: turns extracted claims into claims about entities.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Act, Confidence, EntityId, EntityKind, EventKind, ExtractedFact, Extraction, IdentityKind, MentionRow,
    Predicate, Source, Subject, Support, Value,
};
use mnemal_extract::predicate::{self, FactType};
use mnemal_extract::{Ending, EndingScope, OwnWords, endings};

use super::{ExtractedEvent, Fold, PendingClaims, ResolvedClaim};
use crate::index::{MatchQuality, NameMention};
use crate::intake::interval;
use crate::key::name_key;
use crate::names::{IdentityStatement, Statement};
use crate::resolve::{self, RelatedPerson, Scene};
use crate::{kind, role};

/// Resolution state of one event.
#[derive(Debug, Default)]
pub(super) struct ResolutionState {
    scene: Scene,
    /// The entity that each name resolved to in this event.
    by_name: BTreeMap<String, EntityId>,
    /// Names that the event marks as meaning another bearer.
    others: BTreeSet<String>,
    pub(super) pending: PendingClaims,
}

impl Fold {
    /// Resolves the claims of an event; pass the result to [`weigh`](Self::weigh) once its subjects are loaded.
    pub(crate) fn resolve(&mut self, reading: ExtractedEvent<'_>) -> PendingClaims {
        let so_far = self.resolve_claims(reading);
        self.record_mentions(reading, so_far)
    }

    /// Resolves model-extracted claims of an already processed event: claims only, without new names or merges.
    pub(crate) fn resolve_found(&mut self, reading: ExtractedEvent<'_>) -> PendingClaims {
        let mut so_far = self.resolve_claims(reading);
        so_far.pending.sayings.clear();
        so_far.pending.mentioned.clear();
        self.record_mentions(reading, so_far)
    }

    /// Resolves the claims of an event.
    fn resolve_claims(&mut self, reading: ExtractedEvent<'_>) -> ResolutionState {
        let said = reading.statement();
        let mut so_far = ResolutionState::default();
        let others = reading.extraction.mentions.iter().filter(|mention| mention.is_another);
        so_far.others = others.map(|mention| mention.name.to_lowercase()).collect();
        // Returned when the mentions are recorded.
        so_far.scene.named = self.sessions.remove(&reading.kept.session).unwrap_or_default();
        let facts: Vec<&ExtractedFact> = reading
            .extraction
            .facts
            .iter()
            .filter(|fact| fact.confidence >= Confidence::CANDIDATE && !reading.is_echo(fact.span))
            .collect();
        let names = said_names(reading.extraction).filter(|(_, kind)| kind::is_entity(*kind));
        so_far.scene.n_names = names.map(|(name, _)| name.to_lowercase()).collect::<BTreeSet<_>>().len();
        // Unambiguous names first: they are the context for the others.
        for (name, kind) in said_names(reading.extraction) {
            let found = resolve::candidates(&self.names, name, kind);
            if let (Some((only, MatchQuality::Whole | MatchQuality::Part)), 1) =
                (found.first_key_value(), found.len())
            {
                so_far.scene.with.insert(*only);
            }
        }
        let is_of_speaker = |fact: &&ExtractedFact| !matches!(fact.subject, Subject::Named(_));
        let speaker = facts.iter().any(is_of_speaker).then(|| resolve::speaker(&mut self.names, said));
        // Roles tell two of one name apart, so they come before bare names. Who gets a name had the role before, and whoever is
        // named in a role is meant where the same event says the role alone.
        let is_bare = |fact: &&ExtractedFact| !is_related(fact);
        let (bare, mut related): (Vec<&ExtractedFact>, Vec<&ExtractedFact>) =
            facts.iter().copied().filter(|fact| !is_counted(fact, &facts)).partition(is_bare);
        related.sort_by_key(|fact| (fact.predicate.as_str() != "name", !names_its_role(fact)));
        for fact in related.into_iter().chain(bare) {
            if let Some(claim) = self.claim(reading, fact, speaker, &mut so_far) {
                so_far.pending.claims.extend(implied_claims(&claim));
                so_far.pending.claims.extend(speaker.and_then(|owner| named_relative(fact, owner, &claim)));
                so_far.pending.claims.push(claim);
            }
        }
        so_far
    }

    /// Records the mentions of an event, and returns the subjects of its claims.
    fn record_mentions(&mut self, reading: ExtractedEvent<'_>, mut so_far: ResolutionState) -> PendingClaims {
        let ended = self.endings(reading);
        if let Some((speaker, endings)) = &ended {
            self.pass_on_roles(reading, (*speaker, endings), &mut so_far);
        }
        self.mention(reading, &mut so_far);
        let mut pending = so_far.pending;
        pending.ended = ended;
        if let Some((speaker, endings)) = &pending.ended {
            pending.subjects.extend(self.relatives(endings, *speaker));
        }
        pending.subjects.extend(pending.claims.iter().map(|claim| self.names.canon(claim.support.subject)));
        pending
    }

    /// Returns the endings that a person's words state, if any.
    fn endings(&self, reading: ExtractedEvent<'_>) -> Option<(EntityId, Vec<Ending>)> {
        if !matches!(reading.kept.kind, EventKind::UserMessage) {
            return None;
        }
        let speaker = resolve::known_speaker(&self.names, reading.kept)?;
        let mut endings = endings(&OwnWords::of_event(reading.kept));
        endings.retain(|ending| !reading.is_echo(ending.span) && ending.scope != EndingScope::Last);
        (!endings.is_empty()).then(|| (self.names.canon(speaker), endings))
    }

    fn claim(
        &mut self,
        reading: ExtractedEvent<'_>,
        fact: &ExtractedFact,
        speaker: Option<EntityId>,
        so_far: &mut ResolutionState,
    ) -> Option<ResolvedClaim> {
        let said = reading.statement();
        let subject = match &fact.subject {
            Subject::Speaker => speaker?,
            Subject::Relation { role, name } => {
                let name = name.as_deref().or_else(|| new_name(fact, role));
                let who = RelatedPerson { owner: speaker?, role, name };
                self.resolve_relative(who, said, so_far)?
            }
            Subject::Named(name) => {
                self.resolve_named(name, kind_of(reading.extraction, name), said, so_far)?
            }
        };
        // The mentions of a note's versions are how the versions are found again.
        let is_note = matches!(reading.kept.kind, EventKind::Decision(_));
        if Some(subject) != speaker || is_note {
            so_far.pending.mentioned.entry(subject).or_insert(fact.span);
            so_far.scene.with.insert(subject);
        }
        let object = self.object(reading, fact, subject, so_far)?;
        if fact.predicate.as_str() == "name" && fact.act == Act::Assert {
            self.rename(subject, fact, said, &mut so_far.pending);
        }
        let (valid_at, invalid_at) = interval(&fact.predicate, fact.act, fact.time);
        let said_topic = fact.object.topic.as_deref().map(role::normal);
        let topic = said_topic.or_else(|| self.role_ended(fact, subject, &object));
        let support = Support {
            source: Source { event: reading.event.id, span: fact.span },
            rule: fact.rule.clone(),
            subject,
            object,
            act: fact.act,
            valid_at,
            invalid_at,
            grain: fact.time.map(|time| time.grain).filter(|_| valid_at.or(invalid_at).is_some()),
            occurred_at: reading.kept.occurred_at,
            recorded_at: reading.event.recorded_at,
            session: reading.kept.session.clone(),
            speaker: reading.kept.speaker.clone(),
            trust: reading.event.trust,
            level: reading.event.level,
            confidence: fact.confidence,
        };
        Some(ResolvedClaim { predicate: fact.predicate.clone(), topic, support })
    }

    /// Gives the subject of a naming claim its name; an entity that already has it is merged.
    fn rename(
        &mut self,
        subject: EntityId,
        fact: &ExtractedFact,
        said: Statement<'_>,
        pending: &mut PendingClaims,
    ) {
        let Some(entity) = self.names.get(subject) else { return };
        let kind =
            if resolve::is_who(entity.kind) { entity.kind } else { fact.object.kind.unwrap_or(entity.kind) };
        let (text, key) = (fact.object.text.as_str(), name_key(&fact.object.text, kind));
        let called = NameMention { text, key: &key, kind };
        let found = self.names.with_name(called);
        let is_nameless = self.names.is_nameless(subject);
        let roles: Vec<(EntityId, String)> = entity.roles.clone();
        let fits = |id: &EntityId| {
            *id != subject && roles.iter().all(|(owner, role)| self.names.can_be(*id, *owner, role))
        };
        let other = found.iter().copied().find(fits).filter(|_| is_nameless && found.len() == 1);
        match other {
            Some(other) => {
                pending.sayings.push(IdentityStatement { one: subject, other, kind: IdentityKind::Read });
            }
            None => self.names.call(subject, called, said),
        }
    }

    /// Returns the entity with a role for another, and notes what the event says of it.
    pub(super) fn resolve_relative(
        &mut self,
        who: RelatedPerson<'_>,
        said: Statement<'_>,
        so_far: &mut ResolutionState,
    ) -> Option<EntityId> {
        let (id, other) =
            resolve::resolve_relative(&mut self.names, who, &self.company, &so_far.scene, said)?;
        if let Some(name) = who.name {
            so_far.by_name.insert(name.to_lowercase(), id);
        }
        let saying = |one| IdentityStatement { one, other: id, kind: IdentityKind::Read };
        so_far.pending.sayings.extend(other.map(saying));
        Some(id)
    }

    fn resolve_named(
        &mut self,
        name: &str,
        kind: EntityKind,
        said: Statement<'_>,
        so_far: &mut ResolutionState,
    ) -> Option<EntityId> {
        if let Some(id) = so_far.by_name.get(&name.to_lowercase()) {
            return Some(*id);
        }
        let resolve = if so_far.others.contains(&name.to_lowercase()) {
            resolve::another
        } else {
            resolve::resolve_name
        };
        let id = resolve(&mut self.names, (name, kind), &self.company, &so_far.scene, said)?;
        so_far.by_name.insert(name.to_lowercase(), id);
        so_far.scene.with.insert(id);
        Some(id)
    }

    /// Returns the object of a claim: an entity where it names one, else text.
    fn object(
        &mut self,
        reading: ExtractedEvent<'_>,
        fact: &ExtractedFact,
        subject: EntityId,
        so_far: &mut ResolutionState,
    ) -> Option<Value> {
        let object = &fact.object;
        let words = || match crate::day::of(fact, reading.kept) {
            Some(text) => Value::Literal { key: mnemal_text::fold(&text), text },
            None => Value::Literal { text: object.text.clone(), key: object.key.clone() },
        };
        let is_relation =
            predicate::of(fact.predicate.as_str()).is_some_and(|info| info.fact == FactType::Relation);
        if fact.predicate.as_str() == "name" {
            return Some(words());
        }
        if let Some(number) = number_of(fact) {
            return Some(Value::Literal { text: number.to_string(), key: number.to_string() });
        }
        if let Some(kind) = object.kind.filter(|_| ends_by_name(fact)) {
            return self.resolve_named(&object.text, kind, reading.statement(), so_far).map(Value::Entity);
        }
        if let Some(role) = role_of(fact) {
            let name = name_of_role(fact).or_else(|| name_said_next(reading.extraction, fact));
            if name.is_none() && !is_role_alone(fact, &role) {
                return Some(words());
            }
            let who = RelatedPerson { owner: subject, role: &role, name };
            let id = self.resolve_relative(who, reading.statement(), so_far)?;
            so_far.pending.mentioned.entry(id).or_insert(object.span);
            so_far.scene.with.insert(id);
            return Some(Value::Entity(id));
        }
        match object.kind.filter(|kind| kind::is_entity(*kind)) {
            Some(kind) if is_relation || kind != EntityKind::Concept => {
                let id = self.resolve_named(&object.text, kind, reading.statement(), so_far)?;
                so_far.pending.mentioned.entry(id).or_insert(object.span);
                Some(Value::Entity(id))
            }
            _ => Some(words()),
        }
    }

    /// Returns the subject's role for an ending that gives only the name: "Mimi died" ends a cat.
    fn role_ended(&self, fact: &ExtractedFact, subject: EntityId, object: &Value) -> Option<String> {
        let id = object.entity().filter(|_| ends_by_name(fact))?;
        let owner = self.names.canon(subject);
        let mut roles = self.names.rows_of(id).flat_map(|entity| &entity.roles);
        let is_meant = |(of, role): &&(EntityId, String)| {
            self.names.canon(*of) == owner && role::predicate(role) == fact.predicate.as_str()
        };
        roles.find(is_meant).map(|(_, role)| role.clone())
    }

    /// Records the mentions of an event and their co-occurrences.
    fn mention(&mut self, reading: ExtractedEvent<'_>, so_far: &mut ResolutionState) {
        for mention in &reading.extraction.mentions {
            if !kind::is_entity(mention.kind) || reading.is_echo(mention.span) {
                continue;
            }
            let name = (mention.name.as_str(), mention.kind);
            let resolve = if mention.is_another { resolve::another } else { resolve::resolve_name };
            let id = so_far.by_name.get(&mention.name.to_lowercase()).copied().or_else(|| {
                resolve(&mut self.names, name, &self.company, &so_far.scene, reading.statement())
            });
            if let Some(id) = id {
                if let Some(word) = &mention.kind_word {
                    self.names.call_kind(id, mention.kind, word, reading.statement());
                }
                so_far.pending.mentioned.entry(id).or_insert(mention.span);
            }
        }
        let all: BTreeSet<EntityId> = so_far.pending.mentioned.keys().copied().collect();
        let mut named = std::mem::take(&mut so_far.scene.named);
        for (id, span) in &so_far.pending.mentioned {
            self.names.record_source(*id, reading.statement());
            let source = Source { event: reading.event.id, span: *span };
            let (session, occurred_at) = (reading.kept.session.clone(), reading.kept.occurred_at);
            let row = MentionRow { source, entity: *id, session, occurred_at };
            self.mentions.insert((reading.event.id, *id), row);
            // Co-occurrences that are not loaded yet will include this mention when they are.
            if self.is_whole
                || self.company.contains_key(id)
                || self.names.get(*id).is_some_and(|entity| entity.sources == [reading.event.id])
            {
                self.company.entry(*id).or_default().extend(all.iter().filter(|other| *other != id));
            }
            let last = named.entry(*id).or_insert(occurred_at);
            *last = (*last).max(occurred_at);
        }
        self.sessions.insert(reading.kept.session.clone(), named);
    }
}

/// Returns the claims that a claim implies: a purchase implies ownership from then on.
fn implied_claims(claim: &ResolvedClaim) -> Vec<ResolvedClaim> {
    let info = predicate::of(claim.predicate.as_str()).filter(|_| claim.support.act == Act::Assert);
    let names = info.iter().flat_map(|info| &info.implies);
    let of = |name: &String| {
        Some(ResolvedClaim { predicate: Predicate::new(name.as_str()).ok()?, ..claim.clone() })
    };
    names.filter_map(of).collect()
}

/// Returns the claim about the speaker that naming a relative implies: "my dog is called Fips" states that the speaker
/// has a dog, and that it is Fips.
fn named_relative(fact: &ExtractedFact, owner: EntityId, claim: &ResolvedClaim) -> Option<ResolvedClaim> {
    let Subject::Relation { role, .. } = &fact.subject else { return None };
    let is_name = fact.predicate.as_str() == "name" && fact.act == Act::Assert;
    let role = Some(role::normal(role)).filter(|_| is_name)?;
    let predicate = Predicate::new(role::predicate(&role)).ok()?;
    let topic = Some(role).filter(|_| predicate.as_str() != "partner");
    let object = Value::Entity(claim.support.subject);
    let support = Support { subject: owner, object, ..claim.support.clone() };
    Some(ResolvedClaim { predicate, topic, support })
}

/// Returns the role of a claim's object for its subject, for `relative`, `partner`, `pet` and `knows`.
pub(super) fn role_of(fact: &ExtractedFact) -> Option<String> {
    let topic = fact.object.topic.clone();
    match fact.predicate.as_str() {
        "relative" | "knows" => topic,
        "partner" => Some(topic.unwrap_or_else(|| "partner".to_owned())),
        "pet" => Some(topic.unwrap_or_else(|| "pet".to_owned())),
        _ => None,
    }
}

/// Whether a claim ends a relation and gives a name but no role.
fn ends_by_name(fact: &ExtractedFact) -> bool {
    fact.act == Act::End && fact.object.topic.is_none() && fact.predicate.as_str() == "pet"
}

fn is_related(fact: &ExtractedFact) -> bool {
    matches!(fact.subject, Subject::Relation { .. }) || role_of(fact).is_some()
}

/// Returns the names of an event with their kinds, each once: from mentions, subjects and objects.
pub(super) fn said_names(extraction: &Extraction) -> impl Iterator<Item = (&str, EntityKind)> {
    let mentions = extraction.mentions.iter().map(|mention| (mention.name.as_str(), mention.kind));
    let subjects = extraction.facts.iter().filter_map(|fact| match &fact.subject {
        Subject::Named(name) | Subject::Relation { name: Some(name), .. } => {
            Some((name.as_str(), kind_of(extraction, name)))
        }
        _ => None,
    });
    let objects =
        extraction.facts.iter().filter_map(|fact| Some((fact.object.text.as_str(), fact.object.kind?)));
    let mut seen = Vec::new();
    mentions.filter(|(_, kind)| kind::is_entity(*kind)).chain(subjects).chain(objects).filter(move |name| {
        let is_new = !seen.contains(name);
        if is_new {
            seen.push(*name);
        }
        is_new
    })
}

/// Returns the roles that an event mentions, each with its bearer's name where given.
pub(super) fn said_roles(extraction: &Extraction) -> impl Iterator<Item = (String, Option<&str>)> {
    extraction.facts.iter().flat_map(|fact| {
        let subject = match &fact.subject {
            Subject::Relation { role, name } => {
                let name = name.as_deref().or_else(|| new_name(fact, role));
                Some((role.clone(), name))
            }
            _ => None,
        };
        let object = role_of(fact).and_then(|role| {
            let name = name_of_role(fact);
            let is_bare = role::normal(&fact.object.text) == role::normal(&role);
            (name.is_some() || is_bare).then_some((role, name))
        });
        [subject, object].into_iter().flatten()
    })
}

/// Returns the name that a claim gives to the bearer of a role. For a person, a different name means another person; a
/// pet is renamed.
fn new_name<'f>(fact: &'f ExtractedFact, role: &str) -> Option<&'f str> {
    let is_named = fact.predicate.as_str() == "name" && fact.act == Act::Assert;
    (is_named && !role::is_animal(&role::normal(role))).then_some(fact.object.text.as_str())
}

/// Whether a claim of somebody's role says the role and nothing else, in whatever language: "a sister", "zwei Kinder".
fn is_role_alone(fact: &ExtractedFact, role: &str) -> bool {
    let words = &fact.object.text;
    role::normal(words) == role::normal(role)
        || fact.object.kind.is_none() && mnemal_extract::is_role_word(&fact.rule, words)
}

/// Whether a claim says who has a role by name.
fn names_its_role(fact: &ExtractedFact) -> bool {
    let is_subject = matches!(&fact.subject, Subject::Relation { name: Some(_), .. });
    is_subject || role_of(fact).is_some() && name_of_role(fact).is_some()
}

/// Whether a claim counts those whom the same sentence names: "two children, Jakob and Leni".
fn is_counted(fact: &ExtractedFact, all: &[&ExtractedFact]) -> bool {
    let Some(role) = role_of(fact).filter(|_| name_of_role(fact).is_none()) else { return false };
    let is_named = |other: &&ExtractedFact| {
        (&other.predicate, &other.subject, other.act, other.sentence)
            == (&fact.predicate, &fact.subject, fact.act, fact.sentence)
            && name_of_role(other).is_some()
    };
    fact.act == Act::Assert
        && is_role_alone(fact, &role)
        && all.iter().filter(|other| is_named(other)).count() > 1
}

/// Returns the name in the object of a role claim; `None` if it has none.
fn name_of_role(fact: &ExtractedFact) -> Option<&str> {
    fact.object.kind.filter(|kind| kind::is_entity(*kind)).map(|_| fact.object.text.as_str())
}

/// Returns the number that a numeric claim spells out: "eleven" is the same age as "11".
fn number_of(fact: &ExtractedFact) -> Option<i64> {
    let info = predicate::of(fact.predicate.as_str())?;
    let is_number = info.objects.iter().all(|object| object == "number");
    is_number.then(|| mnemal_extract::number(&fact.object.text)).flatten()
}

/// Returns the name that the same event gives to the bearer of a role named alone: "We got a dog, he is called Rex".
fn name_said_next<'e>(extraction: &'e Extraction, fact: &ExtractedFact) -> Option<&'e str> {
    let topic = role::normal(fact.object.topic.as_deref()?);
    let is_of_role = |subject: &Subject| match subject {
        Subject::Relation { role, .. } => role::normal(role) == topic,
        _ => false,
    };
    let mut names = extraction.facts.iter().filter(|name| {
        name.predicate.as_str() == "name" && name.act == Act::Assert && is_of_role(&name.subject)
    });
    let only = names.next().filter(|_| fact.act == Act::Assert)?;
    names.next().is_none().then_some(only.object.text.as_str())
}

/// Returns the kind of a subject's name: a person, unless the text says otherwise.
fn kind_of(extraction: &Extraction, name: &str) -> EntityKind {
    let found = extraction.mentions.iter().find(|mention| mention.name == name).map(|mention| mention.kind);
    found.filter(|kind| kind::is_entity(*kind) && *kind != EntityKind::Concept).unwrap_or(EntityKind::Person)
}
