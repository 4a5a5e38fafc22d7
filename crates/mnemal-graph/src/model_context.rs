//! Known entities and topics, passed to the extraction model as context.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EntityKind, EventId, ExtractionContext, Result, Timestamp,
};
use mnemal_text::fold;

use crate::{Graph, MentionStats, Topic};

/// Entities passed as context. Source: BA-22, the ten that fit the text best.
const ENTITIES: usize = 10;
/// Topics passed as context. Source: BA-22, the five that fit the text best.
const TOPICS: usize = 5;
/// First letter of the blocks of Chinese and Japanese scripts, which are written without spaces. Source: Unicode, CJK
/// Radicals.
const WITHOUT_BLANKS: char = '\u{2e80}';
/// Characters of the shortest name part that may stand for the name. Source: RB-74, shorter parts match too much by
/// accident.
const SHORTEST_PART: usize = 3;

/// How texts name an entity; a fuller match is a later variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    Not,
    /// By one word of a person's name: `Anna` for `Anna Berg`.
    InPart,
    Whole,
}

/// All named entities and all topics, loaded once to choose from.
#[derive(Debug)]
pub(crate) struct ModelContext {
    entities: Vec<Entity>,
    stats: BTreeMap<EntityId, MentionStats>,
    topics: Vec<Topic>,
}

impl Graph {
    /// Loads the entities and topics that texts may name. The cost is linear in the number of mentions and facts.
    pub(crate) async fn model_context(&self) -> Result<ModelContext> {
        let always = AsOf::present(Timestamp::MAX);
        let census = self.census(always).await?;
        let mut entities = self.all(&EntityFilter::all(), always).await?;
        entities.retain(|entity| !entity.names.is_empty());
        Ok(ModelContext {
            entities,
            stats: census.into_iter().map(|one| (one.entity, one.stats)).collect(),
            topics: self.topics(always).await?,
        })
    }
}

impl ModelContext {
    /// Returns at most ten entities and five topics: those named in full in the texts first, then people named by a part,
    /// then the most recently mentioned ones.
    pub(crate) fn of(&self, texts: &[&str]) -> ExtractionContext {
        let texts: Vec<String> = texts.iter().map(|text| words(text)).collect();
        let is_named = |name: &str| texts.iter().any(|text| says(text, name));
        let last_at = |seen: Option<&MentionStats>| seen.map(|seen| seen.last_at);
        let mut entities: Vec<&Entity> = self.entities.iter().collect();
        entities.sort_by_cached_key(|entity| {
            let naming = if entity.names.iter().any(|name| is_named(&name.text)) {
                NameMatch::Whole
            } else if entity.names.iter().flat_map(|name| parts(entity.kind, &name.text)).any(is_named) {
                NameMatch::InPart
            } else {
                NameMatch::Not
            };
            Reverse((naming, last_at(self.stats.get(&entity.id)), Reverse(entity.id)))
        });
        entities.truncate(ENTITIES);
        let is_told = |id: EntityId| entities.iter().any(|entity| entity.id == id);
        let mut topics: Vec<&Topic> = self.topics.iter().filter(|topic| !is_told(topic.id)).collect();
        topics.sort_by_cached_key(|topic| {
            Reverse((is_named(&topic.name), topic.stats.last_at, Reverse(topic.id)))
        });
        topics.truncate(TOPICS);
        let said = entities.iter().filter_map(|entity| giver(entity));
        let said =
            said.chain(topics.iter().filter_map(|topic| topic.events.first().map(|(event, _)| *event)));
        ExtractionContext {
            sources: said.collect(),
            entities: entities.iter().map(|entity| (entity.name.clone(), entity.kind)).collect(),
            topics: topics.iter().map(|topic| topic.name.clone()).collect(),
        }
    }
}

/// Returns the event that gave an entity its displayed name.
fn giver(entity: &Entity) -> Option<EventId> {
    entity.names.iter().find(|name| name.text == entity.name).map(|name| name.source)
}

/// Returns the words of a name that may stand for a person; none for other kinds, whose words have other meanings too.
fn parts(kind: EntityKind, name: &str) -> impl Iterator<Item = &str> {
    let is_long = |word: &&str| word.chars().nth(SHORTEST_PART - 1).is_some();
    let is_name = |word: &&str| word.starts_with(char::is_uppercase);
    let words = name.split_whitespace().filter(move |_| kind == EntityKind::Person);
    words.filter(is_long).filter(is_name)
}

/// Whether folded words contain a name: as whole words, except in scripts that are written without spaces.
fn says(text: &str, name: &str) -> bool {
    let name = words(name);
    if name.trim().is_empty() {
        return false;
    }
    let has_blanks = name.chars().all(|letter| letter < WITHOUT_BLANKS);
    text.contains(if has_blanks { name.as_str() } else { name.trim() })
}

/// Returns the folded words of a text with one space around each.
fn words(text: &str) -> String {
    let only = |letter: char| if letter.is_alphanumeric() { letter } else { ' ' };
    let text: String = fold(text).chars().map(only).collect();
    format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "))
}
