//! Turns after the graph's cursor: the user's words since the last fold override contradicting facts, and answer questions.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mnemal_core::{
    Act, Confidence, ContextRequest, Cursor, EntityKind, Event, EventFilter, EventStore, ExtractedFact,
    Extractor, Fact, FactStatus, Fragment, Gazetteer, InclusionReason, Level, OmittedReason, RecordRef,
    Result, Role, Section, Speaker, Subject, Utterance, Within,
};
use mnemal_extract::predicate::{self, Cardinality};

use super::choose::FactCandidates;
use super::line::TurnQuote;
use crate::key::name_key;
use crate::query_analysis::QueryAnalysis;
use crate::resolve::is_user;
use crate::verbalize::Names;

/// Newest turns after the cursor that are read. Source: own choice; a session has few between two folds, and each is
/// extracted in a tenth of a millisecond.
const TURNS: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");

/// A turn after the graph's cursor with its claims.
#[derive(Debug)]
pub(super) struct UnprocessedTurn {
    turn: Event,
    claims: Vec<ExtractedFact>,
}

/// Extracts from the user's turns after the cursor that was read before the facts, newest first; empty for a query about
/// the past.
pub(super) async fn unprocessed_turns(
    (events, cursor): (&dyn EventStore, Cursor),
    known: &FactCandidates,
    extractor: &dyn Extractor,
    request: &ContextRequest,
) -> Result<Vec<UnprocessedTurn>> {
    if !request.as_of.is_present() || events.head().await? <= cursor {
        return Ok(Vec::new());
    }
    let filter = EventFilter {
        roles: Within::Only(vec![Role::User]),
        user: request.user.clone(),
        agent: request.agent.clone(),
        ..EventFilter::live()
    };
    let turns = events.latest(&filter, TURNS).await?.into_iter();
    let new = turns.filter(|turn| turn.seq.0 > cursor.count() && turn.level == Level::User);
    // The log is folded in order: if a fact rests on a turn, that turn and all before it were folded meanwhile.
    let new = new.take_while(|turn| !known.rests_on(turn.id));
    let read = |turn: Event| {
        let utterance = Utterance { event: &turn, before: &[], known: &Gazetteer::default() };
        // An event that panics becomes a dead letter when it is folded.
        let found = catch_unwind(AssertUnwindSafe(|| extractor.extract(&utterance))).ok()?;
        Some(UnprocessedTurn { claims: found.facts, turn })
    };
    Ok(new.filter_map(read).collect())
}

/// Withholds contradicted facts, and offers the contradicting words in their place.
pub(super) fn override_stale_facts(
    fragments: &mut Vec<Fragment>,
    known: &FactCandidates,
    unread: &[UnprocessedTurn],
) {
    if unread.is_empty() {
        return;
    }
    let mut words: Vec<Fragment> = Vec::new();
    for fragment in fragments.iter_mut() {
        let RecordRef::Fact(id) = fragment.record else { continue };
        let Some(fact) = known.fact(id) else { continue };
        let contradicting = unread.iter().find_map(|one| one.contradicting(fact, known.names()));
        let Some((turn, claim)) = contradicting else { continue };
        fragment.withheld = Some(OmittedReason::Superseded);
        if !words.iter().any(|line| line.record == RecordRef::Event(turn.id)) {
            let line = TurnQuote {
                turn,
                span: claim.sentence,
                section: fragment.section,
                parts: fragment.parts.clone(),
                because: fragment.because,
            };
            words.extend(line.fragment());
        }
    }
    fragments.append(&mut words);
}

/// Offers recent statements of the user about themselves where the question asks for them, as quotes, unless they are
/// present already or inside the window of the asking session.
pub(super) fn add_answers(
    fragments: &mut Vec<Fragment>,
    asked: &QueryAnalysis,
    request: &ContextRequest,
    unread: &[UnprocessedTurn],
) {
    let is_asked = |claim: &&ExtractedFact| {
        let of_topic = claim.object.topic.as_deref().and_then(|topic| asked.for_role(topic));
        let words = of_topic.or(asked.for_predicate(claim.predicate.as_str()));
        claim.subject == Subject::Speaker
            && claim.attributed_to.is_none()
            && claim.act == Act::Assert
            // An additional word may name another entity.
            && words.is_some_and(|words| asked.is_open(words))
    };
    for UnprocessedTurn { turn, claims } in unread {
        let is_shown = fragments.iter().any(|line| line.record == RecordRef::Event(turn.id));
        let is_own = turn.body().is_some_and(|kept| kept.session == request.session);
        let claim = claims.iter().find(is_asked).filter(|_| !is_shown && !is_own);
        let words = claim.map(|claim| TurnQuote {
            turn,
            span: claim.sentence,
            section: Section::Entity,
            parts: Vec::new(),
            because: InclusionReason::Query,
        });
        fragments.extend(words.and_then(TurnQuote::fragment));
    }
}

impl UnprocessedTurn {
    /// Returns the claim of this turn that contradicts a fact.
    fn contradicting(&self, fact: &Fact, names: &Names) -> Option<(&Event, &ExtractedFact)> {
        let contradicts =
            |claim: &&ExtractedFact| self.is_about(claim, fact, names) && excludes(claim, fact, names);
        Some((&self.turn, self.claims.iter().find(contradicts)?))
    }

    /// Whether a claim is about the subject of a fact, as far as that can be told before name resolution.
    fn is_about(&self, claim: &ExtractedFact, fact: &Fact, names: &Names) -> bool {
        let speaker = self.turn.body().and_then(|kept| kept.speaker.as_ref()).map(Speaker::as_str);
        match &claim.subject {
            Subject::Speaker => names.is_owner(fact.subject) && speaker.is_none_or(is_user),
            Subject::Named(name) | Subject::Relation { name: Some(name), .. } => {
                is_same(names.of(fact.subject), name, EntityKind::Person)
            }
            Subject::Relation { name: None, .. } => false,
        }
    }
}

/// Whether both cannot be valid: another value of a single-value predicate, or the end of this one.
fn excludes(claim: &ExtractedFact, fact: &Fact, names: &Names) -> bool {
    let has_one = predicate::of(claim.predicate.as_str()).is_some_and(|info| {
        matches!(info.cardinality, Cardinality::One | Cardinality::Now | Cardinality::NowPerTopic)
    });
    let kind = claim.object.kind.unwrap_or(EntityKind::Concept);
    let is_value = is_same(names.value(&fact.object), &claim.object.text, kind);
    claim.confidence >= Confidence::ACTIVE
        && claim.attributed_to.is_none()
        && (&claim.predicate, &claim.object.topic) == (&fact.predicate, &fact.topic)
        && (fact.act, fact.status) == (Act::Assert, FactStatus::Active)
        && match claim.act {
            Act::Assert => has_one && !is_value,
            Act::End | Act::Negative => is_value,
            Act::Past => is_value && fact.valid_at.is_none(),
            Act::Plan | Act::Earlier => false,
        }
}

fn is_same(one: &str, other: &str, kind: EntityKind) -> bool {
    name_key(one, kind) == name_key(other, kind)
}
