//! Context fragments of facts, and quotes that replace them.

use std::collections::BTreeSet;

use mnemal_core::{
    Event, Fact, Fragment, Importance, InclusionReason, Label, RecordRef, Score, ScorePart, Section, Source,
    Span, Speaker, Support, Timestamp, Zone,
};
use mnemal_extract::foreign_remark;

use crate::verbalize::{Names, mark_later};

/// A fact as a sentence, with the other values of its slot where they are disputed.
pub(super) struct FactLine<'k> {
    pub(super) names: &'k Names,
    pub(super) fact: &'k Fact,
    pub(super) rivals: Vec<&'k Fact>,
    pub(super) section: Section,
    pub(super) parts: Vec<ScorePart>,
    pub(super) because: InclusionReason,
    /// The moment that is asked about.
    pub(super) world: Timestamp,
}

impl FactLine<'_> {
    pub(super) fn fragment(self) -> Fragment {
        let mut facts: Vec<&Fact> = self.rivals;
        facts.push(self.fact);
        facts.sort_by_key(|fact| (said_at(fact), fact.id));
        let first = facts.first().copied().unwrap_or(self.fact);
        let text = if facts.len() > 1 { self.names.question(&facts) } else { self.names.sentence(self.fact) };
        let text =
            if facts.iter().all(|fact| fact.is_said_after(self.world)) { mark_later(text) } else { text };
        let sources: BTreeSet<Source> =
            facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source).collect();
        Fragment {
            section: self.section,
            record: RecordRef::Fact(first.id),
            producer: Some(first.producer.clone()),
            sources: sources.into_iter().collect(),
            text,
            label: Label {
                level: facts.iter().map(|fact| fact.level).min().unwrap_or(first.level),
                at: said_at(first),
                zone: Zone::utc(),
                speaker: speaker(&facts, self.names.of(first.subject)),
                space: None,
                remark: None,
            },
            trust: facts.iter().map(|fact| fact.trust).min().unwrap_or(first.trust),
            importance: Importance::DEFAULT,
            score: Score::new(self.parts.iter().map(|part| part.value).sum()),
            parts: self.parts,
            because: self.because,
            withheld: None,
        }
    }
}

/// A quote of a turn that replaces a fact.
pub(super) struct TurnQuote<'e> {
    pub(super) turn: &'e Event,
    pub(super) span: Span,
    pub(super) section: Section,
    pub(super) parts: Vec<ScorePart>,
    pub(super) because: InclusionReason,
}

impl TurnQuote<'_> {
    /// Returns the fragment, unless the turn was erased.
    pub(super) fn fragment(self) -> Option<Fragment> {
        let Self { turn, span, section, parts, because } = self;
        let kept = turn.body()?;
        Some(Fragment {
            section,
            record: RecordRef::Event(turn.id),
            producer: None,
            sources: vec![Source { event: turn.id, span }],
            text: span.of(&kept.content)?.to_owned(),
            label: Label {
                level: turn.level,
                at: kept.occurred_at,
                zone: kept.zone.clone(),
                speaker: kept.speaker.clone(),
                space: None,
                remark: foreign_remark(kept),
            },
            trust: turn.trust,
            importance: Importance::DEFAULT,
            score: Score::new(parts.iter().map(|part| part.value).sum()),
            parts,
            because,
            withheld: None,
        })
    }
}

fn saying(fact: &Fact) -> impl Iterator<Item = &Support> {
    fact.supports.iter().filter(|support| support.says_so())
}

/// Returns when it was said first, which does not change when it is restated.
fn said_at(fact: &Fact) -> Timestamp {
    saying(fact).map(|support| support.occurred_at).min().unwrap_or(fact.created_at)
}

/// Returns the speaker, if there is exactly one and it is not the subject.
fn speaker(facts: &[&Fact], subject: &str) -> Option<Speaker> {
    let said: BTreeSet<Option<&Speaker>> =
        facts.iter().flat_map(|fact| saying(fact)).map(|support| support.speaker.as_ref()).collect();
    match (said.first(), said.len()) {
        (Some(Some(one)), 1) if one.as_str() != subject => Some((*one).clone()),
        _ => None,
    }
}
