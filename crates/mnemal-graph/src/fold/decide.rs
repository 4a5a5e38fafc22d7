//! Decisions to claims: maps a person's decisions to claims, merges and endings.

use mnemal_core::{
    Act, Cardinality, Confidence, Decision, EntityId, EntityKind, Event, EventKind, Fact, FactChoice,
    FactDecision, FactStatus, IdentityKind, Level, NewEvent, Operation, OperationKind, Predicate, Producer,
    RuleId, SessionId, Source, Span, Support, Value,
};
use mnemal_extract::predicate::{self, FactType};
use mnemal_extract::{OwnWords, admits_slip};

use super::subject_facts::SubjectFacts;
use super::{ExtractedEvent, Fold, PendingClaims, ResolvedClaim};
use crate::cardinality::{may_decide, may_learn};
use crate::index::NameMention;
use crate::key::name_key;
use crate::names::{IdentityStatement, Statement};
use crate::resolve::{self, Scene};

impl Fold {
    /// Returns the changes that a decision or a learned ruling asks for. Only user-level decisions count, and only about
    /// entities that exist or that the decision introduces.
    pub(crate) fn decide(&mut self, event: &Event, kept: &NewEvent, producer: &Producer) -> PendingClaims {
        let mut pending = PendingClaims::default();
        let decision = match &kept.kind {
            EventKind::Decision(decision) => decision,
            EventKind::Operation(Operation {
                kind: OperationKind::Cardinality { predicate, cardinality },
                ..
            }) => {
                let learnt = may_learn(predicate, *cardinality);
                pending.ruling = learnt.then(|| (predicate.clone(), false, *cardinality));
                return pending;
            }
            _ => return pending,
        };
        if event.level < Level::User {
            return pending;
        }
        let said = Statement { event, occurred_at: kept.occurred_at, producer };
        if let Decision::Fact(fact) = decision
            && self.introduce(fact, said)
        {
            return pending;
        }
        let is_known = |id: &EntityId| self.names.get(*id).is_some();
        match decision {
            Decision::Fact(fact) if is_known(&fact.subject) && fact.object.entity().iter().all(is_known) => {
                if let (FactChoice::Add { .. }, "name", Value::Literal { text, .. }) =
                    (fact.choice, fact.predicate.as_str(), &fact.object)
                {
                    pending.renamed = Some((fact.subject, text.clone()));
                }
                for id in [Some(fact.subject), fact.object.entity()].into_iter().flatten() {
                    self.names.record_source(id, said);
                }
                pending.claims.push(claim_of_decision(fact, event, kept));
                pending.subjects.insert(self.names.canon(fact.subject));
            }
            Decision::Merge { one, into } if is_known(one) && is_known(into) => {
                pending.sayings.push(IdentityStatement {
                    one: *one,
                    other: *into,
                    kind: IdentityKind::Merged,
                });
            }
            Decision::Split { one, from } if is_known(one) && is_known(from) => {
                pending.sayings.push(IdentityStatement {
                    one: *one,
                    other: *from,
                    kind: IdentityKind::Split,
                });
            }
            Decision::Cardinality { predicate, cardinality } if may_decide(predicate, *cardinality) => {
                pending.ruling = Some((predicate.clone(), true, *cardinality));
            }
            Decision::Undo { decision } => pending.undone = Some(*decision),
            Decision::Reject(target) => pending.withdraw(&target.sources, Act::Negative),
            Decision::Restore(target) => pending.withdraw(&target.sources, Act::Assert),
            _ => {}
        }
        pending
    }
}

impl Fold {
    /// Creates the entities that a decision mentions for the first time: the decider, and an entity whose id is derived
    /// from the given name. Returns whether nothing is left to decide.
    fn introduce(&mut self, fact: &FactDecision, said: Statement<'_>) -> bool {
        let FactChoice::Add { .. } = fact.choice else { return false };
        if self.names.get(fact.subject).is_some() {
            return false;
        }
        let user = said.event.body().and_then(|kept| kept.user.as_ref());
        if fact.subject == resolve::speaker_id(user) {
            resolve::speaker(&mut self.names, said);
            return false;
        }
        let Value::Literal { text, .. } = &fact.object else { return false };
        let Some(kind) =
            resolve::kind_by_id(text, fact.subject).filter(|_| fact.predicate.as_str() == "name")
        else {
            return false;
        };
        let key = name_key(text, kind);
        let id = self.names.make(&key, kind, text, said);
        self.names.call(id, NameMention { text, key: &key, kind }, said);
        true
    }
}

impl Fold {
    /// Resolves the object of decided relations from words to an entity, created if none has that name.
    pub(super) fn named_objects(
        &mut self,
        claims: &[ResolvedClaim],
        reading: ExtractedEvent<'_>,
    ) -> Vec<ResolvedClaim> {
        let mut claims = claims.to_vec();
        for claim in &mut claims {
            let is_asserted = claim.support.is_decided() && claim.support.act == Act::Assert;
            let Some(kind) = kind_of_object(&claim.predicate).filter(|_| is_asserted) else {
                continue;
            };
            let Value::Literal { text, .. } = &claim.support.object else { continue };
            let (scene, said) = (Scene::default(), reading.statement());
            if let Some(id) =
                resolve::resolve_name(&mut self.names, (text, kind), &self.company, &scene, said)
            {
                self.names.record_source(id, said);
                claim.support.object = Value::Entity(id);
            }
        }
        claims
    }
}

impl Fold {
    /// Returns the claims that withdraw or restore facts after a decision on a learning that rests on the same words, one
    /// per value.
    pub(super) fn withdrawals(
        &self,
        pending: &PendingClaims,
        reading: ExtractedEvent<'_>,
    ) -> Vec<ResolvedClaim> {
        if let Some(versions) = &pending.replaced {
            return self.endings_of_versions(versions, pending, reading);
        }
        let Some((sources, act)) = &pending.withdrawn else { return Vec::new() };
        let rests = |one: &Support| sources.iter().any(|source| source.overlaps(one.source));
        // A fact that was never withdrawn needs no restore.
        let is_concerned = |fact: &&Fact| {
            let is_rejected = fact.status == FactStatus::Rejected;
            fact.supports.iter().any(rests) && (*act == Act::Negative || is_rejected)
        };
        let facts = self.facts.values().flat_map(SubjectFacts::facts).filter(is_concerned);
        facts
            .filter_map(|fact| withdrawal(fact, fact.supports.iter().find(|one| rests(one))?, *act, reading))
            .collect()
    }

    /// Returns the denials of what was said before of the same, where the speaker says that it was a slip: of what has one value,
    /// and of a role that one alone has.
    pub(super) fn corrections(
        &self,
        pending: &PendingClaims,
        reading: ExtractedEvent<'_>,
    ) -> Vec<ResolvedClaim> {
        if !matches!(reading.kept.kind, EventKind::UserMessage) {
            return Vec::new();
        }
        let said: Vec<&ResolvedClaim> =
            pending.claims.iter().filter(|claim| claim.support.act == Act::Assert).collect();
        let corrected = |claim: &&ResolvedClaim| {
            let has_one = self.held.of(&claim.predicate) != Cardinality::Many;
            if !has_one && claim.topic.is_none() {
                return Vec::new();
            }
            // Those of the subject alone: a space may hold many thousands of others.
            let subject = self.names.same_as(claim.support.subject).into_iter();
            let facts = subject.filter_map(|id| self.facts.get(&id)).flat_map(SubjectFacts::facts);
            let others: Vec<&Fact> = facts.filter(|fact| self.contradicts(fact, claim)).collect();
            let is_said_too = |fact: &Fact| {
                said.iter().any(|other| {
                    other.predicate == fact.predicate && other.support.object.key() == fact.object.key()
                })
            };
            let is_clear = has_one || claim.topic.is_some() && others.len() == 1;
            let denied = others.into_iter().filter(|fact| is_clear && !is_said_too(fact));
            denied.filter_map(|fact| denial(claim, fact)).collect::<Vec<_>>()
        };
        let mut denials: Vec<ResolvedClaim> = said.iter().flat_map(corrected).collect();
        // Most turns contradict nothing, and then their words are not looked into.
        if !denials.is_empty() {
            let own = OwnWords::of_event(reading.kept);
            denials.retain(|one| admits_slip(&own, one.support.source.span.start as usize));
        }
        denials
    }

    /// Whether a fact has another value of what a claim says.
    fn contradicts(&self, fact: &Fact, claim: &ResolvedClaim) -> bool {
        let is_of_it = self.names.canon(fact.subject) == self.names.canon(claim.support.subject)
            && (&fact.predicate, &fact.topic) == (&claim.predicate, &claim.topic);
        let is_before = fact.supports.iter().all(|one| {
            one.source.event != claim.support.source.event && one.occurred_at <= claim.support.occurred_at
        });
        is_of_it
            && is_before
            && fact.act == Act::Assert
            && fact.superseded.is_none()
            && fact.object.key() != claim.support.object.key()
    }

    /// Returns the claims that end facts resting only on earlier versions of a note, except those that are stated again.
    fn endings_of_versions(
        &self,
        versions: &SessionId,
        pending: &PendingClaims,
        reading: ExtractedEvent<'_>,
    ) -> Vec<ResolvedClaim> {
        let is_said_again = |fact: &Fact| {
            pending.claims.iter().any(|claim| {
                claim.predicate == fact.predicate
                    && self.names.canon(claim.support.subject) == self.names.canon(fact.subject)
                    && claim.support.object.key() == fact.object.key()
            })
        };
        let is_over = |fact: &&Fact| {
            fact.superseded.is_none()
                && fact
                    .supports
                    .iter()
                    .all(|one| one.session == *versions && one.source.event != reading.event.id)
                && !is_said_again(fact)
        };
        let facts = self.facts.values().flat_map(SubjectFacts::facts).filter(is_over);
        facts.filter_map(|fact| withdrawal(fact, fact.supports.first()?, Act::Negative, reading)).collect()
    }
}

/// Returns the entity kind of a relation's object; `None` for a predicate that does not relate two named entities.
fn kind_of_object(predicate: &Predicate) -> Option<EntityKind> {
    let info = predicate::of(predicate.as_str()).filter(|info| info.fact == FactType::Relation)?;
    info.objects.iter().find_map(|name| EntityKind::from_name(name))
}

/// Turns a decision into a claim with the highest certainty.
fn claim_of_decision(fact: &FactDecision, event: &Event, kept: &NewEvent) -> ResolvedClaim {
    let (act, valid_at, invalid_at) = match fact.choice {
        FactChoice::Add { valid_at, invalid_at } => (Act::Assert, valid_at, invalid_at),
        FactChoice::End { at } => (Act::End, None, Some(at)),
        FactChoice::Reject => (Act::Negative, None, None),
    };
    let support =
        Support { act, valid_at, invalid_at, ..by_decision((fact.subject, &fact.object), event, kept) };
    ResolvedClaim { predicate: fact.predicate.clone(), topic: fact.topic.clone(), support }
}

/// Creates the mark that withdraws or restores a fact; `said` is one of its claims.
fn withdrawal(fact: &Fact, said: &Support, act: Act, reading: ExtractedEvent<'_>) -> Option<ResolvedClaim> {
    Some(ResolvedClaim {
        predicate: fact.predicate.clone(),
        topic: fact.topic.clone(),
        support: Support {
            rule: RuleId::new(Support::withdrawal_rule()).ok()?,
            act,
            confidence: Confidence::new(0.0),
            ..by_decision((said.subject, &said.object), reading.event, reading.kept)
        },
    })
}

/// Returns the denial of a fact that a claim puts right.
fn denial(claim: &ResolvedClaim, fact: &Fact) -> Option<ResolvedClaim> {
    let support = Support {
        rule: RuleId::new(Support::correction_rule()).ok()?,
        act: Act::Negative,
        object: fact.object.clone(),
        valid_at: None,
        invalid_at: None,
        grain: None,
        ..claim.support.clone()
    };
    Some(ResolvedClaim { support, ..claim.clone() })
}

/// Returns the support of a decision: a statement without a named time.
fn by_decision((subject, object): (EntityId, &Value), event: &Event, kept: &NewEvent) -> Support {
    Support {
        source: Source { event: event.id, span: Span { start: 0, end: 0 } },
        rule: RuleId::new(Support::decision_rule()).expect("the name is made of letters"),
        subject,
        object: object.clone(),
        act: Act::Assert,
        valid_at: None,
        invalid_at: None,
        grain: None,
        occurred_at: kept.occurred_at,
        recorded_at: event.recorded_at,
        session: kept.session.clone(),
        speaker: kept.speaker.clone(),
        trust: event.trust,
        level: event.level,
        confidence: Confidence::new(1.0),
    }
}
