//! From what a person decided to claims, joins and their ends.

use mnemal_core::{
    Act, Confidence, Decision, Deed, EntityId, EntityKind, Event, EventKind, FactChoice, FactDecision, Level,
    NewEvent, Operation, Predicate, RuleId, Says, Source, Span, Support, Value,
};
use mnemal_extract::predicate::{self, FactType};

use super::{Fold, Pending, Reading, Resolved};
use crate::cardinality::{may_decide, may_learn};
use crate::names::Saying;
use crate::resolve::{self, Scene};

impl Fold {
    /// Returns what a decision asks for, or what the engine learnt. Only the user decides, and only about what is known.
    pub(crate) fn decide(&self, event: &Event, kept: &NewEvent) -> Pending {
        let mut pending = Pending::default();
        let decision = match &kept.kind {
            EventKind::Decision(decision) => decision,
            EventKind::Operation(Operation {
                deed: Deed::Cardinality { predicate, cardinality }, ..
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
        let is_known = |id: &EntityId| self.names.get(*id).is_some();
        match decision {
            Decision::Fact(fact) if is_known(&fact.subject) && fact.object.entity().iter().all(is_known) => {
                if let (FactChoice::Add { .. }, "name", Value::Literal { text, .. }) =
                    (fact.choice, fact.predicate.as_str(), &fact.object)
                {
                    pending.renamed = Some((fact.subject, text.clone()));
                }
                pending.claims.push(decided(fact, event, kept));
                pending.subjects.insert(self.names.canon(fact.subject));
            }
            Decision::Merge { one, into } if is_known(one) && is_known(into) => {
                pending.sayings.push(Saying { one: *one, other: *into, says: Says::Merged });
            }
            Decision::Split { one, from } if is_known(one) && is_known(from) => {
                pending.sayings.push(Saying { one: *one, other: *from, says: Says::Split });
            }
            Decision::Cardinality { predicate, cardinality } if may_decide(predicate, *cardinality) => {
                pending.ruling = Some((predicate.clone(), true, *cardinality));
            }
            Decision::Undo { decision } => pending.undone = Some(*decision),
            _ => {}
        }
        pending
    }
}

impl Fold {
    /// Gives decided relations that name their object in words the entity that is known by them, made if nobody is.
    pub(super) fn named_objects(&mut self, claims: &[Resolved], reading: Reading<'_>) -> Vec<Resolved> {
        let mut claims = claims.to_vec();
        for claim in &mut claims {
            let is_asserted = claim.support.is_decided() && claim.support.act == Act::Assert;
            let Some(kind) = kind_of_object(&claim.predicate).filter(|_| is_asserted) else {
                continue;
            };
            let Value::Literal { text, .. } = &claim.support.object else { continue };
            let (scene, said) = (Scene::default(), reading.said());
            if let Some(id) = resolve::named(&mut self.names, (text, kind), &self.company, &scene, said) {
                claim.support.object = Value::Entity(id);
            }
        }
        claims
    }
}

/// Returns what the object of a relation is; `None` for a predicate that relates no two that have names.
fn kind_of_object(predicate: &Predicate) -> Option<EntityKind> {
    let info = predicate::of(predicate.as_str()).filter(|info| info.fact == FactType::Relation)?;
    info.objects.iter().find_map(|name| EntityKind::from_name(name))
}

/// Makes a claim of a decision; nothing is more certain.
fn decided(fact: &FactDecision, event: &Event, kept: &NewEvent) -> Resolved {
    let (act, valid_at, invalid_at) = match fact.choice {
        FactChoice::Add { valid_at, invalid_at } => (Act::Assert, valid_at, invalid_at),
        FactChoice::End { at } => (Act::End, None, Some(at)),
        FactChoice::Reject => (Act::Negative, None, None),
    };
    let support = Support {
        source: Source { event: event.id, span: Span { start: 0, end: 0 } },
        rule: RuleId::new(Support::decision_rule()).expect("the name is made of letters"),
        subject: fact.subject,
        object: fact.object.clone(),
        act,
        valid_at,
        invalid_at,
        grain: None,
        occurred_at: kept.occurred_at,
        recorded_at: event.recorded_at,
        session: kept.session.clone(),
        speaker: kept.speaker.clone(),
        trust: event.trust,
        level: event.level,
        confidence: Confidence::new(1.0),
    };
    Resolved { predicate: fact.predicate.clone(), topic: fact.topic.clone(), support }
}
