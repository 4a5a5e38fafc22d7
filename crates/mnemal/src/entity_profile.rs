//! Entity profile: its facts with validity, confidence, and source sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Act, AsOf, Degraded, Entity, EntityId, Event, EventId, Fact, FactStatus, Fragment, Gaps, Importance,
    InclusionReason, Label, Level, Producer, ReceiptId, RecordRef, Result, Score, Section, Source, Span,
    Speaker, Timestamp, TokenCount, Trust, Value, Zone,
};
use mnemal_graph::{Cooccurrence, Graph, MentionStats, verbalize};

use crate::areas::{AdminHandle, FactsHandle};
use crate::decide::is_shipped;
use crate::memory::Memory;
use crate::quote;

/// The profile of one entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityProfile {
    /// The entity.
    pub entity: Entity,
    /// Its other names, with those of entities merged into it.
    pub aliases: Vec<String>,
    /// Its roles, as pairs of a name and a role: `Anna`'s `sister`; with the roles of entities merged into it.
    pub roles: Vec<(String, String)>,
    /// Mention statistics; `None` for an entity that is only a speaker.
    pub stats: Option<MentionStats>,
    /// The event in which it was first mentioned, if it is still in the log.
    pub first: Option<SourceSentence>,
    /// Valid facts: facts about it first, then facts with it as the object.
    pub facts: Vec<FactView>,
    /// Ended facts, latest end first.
    pub past: Vec<FactView>,
    /// Co-occurring entities by name, most frequent first.
    pub company: Vec<(String, Cooccurrence)>,
}

/// A fact in words, with its source sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct FactView {
    /// The fact.
    pub fact: Fact,
    /// Name of the subject.
    pub subject: String,
    /// Text of the object.
    pub object: String,
    /// Its source sentences, oldest first.
    pub sentences: Vec<SourceSentence>,
    /// Whether it was first stated after the queried moment.
    pub is_said_later: bool,
}

/// A source sentence of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSentence {
    /// Its place in the log.
    pub source: Source,
    /// Its text; empty for a decision without text.
    pub text: String,
    /// When it was said.
    pub at: Timestamp,
    /// The time zone in which it was said.
    pub zone: Zone,
    /// The speaker, if the log knows a name.
    pub speaker: Option<Speaker>,
    /// Its trust.
    pub trust: Trust,
    /// The level of its origin.
    pub level: Level,
}

impl SourceSentence {
    /// Returns the local date on which it was said.
    pub fn day(&self) -> String {
        self.at.civil(&self.zone).day_text()
    }
}

impl FactView {
    /// Returns the fact as a sentence: subject, predicate, object and validity; plans and negations are marked.
    pub fn line(&self) -> String {
        let said = verbalize(&self.fact, &self.subject, &self.object);
        if self.is_said_later { mnemal_graph::mark_later(said) } else { said }
    }

    /// Returns its confidence, and its status unless that is active or superseded.
    pub fn sureness(&self) -> String {
        let sure = format!("sure {:.2}", self.fact.confidence().get());
        match self.fact.status {
            FactStatus::Active | FactStatus::Superseded => sure,
            other => format!("{sure}, {}", other.as_str()),
        }
    }

    /// Returns its source events, deduplicated, in the order of its sentences.
    pub fn events(&self) -> Vec<EventId> {
        let mut seen = BTreeSet::new();
        let events = self.fact.supports.iter().map(|support| support.source.event);
        events.filter(|event| seen.insert(*event)).collect()
    }
}

/// Rendered facts as a fenced block for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileText {
    /// The id of the stored receipt.
    pub id: ReceiptId,
    /// One fenced block; empty when it has no line.
    pub text: String,
    /// Its number of tokens, at most the budget.
    pub tokens: TokenCount,
    /// The shown records with their rendered text: cleaned, truncated, and with prompt-injection characters escaped.
    pub lines: Vec<(RecordRef, String)>,
    /// Number of records that did not fit.
    pub left_out: u32,
}

impl Memory {
    /// Returns the source events of facts; erased ones are left out.
    async fn events_of(&self, facts: &[Fact]) -> Result<BTreeMap<EventId, Event>> {
        let ids: BTreeSet<EventId> =
            facts.iter().flat_map(|fact| &fact.supports).map(|support| support.source.event).collect();
        let ids: Vec<EventId> = ids.into_iter().collect();
        let found = self.log_to_read()?.get(&ids).await?;
        Ok(found.into_iter().map(|event| (event.id, event)).collect())
    }
}

impl FactsHandle<'_> {
    /// Returns the profile of an entity, by id or name, as of a world time and a belief time (bi-temporal).
    ///
    /// # Errors
    /// `NotFound` for an unknown id or name, `Invalid` for an ambiguous one, with the candidates in the message; `Unsupported`
    /// without a graph; `Unavailable` when the store does not answer.
    pub async fn entity_profile(self, who: &str, as_of: AsOf) -> Result<Degraded<EntityProfile>> {
        let mut gaps = Gaps::default();
        let graph = gaps.merge(self.graph().await?);
        let entity = graph.asked_about(who, as_of).await?;
        let (facts, past) = (graph.about(&[entity.id], as_of).await?, graph.past(&[entity.id], as_of).await?);
        let company = graph.cooccurrences(entity.id, as_of).await?;
        let mut rows = graph.parts(entity.id, as_of).await?;
        rows.insert(0, entity.clone());
        let mut ids: Vec<EntityId> = company.iter().map(|one| one.entity).collect();
        ids.extend(rows.iter().flat_map(|row| &row.roles).map(|(owner, _)| *owner));
        let names = names(&graph, ids, as_of).await?;
        let name = |id: EntityId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let roles = rows.iter().flat_map(|row| &row.roles);
        let aliases = rows.iter().flat_map(|row| &row.names).map(|name| &name.text);
        let mut profile = EntityProfile {
            aliases: each_once(aliases.filter(|alias| **alias != entity.name).cloned()),
            roles: each_once(roles.map(|(owner, role)| (name(*owner), role.clone()))),
            stats: graph.mention_stats(entity.id, as_of).await?,
            first: match entity.sources.first() {
                Some(first) => self.memory.log_to_read()?.get(&[*first]).await?.first().and_then(whole),
                None => None,
            },
            facts: self.describe_facts(&graph, facts, as_of).await?,
            past: self.describe_facts(&graph, past, as_of).await?,
            company: company.into_iter().map(|one| (name(one.entity), one)).collect(),
            entity,
        };
        let order = |told: &FactView| {
            let is_uncertain = told.fact.status == FactStatus::Candidate;
            (told.fact.subject != profile.entity.id, is_uncertain)
        };
        profile.facts.sort_by_key(order);
        Ok(gaps.attach(profile))
    }

    /// Renders facts in words, with the names as of that moment and their source sentences.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn describe_facts(self, graph: &Graph, facts: Vec<Fact>, as_of: AsOf) -> Result<Vec<FactView>> {
        let mut ids: Vec<EntityId> = facts.iter().map(|fact| fact.subject).collect();
        ids.extend(facts.iter().filter_map(|fact| fact.object.entity()));
        let names = names(graph, ids, as_of).await?;
        let name = |id: EntityId| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let events = self.memory.events_of(&facts).await?;
        let told = |fact: Fact| FactView {
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

    /// Returns the newest `limit` events that mention an entity up to the world time, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn mentions_of(
        self,
        graph: &Graph,
        id: EntityId,
        limit: NonZeroUsize,
        as_of: AsOf,
    ) -> Result<Vec<SourceSentence>> {
        let mut rows = graph.mentions(id, as_of).await?;
        rows.retain(|row| row.occurred_at <= as_of.world);
        rows.sort_by_key(|row| std::cmp::Reverse((row.occurred_at, row.source.event)));
        rows.dedup_by_key(|row| row.source.event);
        rows.truncate(limit.get());
        let ids: Vec<EventId> = rows.iter().map(|row| row.source.event).collect();
        let found = self.memory.log_to_read()?.get(&ids).await?;
        let mut heard: Vec<SourceSentence> = found.iter().filter_map(whole).collect();
        heard.sort_by_key(|sentence| std::cmp::Reverse((sentence.at, sentence.source)));
        Ok(heard)
    }
}

impl AdminHandle<'_> {
    /// Renders fragments as a fenced block, in the given order, within a budget and with a receipt.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn render_fragments(
        self,
        query: &str,
        mut offered: Vec<Fragment>,
        budget: u32,
    ) -> Result<Degraded<ProfileText>> {
        for (place, fragment) in (0_u16..).zip(&mut offered) {
            // Scores only encode the order.
            fragment.score = Score::new(1.0 / (1.0 + f32::from(place)));
        }
        let session = self.memory.scope.session.only().cloned();
        let request = quote::request(self.memory, query.to_owned(), session, TokenCount(budget));
        let mut gaps = Gaps::default();
        let context = gaps.merge(quote::block(self.memory, &request, offered).await?);
        let (lines, left_out) = (context.quotes(), quote::left_out(&context));
        let rendered = ProfileText {
            id: context.receipt.id,
            tokens: context.tokens,
            lines,
            left_out,
            text: context.text,
        };
        Ok(gaps.attach(rendered))
    }
}

fn each_once<T: Clone + Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(one.clone())).collect()
}

/// Returns the names of entities, keyed by the requested ids, which may have been merged.
async fn names(graph: &Graph, ids: Vec<EntityId>, as_of: AsOf) -> Result<BTreeMap<EntityId, String>> {
    let found = graph.entities(ids, as_of).await?;
    Ok(found.into_iter().map(|entity| (entity.id, entity.name)).collect())
}

/// Returns the source sentences of a fact, oldest first, deduplicated by clause.
fn sentences(fact: &Fact, events: &BTreeMap<EventId, Event>) -> Vec<SourceSentence> {
    let mut sources: Vec<(Timestamp, Source)> =
        fact.supports.iter().map(|support| (support.occurred_at, support.source)).collect();
    sources.sort_unstable();
    sources.dedup();
    let sentence = |(at, source): (Timestamp, Source)| {
        let event = events.get(&source.event)?;
        let kept = event.body()?;
        let text = around(&kept.content, source.span).trim().to_owned();
        Some(SourceSentence { source, text, at, ..whole(event)? })
    };
    sources.into_iter().filter_map(sentence).collect()
}

/// Returns the text of a span of an event, if it is not erased; for an empty span the whole event.
pub(crate) fn sentence_of(event: &Event, source: Source) -> Option<SourceSentence> {
    let words = whole(event)?;
    let said = words.text.get(source.span.start as usize..source.span.end as usize).unwrap_or_default();
    let text = if said.trim().is_empty() { words.text.clone() } else { said.to_owned() };
    Some(SourceSentence { source, text, ..words })
}

/// Returns the sentences of a text that contain a span; empty for an empty span.
fn around(text: &str, span: Span) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let all = mnemal_text::sentences(text);
    let touched = || all.iter().filter(|one| one.start < end && start < one.end);
    let whole = touched().next().zip(touched().next_back()).map(|(first, last)| first.start..last.end);
    whole.and_then(|whole| text.get(whole)).unwrap_or_default()
}

/// Returns a whole event as a sentence, if it is not erased.
fn whole(event: &Event) -> Option<SourceSentence> {
    let kept = event.body()?;
    Some(SourceSentence {
        source: Source { event: event.id, span: Span::whole(&kept.content).ok()? },
        text: kept.content.clone(),
        at: kept.occurred_at,
        zone: kept.zone.clone(),
        speaker: kept.speaker.clone(),
        trust: event.trust,
        level: event.level,
    })
}

/// Predicate of an entity's description in words, from a host or an extractor. Source: nanobot v2, the entity field of this name.
const DESCRIPTION: &str = "description";

/// Maximum number of sentences in the line of a fact, newest first. Source: own choice, a line of a block.
const QUOTED: usize = 2;

impl EntityProfile {
    /// Returns its description: the newest one that a host decided, or an extractor read, under the predicate `description`.
    ///
    /// The text is a statement of its author and no instruction: see its fact in [`facts`](Self::facts) for the source.
    pub fn description(&self) -> Option<&str> {
        self.own().remove(DESCRIPTION)
    }

    /// Returns the host's metadata of the entity: the newest valid value of each custom predicate, without the description. All
    /// values are in [`facts`](Self::facts).
    pub fn metadata(&self) -> BTreeMap<&str, &str> {
        let mut own = self.own();
        let _description = own.remove(DESCRIPTION);
        own
    }

    /// Returns the newest valid and undisputed value of each predicate outside the shipped table.
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
        let mut told: Vec<&FactView> = self.facts.iter().filter(|told| is_meant(&told.fact)).collect();
        told.sort_by_cached_key(|told| (newest(&told.fact), told.fact.id));
        // Of several values with one key, the last one wins.
        told.into_iter().map(|told| (told.fact.predicate.as_str(), told.object.as_str())).collect()
    }

    /// Returns the identity as a line: name, kind, roles, other names, and the number of mentions.
    pub fn line(&self) -> String {
        let entity = &self.entity;
        let roles: Vec<String> =
            self.roles.iter().map(|(owner, role)| format!(", {role} of {owner}")).collect();
        let also = if self.aliases.is_empty() {
            String::new()
        } else {
            format!(", also called {}", self.aliases.join(", "))
        };
        let seen = self.stats.map(|seen| match seen.events {
            1 => ", named in 1 event".to_owned(),
            events => format!(", named in {events} events"),
        });
        let seen = seen.unwrap_or_default();
        format!("{}: {}{}{also}{seen}", entity.name, entity.kind.as_str(), roles.concat())
    }

    /// Returns the identity as a fragment of a block.
    pub fn fragment(&self) -> Option<Fragment> {
        let first = self.first.as_ref()?;
        let record = RecordRef::Event(first.source.event);
        Some(offered(record, Some(self.entity.producer.clone()), vec![first.source], self.line(), first))
    }
}

impl FactView {
    /// Returns the fact as a fragment of a block, with its newest source sentences.
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

impl SourceSentence {
    /// Returns the sentence as a fragment of a block.
    pub fn fragment(&self) -> Fragment {
        offered(RecordRef::Event(self.source.event), None, vec![self.source], self.text.clone(), self)
    }
}

/// Creates a fragment with the trust and level of the sentence that it rests on.
fn offered(
    record: RecordRef,
    producer: Option<Producer>,
    sources: Vec<Source>,
    text: String,
    of: &SourceSentence,
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
        because: InclusionReason::Query,
        withheld: None,
    }
}
