//! What is known of somebody or something: facts, since when, until when, how sure, and the sentences they come from.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Act, AsOf, Because, Degraded, Entity, EntityId, Event, EventId, Fact, FactId, FactStatus, Fragment, Gaps,
    Importance, Label, ReceiptId, RecordRef, Result, Score, Section, Source, Speaker, Timestamp, TokenCount,
    Value, WorldTime, Zone,
};
use mnemal_graph::{Graph, Sightings, Together};

use crate::memory::Memory;
use crate::quote;

/// What is known of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
    /// Who or what.
    pub entity: Entity,
    /// What it is for whom, by name: `Anna`'s `sister`.
    pub roles: Vec<(String, String)>,
    /// How often it was named; `None` for one that only speaks.
    pub seen: Option<Sightings>,
    /// What holds, about it first, then what leads to it.
    pub facts: Vec<Told>,
    /// What is over, what ended last first.
    pub past: Vec<Told>,
    /// Who and what is named with it, by name, most often first.
    pub company: Vec<(String, Together)>,
}

/// A fact in words, with the sentences it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The fact.
    pub fact: Fact,
    /// Whom it is about, by name.
    pub subject: String,
    /// What it says of that, by name.
    pub object: String,
    /// Where it was said, oldest first.
    pub sentences: Vec<Sentence>,
}

/// Words in the log on which a fact rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Where they stand.
    pub source: Source,
    /// The words; empty where a person decided without words.
    pub text: String,
    /// When they were said.
    pub at: Timestamp,
    /// Where the clock stood.
    pub zone: Zone,
    /// Who said them, if the log knows a name.
    pub speaker: Option<Speaker>,
}

impl Sentence {
    /// Returns the day on which it was said, where it was said.
    pub fn day(&self) -> String {
        self.at.civil(&self.zone).day_text()
    }
}

impl Told {
    /// Returns the fact as a line: who, what, since when, until when; a plan, a denial and a dispute say so.
    pub fn line(&self) -> String {
        let fact = &self.fact;
        let act = match fact.act {
            Act::Plan => "plans: ",
            Act::Negative => "not: ",
            _ => "",
        };
        let what = fact.predicate.as_str().replace('_', " ");
        let topic = fact.topic.as_ref().map(|topic| format!(" ({topic})")).unwrap_or_default();
        let since = fact.valid_at.map(|at| format!(", since {}", day(at))).unwrap_or_default();
        let until = fact.invalid_at.map(|at| format!(", until {}", day(at))).unwrap_or_default();
        let status = match fact.status {
            FactStatus::Active | FactStatus::Superseded => String::new(),
            other => format!(" [{}]", other.as_str()),
        };
        format!("{} – {act}{what}{topic}: {}{since}{until}{status}", self.subject, self.object)
    }

    /// Returns the events that it rests on, each once, in the order of its sentences.
    pub fn events(&self) -> Vec<EventId> {
        let mut seen = BTreeSet::new();
        let events = self.fact.supports.iter().map(|support| support.source.event);
        events.filter(|event| seen.insert(*event)).collect()
    }
}

/// Returns the day of a moment of world time.
fn day(at: WorldTime) -> String {
    at.civil(&Zone::utc()).day_text()
}

/// Facts as a block that a model may read.
#[derive(Clone, Debug, PartialEq)]
pub struct Recited {
    /// The receipt, which is stored.
    pub id: ReceiptId,
    /// One fenced block, or nothing when no line is in it.
    pub text: String,
    /// Its tokens, at most the budget.
    pub tokens: TokenCount,
    /// The facts that it shows, in the order in which they were given.
    pub facts: Vec<FactId>,
    /// Facts that did not fit.
    pub left_out: u32,
}

impl Memory {
    /// Returns what is known of the one entity that an id or a name means: what held at the world time, as it was believed at
    /// the belief time.
    ///
    /// # Errors
    /// `NotFound` when nobody and nothing is known by that, `Invalid` when it means several, which the message lists;
    /// `Unsupported` without a graph; `Unavailable` when the store does not answer.
    pub async fn portrait(&self, who: &str, as_of: AsOf) -> Result<Degraded<Portrait>> {
        let mut gaps = Gaps::default();
        let graph = gaps.merge(self.graph().await?);
        let entity = graph.whom(who, as_of).await?;
        let (facts, past) = (graph.about(&[entity.id], as_of).await?, graph.past(&[entity.id], as_of).await?);
        let company = graph.company(entity.id, as_of).await?;
        let owners = entity.roles.iter().map(|(owner, _)| *owner);
        let names = names(&graph, owners.chain(company.iter().map(|one| one.entity)), as_of).await?;
        let name = |id: EntityId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let mut portrait = Portrait {
            roles: entity.roles.iter().map(|(owner, role)| (name(*owner), role.clone())).collect(),
            seen: graph.sightings(entity.id, as_of).await?,
            facts: self.tell(&graph, facts, as_of).await?,
            past: self.tell(&graph, past, as_of).await?,
            company: company.into_iter().map(|one| (name(one.entity), one)).collect(),
            entity,
        };
        let leads = |told: &Told| told.fact.subject != portrait.entity.id;
        portrait.facts.sort_by_key(leads);
        Ok(gaps.attach(portrait))
    }

    /// Puts facts into words, with the names of that time and the sentences they come from.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn tell(&self, graph: &Graph, facts: Vec<Fact>, as_of: AsOf) -> Result<Vec<Told>> {
        let ids = facts.iter().flat_map(|fact| [Some(fact.subject), fact.object.entity()]).flatten();
        let names = names(graph, ids, as_of).await?;
        let name = |id: EntityId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let events = self.events_of(&facts).await?;
        let told = |fact: Fact| Told {
            subject: name(fact.subject),
            object: match &fact.object {
                Value::Entity(id) => name(*id),
                Value::Literal { text, .. } => text.clone(),
            },
            sentences: sentences(&fact, &events),
            fact,
        };
        Ok(facts.into_iter().map(told).collect())
    }

    /// Returns the living events that facts rest on.
    async fn events_of(&self, facts: &[Fact]) -> Result<BTreeMap<EventId, Event>> {
        let ids: BTreeSet<EventId> =
            facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source.event).collect();
        let ids: Vec<EventId> = ids.into_iter().collect();
        let found = self.engine.events()?.get(&ids).await?;
        Ok(found.into_iter().map(|event| (event.id, event)).collect())
    }

    /// Renders facts as a fenced block: each a line with its day, its level and its sentences, the first ones first, within a
    /// budget and with a receipt.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn recite(&self, query: &str, told: &[Told], budget: u32) -> Result<Degraded<Recited>> {
        let offered: Vec<Fragment> =
            told.iter().enumerate().filter_map(|(place, told)| fragment(place, told)).collect();
        let session = self.scope.session.only().cloned();
        let request = quote::request(self, query.to_owned(), session, TokenCount(budget))?;
        let mut gaps = Gaps::default();
        let context = gaps.merge(quote::block(self, &request, offered).await?);
        let facts = context.receipt.lines.iter().filter_map(|line| match line.record {
            RecordRef::Fact(id) => Some(id),
            _ => None,
        });
        let (facts, left_out) = (facts.collect(), quote::left_out(&context));
        let recited =
            Recited { id: context.receipt.id, tokens: context.tokens, facts, left_out, text: context.text };
        Ok(gaps.attach(recited))
    }
}

/// Returns the names of entities, by the id under which each was asked for or stands for others.
async fn names(
    graph: &Graph,
    ids: impl IntoIterator<Item = EntityId>,
    as_of: AsOf,
) -> Result<BTreeMap<EntityId, String>> {
    let found = graph.entities(ids, as_of).await?;
    Ok(found.into_iter().map(|entity| (entity.id, entity.name)).collect())
}

/// Returns the words that a fact rests on, oldest first, each clause once.
fn sentences(fact: &Fact, events: &BTreeMap<EventId, Event>) -> Vec<Sentence> {
    let mut sources: Vec<(Timestamp, Source)> =
        fact.supports.iter().map(|support| (support.occurred_at, support.source)).collect();
    sources.sort_unstable();
    sources.dedup();
    let sentence = |(at, source): (Timestamp, Source)| {
        let kept = events.get(&source.event)?.kept()?;
        let text = source.span.of(&kept.content).unwrap_or_default().trim().to_owned();
        Some(Sentence { source, text, at, zone: kept.zone.clone(), speaker: kept.speaker.clone() })
    };
    sources.into_iter().filter_map(sentence).collect()
}

/// Most sentences in the line of a fact; the newest are taken. Source: own choice, a line of a block.
const QUOTED: usize = 2;

fn fragment(place: usize, told: &Told) -> Option<Fragment> {
    let newest = told.sentences.last()?;
    let quotes: Vec<String> = told
        .sentences
        .iter()
        .rev()
        .filter(|sentence| !sentence.text.is_empty())
        .take(QUOTED)
        .map(|sentence| format!("{} “{}”", sentence.day(), sentence.text))
        .collect();
    let quotes = if quotes.is_empty() { String::new() } else { format!(" – {}", quotes.join("; ")) };
    let fact = &told.fact;
    Some(Fragment {
        section: Section::Recall,
        record: RecordRef::Fact(fact.id),
        producer: Some(fact.producer.clone()),
        sources: told.sentences.iter().map(|sentence| sentence.source).collect(),
        text: format!("{} (sure {:.2}){quotes}", told.line(), fact.confidence().get()),
        label: Label {
            level: fact.level,
            at: newest.at,
            zone: newest.zone.clone(),
            speaker: None,
            space: None,
        },
        trust: fact.trust,
        importance: Importance::DEFAULT,
        // Only the order counts.
        score: Score::new(1.0 / (1.0 + place as f32)),
        parts: Vec::new(),
        because: Because::Query,
        withheld: None,
    })
}
