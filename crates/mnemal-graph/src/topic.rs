//! Topics: their events, keywords, and hierarchy.
//!
//! A topic is a named thing other than a person, a place or an organization, or the words of a claim whose predicate takes
//! a concept: likes, preferences, studies. Nothing is stored for it: topics are computed from mentions and claims.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EntityKind, EventId, Fact, FactFilter, MentionFilter, Result,
    Timestamp, Value, named_id,
};
use mnemal_extract::predicate;
use mnemal_text::fold;

use crate::Graph;
use crate::cooccurrence::{MentionStats, MentionTimes, count};

/// Most keywords of a topic. Source: BA-06, at most 5 are shown.
const KEYWORDS: usize = 5;

/// A topic and its occurrences.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// The id of the entity; for a topic that was never a name, a hash of its words.
    pub id: EntityId,
    /// The displayed name.
    pub name: String,
    /// Number and times of its occurrences.
    pub stats: MentionStats,
    /// The most frequent co-occurring names, at most five.
    pub keywords: Vec<String>,
    /// Number of co-occurring entities.
    pub entities: usize,
    /// A more frequent topic that occurs in at least half of the events of this one.
    pub parent: Option<EntityId>,
    /// Its events, oldest first, each with a share: one over the number of topics of the event.
    pub events: Vec<(EventId, f32)>,
}

/// A topic under construction.
#[derive(Debug, Default)]
struct TopicBuilder {
    name: String,
    events: MentionTimes,
}

impl Graph {
    /// Returns the topics up to the world time, most frequent first, then latest, then by id. The cost is linear in the
    /// number of mentions and facts.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn topics(&self, as_of: AsOf) -> Result<Vec<Topic>> {
        let named = self.named_in(&MentionFilter::all(), as_of).await?;
        let entities: BTreeMap<EntityId, Entity> = self
            .all(&EntityFilter::all(), as_of)
            .await?
            .into_iter()
            .map(|entity| (entity.id, entity))
            .collect();
        let mut themes: BTreeMap<EntityId, TopicBuilder> = BTreeMap::new();
        let mut by_words: BTreeMap<String, EntityId> = BTreeMap::new();
        for entity in entities.values().filter(|entity| is_theme(entity.kind)) {
            by_words.extend(entity.names.iter().map(|name| (fold(&name.text), entity.id)));
            let events = named.get(&entity.id).cloned().unwrap_or_default();
            themes.insert(entity.id, TopicBuilder { name: entity.name.clone(), events });
        }
        for fact in self.facts(&FactFilter::all(), as_of).await? {
            let Some((words, events)) = talked_about(&fact, as_of.world) else { continue };
            let id = by_words.entry(fold(words)).or_insert_with_key(|key| topic_id(key));
            let theme = themes.entry(*id).or_default();
            if theme.name.is_empty() {
                words.clone_into(&mut theme.name);
            }
            theme.events.extend(events);
        }
        Ok(describe(&themes, &named, &entities))
    }
}

/// Whether a named entity is a topic.
fn is_theme(kind: EntityKind) -> bool {
    matches!(
        kind,
        EntityKind::Product
            | EntityKind::Tool
            | EntityKind::Work
            | EntityKind::Document
            | EntityKind::Project
            | EntityKind::Topic
            | EntityKind::Event
            | EntityKind::Concept
    )
}

/// Returns the id of a topic that was never a name.
fn topic_id(key: &str) -> EntityId {
    EntityId(named_id("topic", &[key]))
}

/// Returns the topic of a claim with its events.
fn talked_about(fact: &Fact, world: Timestamp) -> Option<(&str, Vec<(EventId, Timestamp)>)> {
    let info = predicate::of(fact.predicate.as_str())?;
    let takes_concept = info.objects.iter().any(|name| name == EntityKind::Concept.as_str());
    let Value::Literal { text, .. } = &fact.object else { return None };
    let events = fact.supports.iter().filter(|support| support.says_so() && support.occurred_at <= world);
    let events: Vec<_> = events.map(|support| (support.source.event, support.occurred_at)).collect();
    (takes_concept && !events.is_empty()).then_some((text.as_str(), events))
}

/// Describes each topic by what occurs in the same events.
fn describe(
    themes: &BTreeMap<EntityId, TopicBuilder>,
    named: &BTreeMap<EntityId, MentionTimes>,
    entities: &BTreeMap<EntityId, Entity>,
) -> Vec<Topic> {
    let mut themes_of: BTreeMap<EventId, BTreeSet<EntityId>> = BTreeMap::new();
    for (id, theme) in themes {
        for event in theme.events.keys() {
            themes_of.entry(*event).or_default().insert(*id);
        }
    }
    let mut names_in: BTreeMap<EventId, BTreeSet<EntityId>> = BTreeMap::new();
    for (id, events) in named {
        for event in events.keys() {
            names_in.entry(*event).or_default().insert(*id);
        }
    }
    let mut topics: Vec<Topic> = themes
        .iter()
        .filter_map(|(id, theme)| {
            let other_themes = tally(*id, &theme.events, &themes_of);
            let with = tally(*id, &theme.events, &names_in);
            let size = |of: &EntityId| themes.get(of).map_or(0, |theme| theme.events.len());
            let is_parent = |(of, shared): &&(EntityId, usize)| {
                size(of) > theme.events.len() && 2 * shared >= theme.events.len()
            };
            let shown = |of: &EntityId| {
                let theme = themes.get(of).map(|theme| &theme.name);
                theme.or_else(|| entities.get(of).map(|entity| &entity.name)).cloned()
            };
            let mut keywords: Vec<String> = Vec::new();
            for (of, _) in merge(&other_themes, &with) {
                keywords.extend(shown(&of).filter(|name| !keywords.contains(name)));
            }
            keywords.truncate(KEYWORDS);
            let share = |event: &EventId| 1.0 / themes_of.get(event).map_or(1, BTreeSet::len).max(1) as f32;
            let mut events: Vec<(EventId, Timestamp)> =
                theme.events.iter().map(|(event, at)| (*event, *at)).collect();
            events.sort_by_key(|(event, at)| (*at, *event));
            Some(Topic {
                id: *id,
                name: theme.name.clone(),
                stats: count(&theme.events)?,
                keywords,
                entities: with.iter().filter(|(of, _)| !themes.contains_key(of)).count(),
                parent: other_themes.iter().find(is_parent).map(|(of, _)| *of),
                events: events.into_iter().map(|(event, _)| (event, share(&event))).collect(),
            })
        })
        .collect();
    topics.sort_by(|one, other| {
        let by_count = other.stats.events.cmp(&one.stats.events);
        by_count.then(other.stats.last_at.cmp(&one.stats.last_at)).then(one.id.cmp(&other.id))
    });
    topics
}

/// Counts what else occurs in some events, most frequent first, then by id.
fn tally(
    own: EntityId,
    events: &MentionTimes,
    found: &BTreeMap<EventId, BTreeSet<EntityId>>,
) -> Vec<(EntityId, usize)> {
    let mut counts: BTreeMap<EntityId, usize> = BTreeMap::new();
    for id in events.keys().filter_map(|event| found.get(event)).flatten().filter(|id| **id != own) {
        *counts.entry(*id).or_default() += 1;
    }
    let mut counts: Vec<(EntityId, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
    counts
}

/// Merges two tallies; an entity that is a topic is in both, and its larger count is used.
fn merge(one: &[(EntityId, usize)], other: &[(EntityId, usize)]) -> Vec<(EntityId, usize)> {
    let mut all: Vec<(EntityId, usize)> = one.iter().chain(other).copied().collect();
    all.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
    let mut seen = BTreeSet::new();
    all.retain(|(id, _)| seen.insert(*id));
    all
}
