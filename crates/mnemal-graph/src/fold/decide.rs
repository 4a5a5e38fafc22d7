//! From what a person decided to claims, joins and their ends.

use mnemal_core::{
    Act, Confidence, Decision, EntityId, Event, EventKind, FactChoice, FactDecision, Level, NewEvent, RuleId,
    Source, Span, Support,
};

use super::{Fold, Pending, Resolved, Split};

impl Fold {
    /// Returns what a decision asks for. Only the user decides, and only about what is known.
    pub(crate) fn decide(&self, event: &Event, kept: &NewEvent) -> Pending {
        let mut pending = Pending::default();
        let EventKind::Decision(decision) = &kept.kind else { return pending };
        if event.level < Level::User {
            return pending;
        }
        let is_known = |id: &EntityId| self.names.get(*id).is_some();
        match decision {
            Decision::Fact(fact) if is_known(&fact.subject) && fact.object.entity().iter().all(is_known) => {
                pending.claims.push(decided(fact, event, kept));
                pending.subjects.insert(self.names.canon(fact.subject));
            }
            Decision::Merge { one, into } if is_known(one) && is_known(into) => {
                pending.joins.push((*one, *into));
            }
            Decision::Split { one, from } => {
                pending.split = Some(Split::Pair(*one, *from));
                pending.subjects.extend([*one, *from].iter().flat_map(|id| self.names.same_as(*id)));
            }
            Decision::Undo { decision } => pending.split = Some(Split::Decision(*decision)),
            _ => {}
        }
        pending
    }
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
