//! Fact selection: which facts are offered, in which section and order.

use std::sync::Arc;

use mnemal_core::{
    Entity, EntityId, EntityKind, EventId, Fact, FactId, FactStatus, Fragment, InclusionReason, Level,
    ScorePart, Section, Timestamp, TokenCount,
};
use mnemal_extract::predicate::{self, PredicateInfo};

use super::line::FactLine;
use crate::kind;
use crate::query_analysis::{QueryAnalysis, WordSet};
use crate::stems::Stems;
use crate::verbalize::Names;

/// Facts per entity, and general facts about the user, at [`BUDGET`]. Source: AD-16, at most ten facts per entity.
const LANE: u32 = 10;
/// Facts per named entity at [`BUDGET`] if none shares a word with the question.
///
/// Source: measured with `bench context` on the development halves: none loses .017 of the evidence of multi-hop questions,
/// ten give the same (ADR 22).
const UNASKED: u32 = 3;
/// Quotes of uncertain facts where no certain one answers. Source: own choice, a question about oneself has one or two
/// answers.
const QUOTED: usize = 3;
/// The budget to which the limits apply; a smaller one gets fewer facts, so that recall keeps its part. Source: NB-58, the
/// default budget of a context.
const BUDGET: u32 = 4_000;
/// The budget up to which only answering facts are offered: there a block with its fence displaces a recalled turn.
///
/// Source: measured with `bench context`, ADR 22.
const ROOM: u32 = 1_000;
/// Predicates of the user worth showing for any question, in addition to safety facts; the rest is shown on request.
///
/// Source: measured with `bench context`: with family, goals and deadlines in every context, recall loses evidence that
/// they do not hold (ADR 22).
const ALWAYS: [&str; 7] = ["name", "pronouns", "lives_in", "timezone", "speaks", "works_at", "role"];
/// Weights: words shared with the question, a link to the user, and the strength of the fact.
///
/// Source: own choice; the order is what matters, and an answering fact comes first.
const WEIGHTS: [f32; 3] = [1.0, 0.5, 0.25];
/// Facts with their entities' names, and the words that each shares with the question.
#[derive(Debug)]
pub(super) struct FactCandidates {
    facts: Vec<FactFeatures>,
    names: Names,
}

/// A fact with precomputed question features.
#[derive(Debug)]
struct FactFeatures {
    fact: Arc<Fact>,
    /// The question words in its value or topic, or that ask for its predicate.
    said: WordSet,
    strength: f32,
}

impl FactCandidates {
    pub(super) fn new(facts: Vec<Arc<Fact>>, names: Names, asked: &QueryAnalysis, stems: &Stems) -> Self {
        let read = |fact: Arc<Fact>| {
            let mut said = asked.shared_words(names.value(&fact.object), stems);
            let topic = fact.topic.as_deref().map(|topic| asked.shared_words(topic, stems));
            let role = fact.topic.as_deref().and_then(|topic| asked.for_role(topic));
            for words in topic.iter().chain(role).chain(asked.for_fact(&fact)) {
                said.extend(words);
            }
            FactFeatures { said, strength: fact.strength(), fact }
        };
        Self { facts: facts.into_iter().map(read).collect(), names }
    }

    /// Returns the names of the facts' entities.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the fact with this id, if it is present.
    pub(super) fn fact(&self, id: FactId) -> Option<&Fact> {
        self.facts.iter().map(|read| read.fact.as_ref()).find(|fact| fact.id == id)
    }

    /// Whether a fact rests on this event.
    pub(super) fn rests_on(&self, event: EventId) -> bool {
        let mut supports = self.facts.iter().flat_map(|read| &read.fact.supports);
        supports.any(|support| support.source.event == event)
    }

    /// Returns the indexes of the facts on the same line: the other values of its slot, where they are disputed.
    fn rivals(&self, fact: &Fact) -> Vec<usize> {
        if fact.status != FactStatus::Disputed {
            return Vec::new();
        }
        let is_rival = |other: &Fact| {
            other.id != fact.id
                && other.status == FactStatus::Disputed
                && other.act == fact.act
                && (other.subject, &other.predicate, &other.topic)
                    == (fact.subject, &fact.predicate, &fact.topic)
        };
        (0..).zip(&self.facts).filter(|(_, other)| is_rival(&other.fact)).map(|(place, _)| place).collect()
    }
}

/// Predicates that a question can ask for by topic alone: "my sister", "which colour", "my manager", "the release".
///
/// Source: the predicates whose facts have a topic.
const BY_TOPIC: [&str; 9] =
    ["relative", "partner", "pet", "favourite", "prefers", "knows", "contact", "setting", "deadline"];

/// Whether the user's facts of this predicate are looked up: for any question, by topic, or because the question asks for
/// them.
pub(super) fn is_looked_up(info: &PredicateInfo, asked: &QueryAnalysis) -> bool {
    let name = info.name.as_str();
    let of_question = || BY_TOPIC.contains(&name) && asked.n_words() > 0;
    is_known_always(info) || of_question() || asked.for_predicate(name).is_some()
}

fn is_known_always(info: &PredicateInfo) -> bool {
    info.is_safety || ALWAYS.contains(&info.name.as_str())
}

/// Whether a fact may be shown for a question: it is valid, or over where the question asks about the past, and has a
/// source other than the agent.
pub(super) fn may_enter(fact: &Fact, asked: &QueryAnalysis) -> bool {
    let stands = match fact.status {
        FactStatus::Active | FactStatus::Disputed => true,
        FactStatus::Superseded => asked.looks_back || fact.invalid_at.is_some(),
        _ => false,
    };
    stands && fact.is_said()
}

/// Whether the source words of an uncertain fact about the user may be shown: the user must have said them.
pub(super) fn may_be_quoted(fact: &Fact) -> bool {
    is_unsure(fact) && fact.level == Level::User && fact.is_said()
}

fn is_unsure(fact: &Fact) -> bool {
    fact.status == FactStatus::Candidate
}

/// An uncertain answering fact, shown as a quote of its source.
#[derive(Debug)]
pub(super) struct QuotedFact<'k> {
    pub(super) fact: &'k Fact,
    pub(super) parts: Vec<ScorePart>,
}

/// A candidate for selection.
#[derive(Clone, Copy, Debug)]
struct RankedFact {
    /// Index among the known facts.
    place: usize,
    fact: FactId,
    score: f32,
    /// Whether it shares a word with the question.
    answers: bool,
}

/// The selection so far.
pub(super) struct Selection<'k> {
    known: &'k FactCandidates,
    asked: &'k QueryAnalysis,
    stems: &'k Stems,
    budget: TokenCount,
    /// The moment that is asked about.
    world: Timestamp,
    /// Whether each known fact is selected.
    is_taken: Vec<bool>,
    fragments: Vec<Fragment>,
}

impl<'k> Selection<'k> {
    pub(super) fn new(
        known: &'k FactCandidates,
        (asked, stems): (&'k QueryAnalysis, &'k Stems),
        (budget, world): (TokenCount, Timestamp),
    ) -> Self {
        let is_taken = vec![false; known.facts.len()];
        Self { known, asked, stems, budget, world, is_taken, fragments: Vec::new() }
    }

    /// Returns how many facts that were not asked for fit this budget: none in a small one.
    fn unasked_limit(&self, lane: u32) -> usize {
        let room = self.budget.0.min(BUDGET).saturating_sub(ROOM);
        (lane * room / (BUDGET - ROOM)) as usize
    }

    /// Returns how many facts of a kind fit this budget.
    fn most(&self, lane: u32) -> usize {
        (lane * self.budget.0.min(BUDGET) / BUDGET) as usize
    }

    pub(super) fn fragments(self) -> Vec<Fragment> {
        self.fragments
    }

    /// Selects long-term facts about the user, safety first, independent of the question.
    pub(super) fn knowledge(&mut self) {
        let ranked = self.rank(|choice, read| {
            let fact = &read.fact;
            let may_last = fact.level == Level::User
                && fact.status != FactStatus::Superseded
                && choice.known.names.is_owner(fact.subject);
            let info =
                predicate::of(fact.predicate.as_str()).filter(|info| may_last && is_known_always(info));
            // Strength is at most 1.
            info.map(|info| (if info.is_safety { 2.0 + read.strength } else { read.strength }, false))
        });
        let chosen = first(ranked, self.unasked_limit(LANE));
        self.take(&chosen, |_, read| {
            (Section::Knowledge, vec![part("strength", read.strength, 1.0)], InclusionReason::Section)
        });
    }

    /// Selects facts with an entity as subject or object, answering ones first.
    pub(super) fn of_entity(&mut self, entity: &Entity, because: InclusionReason) {
        let section = match kind::class(entity.kind) {
            "what" if entity.kind != EntityKind::Organization => Section::Topics,
            _ => Section::Entity,
        };
        let mut names = WordSet::default();
        for name in &entity.names {
            names.extend(&self.asked.shared_words(&name.text, self.stems));
        }
        // Of whom no name is known is called by a role: "daughter".
        if entity.names.is_empty() {
            names.extend(&self.asked.shared_words(&entity.name, self.stems));
            self.asked.for_role(&entity.name).into_iter().for_each(|words| names.extend(words));
        }
        let is_open = self.asked.is_open(&names);
        let ranked = self.rank(|choice, read| {
            let concerns = read.fact.subject == entity.id || read.fact.object.entity() == Some(entity.id);
            concerns.then(|| choice.score_of(read, &names))
        });
        let asked_for = ranked.iter().filter(|one| is_open || one.answers).copied().collect();
        let mut chosen = first(asked_for, self.most(LANE));
        if chosen.is_empty() {
            chosen = first(ranked, self.most(LANE).min(self.unasked_limit(UNASKED)));
        }
        self.take(&chosen, |choice, read| (section, choice.parts_of(read, &names).to_vec(), because));
    }

    /// Selects the facts that the question asks about the user; `about` restricts the entities that a fact may lead to.
    pub(super) fn of_owner(&mut self, about: Option<&[Arc<Entity>]>) {
        let none = WordSet::default();
        let mut ranked = self.rank(|choice, read| {
            let leads =
                |to: &[Arc<Entity>]| to.iter().any(|entity| read.fact.object.entity() == Some(entity.id));
            let is_meant = choice.known.names.is_owner(read.fact.subject) && about.is_none_or(leads);
            is_meant.then(|| choice.score_of(read, &none))
        });
        ranked.retain(|one| one.answers);
        let chosen = first(ranked, self.most(LANE));
        self.take(&chosen, |choice, read| {
            let topic = read.fact.topic.as_deref();
            let is_asked = |topic: &str| {
                choice.asked.for_role(topic).is_some()
                    || !choice.asked.shared_words(topic, choice.stems).is_empty()
            };
            let of_topic = topic.is_some_and(is_asked);
            let section = if of_topic { Section::Topics } else { Section::Entity };
            (section, choice.parts_of(read, &none).to_vec(), InclusionReason::Query)
        });
    }

    /// Returns uncertain facts that answer a question about the user, or about a named entity, where no certain fact
    /// answers that was stated since.
    ///
    /// "Where do I work?" shares no word with its answer; a question with further words is answered through those.
    pub(super) fn quoted_facts(&self, named: &[Arc<Entity>]) -> Vec<QuotedFact<'k>> {
        let none = WordSet::default();
        // The words that name the subject are not content.
        let mut words = self.asked.of_roles();
        for name in named.iter().flat_map(|entity| &entity.names) {
            words.extend(&self.asked.shared_words(&name.text, self.stems));
        }
        let is_named = |id: EntityId| named.iter().any(|entity| entity.id == id);
        let naming = |read: &FactFeatures| {
            let is_of_owner = self.known.names.is_owner(read.fact.subject);
            if is_of_owner { Some(&none) } else { is_named(read.fact.subject).then_some(&words) }
        };
        let ranked = self.ranked_of(is_unsure, |choice, read| Some(choice.score_of(read, naming(read)?)));
        let is_open = |one: &RankedFact| {
            let unsure = self.known.facts.get(one.place);
            let is_all = |unsure: &FactFeatures| {
                let mut said = unsure.said.clone();
                said.extend(&words);
                one.answers && self.asked.is_open(&said)
            };
            unsure.is_some_and(|unsure| is_all(unsure) && !self.is_answered_since(&unsure.fact))
        };
        let chosen = first(ranked.into_iter().filter(is_open).collect(), QUOTED);
        let reads = chosen.iter().filter_map(|one| self.known.facts.get(one.place));
        let quoted = |read: &'k FactFeatures| QuotedFact {
            fact: &read.fact,
            parts: self.parts_of(read, naming(read).unwrap_or(&none)).to_vec(),
        };
        reads.map(quoted).collect()
    }

    /// Whether a selected fact with the same predicate and subject is at least as new.
    fn is_answered_since(&self, unsure: &Fact) -> bool {
        let said_at = |fact: &Fact| fact.supports.iter().map(|support| support.occurred_at).max();
        let taken = self.known.facts.iter().zip(&self.is_taken).filter(|(_, is_taken)| **is_taken);
        let mut taken = taken.map(|(read, _)| read.fact.as_ref());
        taken.any(|fact| {
            (fact.subject, &fact.predicate) == (unsure.subject, &unsure.predicate)
                && said_at(fact) >= said_at(unsure)
        })
    }

    /// Returns the certain facts that may be selected and have a score.
    fn rank(&self, score: impl Fn(&Self, &FactFeatures) -> Option<(f32, bool)>) -> Vec<RankedFact> {
        self.ranked_of(|fact| !is_unsure(fact), score)
    }

    fn ranked_of(
        &self,
        is_meant: impl Fn(&Fact) -> bool,
        score: impl Fn(&Self, &FactFeatures) -> Option<(f32, bool)>,
    ) -> Vec<RankedFact> {
        let all = (0..).zip(&self.known.facts).zip(&self.is_taken);
        let all = all.filter(|((_, read), is_taken)| !**is_taken && is_meant(&read.fact));
        let ranked = |((place, read), _): ((usize, &FactFeatures), &bool)| {
            let (score, answers) = score(self, read)?;
            Some(RankedFact { place, fact: read.fact.id, score, answers })
        };
        all.filter_map(ranked).collect()
    }

    fn take(
        &mut self,
        chosen: &[RankedFact],
        place: impl Fn(&Self, &FactFeatures) -> (Section, Vec<ScorePart>, InclusionReason),
    ) {
        let known = self.known;
        for one in chosen {
            let Some(read) = known.facts.get(one.place) else { continue };
            if self.is_taken.get(one.place) != Some(&false) {
                continue;
            }
            let rivals = known.rivals(&read.fact);
            for taken in rivals.iter().chain([&one.place]) {
                if let Some(is_taken) = self.is_taken.get_mut(*taken) {
                    *is_taken = true;
                }
            }
            let (section, parts, because) = place(self, read);
            let rivals = rivals.iter().filter_map(|place| known.facts.get(*place));
            let rivals = rivals.map(|read| read.fact.as_ref()).collect();
            let world = self.world;
            let line =
                FactLine { names: &known.names, fact: &read.fact, rivals, section, parts, because, world };
            self.fragments.push(line.fragment());
        }
    }

    /// Returns the score of a fact, and whether it answers.
    fn score_of(&self, read: &FactFeatures, names: &WordSet) -> (f32, bool) {
        let parts = self.parts_of(read, names);
        (parts.iter().map(|part| part.value).sum(), answers(&parts))
    }

    /// Returns the score parts of a fact; `names` are the question words that name its subject and say nothing about its
    /// content.
    fn parts_of(&self, read: &FactFeatures, names: &WordSet) -> [ScorePart; 3] {
        let (fact, of) = (&read.fact, &self.known.names);
        let shared = read.said.count_outside(names);
        let all = self.asked.n_specific(names).max(1);
        let leads = fact.object.entity().is_some_and(|id| of.is_owner(id) || of.is_owner(fact.subject));
        let [words, relation, strength] = WEIGHTS;
        [
            part("words", (shared as f32 / all as f32).min(1.0), words),
            part("relation", f32::from(u8::from(leads)), relation),
            part("strength", read.strength, strength),
        ]
    }
}

/// Returns the best candidates, in order.
fn first(mut all: Vec<RankedFact>, most: usize) -> Vec<RankedFact> {
    let best_first = |one: &RankedFact, other: &RankedFact| {
        other.score.total_cmp(&one.score).then(one.fact.cmp(&other.fact))
    };
    if most > 0 && most < all.len() {
        all.select_nth_unstable_by(most - 1, best_first);
    }
    all.truncate(most);
    all.sort_unstable_by(best_first);
    all
}

/// Whether a fact shares a word with the question.
fn answers(parts: &[ScorePart]) -> bool {
    parts.first().is_some_and(|part| part.raw > 0.0)
}

fn part(name: &'static str, raw: f32, weight: f32) -> ScorePart {
    ScorePart { name, raw, normalized: raw, weight, value: raw * weight }
}
