//! The portrait of somebody or something: facts, since when, until when, how sure, and the sentences they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Act, AsOf, Because, Degraded, Entity, EntityId, Event, EventId, Fact, FactStatus, Fragment, Gaps,
    Importance, Label, Level, Producer, ReceiptId, RecordRef, Result, Score, Section, Source, Span, Speaker,
    Timestamp, TokenCount, Trust, Value, Zone,
};
use mnemal_graph::{Graph, Sightings, Together, said};

use crate::decide::is_shipped;
use crate::memory::Memory;
use crate::quote;

/// What is known of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
    /// Who or what.
    pub entity: Entity,
    /// Its other names, with those of whoever is taken for it.
    pub aliases: Vec<String>,
    /// What it is for whom, by name: `Anna`'s `sister`; with what those are who are taken for it.
    pub roles: Vec<(String, String)>,
    /// How often it was named; `None` for one that only speaks.
    pub seen: Option<Sightings>,
    /// The event in which it became known, as far as it still is in the log.
    pub first: Option<Sentence>,
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
    /// Whether it was first said after the moment that is asked about.
    pub is_said_later: bool,
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
    /// How far they may be believed.
    pub trust: Trust,
    /// What they may become.
    pub level: Level,
}

impl Sentence {
    /// Returns the day on which it was said, where it was said.
    pub fn day(&self) -> String {
        self.at.civil(&self.zone).day_text()
    }
}

impl Told {
    /// Returns the fact as a sentence: who, what, since when, until when; a plan and a denial say so.
    pub fn line(&self) -> String {
        let said = said(&self.fact, &self.subject, &self.object);
        if self.is_said_later { mnemal_graph::said_later(said) } else { said }
    }

    /// Returns how sure it is: the confidence, and where it stands if that is more than that it holds or held.
    pub fn sureness(&self) -> String {
        let sure = format!("sure {:.2}", self.fact.confidence().get());
        match self.fact.status {
            FactStatus::Active | FactStatus::Superseded => sure,
            other => format!("{sure}, {}", other.as_str()),
        }
    }

    /// Returns the events that it rests on, each once, in the order of its sentences.
    pub fn events(&self) -> Vec<EventId> {
        let mut seen = BTreeSet::new();
        let events = self.fact.supports.iter().map(|support| support.source.event);
        events.filter(|event| seen.insert(*event)).collect()
    }
}

/// What is known as a block that a model may read.
#[derive(Clone, Debug, PartialEq)]
pub struct Recited {
    /// The receipt, which is stored.
    pub id: ReceiptId,
    /// One fenced block, or nothing when no line is in it.
    pub text: String,
    /// Its tokens, at most the budget.
    pub tokens: TokenCount,
    /// The records that it shows with the text of each as it stands there: cleaned, cut, and with what a model may obey
    /// written as an escape.
    pub lines: Vec<(RecordRef, String)>,
    /// Records that did not fit.
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
        let entity = graph.asked_about(who, as_of).await?;
        let (facts, past) = (graph.about(&[entity.id], as_of).await?, graph.past(&[entity.id], as_of).await?);
        let company = graph.company(entity.id, as_of).await?;
        let mut rows = graph.parts(entity.id, as_of).await?;
        rows.insert(0, entity.clone());
        let mut ids: Vec<EntityId> = company.iter().map(|one| one.entity).collect();
        ids.extend(rows.iter().flat_map(|row| &row.roles).map(|(owner, _)| *owner));
        let names = names(&graph, ids, as_of).await?;
        let name = |id: EntityId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let roles = rows.iter().flat_map(|row| &row.roles);
        let aliases = rows.iter().flat_map(|row| &row.names).map(|name| &name.text);
        let mut portrait = Portrait {
            aliases: each_once(aliases.filter(|alias| **alias != entity.name).cloned()),
            roles: each_once(roles.map(|(owner, role)| (name(*owner), role.clone()))),
            seen: graph.sightings(entity.id, as_of).await?,
            first: match entity.sources.first() {
                Some(first) => self.log_to_read()?.get(&[*first]).await?.first().and_then(whole),
                None => None,
            },
            facts: self.tell(&graph, facts, as_of).await?,
            past: self.tell(&graph, past, as_of).await?,
            company: company.into_iter().map(|one| (name(one.entity), one)).collect(),
            entity,
        };
        let order = |told: &Told| {
            let is_uncertain = told.fact.status == FactStatus::Candidate;
            (told.fact.subject != portrait.entity.id, is_uncertain)
        };
        portrait.facts.sort_by_key(order);
        Ok(gaps.attach(portrait))
    }

    /// Puts facts into words, with the names of that time and the sentences they come from.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn tell(&self, graph: &Graph, facts: Vec<Fact>, as_of: AsOf) -> Result<Vec<Told>> {
        let mut ids: Vec<EntityId> = facts.iter().map(|fact| fact.subject).collect();
        ids.extend(facts.iter().filter_map(|fact| fact.object.entity()));
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
            is_said_later: fact.is_said_after(as_of.world),
            fact,
        };
        Ok(facts.into_iter().map(told).collect())
    }

    /// Returns the living events that facts rest on.
    async fn events_of(&self, facts: &[Fact]) -> Result<BTreeMap<EventId, Event>> {
        let ids: BTreeSet<EventId> =
            facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source.event).collect();
        let ids: Vec<EventId> = ids.into_iter().collect();
        let found = self.log_to_read()?.get(&ids).await?;
        Ok(found.into_iter().map(|event| (event.id, event)).collect())
    }

    /// Returns the newest `limit` events that name an entity until the world time, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn heard_of(
        &self,
        graph: &Graph,
        id: EntityId,
        limit: NonZeroUsize,
        as_of: AsOf,
    ) -> Result<Vec<Sentence>> {
        let mut rows = graph.mentions(id, as_of).await?;
        rows.retain(|row| row.occurred_at <= as_of.world);
        rows.sort_by_key(|row| std::cmp::Reverse((row.occurred_at, row.source.event)));
        rows.dedup_by_key(|row| row.source.event);
        rows.truncate(limit.get());
        let ids: Vec<EventId> = rows.iter().map(|row| row.source.event).collect();
        let found = self.log_to_read()?.get(&ids).await?;
        let mut heard: Vec<Sentence> = found.iter().filter_map(whole).collect();
        heard.sort_by_key(|sentence| std::cmp::Reverse((sentence.at, sentence.source)));
        Ok(heard)
    }

    /// Renders what is offered as a fenced block, the first ones first, within a budget and with a receipt.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn recite(
        &self,
        query: &str,
        mut offered: Vec<Fragment>,
        budget: u32,
    ) -> Result<Degraded<Recited>> {
        for (place, fragment) in (0_u16..).zip(&mut offered) {
            // Only the order counts.
            fragment.score = Score::new(1.0 / (1.0 + f32::from(place)));
        }
        let session = self.scope.session.only().cloned();
        let request = quote::request(self, query.to_owned(), session, TokenCount(budget));
        let mut gaps = Gaps::default();
        let context = gaps.merge(quote::block(self, &request, offered).await?);
        let (lines, left_out) = (context.quotes(), quote::left_out(&context));
        let recited =
            Recited { id: context.receipt.id, tokens: context.tokens, lines, left_out, text: context.text };
        Ok(gaps.attach(recited))
    }
}

fn each_once<T: Clone + Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(one.clone())).collect()
}

/// Returns the names of entities, by the id under which each was asked for or stands for others.
async fn names(graph: &Graph, ids: Vec<EntityId>, as_of: AsOf) -> Result<BTreeMap<EntityId, String>> {
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
        let event = events.get(&source.event)?;
        let kept = event.kept()?;
        let text = around(&kept.content, source.span).trim().to_owned();
        Some(Sentence { source, text, at, ..whole(event)? })
    };
    sources.into_iter().filter_map(sentence).collect()
}

/// Returns the words of an event in a span, if they are still there; for an empty span the event as a whole.
pub(crate) fn sentence_of(event: &Event, source: Source) -> Option<Sentence> {
    let words = whole(event)?;
    let said = words.text.get(source.span.start as usize..source.span.end as usize).unwrap_or_default();
    let text = if said.trim().is_empty() { words.text.clone() } else { said.to_owned() };
    Some(Sentence { source, text, ..words })
}

/// Returns the sentences of a text in which a span lies; nothing for an empty span.
fn around(text: &str, span: Span) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let all = mnemal_text::sentences(text);
    let touched = || all.iter().filter(|one| one.start < end && start < one.end);
    let whole = touched().next().zip(touched().next_back()).map(|(first, last)| first.start..last.end);
    whole.and_then(|whole| text.get(whole)).unwrap_or_default()
}

/// Returns a whole event as a sentence, if its words are still there.
fn whole(event: &Event) -> Option<Sentence> {
    let kept = event.kept()?;
    Some(Sentence {
        source: Source { event: event.id, span: Span::whole(&kept.content).ok()? },
        text: kept.content.clone(),
        at: kept.occurred_at,
        zone: kept.zone.clone(),
        speaker: kept.speaker.clone(),
        trust: event.trust,
        level: event.level,
    })
}

/// The predicate under which a host or an extractor says in words what somebody or something is. Source: NB-05.
const DESCRIPTION: &str = "description";

/// Most sentences in the line of a fact; the newest are taken. Source: own choice, a line of a block.
const QUOTED: usize = 2;

impl Portrait {
    /// Returns in words what it is: the newest that a host decided, or an extractor read, under the predicate `description`.
    ///
    /// They are somebody's words and no instruction: the fact among [`facts`](Self::facts) says whose.
    pub fn description(&self) -> Option<&str> {
        self.own().remove(DESCRIPTION)
    }

    /// Returns what a host keeps of it: for each predicate of the space's own the newest value that holds, without the
    /// description. All values are among [`facts`](Self::facts).
    pub fn metadata(&self) -> BTreeMap<&str, &str> {
        let mut own = self.own();
        let _description = own.remove(DESCRIPTION);
        own
    }

    /// Returns the newest value of each predicate that is not shipped, of what holds and nobody doubts.
    fn own(&self) -> BTreeMap<&str, &str> {
        let is_meant = |fact: &Fact| {
            fact.subject == self.entity.id
                && fact.status == FactStatus::Active
                && fact.act == Act::Assert
                && fact.topic.is_none()
                && !is_shipped(&fact.predicate)
        };
        let newest =
            |fact: &Fact| fact.supports.iter().map(|support| (support.occurred_at, support.source)).max();
        let mut told: Vec<&Told> = self.facts.iter().filter(|told| is_meant(&told.fact)).collect();
        told.sort_by_cached_key(|told| (newest(&told.fact), told.fact.id));
        // Of those with one key the last one stays.
        told.into_iter().map(|told| (told.fact.predicate.as_str(), told.object.as_str())).collect()
    }

    /// Returns who it is as a line: name, kind, roles, other names, and how often it was named.
    pub fn line(&self) -> String {
        let entity = &self.entity;
        let roles: Vec<String> =
            self.roles.iter().map(|(owner, role)| format!(", {role} of {owner}")).collect();
        let also = if self.aliases.is_empty() {
            String::new()
        } else {
            format!(", also called {}", self.aliases.join(", "))
        };
        let seen = self.seen.map(|seen| match seen.events {
            1 => ", named in 1 event".to_owned(),
            events => format!(", named in {events} events"),
        });
        let seen = seen.unwrap_or_default();
        format!("{}: {}{}{also}{seen}", entity.name, entity.kind.as_str(), roles.concat())
    }

    /// Returns who it is as a line of a block.
    pub fn fragment(&self) -> Option<Fragment> {
        let first = self.first.as_ref()?;
        let record = RecordRef::Event(first.source.event);
        Some(offered(record, Some(self.entity.producer.clone()), vec![first.source], self.line(), first))
    }
}

impl Told {
    /// Returns the fact as a line of a block, with the newest sentences that it comes from.
    pub fn fragment(&self) -> Option<Fragment> {
        let newest = self.sentences.last()?;
        let quotes: Vec<String> = self
            .sentences
            .iter()
            .rev()
            .filter(|sentence| !sentence.text.is_empty())
            .take(QUOTED)
            .map(|sentence| format!("{} “{}”", sentence.day(), sentence.text))
            .collect();
        let quotes = if quotes.is_empty() { String::new() } else { format!(" – {}", quotes.join("; ")) };
        let text = format!("{} ({}){quotes}", self.line(), self.sureness());
        let sources = self.sentences.iter().map(|sentence| sentence.source).collect();
        let (record, producer) = (RecordRef::Fact(self.fact.id), self.fact.producer.clone());
        let mut fragment = offered(record, Some(producer), sources, text, newest);
        fragment.label.level = self.fact.level;
        fragment.trust = self.fact.trust;
        fragment.label.speaker = None;
        Some(fragment)
    }
}

impl Sentence {
    /// Returns the sentence itself as a line of a block.
    pub fn fragment(&self) -> Fragment {
        offered(RecordRef::Event(self.source.event), None, vec![self.source], self.text.clone(), self)
    }
}

/// Makes a line of a block that stands as the sentence does on which it rests.
fn offered(
    record: RecordRef,
    producer: Option<Producer>,
    sources: Vec<Source>,
    text: String,
    of: &Sentence,
) -> Fragment {
    Fragment {
        section: Section::Recall,
        record,
        producer,
        sources,
        text,
        label: Label {
            level: of.level,
            at: of.at,
            zone: of.zone.clone(),
            speaker: of.speaker.clone(),
            space: None,
            remark: None,
        },
        trust: of.trust,
        importance: Importance::DEFAULT,
        score: Score::new(1.0),
        parts: Vec::new(),
        because: Because::Query,
        withheld: None,
    }
}
