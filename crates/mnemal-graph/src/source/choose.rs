//! Which facts are offered, in which section, and in which order.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mnemal_core::{
    Because, Entity, EntityId, EntityKind, Fact, FactId, FactStatus, Fragment, Level, ScorePart, Section,
    TokenCount,
};
use mnemal_extract::predicate::{self, PredicateInfo};

use super::line::Line;
use crate::asked::Asked;
use crate::kind;
use crate::say::Names;

/// Facts offered of one entity, and of the user whatever the question is, at [`BUDGET`]. Source: AD-16.
const LANE: u32 = 10;
/// Facts offered at [`BUDGET`] of an entity that is named, where none shares a word with the question.
///
/// Source: measured with `bench context` on the development halves: none gives .017 less of the evidence of multi-hop
/// questions, ten give the same (ADR 41).
const UNASKED: u32 = 3;
/// The budget for which lanes are cut; a smaller one has fewer facts, so that recall keeps its part. Source: NB-58.
const BUDGET: u32 = 4_000;
/// The budget up to which only what answers is offered: there a block with its fence displaces a recalled turn.
///
/// Source: measured with `bench context`, ADR 41.
const ROOM: u32 = 1_000;
/// What is good to know of the user for any question, beside what protects him; the rest comes when it is asked for.
///
/// Source: measured with `bench context`: with family, goals and deadlines in every context, recall loses evidence that they
/// do not hold (ADR 41).
const ALWAYS: [&str; 7] = ["name", "pronouns", "lives_in", "timezone", "speaks", "works_at", "role"];
/// What the words that a fact shares with the question count, what its leading to the user counts, and its strength.
///
/// Source: own choice; the order is what matters, and a fact that answers comes first.
const WEIGHTS: [f32; 3] = [1.0, 0.5, 0.25];
/// How the user is called, whose name is a fact like others.
const OWNER: &str = "the user";

/// Facts with the names of those whom they are about.
#[derive(Debug)]
pub(super) struct Known {
    facts: Vec<Arc<Fact>>,
    names: Names,
    owners: Vec<EntityId>,
}

impl Known {
    pub(super) fn new(facts: Vec<Arc<Fact>>, entities: &[Arc<Entity>], owners: Vec<EntityId>) -> Self {
        let mut names = Names::default();
        for entity in entities {
            names.insert(entity.id, entity.name.clone());
        }
        for owner in &owners {
            names.insert(*owner, OWNER);
        }
        Self { facts, names, owners }
    }

    fn all(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().map(AsRef::as_ref)
    }

    fn is_owner(&self, id: EntityId) -> bool {
        self.owners.contains(&id)
    }

    /// Returns the facts with which one stands on a line: the other values of its slot, where they are disputed.
    fn rivals(&self, fact: &Fact) -> Vec<&Fact> {
        if fact.status != FactStatus::Disputed {
            return Vec::new();
        }
        let is_rival = |other: &&Fact| {
            other.id != fact.id
                && other.status == FactStatus::Disputed
                && other.act == fact.act
                && (other.subject, &other.predicate, &other.topic)
                    == (fact.subject, &fact.predicate, &fact.topic)
        };
        self.all().filter(is_rival).collect()
    }
}

/// Predicates of which a question may name the topic alone: "my sister", "which colour". Source: own choice.
const BY_TOPIC: [&str; 5] = ["relative", "partner", "pet", "favourite", "prefers"];

/// Whether facts of the user of this predicate are looked up: for any question, by their topic, or because they are asked for.
pub(super) fn is_looked_up(info: &PredicateInfo, asked: &Asked) -> bool {
    let name = info.name.as_str();
    let of_question = || BY_TOPIC.contains(&name) && !asked.words.is_empty();
    is_known_always(info) || of_question() || asked.for_predicate(name).next().is_some()
}

fn is_known_always(info: &PredicateInfo) -> bool {
    info.is_safety || ALWAYS.contains(&info.name.as_str())
}

/// Whether a fact may be shown for a question: it holds, or is over where that is asked, and somebody other than the agent
/// says so.
pub(super) fn may_enter(fact: &Fact, asked: &Asked) -> bool {
    let stands = match fact.status {
        FactStatus::Active | FactStatus::Disputed => true,
        FactStatus::Superseded => asked.looks_back || fact.invalid_at.is_some(),
        _ => false,
    };
    stands && fact.strength() > 0.0
}

/// A fact that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    fact: FactId,
    score: f32,
    /// Whether it shares a word with the question.
    answers: bool,
}

/// What was chosen so far.
pub(super) struct Choice<'k> {
    known: &'k Known,
    asked: &'k Asked,
    budget: TokenCount,
    taken: BTreeSet<FactId>,
    fragments: Vec<Fragment>,
    /// The question's words in texts that were looked at.
    shared: RefCell<HashMap<&'k str, BTreeSet<&'k str>>>,
}

impl<'k> Choice<'k> {
    pub(super) fn new(known: &'k Known, asked: &'k Asked, budget: TokenCount) -> Self {
        Self {
            known,
            asked,
            budget,
            taken: BTreeSet::new(),
            fragments: Vec::new(),
            shared: RefCell::default(),
        }
    }

    /// Returns how many facts of a lane this budget has that nobody asked for: none where there is little room.
    fn unasked(&self, lane: u32) -> usize {
        let room = self.budget.0.min(BUDGET).saturating_sub(ROOM);
        (lane * room / (BUDGET - ROOM)) as usize
    }

    /// Returns how many facts of a lane this budget has.
    fn most(&self, lane: u32) -> usize {
        (lane * self.budget.0.min(BUDGET) / BUDGET) as usize
    }

    pub(super) fn fragments(self) -> Vec<Fragment> {
        self.fragments
    }

    /// Chooses what holds of the user for long, safety first; it does not depend on the question.
    pub(super) fn knowledge(&mut self) {
        let lasting = |fact: &&Fact| {
            fact.level == Level::User
                && fact.status != FactStatus::Superseded
                && self.known.is_owner(fact.subject)
                && predicate::of(fact.predicate.as_str()).is_some_and(is_known_always)
        };
        let mut facts: Vec<&Fact> = self.known.all().filter(lasting).collect();
        let rank = |fact: &Fact| predicate::of(fact.predicate.as_str()).is_some_and(|info| info.is_safety);
        facts.sort_by(|one, other| {
            let by_strength = other.strength().total_cmp(&one.strength());
            rank(other).cmp(&rank(one)).then(by_strength).then(one.id.cmp(&other.id))
        });
        let chosen: Vec<FactId> = facts.into_iter().take(self.unasked(LANE)).map(|fact| fact.id).collect();
        self.take(&chosen, |_, fact| (Section::Knowledge, strength(fact), Because::Section));
    }

    /// Chooses facts about an entity and leading to it, those that answer first.
    pub(super) fn of_entity(&mut self, entity: &Entity, because: Because) {
        let section = match kind::class(entity.kind) {
            "what" if entity.kind != EntityKind::Organization => Section::Topics,
            _ => Section::Entity,
        };
        let concerns = |fact: &Fact| fact.subject == entity.id || fact.object.entity() == Some(entity.id);
        let names = entity.names.iter().map(|name| name.text.as_str());
        let names: BTreeSet<&str> = names.flat_map(|name| self.asked.shared(name)).collect();
        let is_open = self.asked.is_open(&names);
        let ranked = self.ranked(|choice, fact| concerns(fact).then(|| choice.parts_of(fact, &names)));
        let asked_for = ranked.iter().filter(|one| is_open || one.answers);
        let mut chosen: Vec<FactId> = asked_for.take(self.most(LANE)).map(|one| one.fact).collect();
        if chosen.is_empty() {
            let most = self.most(LANE).min(self.unasked(UNASKED));
            chosen = ranked.iter().take(most).map(|one| one.fact).collect();
        }
        self.take(&chosen, |choice, fact| (section, choice.parts_of(fact, &names).to_vec(), because));
    }

    /// Chooses what the question asks of the user himself.
    pub(super) fn of_owner(&mut self) {
        let none = BTreeSet::new();
        let ranked = self
            .ranked(|choice, fact| choice.known.is_owner(fact.subject).then(|| choice.parts_of(fact, &none)));
        let asked_for = ranked.iter().filter(|one| one.answers);
        let chosen: Vec<FactId> = asked_for.take(self.most(LANE)).map(|one| one.fact).collect();
        self.take(&chosen, |choice, fact| {
            let of_topic = fact.topic.as_ref().is_some_and(|topic| !choice.shared(topic).is_empty());
            let section = if of_topic { Section::Topics } else { Section::Entity };
            (section, choice.parts_of(fact, &none).to_vec(), Because::Query)
        });
    }

    /// Returns the facts that may be chosen and have parts, best first.
    fn ranked(&self, parts: impl Fn(&Self, &'k Fact) -> Option<[ScorePart; 3]>) -> Vec<Ranked> {
        let ranked = |fact: &'k Fact| {
            let parts = parts(self, fact)?;
            Some(Ranked { fact: fact.id, score: sum(&parts), answers: answers(&parts) })
        };
        let free = self.known.all().filter(|fact| !self.taken.contains(&fact.id));
        let mut all: Vec<Ranked> = free.filter_map(ranked).collect();
        all.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.fact.cmp(&other.fact)));
        all
    }

    fn take(
        &mut self,
        chosen: &[FactId],
        place: impl Fn(&Self, &'k Fact) -> (Section, Vec<ScorePart>, Because),
    ) {
        for id in chosen {
            let known = self.known;
            let Some(fact) = known.all().find(|fact| fact.id == *id) else { continue };
            if self.taken.contains(id) {
                continue;
            }
            let rivals = known.rivals(fact);
            self.taken.insert(*id);
            self.taken.extend(rivals.iter().map(|rival| rival.id));
            let (section, parts, because) = place(self, fact);
            let line = Line { names: &known.names, fact, rivals, section, parts, because };
            self.fragments.push(line.fragment());
        }
    }

    /// Returns which of the question's words stand in a value or a topic; hundreds of facts have the same.
    fn shared(&self, text: &'k str) -> BTreeSet<&'k str> {
        self.shared.borrow_mut().entry(text).or_insert_with(|| self.asked.shared(text)).clone()
    }

    /// Returns what a fact is worth for the question; `names` are the words of the question that name the one who is asked about,
    /// and say nothing of his facts.
    fn parts_of(&self, fact: &'k Fact, names: &BTreeSet<&str>) -> [ScorePart; 3] {
        let known = self.known;
        let mut said = self.shared(known.names.value(&fact.object));
        said.extend(fact.topic.as_deref().map(|topic| self.shared(topic)).into_iter().flatten());
        said.extend(self.asked.for_predicate(fact.predicate.as_str()));
        let shared = said.difference(names).count();
        let all = self.asked.words.len().saturating_sub(names.len()).max(1);
        let leads = fact.object.entity().is_some_and(|id| known.is_owner(id))
            || known.is_owner(fact.subject) && fact.object.entity().is_some();
        let [words, relation, strength] = WEIGHTS;
        [
            part("words", shared as f32 / all as f32, words),
            part("relation", f32::from(u8::from(leads)), relation),
            part("strength", fact.strength(), strength),
        ]
    }
}

/// Whether a fact shares a word with the question.
fn answers(parts: &[ScorePart]) -> bool {
    parts.first().is_some_and(|part| part.raw > 0.0)
}

fn strength(fact: &Fact) -> Vec<ScorePart> {
    vec![part("strength", fact.strength(), 1.0)]
}

fn part(name: &'static str, raw: f32, weight: f32) -> ScorePart {
    ScorePart { name, raw, normalised: raw, weight, value: raw * weight }
}

fn sum(parts: &[ScorePart]) -> f32 {
    parts.iter().map(|part| part.value).sum()
}
